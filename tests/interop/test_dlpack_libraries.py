"""DLPack with torch and JAX, and how processes that use it end."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat

from ..support.dlpack import (
    LAYOUTS,
    own_address,
    sample,
)
from ..support.needs import native

pytestmark = pytest.mark.host


ROOT = Path(__file__).parents[2]


# torch and JAX


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


TORCH = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
         "float16", "float32", "float64",
         "complex64", "complex128", "bfloat16"]


@native
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", TORCH)
@pytest.mark.sample(3)
def test_torch_both_ways(torch, dtype, layout):
    x = LAYOUTS[layout](mat.array(sample(dtype)))
    reference = x.astype("float32").to_numpy() if dtype == "bfloat16" else x.to_numpy()
    t = torch.from_dlpack(x)
    assert (str(t.dtype), tuple(t.shape)) == (f"torch.{dtype}", x.shape)
    assert_array_equal((t.float() if dtype == "bfloat16" else t).numpy(), reference)
    assert t.numel() == 0 or (t.data_ptr() == own_address(x)) == (layout != "reversed")
    if layout != "reversed":
        t = LAYOUTS[layout](torch.arange(20).reshape(4, 5).to(t.dtype))
    y = mat.from_dlpack(t)
    assert (y.dtype, y.shape, y.element_strides) == (x.dtype, x.shape, tuple(t.stride()))
    y.fill_(1)
    assert t.float().sum() == t.numel() if not dtype.startswith("complex") else True
    assert t.numel() == 0 or own_address(y) == t.data_ptr()


@native
def test_torchs_other_ways_in(torch):
    x = mat.array([[1.0, 2], [3, 4]])
    for t in (torch.as_tensor(x), torch.from_dlpack(x, device="cpu"),
              torch.utils.dlpack.from_dlpack(x)):
        assert t.tolist() == [[1, 2], [3, 4]]
        assert t.data_ptr() == own_address(x)
    del t
    gc.collect()
    t = torch.from_dlpack(x, copy=True)
    assert t.data_ptr() != own_address(x)
    assert x.storage.accesses == []
    with pytest.raises(RuntimeError, match="buffer"):  # it would take the bytes for float32
        torch.asarray(x)


@native
def test_torch_keeps_the_export_with_its_graph(torch):
    x = mat.array([1.0, 2.0])
    w = torch.ones(2, dtype=torch.float64, requires_grad=True)
    loss = (w * torch.from_dlpack(x)).sum()
    with pytest.raises(mat.ConflictError):
        x.fill_(0)
    loss.backward()
    del loss
    gc.collect()
    assert w.grad.tolist() == [1, 2]
    x.fill_(0)
    with pytest.raises((BufferError, RuntimeError), match=r"gradient|require"):
        mat.from_dlpack(w)
    assert mat.from_dlpack(w.detach()).tolist() == [1, 1]


@native
def test_jax_both_ways():
    jax = pytest.importorskip("jax")
    x = mat.array([[1, 2, 3], [4, 5, 6]], dtype="float32")
    for y in (x, x.T, x[::-1], x[:, 1], x[0, 1, ...], x.astype("bfloat16"), x.astype("int8")):
        a = jax.numpy.from_dlpack(y)
        assert_array_equal(np.asarray(a, np.float32), y.astype("float32").to_numpy())
        del a
        b = mat.from_dlpack(jax.numpy.asarray(y.to_numpy()))
        assert b.equals(y)
        with pytest.raises(mat.DirectionError, match="read-only"):  # JAX's arrays do not change
            b.fill_(0)
    gc.collect()
    x.fill_(0)


# How processes end


def run(body, rc=0):
    """Run a script that must succeed without output to stderr."""
    setup = ("import gc, os, sys, threading\nimport numpy as np\nimport mat\n"
             "x = mat.arange(1000.0)\n")
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", setup + body],
                          capture_output=True, text=True,
                          timeout=300, cwd=ROOT, check=False, env=environment)
    assert (done.returncode, done.stderr) == (rc, "")
    return done.stdout


LIBRARIES = {
    "numpy": ("", "np.from_dlpack({})", "np.arange(3.0)"),
    "torch": ("import torch\n", "torch.from_dlpack({})", "torch.arange(3.0)"),
    "jax": ("import jax.numpy as jnp\n", "jnp.from_dlpack({})", "jnp.arange(3.0)"),
}
ENDINGS = {
    "a live export": "held = {take}\n",
    "one in a cycle": "cycle = [{take}]\ncycle.append(cycle)\n",
    "one on a module that is cleared last": "sys.held = {take}\n",
    "a live import": "taken = mat.from_dlpack({make})\nsys.other = taken.T\n",
    "there and back": "back = mat.from_dlpack({take})\nsys.more = np.from_dlpack(back)\n",
    "capsules that nobody took": "capsule = x.__dlpack__(max_version=(1, 0))\nsys.old = "
                                 "x.__dlpack__()\n",
    "an export in a thread that never ends": "def work():\n    own = {take}\n    ready.set()\n    "
                                             "threading.Event().wait()\n"
                                             "ready = threading.Event()\n"
                                             "threading.Thread(target=work, "
                                             "daemon=True).start()\nready.wait()\n",
    "an export given up in another thread": "many = [{take} for _ in range(20)]\nt = "
                                            "threading.Thread(target=many.clear)\n"
                                            "t.start()\nt.join()\n",
    "an error with it in its frames": "def fail():\n    last = {take}\n    raise "
                                      "SystemExit(3)\nfail()\n",
}
CASES = {name: ("numpy", (name,)) for name in ENDINGS} | {
    f"all, {who}": pytest.param(who, tuple(ENDINGS), marks=pytest.mark.slow)
    for who in ("torch", "jax")}


@native
@pytest.mark.parametrize(("library", "endings"), CASES.values(), ids=CASES)
@pytest.mark.sample(3)
def test_the_interpreter_ends_well_with(library, endings):
    if library != "numpy":
        pytest.importorskip(library)
    setup, take, make = LIBRARIES[library]
    take = take.format("x.astype('float32')" if library == "jax" else "x")
    body = "".join(ENDINGS[name].format(take=take, make=make) for name in endings)
    run(setup + body, rc=3 if "SystemExit" in body else 0)


FORK = """
held, taken = np.from_dlpack(x), mat.from_dlpack(np.ones(3))
child = os.fork()
if not child:
    assert held.sum() == 499500
    try:
        x.fill_(0)
        os._exit(1)
    except mat.ConflictError:
        pass
    del held, taken
    gc.collect()
    x.fill_(0)
    y = np.from_dlpack(x)
    sys.exit(0)
_, status = os.waitpid(child, 0)
assert status == 0, status
assert held.sum() == 499500
del held
x.fill_(1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_has_exports_of_its_own():
    run(FORK)


# Without compiled kernels


def test_without_compiled_kernels_numpy_makes_the_capsules():
    done = subprocess.run([sys.executable, "-c", """
import numpy as np, mat
x = mat.arange(4.0)
a = np.from_dlpack(x)
try:
    x.fill_(0)
    raise SystemExit(1)
except mat.ConflictError:
    pass
assert not a.flags.writeable and a.tolist() == [0, 1, 2, 3]
del a
x.fill_(0)
assert np.from_dlpack(x[::-1], copy=True).flags.writeable
b = np.arange(3.0)
assert mat.from_dlpack(b).scal_(2).tolist() == b.tolist()
try:
    x.astype("bfloat16").__dlpack__(max_version=(1, 0))
    raise SystemExit(2)
except BufferError as error:
    assert "bfloat16" in str(error)
"""], capture_output=True, text=True, timeout=120, cwd=ROOT, check=False,
                          env={**os.environ, "MAT_NATIVE": "0"})
    assert (done.returncode, done.stderr) == (0, "")
