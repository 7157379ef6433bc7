"""The interpreter of PTX: what NVRTC makes of kernels runs; memory, barriers and warps; planted
faults are found; every form in our programs is known and tested.
"""

import os

import numpy as np
import pytest

import mat

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from mat.cuda.runtime.nvrtc import EXACT

from ..support.needs_nvrtc import needs_nvrtc
from ..tools.mock_driver.harness import KernelFault, compiler
from ..tools.mock_driver.harness import run as run_compiled
from ..tools.mock_driver.programs import listed
from ..tools.mock_driver.ptx import interpreter
from .ptx_forms import cases, opcodes
from .test_mock_driver import SEEDS, TEXT

pytestmark = [pytest.mark.host, pytest.mark.skipif(not compiler(), reason="no C++ compiler")]

EVERY = int(os.environ.get("MAT_COMPILE", "40"))
UNROUNDED = {f"{name}.f{bits}" for name in ("add", "sub", "mul") for bits in (32, 64)}
HEAD = """
.version 9.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 room[];
.global .align 8 .b8 table[16] = {{7, 0, 0, 0, 1, 2, 3, 4}};
.func (.param .b32 twice_retval0) twice(.param .b32 twice_param_0);
.visible .entry tried(.param .align 8 .b8 tried_param_0[8],
    .param .align 8 .b8 tried_param_1[512])
.maxntid 64, 1, 1
{{
    .reg .pred %p<9>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    .shared .align 16 .b8 part[16];
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [tried_param_1];
    ld.param.u64 %rd2, [tried_param_0];
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd3, %rd1, %rd3;
    {body}
    ret;
}}
.func (.param .b32 twice_retval0) twice(.param .b32 twice_param_0)
{{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .local .align 4 .b8 own[4];
    ld.param.u32 %r1, [twice_param_0];
    setp.eq.u32 %p1, %r1, 77;
    @%p1 trap;
    st.local.u32 [own], %r1;
    ld.local.u32 %r2, [own];
    add.u32 %r2, %r1, %r2;
    st.param.b32 [twice_retval0+0], %r2;
    ret;
}}
"""
CALL = """mov.u32 %r1, {value}; {{ .reg .b32 temp; .param .b32 param0; st.param.b32 [param0+0], %r1;
    .param .b32 retval0; call.uni (retval0), twice, (param0); ld.param.b32 %r2, [retval0+0]; }}"""


def tried(body, n=0, block=1, size=64, shared=0, seed=0):
    """Run lines of PTX on 32-bit integers at %rd1; %rd3 is the place of the thread's own."""
    x = np.arange(size, dtype=np.int32)
    interpreter.run(HEAD.format(body=body), "tried", (n,), [x], block=block, shared=shared,
                    seed=seed)
    return x


STORE = "st.global.u32 [%rd1], %r2;"
FAULTS = {
    "a misaligned load": ("ld.global.u32 %r2, [%rd1+2];", "4 bytes at .*no multiple"),
    "a misaligned vector": ("ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1+8];",
                            "16 bytes at .*no multiple"),
    "a misaligned store": ("st.shared.v2.u32 [part+4], {%r1, %r1};", "8 bytes at 0x4,"),
    "a load behind the array": ("ld.global.u32 %r2, [%rd1+256];", "where no memory"),
    "a load before the array": ("ld.global.u32 %r2, [%rd1+-4];", "where no memory"),
    "a vector half behind": ("add.s64 %rd3, %rd1, 240; st.global.v4.u32 [%rd3+16], "
                             "{%r1, %r1, %r1, %r1};", "where no memory"),
    "behind a shared array": ("st.shared.u32 [part+16], %r1;", "where no shared array"),
    "behind the dynamic one": ("st.shared.u32 [room+32], %r1;", "where no shared array"),
    "behind the table": ("ld.global.u32 %r2, [table+16];", "where no memory"),
    "behind the parameters": ("ld.param.u64 %rd4, [tried_param_0+8];", "where no memory"),
    "null": ("mov.u64 %rd4, 0; ld.u8 %r2, [%rd4];", "where no memory"),
    "written after .nc": ("ld.global.nc.u32 %r2, [%rd1]; st.global.u8 [%rd1+3], 1;",
                          "was read by .nc"),
    "written before .nc": ("st.global.u32 [%rd3], 1; ld.global.nc.v2.u32 {%r2, %r3}, [%rd1];",
                           "was written in this launch"),
    "a trap": ("trap;", "a trap"),
    "a trap in a function": (CALL.format(value=77), "trap;': a trap"),
    "an unset operand of a function": ("call.uni twice, ();", "0 operands, not 2"),
    "another barrier": ("bar.sync 1;", "barriers but the first"),
    "lanes that never come": ("setp.eq.u32 %p1, %r1, 0; @%p1 bar.warp.sync 3; "
                              "@!%p1 bar.sync 0;", "a hang"),
    "a lane without itself": ("bar.warp.sync 12;", "in which the lane"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault):
    body, message = FAULTS[fault]
    with pytest.raises(KernelFault, match=f"tried: .*{message}"):
        tried(body, shared=32, block=2)


@pytest.mark.parametrize(("body", "message"), [
    ("frob.u32 %r2, %r1;", "frob.u32 is not known"),
    ("add.sat.s32 %r2, %r1, 1;", "add.sat.s32 is not known with .sat"),
    ("add.u32 %r2, %r1;", "2 operands, not 3"),
    ("call.uni elsewhere, ();", "there is no function elsewhere"),
    ("mov.u32 %r2, nowhere;", "there is no nowhere"),
    ("bra $L_nowhere;", "there is no label"),
    ("mov.u32 %r2, %clock;", "no register can be %clock"),
    ("cvt.u32.f32 %r2, %r1; lop4.b32 %r1, %r1;", "lop4.b32 is not known")])
def test_what_is_not_known_is_an_error(body, message):
    with pytest.raises(KernelFault, match=message):
        tried(body)


@pytest.mark.parametrize(("body", "first"), [
    ("ld.global.v2.u32 {%r2, %r3}, [%rd1+8]; add.u32 %r2, %r2, %r3;", 5),
    ("ld.global.nc.u8 %r2, [%rd1+9]; st.global.u16 [%rd1+10], 1; mov.u32 %r2, 4;", 4),
    ("ld.global.nc.v4.u32 {_, %r2, _, %r3}, [%rd1+16]; sub.u32 %r2, %r2, %r3;", -2),
    ("ld.global.u32 %r2, [table];", 7),
    ("mov.u64 %rd4, table; cvta.global.u64 %rd4, %rd4; ld.s8 %r2, [%rd4+7];", 4),
    ("st.global.u32 [%rd1], -2; ld.global.s8 %rd4, [%rd1]; cvt.s32.s64 %r2, %rd4;", -2),
    ("st.global.u32 [%rd1], -2; ld.global.u8 %rd4, [%rd1]; cvt.s32.s64 %r2, %rd4;", 254),
    ("mov.u32 %r3, part; st.shared.u32 [%r3+4], 9; ld.shared.u32 %r2, [part+4];", 9),
    ("mov.u64 %rd4, part; cvta.shared.u64 %rd4, %rd4; st.u32 [%rd4], 8; ld.shared.u32 %r2, [part];",
     8),
    ("mov.u64 %rd4, 0x100000002; mov.b64 {%r2, %r3}, %rd4; mul.lo.u32 %r2, %r2, 5; "
     "mov.b64 %rd5, {%r3, %r2}; shr.u64 %rd5, %rd5, 32; cvt.u32.u64 %r2, %rd5;", 10),
    ("mov.u32 %r3, 2; $T: .branchtargets $A, $A, $B; brx.idx %r3, $T; $A: mov.u32 %r2, 1; "
     "bra.uni $C; $B: mov.u32 %r2, 2; $C:", 2),
    ("{ .reg .b32 %r2; mov.b32 %r2, 5; } mov.u32 %r2, 3;", 3),
    (".local .align 4 .b8 own[8]; st.local.u32 [own+4], 6; ld.local.u32 %r2, [own+4];", 6),
    (f".local .align 4 .b8 own[8]; st.local.u32 [own+4], 6; {CALL.format(value=21)} "
     "ld.local.u32 %r3, [own+4]; add.u32 %r2, %r2, %r3;", 48),
    ("mov.u32 %r3, -1; add.cc.u32 %r4, %r3, 2; addc.u32 %r2, 5, 6;", 12),
    ("mov.u32 %r3, 1; add.cc.u32 %r4, %r3, 2; addc.cc.u32 %r2, 5, 6; addc.u32 %r2, %r2, 0;", 11),
    ("mov.u32 %r3, 1; sub.cc.u32 %r4, %r3, 2; subc.cc.u32 %r2, 5, 6; subc.u32 %r2, %r2, 0;", -3),
    ("mov.u32 %r3, 2; sub.cc.u32 %r4, %r3, 2; subc.u32 %r2, 5, 1;", 4),
    ("mov.u32 %r3, -1; mad.lo.cc.u32 %r4, %r3, %r3, %r3; madc.hi.u32 %r2, %r3, %r3, 5;",
     4),
    ("atom.global.add.u32 %r2, [%rd1+20], 3; ld.global.u32 %r3, [%rd1+20]; "
     "mad.lo.s32 %r2, %r2, 100, %r3;", 508),
    ("red.global.max.s32 [%rd1+20], 77; ld.global.u32 %r2, [%rd1+20];", 77),
    ("atom.global.cas.b32 %r2, [%rd1+20], 5, 50; ld.global.u32 %r3, [%rd1+20]; "
     "add.u32 %r2, %r2, %r3;", 55),
    ("mov.f32 %r3, 0f40000000; cvt.rzi.s32.f32 %r2, %r3;", 2),
    ("mov.b32 %r3, 0fFF800001; add.f32 %r2, %r3, %r3;", 0x7FFFFFFF),
    ("mov.b32 %r3, 0f00000001; add.ftz.f32 %r2, %r3, %r3;", 0),
    ("mov.b32 %r3, 0f40400000; mul.sat.f32 %r2, %r3, %r3;", 0x3F800000),
    ("mov.b32 %r3, 0f40800000; rsqrt.approx.ftz.f32 %r2, %r3;", 0x3F000000),
    ("mov.b32 %r3, 0f40400000; ex2.approx.f32 %r2, %r3;", 0x41000000),
    ("mov.b32 %r3, 0f41000000; lg2.approx.ftz.f32 %r2, %r3;", 0x40400000),
    ("mov.b32 %r3, 0f40400000; mov.b32 %r4, 0f40000000; div.full.f32 %r2, %r3, %r4;", 0x3FC00000),
    ("setp.gt.u32 %p1|%p2, %r1, 5; selp.u32 %r2, 1, 0, %p2; @%p1 mov.u32 %r2, 9;", 1)])
def test_memory_branches_and_registers(body, first):
    assert tried(f"{body} {STORE}".replace("_,", "%r8,"))[0] == first


@pytest.mark.sample(8)
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("kind", [*(f"{c}{b}" for c in "usb" for b in (8, 16, 32, 64)), "f32",
                                  "f64"])
@pytest.mark.parametrize("space", [".global", ".shared", ".local", ""])
def test_loads_and_stores(space, kind, n):
    """Bytes of one place go to another, and the first number fills its register."""
    width = int(kind[1:]) // 8
    if n * width > 16:
        pytest.skip("128 bits are the most")
    data = bytes((37 * k + 201) % 256 for k in range(16))
    vector = f".v{n}" * (n > 1)
    values = ", ".join(f"%r{k + 1}" for k in range(n))
    values = f"{{{values}}}" if n > 1 else values
    there = {".shared": "part", ".local": "own", ".global": "%rd1+64", "": "%rd1+64"}[space]
    low, high = (int.from_bytes(data[k:k + 8], "little") for k in (0, 8))
    found = tried(f"""
        .local .align 16 .b8 own[16];
        st.global.b64 [%rd1], {low}; st.global.b64 [%rd1+8], {high};
        ld.global{vector}.{kind} {values}, [%rd1];
        st{space}{vector}.{kind} [{there}], {values};
        ld{space}{vector}.{kind} {values}, [{there}];
        st.global{vector}.{kind} [%rd1+128], {values};
        st.global.b64 [%rd1+192], %r1;""").tobytes()
    assert found[128:128 + n * width] == data[:n * width]
    assert found[128 + n * width:144] == np.arange(32, 36, dtype=np.int32).tobytes()[n * width:]
    number = int.from_bytes(data[:width], "little", signed=kind[0] == "s")
    assert found[192:200] == (number % 2**64).to_bytes(8, "little")


def test_lanes_and_blocks():
    found = tried("mov.u32 %r2, %laneid; mov.u32 %r3, %warpid; mad.lo.u32 %r2, %r3, 100, %r2; "
                  "mov.u32 %r4, %lanemask_lt; popc.b32 %r4, %r4; mad.lo.u32 %r2, %r4, 1000, %r2; "
                  "st.global.u32 [%rd3], %r2;", block=64)
    k = np.arange(64)
    np.testing.assert_array_equal(found, k // 32 * 100 + k % 32 + 1000 * (k % 32))


@needs_nvrtc
@pytest.mark.parametrize("seed", SEEDS)
def test_a_program_of_nvrtc(rng, seed):
    """Shuffles, votes, reductions, barriers, atomics and vectors."""
    text = interpreter.compiled(TEXT)
    x, y = rng.random(1003).astype("f")[3:], np.zeros(1, "f")
    interpreter.run(text, "sum_f32", [1000], [x, y], grid=4, block=256, seed=seed)
    np.testing.assert_allclose(y[0], x.sum(dtype="d"), rtol=1e-5)
    votes, wanted = np.zeros((64, 8), np.int32), np.zeros((64, 8), np.int32)
    interpreter.run(text, "votes", [0], [votes], block=64, seed=seed)
    run_compiled(TEXT, "votes", [0], [wanted], block=64, seed=seed)
    np.testing.assert_array_equal(votes, wanted)
    x, y = np.arange(512, dtype=np.int32), np.arange(512, dtype=np.int32)
    interpreter.run(text, "turned", [0], [y], grid=4, block=128, shared=512, seed=seed)
    np.testing.assert_array_equal(y, x.reshape(4, 128)[:, ::-1].ravel())
    y = x.copy()
    interpreter.run(text, "turned", [1], [y], grid=4, block=128, shared=512, seed=seed)
    assert (y != x.reshape(4, 128)[:, ::-1].ravel()).any()  # without the barrier


@needs_nvrtc
@pytest.mark.parametrize(("kernel", "message"), [
    ("hang_in_block", "a hang"), ("forgets_itself", "in which the lane"),
    ("overruns_room", "where no shared array")])
def test_faults_of_a_program_of_nvrtc(kernel, message):
    with pytest.raises(KernelFault, match=message):
        interpreter.run(interpreter.compiled(TEXT), kernel, [0], [np.zeros(1)], block=64)


@needs_nvrtc
def test_the_mock_driver_interprets_what_it_is_told_to(cuda, monkeypatch):
    if not cuda.is_mock:
        pytest.skip("about the mock driver")
    monkeypatch.setattr(interpreter, "SHARE", 1)
    seen, really = [], interpreter.compiled
    monkeypatch.setattr(interpreter, "compiled", lambda *of: seen.append(of) or really(*of))
    with mat.use_device("cuda", required=True):
        x, y = mat.arange(1000.0), mat.zeros(1000)
        mat.kernel("y = x * 12 + 0.0625", x="input", y="output")(x, y)
        np.testing.assert_array_equal(y.to_numpy(), np.arange(1000) * 12 + 0.0625)
    assert len(seen) == 1
    assert not interpreter.is_interpreted(TEXT, ())  # of the tests
    monkeypatch.setattr(interpreter, "SHARE", 0)
    assert not interpreter.is_interpreted(*seen[0])


@needs_nvrtc
def test_products_and_sums_are_rounded_separately_where_it_is_asked_for():
    """The same text, with and without --fmad=false: only PTX shows it."""
    text = """#include "device.cuh"
struct sizes { int64_t n; };
MAT_KERNEL(line, sizes, 1) { float *x = (float *)call.at[0]; x[0] = x[1] * x[2] + x[3]; }
"""
    for options, wanted in (((), 2.0**-24), (("--fmad=false",), 0)):
        x = np.float32([5, 1 + 2**-12, 1 + 2**-12, -1 - 2**-11])
        interpreter.run(interpreter.compiled(text, options), "line", [0], [x])
        assert x[0] == wanted


@needs_nvrtc
@pytest.mark.parametrize(("dtype", "step"), [("float32", 2.0**-12), ("float64", 2.0**-27)])
def test_what_a_sum_is_added_to_is_rounded_before(cuda, monkeypatch, dtype, step):
    if not cuda.is_mock:
        pytest.skip("about what ptxas may contract")
    monkeypatch.setattr(interpreter, "SHARE", 1)
    x, y = mat.array([-1 - 2 * step], dtype), mat.array(1 + step, dtype)
    with mat.use_device("cuda", required=True):
        y.sum_(x, beta=1 + step)
    assert float(y) == 0


@needs_nvrtc
@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_every_form_in_our_programs_is_known_and_tested(arch):
    """Where results are the host's bit for bit, nothing is left to be contracted.

    MAT_COMPILE is the share of programs, and 1 is all of them.
    """
    tested = {opcode for opcode, *_ in cases()}
    moving = ("ld.", "st.", "atom.", "red.", "cvta.", "shfl.", "bar.", "vote.", "redux.", "bra",
              "ret", "exit", "trap", "membar", "fence", "mov.b", "barrier.")
    unknown, contracted = {}, {}
    for k, program in enumerate(listed()):
        if k % EVERY == 0:
            text = interpreter.compiled(*program, arch)
            interpreter.loaded(text)
            for opcode in opcodes(text) - tested:
                if ".approx" not in opcode and not opcode.startswith(moving):
                    unknown[opcode] = program
            if EXACT in program.options:  # ptxas may contract those without .rn
                contracted.update(dict.fromkeys(opcodes(text) & UNROUNDED, program))
    assert not unknown
    assert not contracted
