"""Each form of instruction with its reference: what the tests of the interpreter compute."""

import re
from fractions import Fraction

from . import ptx_reference as r

INTEGERS = "s16", "u16", "s32", "u32", "s64", "u64"
COMPARISONS = "eq", "ne", "lt", "le", "gt", "ge"
FLOAT_COMPARISONS = *COMPARISONS, "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"
ANY = object()  # a divisor of 0, or the sign of a NaN: any result


def bits(kind):
    return f"b{r.size(kind)}"


def cases():
    """Yield the opcode, the types of result and sources, and the function; the last value that it
    may return is a pair of number and rounding.
    """
    for kind in INTEGERS:
        yield from _integers(kind)
    for kind in ("b16", "b32", "b64"):
        yield from _bits(kind)
    for kind in ("f32", "f64"):
        yield from _floats(kind)
        yield from _conversions_of_floats(kind)
    yield from _conversions_of_integers()
    yield from _small_floats()
    yield from _words()
    p = ["pred"] * 2
    yield "and.pred", "pred", p, lambda a, b: a & b
    yield "or.pred", "pred", p, lambda a, b: a | b
    yield "xor.pred", "pred", p, lambda a, b: a ^ b
    yield "not.pred", "pred", p[:1], lambda a: 1 - a
    yield "mov.pred", "pred", p[:1], lambda a: a


def _integers(kind):
    n, two = r.size(kind), [kind] * 2
    wide = f"{kind[0]}{2 * n}"
    yield f"add.{kind}", kind, two, lambda a, b: a + b
    yield f"sub.{kind}", kind, two, lambda a, b: a - b
    yield f"mul.lo.{kind}", kind, two, lambda a, b: a * b
    yield f"mul.hi.{kind}", kind, two, lambda a, b: a * b >> n
    yield f"mad.lo.{kind}", kind, [kind] * 3, lambda a, b, c: a * b + c
    yield f"mad.hi.{kind}", kind, [kind] * 3, lambda a, b, c: (a * b >> n) + c
    if n < 64:
        yield f"mul.wide.{kind}", wide, two, lambda a, b: a * b
        yield f"mad.wide.{kind}", wide, [*two, wide], lambda a, b, c: a * b + c
    yield f"min.{kind}", kind, two, min
    yield f"max.{kind}", kind, two, max
    yield f"div.{kind}", kind, two, lambda a, b: r.quotient(a, b) if b else ANY
    yield f"rem.{kind}", kind, two, lambda a, b: a - b * r.quotient(a, b) if b else ANY
    yield f"shr.{kind}", kind, [kind, "u32"], lambda a, by: a >> by
    if kind[0] == "s":
        yield f"neg.{kind}", kind, [kind], lambda a: -a
        yield f"abs.{kind}", kind, [kind], abs
    yield from _common(kind)
    for how in COMPARISONS:
        yield from _comparisons(how, kind)


def _common(kind):
    yield f"mov.{kind}", kind, [kind], lambda a: a
    yield f"selp.{kind}", kind, [kind, kind, "pred"], lambda a, b, p: a if p else b


def _comparisons(how, kind):
    yield f"setp.{how}.{kind}", "pred", [kind] * 2, lambda a, b: r.compare(how, a, b)
    for name, operation in (("and", min), ("or", max), ("xor", lambda p, q: p ^ q)):
        yield (f"setp.{how}.{name}.{kind}", "pred", [kind, kind, "pred"],
               lambda a, b, q, operation=operation: operation(int(r.compare(how, a, b)), q))


def _bits(kind):
    two = [kind] * 2
    yield f"and.{kind}", kind, two, lambda a, b: a & b
    yield f"or.{kind}", kind, two, lambda a, b: a | b
    yield f"xor.{kind}", kind, two, lambda a, b: a ^ b
    yield f"not.{kind}", kind, [kind], lambda a: ~a
    yield f"shl.{kind}", kind, [kind, "u32"], lambda a, by: a << min(by, 64)
    yield from _common(kind)
    for how in ("eq", "ne"):
        yield from _comparisons(how, kind)


def _floats(kind):
    two, three = [kind] * 2, [kind] * 3
    for mode in ("", ".rn", ".rz", ".rm", ".rp"):
        way = mode[1:] or "rn"
        for name, operation in (("add", r.plus), ("sub", r.minus), ("mul", r.times)):
            yield f"{name}{mode}.{kind}", kind, two, _rounded(operation, way)
        if mode:
            yield f"fma{mode}.{kind}", kind, three, _rounded(r.fused, way)
            yield f"div{mode}.{kind}", kind, two, _rounded(r.over, way)
            yield f"rcp{mode}.{kind}", kind, [kind], _rounded(lambda a: r.over(Fraction(1), a), way)
            yield f"sqrt{mode}.{kind}", kind, [kind], _rounded(r.root, way)
    yield f"min.{kind}", kind, two, r.least
    yield f"max.{kind}", kind, two, lambda a, b: r.least(a, b, -1)
    yield f"abs.{kind}", kind, [kind], lambda a: None if a is None else abs(a)
    yield f"neg.{kind}", kind, [kind], r.negative
    yield f"copysign.{kind}", kind, two, _with_sign
    yield from _common(kind)
    for how in FLOAT_COMPARISONS:
        yield from _comparisons(how, kind)


def _with_sign(a, b):
    if a is None or b is None:
        return ANY
    return abs(b) if r.sign(a) > 0 else -abs(b)


def _rounded(operation, mode):
    return lambda *values: (operation(*values), mode)


def _conversions_of_floats(kind):
    for mode in ("rni", "rzi", "rmi", "rpi"):
        yield (f"cvt.{mode}.{kind}.{kind}", kind, [kind],
               lambda a, mode=mode: r.integral(a, mode))
        for to in (*INTEGERS, "s8", "u8"):
            yield (f"cvt.{mode}.{to}.{kind}", to, [kind],
                   lambda a, mode=mode, to=to: r.to_integer(kind, to, a, mode))
    if kind == "f64":
        for mode in ("rn", "rz", "rm", "rp"):
            yield f"cvt.{mode}.f32.f64", "f32", ["f64"], _rounded(lambda a: a, mode)
    else:
        yield "cvt.f64.f32", "f64", ["f32"], lambda a: a


def _conversions_of_integers():
    integers = (*INTEGERS, "s8", "u8")
    for kind in integers:
        for to in integers:
            yield f"cvt.{to}.{kind}", to, [kind], lambda a: a
            yield (f"cvt.sat.{to}.{kind}", to, [kind],
                   lambda a, to=to: min(max(a, r.limits(to)[0]), r.limits(to)[1]))
        for to in ("f32", "f64"):
            for mode in ("rn", "rz", "rm", "rp"):
                yield f"cvt.{mode}.{to}.{kind}", to, [kind], _rounded(Fraction, mode)


def _small_floats():
    for to, kind in (("f16", "f32"), ("f16", "f64"), ("bf16", "f32")):
        yield f"cvt.rn.{to}.{kind}", to, [kind], lambda a: a
    for kind in ("f16", "bf16"):
        yield f"cvt.f32.{kind}", "f32", [kind], lambda a: a


def _words():
    for kind in ("b32", "b64"):
        n = r.size(kind)
        yield f"popc.{kind}", "u32", [kind], lambda a: a.bit_count()
        yield f"clz.{kind}", "u32", [kind], lambda a, n=n: n - a.bit_length()
        yield (f"brev.{kind}", kind, [kind],
               lambda a, n=n: int(f"{a:0{n}b}"[::-1], 2))
        yield f"bfi.{kind}", kind, [kind, kind, "count", "count"], _insert(n)
        for sign in "us":
            of = f"{sign}{n}"
            yield f"bfe.{of}", of, [of, "count", "count"], _extract(of)
        for sign in "us":
            for shift in (False, True):
                of = f"{sign}{n}"
                yield (f"bfind{'.shiftamt' * shift}.{of}", "u32", [of],
                       lambda a, n=n, shift=shift: _find(a if a >= 0 else ~a, n, shift))
    yield "prmt.b32", "b32", ["b32"] * 3, _permute
    for way in ("wrap", "clamp"):
        for side in "lr":
            yield (f"shf.{side}.{way}.b32", "b32", ["b32", "b32", "count"],
                   lambda a, b, by, side=side, way=way: _funnel(a, b, by, side, way))


def _insert(n):
    def insert(a, b, at, length):
        mask = (((1 << length) - 1) << at) & ((1 << n) - 1)
        return (b & ~mask) | ((a << at) & mask)
    return insert


def _extract(kind):
    n = r.size(kind)

    def extract(a, at, length):
        if not length:
            return 0
        held = a >> min(at, 2 * n) if kind[0] == "s" else (a >> at)
        length = min(length, n)
        part = held & ((1 << length) - 1)
        sign = kind[0] == "s" and a >> min(at + length - 1, n - 1) & 1
        return part - (1 << length) if sign else part
    return extract


def _find(a, n, shift):
    return n - a.bit_length() if shift and a else a.bit_length() - 1


def _permute(a, b, selector):
    data = (b << 32 | a).to_bytes(8, "little")
    found = []
    for k in range(4):
        c = selector >> (4 * k) & 15
        byte = data[c & 7]
        found.append((255 if byte & 128 else 0) if c & 8 else byte)
    return int.from_bytes(bytes(found), "little")


def _funnel(a, b, by, side, way):
    by = by & 31 if way == "wrap" else min(by, 32)
    both = b << 32 | a
    return (both << by >> 32) if side == "l" else both >> by


# Which forms a program has

INSTRUCTION = re.compile(r"^\s*(?:@!?%p\d+\s+)?([a-z][a-z0-9_]*(?:\.[a-zA-Z0-9_:]+)*)\s*(.*);",
                         re.MULTILINE)


def opcodes(text):
    """Return the opcodes in a program in PTX."""
    return {match[1] for match in INSTRUCTION.finditer(text)}
