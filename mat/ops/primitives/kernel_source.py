"""The source of a user's kernel, for the C compiler and for NVRTC: the user's statements as a
function of one element's values, and the loop that calls it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from ...layout.shapes import Ints
from ...support.dtypes import BY_CHAR, FLOAT8, HALVES, LIMITS
from ...support.types import DType, Engine

LITERAL = re.compile(r"(?<![\w.])"
                     r"(?:\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)"
                     r"(?![\w.])")
_VECTOR = ("exp", "expm1", "log", "log1p", "sinh", "cosh", "tanh", "erf", "logistic", "pow")
_WIDE = ("sin", "cos", "tan")  # right for huge numbers, too
_OF_ONE = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "erf",
           "erfc", "exp", "exp2", "expm1", "fabs", "floor", "lgamma", "log", "log10", "log1p",
           "log2", "nearbyint", "rint", "round", "sin", "sinh", "sqrt", "tan", "tanh", "tgamma",
           "trunc")
_OF_TWO = ("atan2", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot", "nextafter", "pow",
           "remainder")
_OF_INTEGERS = ("div", "mod")
# C's are generic, C++'s overloaded
_CUDA_REAL = (*(f"#define {n}(x) {n}((MAT_REAL_TYPE)(x))" for n in _OF_ONE),
              *(f"#define {n}(x, y) {n}((MAT_REAL_TYPE)(x), (MAT_REAL_TYPE)(y))" for n in _OF_TWO),
              "#define fma(x, y, z) fma((MAT_REAL_TYPE)(x), (MAT_REAL_TYPE)(y), "
              "(MAT_REAL_TYPE)(z))",
              "#define abs(x) fabs(x)", '#define MAT_NAN ((MAT_REAL_TYPE)nan(""))',
              "#define logistic(x) mat_logistic((MAT_REAL_TYPE)(x))")
_CUDA_COMPLEX = (*(f"#define {n}(x) mat_{n}(x)" for n in (
                     "sqrt", "exp", "expm1", "log", "log1p", "sinh", "cosh", "tanh", "real", "imag",
                     "conj")),
                 *(f"#define {n}(x) mat_wide_{n}(x)" for n in _WIDE),
                 "#define pow(x, y) mat_pow(T(x), T(y))", "#define fabs(x) mat_fabs(x)",
                 "#define abs(x) mat_fabs(x)", '#define MAT_NAN ((MAT_REAL_TYPE)nan(""))',
                 "#define I mat_imaginary<T>()")
_C_COMPLEX = ("#define real(z) creal(z)", "#define imag(z) cimag(z)", "#define abs(z) fabs(z)",
              '#define MAT_NAN ((MAT_REAL_TYPE)__builtin_nan(""))')
SMALL = HALVES + FLOAT8  # floats of 8 and 16 bits, which are float in the source
OUTSIDE = ("nearest", "wrap", "reflect")
MOST_AXES = 8  # whose indices and lengths have names
_RAW_FACTS = 2 + 2 * MOST_AXES  # size, rank, lengths and strides
_RETURN = re.compile(r"\breturn\b")
TypeOf = Callable[[str], str]  # the name of a dtype character's type in a language
Loaded = Callable[[str, str], str]  # an element of that type, as a value


class Declared(NamedTuple):
    """An operand as a kernel declares it: number, input, output or io, and perhaps a dtype.

    `raw`: of an input whose elements the source takes by position, how many positions there are.
    `radii`: of an input with a window, how many neighbours there are to each side along the last
    axes; `outside`: what lies outside of the array, a number or one of `OUTSIDE`.
    """

    name: str
    direction: str
    dtype: DType | None = None
    raw: int = 0
    radii: Ints = ()
    outside: str = ""

    @property
    def read(self) -> bool:
        """True for a Mat whose element at the same place is read."""
        return self.direction == "io" or (self.direction == "input" and not self.walked)

    @property
    def walked(self) -> bool:
        """True for an input that is read at other places."""
        return bool(self.raw or self.radii)

    @property
    def written(self) -> bool:
        """True for a Mat whose elements are assigned."""
        return self.direction in ("output", "io")


class Typed(NamedTuple):
    """An operand of a kernel for certain dtypes: the dtype character of its elements."""

    declared: Declared
    char: str
    whole: str  # the dtype character of what the kernel computes with

    @property
    def name(self) -> str:
        """The name in the source."""
        return self.declared.name

    @property
    def value(self) -> str:
        """The dtype character of its value: one complex type for all, float for smaller ones."""
        if BY_CHAR[self.char].kind == "c" and BY_CHAR[self.whole].kind == "c":
            return self.whole
        return "f" if self.char in SMALL else self.char

    @property
    def outside(self) -> str:
        """The value outside of its window: one of `OUTSIDE`, or a literal."""
        text = self.declared.outside
        if text in OUTSIDE or self.char not in LIMITS:
            return text if text in OUTSIDE else repr(float(text))
        number = int(float(text)) if set(text) & set(".e") else int(text)
        if self.char in "LQ":
            return f"{number}ull"
        return f"({number + 1}ll - 1)" if number == -2**63 else f"{number}ll"

    @property
    def unset(self) -> str:
        """The value of an output that is not assigned: NaN, or else the largest one."""
        if self.char == "?":
            return "1"
        if self.char in LIMITS:
            return f"{LIMITS[self.char][1]}{'ull' if self.char in 'LQ' else 'll'}"
        return "MAT_NAN"


class KernelSource(NamedTuple):
    """A kernel's statements and operands, and the dtype of `T`, to which all promote."""

    statements: str
    operands: tuple[Typed, ...]
    whole: str
    checked: bool = False  # positions and offsets are checked

    @property
    def single(self) -> bool:
        """True if constants are float."""
        return is_single(self.whole)

    @property
    def mats(self) -> list[Typed]:
        """The Mats."""
        return [x for x in self.operands if x.declared.direction != "number"]

    @property
    def numbers(self) -> list[Typed]:
        """The numbers."""
        return [x for x in self.operands if x.declared.direction == "number"]

    @property
    def reads(self) -> int:
        """The Mats that are read, as bits."""
        return sum(1 << k for k, x in enumerate(self.mats) if x.declared.read)

    @property
    def writes(self) -> int:
        """The Mats that are written, as bits."""
        return sum(1 << k for k, x in enumerate(self.mats) if x.declared.written)

    def arguments(self, read: str, write: str, number: str) -> str:
        """Return the arguments of the function, with these spellings of elements and numbers."""
        given = {x.name: number.format(k) for k, x in enumerate(self.numbers)}
        given |= {x.name: (write if x.declared.written else read).format(k)
                  for k, x in enumerate(self.mats) if not x.declared.walked}
        return ", ".join(given[x.name] for x in self.operands if x.name in given)

    # Places

    @property
    def names(self) -> list[str]:
        """The indices and lengths that the statements use: i, n, i0, n0, i1 ..."""
        taken = {x.name for x in self.operands}
        return sorted(index_names(self.statements) - taken)

    @property
    def counters(self) -> list[str]:
        """The indices that the function takes: those used, then those of windows by axis."""
        windows = max((len(x.declared.radii) for x in self.operands), default=0)
        return [*(n for n in self.names if n[0] == "i"),
                *(f"mat_last{k}" for k in range(windows, 0, -1))]

    @property
    def walks(self) -> bool:
        """True if it depends on places, or takes elements from other ones."""
        return bool(self.names or any(x.declared.walked for x in self.operands))

    def fact(self, name: str) -> int:
        """Return the position of the facts on an operand, or of its end, "", among all."""
        at = 1 + MOST_AXES
        for x in self.mats:
            if x.name == name:
                return at
            # of a window: lengths, strides, and where a tile begins
            window = 2 * len(x.declared.radii) + 1 if x.declared.radii else 0
            at += _RAW_FACTS if x.declared.raw else window
        return at

    # C

    def c_source(self, name: str) -> str:
        """Return the C that defines the kernel `name`, and names it by MAT_KERNELS."""
        setup = "".join(
            f"{'MAT_OUTPUT' if x.declared.written else 'MAT_INPUT'}({_stored(x.char)}, mat_at_{k}, "
            f"{k}); " for k, x in enumerate(self.mats) if not x.declared.radii)
        setup += "".join(f"const {_c_type(x.value)} mat_number_{k} = {_c_number(x, k)}; "
                         for k, x in enumerate(self.numbers))
        each = "".join(f"{_c_type(x.value)} mat_new_{k}{self._old(k, x)}; "
                       for k, x in enumerate(self.mats) if x.declared.written)
        # elements, as the function takes them
        each += "".join(f"const {_c_type(x.value)} mat_old_{k}{self._old(k, x)}; "
                        for k, x in enumerate(self.mats)
                        if x.declared.read and not x.declared.written)
        setup, each = setup + self._c_places(), each + self._c_call()
        each += "; ".join(f"mat_at_{k}[i] = {_c_narrowed(x.char, f'mat_new_{k}')}"
                          for k, x in enumerate(self.mats) if x.declared.written)
        return "\n".join([
            "#define MAT_APART", '#include "elementwise_inline.h"', '#include "vmath_inline.h"',
            '#include "float8_inline.h"', '#include "places_inline.h"',
            "#include <stdbool.h>", "#include <tgmath.h>",
            f"typedef {_c_type(self.whole)} T;", f"typedef {_real(self.whole)} MAT_REAL_TYPE;",
            *self._c_functions(), *self._access(_c_type, _stored, _c_loaded),
            self.function(_c_type, _stored, _c_loaded), *self._c_loop(name, setup, each),
            f"MAT_KERNELS({name})", ""])

    def _c_places(self) -> str:
        """Return declarations of the loop's information about places."""
        if not self.walks:
            return ""
        first = len(self.mats)
        found = "".join(f"const char *const mat_walk_{k} = at[{k}]; const int64_t mat_by_{k} = "
                        f"step[{k}]; " for k, x in enumerate(self.mats) if x.declared.radii)
        found += "".join(f"const int64_t mat_first_{k} = (int64_t)(intptr_t)at[{k + first}], "
                         f"mat_each_{k} = step[{k + first}]; " for k in range(len(self.counters)))
        return (f"{found}const int64_t *const mat_facts = "
                f"(const int64_t *)at[{first + len(self.counters)}]; ")

    def _c_call(self) -> str:
        """Return the call of the function for element `i`."""
        given = [f"mat_first_{k} + i * mat_each_{k}" for k in range(len(self.counters))]
        if self.walks:
            given += ["mat_facts", "mat_inside", "mat_flat"]
        for k, x in enumerate(self.mats):
            if x.declared.radii:
                given.append(f"(const {_stored(x.char)} *)(mat_walk_{k} + i * (mat_near ? "
                             f"(int64_t)sizeof({_stored(x.char)}) : mat_by_{k}))")
            elif x.declared.raw:
                given.append(f"mat_at_{k}")
        plain = self.arguments("mat_old_{}", "&mat_new_{}", "mat_number_{}")
        return f"mat_user({', '.join(filter(None, (plain, *given)))}); "

    def _c_loop(self, name: str, setup: str, each: str) -> list[str]:
        """Return the kernel's loop: elements with all neighbours are apart, to be vectorised."""
        windows = [(k, x) for k, x in enumerate(self.mats) if x.declared.radii]
        if self.walks:
            setup += f"const bool mat_no_gaps = {self._c_flat()}; "
        if not windows:
            if not self.walks:
                return [f"MAT_ELEMENTWISE({name}, {self.reads}, {self.writes}, 0, ({setup}), "
                        f"{each})"]
            return [
                f"MAT_CLONES void {name}_loop(int64_t n, char *const *at, const int64_t *step, "
                f"const double *numbers) {{ (void)step, (void)numbers; {setup}",
                "#define MAT_DO(flag) { const bool mat_inside = false, mat_flat = flag; "
                "MAT_EACH { " + each + "; } }",
                "if (mat_no_gaps) MAT_DO(true) else MAT_DO(false)", "}",
                f"MAT_KERNEL_OF({name}, {name}_loop, {self.reads}, {self.writes}, 0)"]
        near = " && ".join(f"mat_by_{k} == sizeof({_stored(x.char)})" for k, x in windows)
        return [
            f"MAT_CLONES void {name}_loop(int64_t n, char *const *at, const int64_t *step, const "
            "double *numbers) {", f"(void)numbers; {setup}", "int64_t mat_low = 0, mat_high = n;",
            f"if (!({near})) mat_high = 0;",
            *(f"mat_interior({r}, mat_facts[{self.fact(x.name) + j}], "
              f"mat_first_{self.counters.index(f'mat_last{len(x.declared.radii) - j}')}, "
              f"mat_each_{self.counters.index(f'mat_last{len(x.declared.radii) - j}')}, &mat_low, "
              "&mat_high);" for _, x in windows for j, r in enumerate(x.declared.radii)),
            "if (mat_low >= mat_high) mat_low = mat_high = n;",
            "#define MAT_DO(from, to, flag) { const bool mat_inside = flag, mat_near = flag, "
            "mat_flat = mat_no_gaps; (void)mat_near; const int64_t mat_from = from, mat_to = to; "
            "MAT_OF_RANGE { " + each + "; } }",
            "MAT_DO(0, mat_low, false) MAT_DO(mat_low, mat_high, true) MAT_DO(mat_high, n, false)",
            "}", f"MAT_KERNEL_OF({name}, {name}_loop, {self.reads}, {self.writes}, 0)"]

    def _c_flat(self) -> str:
        """Return whether elements by number are so many after the first one, as C."""
        facts = [self.fact(x.name) for x in self.mats if x.declared.raw == 1]
        return " && ".join(f"mat_facts[{at + 1}] == 1 && mat_facts[{at + 2 + MOST_AXES}] == 1"
                           for at in facts) or "false"

    @staticmethod
    def _old(k: int, x: Typed) -> str:
        return f" = {_c_loaded(x.char, f'mat_at_{k}[i]')}" if x.declared.read else ""

    def _c_functions(self) -> Iterator[str]:
        """Yield macros for the compiled vector functions; the C library's others are generic."""
        if BY_CHAR[self.whole].kind == "c":
            yield from _C_COMPLEX
            return
        suffix = "f32" if self.single else "f64"
        names = {**{n: f"mat_{n}_{suffix}" for n in _VECTOR},
                 **{n: f"mat_wide_{n}_{suffix}" for n in _WIDE}, "abs": "fabs"}
        yield '#define MAT_NAN ((MAT_REAL_TYPE)__builtin_nan(""))'
        for n, name in names.items():
            yield f"#undef {n}\n#define {n}(...) {name}(__VA_ARGS__)"
        yield from self._of_integers()

    # CUDA

    def cuda_kernel(self, cuda: Engine, grid: int | None, block: int) -> Engine:
        """Return the kernel in CUDA C++, as the engine takes it."""
        places = [f"x{k + len(self.mats)}[m]" for k in range(len(self.counters))]
        if self.walks:
            places += ["facts", "false", "false"]
        places += [f"x{k}[m]" for k, x in enumerate(self.mats) if x.declared.walked]
        plain = self.arguments("x{}[m]", "&x{}[m]", "number{}")
        return cuda.UserKernel(
            function="\n".join([
                f"typedef {_cuda_type(self.whole)} T;",
                f"typedef {_real(self.whole)} MAT_REAL_TYPE;",
                *(_CUDA_COMPLEX if BY_CHAR[self.whole].kind == "c" else _CUDA_REAL),
                *self._of_integers(),
                *self._access(_cuda_type, _cuda_stored, _cuda_loaded),
                self.function(_cuda_type, _cuda_stored, _cuda_loaded)]),
            call=f"mat_user({', '.join(filter(None, (plain, *places)))})",
            numbers=tuple(map(_cuda_number, self.numbers, range(len(self.numbers)))),
            elements=tuple((BY_CHAR[x.char].cuda, _cuda_type(x.value)) for x in self.mats),
            reads=self.reads, writes=self.writes,
            walked=sum(1 << k for k, x in enumerate(self.mats) if x.declared.walked),
            counters=len(self.counters), facts=self.fact("") if self.walks else 0,
            grid=grid, block=block)

    # Both

    def _of_integers(self) -> Iterator[str]:
        """Yield macros for functions of integers, but for the names of operands."""
        taken = {x.name for x in self.operands}
        for n in (*_OF_INTEGERS, *(("abs",) if self.whole in LIMITS else ())):
            if n not in taken:
                yield f"#undef {n}\n#define {n}(...) mat_{n}(__VA_ARGS__)"

    def _access(self, type_of: TypeOf, stored: TypeOf, loaded: Loaded) -> Iterator[str]:
        """Yield the functions that return elements of other places."""
        for k, x in enumerate(self.mats):
            value, at = type_of(x.value), self.fact(x.name)
            start = (f"INLINE {value} mat_of_{x.name}(const {stored(x.char)} *at, "
                     "const int64_t *facts")
            if x.declared.raw:
                positions = [f"p{j}" for j in range(x.declared.raw)]
                check = "".join(self._checks(k, j, f"p{j} < 0 || p{j} >= {length}", f"p{j}", length,
                                             value) for j, length in enumerate(
                    [f"facts[{at}]"] if len(positions) == 1 else
                    [f"facts[{at + 2 + j}]" for j in range(len(positions))]))
                offset = (f"flat ? p0 : mat_offset(facts + {at + 1}, p0)"
                          if len(positions) == 1 else
                          " + ".join(f"p{j} * facts[{at + 2 + MOST_AXES + j}]"
                                     for j in range(len(positions))))
                yield (f"{start}, bool flat, {', '.join(f'int64_t {p}' for p in positions)}) "
                       f"{{ {check}(void)flat; "
                       f"return {loaded(x.char, f'at[{offset}]')}; }}")
                yield (f"INLINE int64_t mat_size_{x.name}(const int64_t *facts) "
                       f"{{ return facts[{at}]; }}\nINLINE int64_t mat_length_{x.name}("
                       f"const int64_t *facts, int axis) {{ return facts[{at + 2} + axis]; }}")
            elif x.declared.radii:
                radii = x.declared.radii
                axes = range(len(radii))
                check = "".join(self._checks(k, j, f"d{j} < -{r} || d{j} > {r}", f"d{j}", str(r),
                                             value) for j, r in enumerate(radii))
                moved = "".join(_moved(x.outside, j, f"facts[{at + j}]", value) for j in axes)
                offset = " + ".join(f"d{j} * facts[{at + len(radii) + j}]" for j in axes)
                yield (f"{start}, bool inside, {', '.join(f'int64_t c{j}' for j in axes)}, "
                       f"{', '.join(f'int64_t d{j}' for j in axes)}) {{ {check}"
                       f"if (!inside) {{ {moved}}} "
                       f"return {loaded(x.char, f'at[{offset}]')}; }}")

    def _checks(self, k: int, axis: int, outside: str, place: str, length: str, value: str) -> str:
        """Return the statement that reports a place outside, if places are checked."""
        if not self.checked:
            return ""
        return (f"if ({outside}) {{ mat_report(facts[{self.fact('')}], {k}, {axis}, {place}, "
                f"{length}); return ({value})0; }} ")

    def _macros(self) -> Iterator[str]:
        """Yield the names by which the statements take elements of other places."""
        if any(x.declared.raw for x in self.operands):
            yield ("#define size(x) mat_size_##x(mat_facts)\n"
                   "#define length(x, axis) mat_length_##x(mat_facts, axis)")
        for x in self.operands:
            if x.declared.raw:
                yield (f"#define {x.name}(...) mat_of_{x.name}(mat_to_{x.name}, mat_facts, "
                       "mat_flat, __VA_ARGS__)")
            elif x.declared.radii:
                last = ", ".join(f"mat_last{k}" for k in range(len(x.declared.radii), 0, -1))
                yield (f"#define {x.name}(...) mat_of_{x.name}(mat_to_{x.name}, mat_facts, "
                       f"mat_inside, {last}, __VA_ARGS__)")

    def function(self, type_of: TypeOf, stored: TypeOf, loaded: Loaded) -> str:
        """Return the statements as a function of one element, in float with its constants."""
        source = LITERAL.sub(r"\g<0>f", self.statements) if self.single else self.statements
        written = [x for x in self.operands if x.declared.written]
        windows = [x for x in self.operands if x.declared.radii]
        parameters = [f"{type_of(x.value)} *mat_to_{x.name}" if x in written
                      else f"const {type_of(x.value)} {x.name}" for x in self.operands
                      if not x.declared.walked]
        parameters += [f"const int64_t {n}" for n in self.counters]
        if self.walks:
            parameters += ["const int64_t *mat_facts", "const bool mat_inside",
                           "const bool mat_flat"]
        parameters += [f"const {stored(x.char)} *mat_to_{x.name}" for x in self.mats
                       if x.declared.walked]
        old = "".join(f"{type_of(x.value)} {x.name} = "
                      f"{f'*mat_to_{x.name}' if x.declared.read else x.unset}; " for x in written)
        old += "".join(  # from where a tile begins
            f"mat_to_{x.name} += mat_facts[{self.fact(x.name) + 2 * len(x.declared.radii)}]; "
            f"const {type_of(x.value)} {x.name} = {loaded(x.char, f'*mat_to_{x.name}')}; "
            for x in windows)
        old += "".join(f"const int64_t {n} = mat_facts[{int(n[1:] or -1) + 1}]; "
                       for n in self.names if n[0] == "n")
        new = " ".join(f"*mat_to_{x.name} = {x.name};" for x in written)
        first_line, end = '#line 1 "kernel"', ""
        macros = list(self._macros())
        if _RETURN.search(source):  # out of the block, since jumps of C++ cannot pass declarations
            macros.append("#define return goto mat_end")
            end = "\n#undef return\nmat_end:"
        begin = "\n".join([old, *macros])
        undone = "".join(f"\n#undef {x.name}" for x in self.operands if x.declared.walked)
        return (f"INLINE void mat_user({', '.join(parameters)}) {{\n{first_line}\n{begin}\n{{\n"
                f'{first_line}\n{source}\n; }}{end}; {undone}\n{new} }}\n#line 1 "mat"')


def _moved(outside: str, j: int, length: str, value: str) -> str:
    """Return the statements that move an offset along window axis `j`."""
    if outside in OUTSIDE:
        return f"d{j} = mat_{outside}(c{j} + d{j}, {length}) - c{j}; "
    return f"if (c{j} + d{j} < 0 || c{j} + d{j} >= {length}) return ({value}){outside}; "


def is_single(char: str) -> bool:
    """Return whether kernels of that dtype character have constants of float."""
    return char in SMALL or BY_CHAR[char].real == "float"


def _c_type(char: str) -> str:
    """Return the type of values of that dtype character in C."""
    return "bool" if char == "?" else "float" if char in SMALL else BY_CHAR[char].c


def _cuda_type(char: str) -> str:
    """Return the type of values of that dtype character in CUDA C++."""
    found = BY_CHAR[char]
    return f"mat_complex<{found.real}>" if found.kind == "c" else _c_type(char)


def _real(char: str) -> str:
    return "float" if is_single(char) else "double"


def _stored(char: str) -> str:
    return "uint8_t" if char == "?" else BY_CHAR[char].c


_SMALL = {"e": "half", "E": "bfloat", "4": "e4m3", "5": "e5m2"}  # names of conversions


def _c_loaded(char: str, element: str) -> str:
    if char in SMALL:
        return f"from_{_SMALL[char]}({element})"
    return f"{element} != 0" if char == "?" else element


def _cuda_stored(char: str) -> str:
    return BY_CHAR[char].cuda


def _cuda_loaded(char: str, element: str) -> str:
    return f"mat_convert<{_cuda_type('f' if char in SMALL else char)}>({element})"


def _c_narrowed(char: str, value: str) -> str:
    return f"to_{_SMALL[char]}({value})" if char in SMALL else value


def _cuda_number(x: Typed, k: int) -> tuple[str, str]:
    """Return the type of a number, and its value."""
    kind, first = _cuda_type(x.value), f"call.numbers[{2 * k}]"
    if BY_CHAR[x.value].kind != "c":
        return kind, f"({kind}){first}"
    real = BY_CHAR[x.value].real
    return kind, f"{kind}(({real}){first}, ({real})call.numbers[{2 * k + 1}])"


def _c_number(x: Typed, k: int) -> str:
    first = f"numbers[{2 * k}]"
    if BY_CHAR[x.value].kind == "c":
        return f"({_c_type(x.value)})({first} + numbers[{2 * k + 1}] * I)"
    return f"({_c_type(x.value)}){first}"


# Which names of indices and lengths the statements of a kernel use: those that are no variables.
# Tokens of C are read, and no grammar is known beyond declarations and assignments


_NOTHING = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])+'", re.DOTALL)
_TOKEN = re.compile(r"[A-Za-z_]\w*|\.?\d(?:[eEpP][-+]|[\w.])*|(?:<<|>>|[-+*/%&|^])=|[=!<>]=|"
                    r"\+\+|--|->|&&|\|\||\S")
_INDEX = re.compile(r"[in][0-7]?")
_ASSIGNING = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))
_STEPPING = frozenset(("++", "--"))
# before a name that they do not declare
_BEFORE_VALUES = frozenset(("return", "else", "case", "goto", "do", "sizeof"))
_TYPES = frozenset(("T", "auto", "bool", "char", "double", "float", "int", "long", "short",
                    "signed", "size_t", "unsigned", "void", "MAT_REAL_TYPE"))


@cache
def index_names(statements: str) -> frozenset[str]:
    """Return the names i, n, i0, n0 ... that are read in some statements of C.

    A name that is declared or assigned anywhere in them is a variable, and so none of these; nor
    are members of a struct, comments and strings.
    """
    tokens = _TOKEN.findall(_NOTHING.sub(" ", statements))
    found = {t for before, t in zip(["", *tokens], tokens, strict=False)
             if _INDEX.fullmatch(t) and before not in (".", "->")}
    return frozenset(found.difference(_assigned(tokens), _declared(tokens)) if found else found)


def _assigned(tokens: list[str]) -> Iterator[str]:
    """Yield the names that are assigned, or counted up or down."""
    for name, after in zip(tokens, [*tokens[1:], ""], strict=True):
        if after in _ASSIGNING or after in _STEPPING:
            yield name
        if name in _STEPPING:
            yield after


def _declared(tokens: list[str]) -> Iterator[str]:
    """Yield the names that are declared: those after a name of a type, and others of its list."""
    for k, token in enumerate(tokens[:-1]):
        if not _is_name(token) or token in _BEFORE_VALUES:
            continue
        at = k + 1
        while token in _TYPES | {"const"} or token.endswith("_t"):  # so that it is no product
            if tokens[at:at + 1] != ["*"]:
                break
            at += 1
        if at < len(tokens) and _is_name(tokens[at]):
            yield tokens[at]
            yield from _listed(tokens[at + 1:])


def _listed(tokens: list[str]) -> Iterator[str]:
    """Yield the names after commas, up to the end of a declaration."""
    depth, begins = 0, False
    for token in tokens:
        if begins and token != "*":
            if _is_name(token):
                yield token
            begins = False
        depth += (token in "([{") - (token in ")]}")
        if depth < 0 or token == ";":
            return
        begins = begins or (token == "," and not depth)


def _is_name(token: str) -> bool:
    return token[:1].isalpha() or token[:1] == "_"
