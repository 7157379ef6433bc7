"""The machine code that NVRTC makes of our kernels for Hopper: no local memory, few registers, and
accesses of 128 bits where elements are adjacent and aligned.

No driver is needed, only the wheels nvidia-cuda-nvrtc and nvidia-cuda-nvdisasm. This does every
32nd program; MAT_COMPILE is another share, and 1 is all of them.
"""

import os
import re

import pytest

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from mat.cuda.runtime.nvrtc import Nvrtc, Program

from ..support.needs_nvrtc import needs_nvrtc
from ..tools.mock_driver.cubin import SPILLED, kernels
from ..tools.mock_driver.programs import listed
from ..tools.mock_driver.sass import disassembler, opcodes

pytestmark = [pytest.mark.host, pytest.mark.slow, needs_nvrtc, pytest.mark.skipif(
    not disassembler(), reason="the wheel nvidia-cuda-nvdisasm is not installed")]

ARCH = "sm_90"
SHARE = int(os.environ.get("MAT_COMPILE", "32"))
# The most registers of a thread, by the module that lists the program. A multiprocessor has 65,536:
# with 32, 2,048 threads are there at a time, with 64, 1,024, with 80, 768, with 128, 512.
REGISTERS = {"compare": 56, "conv": 128, "copy": 96, "elementwise": 80,
             "integer_matmul": 224, "nn": 160, "random": 32, "reduce": 80,
             "scan": 88, "selection": 80, "sort": 48, "staging": 32}
# those of kernels for which NVRTC 13.5 takes more
MORE = {"differ_near": 64, "random_normal_d": 42, "reduce_mean_B_columns": 97,
        "sort_c128_tiles": 52, "argsort_c128_tiles": 55}
# names of kernels that read and that write adjacent elements, and those that do not all the same:
# truth values and parts of complex numbers are shorter than what is read
BYTE = r"(b1|i8|u8|e\dm\d)"
READ = re.compile(rf"(?!mat_fill).*_(flat|rows|equal|near)|reduce_\w+_lines|"
                  rf"convert_(?!{BYTE})\w+_{BYTE}_wide")
WRITTEN = re.compile(rf"mat_\w+_flat|convert_{BYTE}_(?!{BYTE})\w+_wide|random_.*")
SHORTER = re.compile(r"mat_(compare|test|modulus)_\w+")
# of integers whose upper half goes NVIDIA's compiler reads the lower one only
HALVES = re.compile(r"convert_[iu]64_[iu]\w+_wide")
TEXT = """
#include "device.cuh"
struct sizes { int64_t n; int64_t k[40]; };
MAT_KERNEL(mat_plain_flat, sizes, 256) {
    ((uint4 *)call.at[1])[threadIdx.x] = ((uint4 *)call.at[0])[threadIdx.x];
}
MAT_KERNEL(mat_somewhere_flat, sizes, 256) {
    uint4 *to = (uint4 *)call.at[1];
    asm volatile("" : "+l"(to));
    to[threadIdx.x] = ((uint4 *)call.at[0])[threadIdx.x];
}
MAT_KERNEL(mat_narrow_flat, sizes, 256) {
    ((int *)call.at[1])[threadIdx.x] = ((int *)call.at[0])[threadIdx.x];
}
MAT_KERNEL(mat_local_flat, sizes, 256) {
    int64_t a[40];
    for (int i = 0; i < 40; i++) a[i] = frame.k[i] * threadIdx.x;
    ((uint4 *)call.at[0])[threadIdx.x] = make_uint4((unsigned)a[frame.n], 0, 0, 0);
}
"""


def wrong(program, module):
    """Return what is wrong with each kernel of a program."""
    cubin = Nvrtc().compile(program.text, program.options, ARCH)
    found = {}
    for name, kernel in kernels(cubin).items():
        code = opcodes(cubin)[name]
        problems = [what for what, is_wrong in (
            ("local memory", (kernel.stack or _has(code, "LDL|STL")) and name not in SPILLED),
            (f"{kernel.registers} registers", kernel.registers > MORE.get(name, REGISTERS[module])),
            ("accesses of an unknown memory", _has(code, "LD|ST")),
            ("no loads of 128 bits", READ.fullmatch(name) and not HALVES.fullmatch(name)
             and not _has(code, r"LDG\.(?:\w+\.)*128")),
            ("no stores of 128 bits", WRITTEN.fullmatch(name) and not SHORTER.fullmatch(name)
             and not _has(code, r"STG\.(?:\w+\.)*128")),
        ) if is_wrong]
        if problems:
            found[name] = problems
    return found


def _has(code, pattern):
    return any(re.match(rf"(?:{pattern})(?:\.|$)", opcode) for opcode in code)


@pytest.mark.parametrize(("program", "module"), [
    pytest.param(program, module, id=f"{module}-{k}")
    for k, (program, module) in enumerate(listed().items()) if k % SHARE == 0])
def test_machine_code(program, module):
    assert wrong(program, module) == {}


def test_what_is_wrong_is_found(monkeypatch):
    found = wrong(Program(TEXT), "elementwise")
    assert found == {"mat_narrow_flat": ["no loads of 128 bits", "no stores of 128 bits"],
                     "mat_somewhere_flat": ["accesses of an unknown memory",
                                            "no stores of 128 bits"],
                     "mat_local_flat": ["local memory", "no loads of 128 bits"]}
    monkeypatch.setitem(REGISTERS, "elementwise", 3)
    assert "registers" in wrong(Program(TEXT), "elementwise")["mat_plain_flat"][0]


def test_every_module_with_programs_has_a_limit():
    assert set(listed().values()) == REGISTERS.keys()
