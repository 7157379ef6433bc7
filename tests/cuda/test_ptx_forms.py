"""The interpreter of PTX: every form that computes, against Python's integers and fractions."""

import random

import numpy as np
import pytest

from ..tools.mock_driver.harness import compiler
from . import ptx_reference as r
from .ptx_forms import ANY, cases

pytestmark = [pytest.mark.host, pytest.mark.skipif(not compiler(), reason="no C++ compiler")]

CASES = {opcode: rest for opcode, *rest in cases()}
N = 512
TEXT = """
.version 9.0
.target sm_80
.address_size 64
.visible .entry tried(.param .align 8 .b8 tried_param_0[8],
    .param .align 8 .b8 tried_param_1[512])
.maxntid {n}, 1, 1
{{
    .reg .pred %p<9>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd1, %r1, 8;
    ld.param.u64 %rd2, [tried_param_1];
    add.s64 %rd2, %rd2, %rd1;
{loads}
    {opcode} %x0, {sources};
    st.global.b64 [%rd2], %x0;
    ret;
}}
"""
LOAD = """
    ld.param.u64 %rd3, [tried_param_1+{at}];
    add.s64 %rd3, %rd3, %rd1;
    ld.global.b64 %x{k}, [%rd3];"""


def program(opcode, count):
    loads = "".join(LOAD.format(at=8 * k, k=k) for k in range(1, count + 1))
    sources = ", ".join(f"%x{k}" for k in range(1, count + 1))
    return TEXT.format(n=N, loads=loads, opcode=opcode, sources=sources)


def words(kind, rng):
    """Return words that hold numbers of a type: those at the edges, and random ones."""
    n = r.size(kind) if kind != "count" else 8
    if kind == "pred":
        found = [0, 1]
    elif kind in r.FORMATS:
        precision, _, width = r.FORMATS[kind]
        one, top = (1 << (width - 2)) - (1 << (precision - 1)), (1 << (width - 1)) - (
            1 << (precision - 1))
        positive = [0, 1, 2, (1 << (precision - 1)) - 1, 1 << (precision - 1), one - 1, one,
                    one + 1, one + (1 << (precision - 2)), top - 1, top, r.NANS[kind],
                    one + (31 << (precision - 1)), one + (63 << (precision - 1)),
                    one + 7 * (1 << (precision - 1)) + 12345 % (1 << (precision - 2))]
        positive = [p for p in positive if p < 1 << (width - 1)]
        found = positive + [p | 1 << (width - 1) for p in positive]
        near = [one + (rng.randrange(-40, 70) << (precision - 1)) + rng.getrandbits(precision - 1)
                for _ in range(60)] if width > 16 else []
        found += [w ^ rng.getrandbits(1) << (width - 1) for w in near]
        found += [rng.getrandbits(width) for _ in range(60)]
    else:
        found = [0, 1, 2, 3, 5, 31, 32, 33, 64, 100, (1 << n) - 1, (1 << n) - 2, 1 << (n - 1),
                 (1 << (n - 1)) - 1]
        found += [rng.getrandbits(n) >> rng.randrange(n) for _ in range(40)]
    mask = (1 << n) - 1
    found = [w & mask for w in found]
    high = 0xFFFF << 48 if n < 48 and kind not in ("count", "pred") else 0  # to be ignored
    return [rng.choice(found) | (high if rng.random() < 0.3 else 0) for _ in range(N)]


def wanted_bits(result, kinds, function, values):
    numbers = [r.value_of("u32" if k == "count" else k, v) for k, v in
               zip(kinds, values, strict=True)]
    found = function(*numbers)
    if found is ANY:
        return None
    number, mode = found if isinstance(found, tuple) else (found, "rn")
    if isinstance(number, int) and result in r.FORMATS:
        number = r.Fraction(number)
    return r.bits_of(result, number, mode)


def is_same(opcode, result, found, wanted):
    if wanted is None:
        return True
    found &= (1 << r.size(result)) - 1
    number = r.value_of(result, wanted)
    if result in r.FORMATS and number is None:  # payloads are free
        return r.value_of(result, found) is None
    if ".rm." in opcode and number == 0:  # a difference of 0 is -0
        return r.value_of(result, found) == 0
    return found == wanted


@pytest.mark.sample(40)
@pytest.mark.parametrize("opcode", CASES)
def test_each_form(opcode):
    from ..tools.mock_driver.ptx.interpreter import run
    result, kinds, function = CASES[opcode]
    rng = random.Random(opcode)
    columns = [words(kind, rng) for kind in kinds]
    found = np.zeros(N, np.uint64)
    run(program(opcode, len(kinds)), "tried", (0,),
        [found, *(np.array(c, np.uint64) for c in columns)], block=N)
    for values, word in zip(zip(*columns, strict=True), found.tolist(), strict=True):
        wanted = wanted_bits(result, kinds, function, values)
        assert is_same(opcode, result, word, wanted), (list(map(hex, values)), hex(word), wanted)
