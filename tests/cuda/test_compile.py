"""Every program that our code can ask for: NVRTC compiles it for Ampere and for Hopper, without
local memory.

So does the C++ compiler for the tests. No driver is needed, only the wheel nvidia-cuda-nvrtc. As it
takes minutes, this does every 16th program; MAT_COMPILE is another share, and 1 is all of them.
"""

import os
import re
from functools import cache

import pytest

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from mat.cuda.kernels import copy, elementwise
from mat.cuda.runtime.nvrtc import Nvrtc, Program
from mat.support.cuda_probe import LEAST

from ..support.needs_nvrtc import needs_nvrtc
from ..tools.mock_driver.cubin import SPILLED, Kernel, kernels
from ..tools.mock_driver.harness import check, compiler
from ..tools.mock_driver.programs import is_ours, listed, unlisted
from ..tools.mock_driver.ptx.nvrtc_ptx import ptx

SHARE = int(os.environ.get("MAT_COMPILE", "16"))
SHARED = 48 << 10
# bytes of a thread: what we write for has none, what came before it may have a little (functions of
# 8-bit floats have most)
LOCAL = {"sm_80": 40, "sm_90": 0}
SPILLS = """
#include "device.cuh"
struct sizes { int64_t n; int64_t k[40]; };
MAT_KERNEL(plain, sizes, 256) { ((float *)call.at[0])[threadIdx.x] = (float)frame.n; }
MAT_KERNEL(local, sizes, 256) {
    int64_t a[40];
    for (int i = 0; i < 40; i++) a[i] = frame.k[i] * threadIdx.x;
    ((float *)call.at[0])[threadIdx.x] = (float)a[frame.n];
}
MAT_KERNEL(sharing, sizes, 256) {
    MAT_SHARED(float, a, [100]);
    a[threadIdx.x] = (float)frame.n;
    __syncthreads();
    ((float *)call.at[0])[threadIdx.x] = a[99 - threadIdx.x];
}
"""


@cache
def compiled(program, arch):
    return kernels(Nvrtc().compile(program.text, program.options, arch))


every_program = pytest.mark.parametrize("program", [
    pytest.param(program, id=f"{module}-{k}") for k,
    (program, module) in enumerate(listed().items()) if k % SHARE == 0])


@needs_nvrtc
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@every_program
def test_nvrtc_compiles_without_local_memory(program, arch):
    found = compiled(program, arch)
    assert found
    assert [k for k in found.values() if k.stack > max(LOCAL[arch], SPILLED.get(k.name, 0))] == []
    # Hopper keeps 1024 bytes for itself
    assert [k for k in found.values() if k.shared > SHARED + 1024] == []


@pytest.mark.skipif(not compiler(), reason="no C++ compiler")
@every_program
def test_the_compiler_of_the_tests_takes_it_too(program):
    check(program.text, tuple(o for o in program.options if o.startswith("-D")))


@needs_nvrtc
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_local_memory_is_found(arch):
    plain, local, sharing = (compiled(Program(SPILLS), arch)[name]
                             for name in ("plain", "local", "sharing"))
    assert plain == Kernel("plain", plain.registers, 0, plain.shared)
    assert 4 <= plain.registers <= 32
    assert local.stack == 320
    assert sharing.stack == 0
    assert sharing.shared - plain.shared in (400, 1424)


@needs_nvrtc
@pytest.mark.parametrize("source", ["float32", "bfloat16", "float16"])
def test_conversions_compile_for_the_oldest_devices(source):
    """There is no instruction for bfloat16."""
    arch = "sm_{}{}".format(*LEAST)
    for program in (copy.program(source, "float64"), copy.program(source, "int8")):
        assert compiled(program, arch)


@needs_nvrtc
@pytest.mark.parametrize("kind", ["c64", "c128"])
def test_a_complex_number_is_one_access(kind):
    """Where elements are not adjacent, too."""
    family = next(f for f in elementwise.families(kind) if f.name == "two")
    program = elementwise.program(family, kind, "steps")
    text = ptx(program.text, program.options, "compute_80")
    _, found, rest = text.partition(f".entry mat_two_{kind}_steps(")
    accesses = re.findall(r"\b(?:ld|st)\.global\.(\S+)", rest.partition(".entry")[0])
    assert found
    assert accesses
    assert all(access.startswith("v2.") for access in accesses), accesses


def test_programs_are_told_apart():
    assert listed()
    assert all(is_ours(p.text) for p in listed())
    first = next(iter(listed()))
    assert not unlisted(first)
    assert unlisted(first._replace(text=first.text + " "))
    assert not unlisted(first._replace(text=SPILLS))


@needs_nvrtc
@pytest.mark.parametrize("header", [
    *(f"{name}_inline.h" for name in ("bits", "float8", "normal", "philox", "trig", "trig_far",
                                      "vmath_arc", "vmath_f32", "vmath_f64", "vmath_log",
                                      "vmath_pow", "vmath_root")),
    *(f"{name}.cuh" for name in ("axes", "convert", "elements", "functions", "memory", "permute"))])
def test_headers_include_what_they_use(header):
    """They are included in any order; those for C, too, are compiled by `tests/cpu/test_native`."""
    assert Nvrtc().compile(f'#include "{header}"\n__global__ void kernel() {{}}\n', (), "sm_90")
