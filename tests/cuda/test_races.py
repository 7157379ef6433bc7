"""The race checker finds planted races, and none where barriers and atomics keep order.

It runs with MAT_MOCK_RACES=1, in .ci/cuda, where kernels are compiled for it; fibres alone do not
find most of these in any order.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ..tools.mock_driver.harness import RACES, KernelFault, compiler, run

pytestmark = [pytest.mark.host, pytest.mark.skipif(not compiler(), reason="no C++ compiler")]
checked = pytest.mark.skipif(not RACES, reason="MAT_MOCK_RACES=1 looks for races")

TEXT = """
#include "device.cuh"
struct sizes {{ int64_t n; }};
MAT_KERNEL(tried, sizes, 256) {{
    float *x = (float *)call.at[0];
    int *counts = (int *)call.at[1];
    const unsigned t = threadIdx.x, warp = t / 32, all = blockIdx.x * blockDim.x + t;
    MAT_SHARED(float, a, [256]);
    (void)x, (void)counts, (void)warp, (void)all, (void)a;
    {body}
}}
"""
IN_ORDER = {
    "each its own": "x[all] = a[t] = 1; x[all] += a[t];",
    "a barrier": "a[t] = t; __syncthreads(); x[all] = a[255 - t];",
    "a barrier on either side":
        "for (int k = 0; k < 3; k++) { a[t] = k; __syncthreads(); x[all] = a[255 - t]; "
        "__syncthreads(); }",
    "a barrier of the warp": "a[t] = t; __syncwarp(); x[all] = a[t ^ 1];",
    "atomics": "atomicAdd(counts, 1); atomicMax(counts + 1, (int)all);",
    "atomics, then a barrier": "MAT_SHARED(int, n, [1]); if (!t) n[0] = 0; __syncthreads(); "
                               "atomicAdd(n, 1); __syncthreads(); x[all] = n[0];",
    "all read": "x[all] = counts[0];",
    "a shuffle": "x[all] = __shfl_xor_sync(~0u, (float)t, 1);",
}
RACING = {
    "no barrier": ("a[t] = t; x[all] = a[255 - t];", "shared"),
    "no barrier before the next turn":
        ("for (int k = 0; k < 3; k++) { a[t] = k; __syncthreads(); x[all] = a[255 - t]; }",
         "shared"),
    "no barrier of the warp": ("a[t] = t; x[all] = a[t ^ 1];", "shared"),
    "a barrier of the warp only": ("a[t] = t; __syncwarp(); x[all] = a[t ^ 32];", "shared"),
    "a shuffle is no barrier":
        ("a[t] = t; float y = __shfl_xor_sync(~0u, (float)t, 1); x[all] = a[t ^ 1] + y;", "shared"),
    "one element for all": ("x[0] = t;", "a write after a write by .* global"),
    "one element of two blocks": ("x[t] = t;", "of block 0, .* global"),
    "blocks are in no order":
        ("x[all] = t; __syncthreads(); counts[all] = (int)x[511 - all];", "global"),
    "an addition that is not atomic": ("counts[0] += 1;", "global"),
    "atomics and others": ("if (t & 1) atomicAdd(counts, 1); else x[all] = counts[0];", "global"),
    "bytes of a word": ("((char *)x)[all * 2] = 1; ((short *)x)[all ^ 1] = 1;", "global"),
    "dynamic shared memory":
        ("MAT_DYNAMIC_SHARED(room); ((int *)room)[t] = t; x[all] = ((int *)room)[t ^ 1];",
         "shared"),
}


def tried(body, name="tried"):
    x, counts = np.zeros(512, np.float32), np.zeros(512, np.int32)
    run(TEXT.format(body=body).replace("tried", name), name, (1,), [x, counts], grid=2, block=256,
        shared=1024)


@checked
@pytest.mark.parametrize("name", IN_ORDER)
def test_what_is_in_order_is_no_race(name):
    tried(IN_ORDER[name])


@checked
@pytest.mark.parametrize("name", RACING)
def test_a_planted_race_is_found(name):
    body, text = RACING[name]
    with pytest.raises(KernelFault, match=f"a race: .*{text}"):
        tried(body)


@checked
def test_equal_bytes_of_a_kernel_that_may_write_them_are_no_race():
    tried("x[t] = t;", "permute_loose_test")
    for body in ("x[t] = all;", "a[0] = t;", "x[0] = 1;", "x[t] += all;"):
        with pytest.raises(KernelFault, match="a race"):
            tried(body, "permute_loose_test")


@pytest.mark.slow
@pytest.mark.skipif(RACES, reason="this is it")
def test_planted_races_are_found_in_a_process_that_looks_for_them():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--all", "-p", "no:cacheprovider", __file__],
        env={**os.environ, "MAT_MOCK_RACES": "1"}, capture_output=True, text=True, timeout=300,
        cwd=Path(__file__).parents[2], check=False)
    assert done.returncode == 0, done.stdout
    assert f"{len(IN_ORDER) + len(RACING) + 1} passed" in done.stdout
