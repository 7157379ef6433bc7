"""The emulation of the device's kernels on the CPU: right results in any
order, and faults found.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ..tools.mock_driver.harness import SANITIZED, KernelFault, compiler, run

pytestmark = pytest.mark.skipif(not compiler(), reason="no C++ compiler")

TEXT = """
#include "device.cuh"
struct sizes { int64_t n; };

template<class T> __device__ void sum(const sizes &frame, const mat_call &call) {
    MAT_SHARED(T, part, [32]);
    const T *x = (const T *)call.at[0];
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    T v = i < frame.n ? __ldg(x + i) : T(0);
    #pragma unroll
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : T(0);
    for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (threadIdx.x == 0) atomicAdd((T *)call.at[1], v);
}
MAT_KERNEL(sum_f32, sizes, 256) { sum<float>(frame, call); }
MAT_KERNEL(sum_f64, sizes, 256) { sum<double>(frame, call); }

MAT_KERNEL(scale, sizes, 256) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i >= frame.n) return;
    float4 v = ((const float4 *)call.at[0])[i];
    float a = (float)call.numbers[0];
    ((float4 *)call.at[1])[i] = make_float4(a * v.x, a * v.y, a * v.z, a * v.w);
}

MAT_KERNEL(turned, sizes, 256) {  // each block, backwards; without the barrier if n is 1
    MAT_DYNAMIC_SHARED(room);
    int *place = (int *)room, *x = (int *)call.at[0] + blockIdx.x * blockDim.x;
    place[threadIdx.x] = x[threadIdx.x];
    if (frame.n != 1) __syncthreads();
    x[threadIdx.x] = place[blockDim.x - 1 - threadIdx.x];
}

MAT_KERNEL(votes, sizes, 256) {
    int *y = (int *)call.at[0] + 8 * threadIdx.x;
    int k = (int)threadIdx.x;
    y[0] = (int)__ballot_sync(~0u, k % 3 == 0);
    y[1] = __any_sync(~0u, k % 64 == 40);
    y[2] = __all_sync(~0u, k >= 32);
    y[3] = __shfl_sync(~0u, k, 5, 8);
    y[4] = __shfl_up_sync(~0u, k, 3);
    y[5] = __reduce_min_sync(~0u, -k);
    y[6] = __syncthreads_count(k % 5 == 0);
    y[7] = k % 2 ? __shfl_xor_sync(0xaaaaaaaau, k, 2) : __shfl_xor_sync(0x55555555u, k, 4);
}

MAT_KERNEL(hang_in_block, sizes, 64) { if (threadIdx.x % 2) __syncthreads(); else __syncwarp(); }
MAT_KERNEL(forgets_itself, sizes, 64) { __syncwarp(0xfffffffe); }
MAT_KERNEL(overruns, sizes, 64) { MAT_SHARED(int, a, [4]); a[threadIdx.x] = 1; }
MAT_KERNEL(overruns_room, sizes, 64) { MAT_DYNAMIC_SHARED(room); room[threadIdx.x] = 1; }
MAT_KERNEL(unset, sizes, 64) { MAT_SHARED(float, a, [4]); ((float *)call.at[0])[0] = a[1]; }
"""
SEEDS = range(5)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize("n", [1, 31, 256, 1000, 5003])
def test_shuffles_barriers_and_atomics(rng, n, dtype, seed):
    x, y = rng.random(n + 3).astype(dtype)[3:], np.zeros(1, dtype)
    run(TEXT, f"sum_{'f32' if dtype == 'f' else 'f64'}", [n], [x, y], grid=-(-n // 256), block=256,
        seed=seed)
    np.testing.assert_allclose(y[0], x.sum(dtype="d"), rtol=1e-5)


@pytest.mark.parametrize("seed", SEEDS)
def test_votes_and_exchanges(seed):
    y = np.zeros((64, 8), np.int32)
    run(TEXT, "votes", [0], [y], block=64, seed=seed)
    k = np.arange(64)
    first = k // 32 * 32
    ballots = np.array([sum(1 << j for j in range(32) if (f + j) % 3 == 0)
                        for f in first]).astype(np.uint32).view(np.int32)
    flipped = np.where(k % 2, k ^ 2, k ^ 4)
    up = np.where(k % 32 < 3, k, k - 3)
    expected = [ballots, first == 32, first == 32, k // 8 * 8 + 5, up, -(first + 31), 64 * [13],
                flipped]
    np.testing.assert_array_equal(y, np.transpose(expected))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_missing_barrier_shows(seed):
    x = np.arange(512, dtype=np.int32)
    y = x.copy()
    run(TEXT, "turned", [0], [y], grid=4, block=128, shared=512, seed=seed)
    np.testing.assert_array_equal(y, x.reshape(4, 128)[:, ::-1].ravel())
    y = x.copy()
    run(TEXT, "turned", [1], [y], grid=4, block=128, shared=512, seed=seed)
    assert (y != x.reshape(4, 128)[:, ::-1].ravel()).any()


def test_numbers_and_vectors(rng):
    x, y = rng.random(4096).astype("f"), np.empty(4096, "f")
    run(TEXT, "scale", [4096], [x, y], [2.5], grid=4, block=256)
    np.testing.assert_array_equal(y, np.float32(2.5) * x)


def test_shared_memory_begins_poisoned():
    for seed in SEEDS:
        y = np.zeros(1, "f")
        run(TEXT, "unset", [0], [y], seed=seed)
        assert not abs(y[0]) < 1e30


survived = pytest.mark.skipif(bool(SANITIZED), reason="a sanitizer ends the process")


@survived
@pytest.mark.parametrize(("kernel", "options", "says"), [
    ("hang_in_block", {"block": 64}, "a hang: 32 threads wait at __syncthreads, 32 for lanes"),
    ("forgets_itself", {"block": 32}, "in which the lane 0 itself is not"),
    ("overruns", {"block": 5}, "index 4 is outside of the array"),
    ("overruns_room", {"block": 5, "shared": 4}, "0 bytes behind the dynamic shared memory"),
    ("overruns", {"block": 65}, "a block of 65 threads of a kernel for at most 64"),
    ("overruns", {"block": (1, 1, 65)}, "a block of 1 x 1 x 65"),
    ("overruns", {"grid": (1, 65536)}, "a grid of 1 x 65536 x 1"),
    ("overruns", {"grid": 0}, "a grid of 0 x 1 x 1"),
    ("overruns", {"frame": [1, 2]}, "a frame of 16 bytes for a kernel that has one of 8"),
])
def test_faults_are_found(kernel, options, says):
    with pytest.raises(KernelFault, match=says):
        run(TEXT, kernel, **{"frame": [0], "arrays": [], **options})


@survived
def test_misaligned_and_outside_accesses_are_found():
    x, y = np.ones(64, "f"), np.zeros(64, "f")
    with pytest.raises(KernelFault, match="which is not a multiple of 16"):
        run(TEXT, "scale", [60], [x[1:], y], [1], block=16)
    with pytest.raises(KernelFault,
                       match=r"wrote outside of an array of 128 bytes, at its bytes \[128 129"):
        run(TEXT, "scale", [64], [x, y[:32].copy()], [1], block=16)
    assert not y.any()


@pytest.mark.skipif(not SANITIZED, reason="not under a sanitizer")
@pytest.mark.parametrize(("kernel", "threads", "shared", "says"), [
    ("overruns", 5, 0, "runtime error: index 4 out of bounds"), ("scale", 1, 0, ""),
    ("overruns_room", 5, 4, "Sanitizer: heap-buffer-overflow"),
    ("scale", 4, 0, "Sanitizer: heap-buffer-overflow")])
def test_sanitizers_find_faults(kernel, threads, shared, says):
    code = f"""if True:
        import numpy as np
        from tests.cuda.test_mock_driver import TEXT, run
        x, y = np.ones(16, "f"), np.ones(12, "f")
        run(TEXT, {kernel!r}, [16], [x, y], [1], block={threads}, shared={shared})
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                          cwd=Path(__file__).parents[2])
    assert says in done.stderr
    assert (done.returncode == 0) == (not says)


def test_a_text_that_does_not_compile_says_why():
    with pytest.raises(KernelFault, match="unheard_of"):
        run("#include \"device.cuh\"\nint x = unheard_of;", "x", [], [])
