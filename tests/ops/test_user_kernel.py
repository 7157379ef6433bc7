"""Users' kernels: both precisions, directions, layouts, errors at the user's line, the cache."""

import os
import pickle
import shutil
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat import AliasError, ConflictError, DTypeError, KernelError, ShapeError
from mat.ops.engine.operation import REGISTRY
from mat.support import c_compiler

from ..support.layouts import LAYOUTS, check_hidden, place
from ..support.needs import native

pytestmark = [native, pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")),
                                         reason="there is no C compiler")]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Set a directory of compiled kernels for these tests alone."""
    before = os.environ.get("MAT_CACHE")
    os.environ["MAT_CACHE"] = str(tmp_path_factory.mktemp("kernels"))
    yield os.environ["MAT_CACHE"]
    if before is None:
        del os.environ["MAT_CACHE"]
    else:
        os.environ["MAT_CACHE"] = before


@pytest.fixture(scope="module")
def axpby(cache):
    return mat.kernel("y = a * x + b * y", a="number", x="input", b="number", y="io", name="axpby")


@pytest.fixture(scope="module")
def polar(cache):
    """Make a kernel of two outputs, several statements, and functions of several kinds."""
    return mat.kernel("""
        T norm = sqrt(x * x + y * y);   // a local variable
        if (norm > 0.5) r = exp(-norm) + fmin(norm, 1.0f);
        else r = 0;
        angle = atan2(y, x) + abs(x) * sin(y);
    """, x="input", y="input", r="output", angle="output")


def expected_polar(x, y):
    norm = np.hypot(x, y)
    return np.where(norm > 0.5, np.exp(-norm) + np.minimum(norm, 1),
                    0), np.arctan2(y, x) + np.abs(x) * np.sin(y)


@pytest.mark.sample(12)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_all_layouts_in_both_precisions(axpby, rng, dtype, layout):
    for shape in ((3, 4), (7,), (), (0, 3), (2, 3, 5)):
        x, y = (np.asarray(rng.standard_normal(shape)).astype(dtype) for _ in range(2))
        one, other = place(x, layout), place(y, layout)
        assert axpby(2, one, 0.5, other) is other
        assert_allclose(other.to_numpy(), 2 * x + 0.5 * y,
                        rtol=1e-5 if dtype == "float32" else 1e-14, atol=1e-6)
        check_hidden(other)


@pytest.mark.sample(4)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [5, 100_003])
def test_several_outputs_and_statements(polar, rng, dtype, n):
    x, y = rng.standard_normal((2, n)).astype(dtype)
    r, angle = mat.empty(n, dtype=dtype), mat.empty(n, dtype=dtype)
    for _ in range(2):
        assert polar(mat.array(x), mat.array(y), r, angle) is angle
    for found, wanted in zip((r, angle), expected_polar(x.astype("float64"), y.astype("float64")),
                             strict=True):
        assert_allclose(found.to_numpy(), wanted, rtol=1e-5 if dtype == "float32" else 1e-13,
                        atol=1e-6)


def test_inputs_broadcast(axpby):
    y = mat.ones(3, 4)
    axpby(1, mat.arange(4.0), 10, y)
    assert_array_equal(y.to_numpy(), np.broadcast_to(np.arange(4) + 10, (3, 4)))
    axpby(1, mat.array([[1.0], [2], [3]]), 0, y)
    assert_array_equal(y.to_numpy(), np.broadcast_to([[1], [2], [3]], (3, 4)))


def test_keywords_and_aliases(axpby):
    y = mat.ones(3)
    axpby(a=1, x=mat.ones(3), b=2, y=y)
    assert_array_equal(y.to_numpy(), [3, 3, 3])
    assert_array_equal(axpby(1, y, 1, y).to_numpy(), [6, 6, 6])
    with pytest.raises(AliasError, match="axpby"):
        axpby(1, y[:2], 1, y[1:])
    assert_array_equal(axpby(1, y[:1], 1, y[1:2]).to_numpy(), [12])


@pytest.mark.host
def test_directions_are_those_declared(axpby, polar):
    x, y = mat.ones(4), mat.full(4, 2.0)
    axpby(1.0, x, 0.0, y)
    with x.facet("array", "input"):
        axpby(1.0, x, 0.0, y)
    found = []

    def attempt():
        with pytest.raises(ConflictError):
            axpby(1.0, x, 0.0, y)
        found.append(True)

    with x.facet("array", "io"):
        other = threading.Thread(target=attempt)
        other.start()
        other.join()
    assert found
    r, angle = mat.empty(4), mat.empty(4)
    polar(x, y, r, angle)
    assert r.fresh == {"host"}
    assert str(polar.__signature__) == "(x: Input, y: Input, r: Output, angle: Output)"


def test_operands_are_checked_before_anything_is_touched(axpby):
    x, y = mat.ones(3), mat.ones(3)
    for args, error, message in [
            ((1, x, 1), DTypeError, "axpby"), ((1, x, 1, y, 1), DTypeError, "axpby"),
            ((x, x, 1, y), DTypeError, "a must be a number"),
            ((1, 2, 1, y), DTypeError, "x of axpby must be a Mat"),
            ((1, mat.ones(4), 1, y), ShapeError, "broadcast"),
            ((1, mat.ones(3, 3), 1, y), ShapeError, "broadcast"),
            ((1, x, 1, mat.ones(1).broadcast_to(3)), AliasError, "overlap")]:
        with pytest.raises(error, match=message):
            axpby(*args)
    assert_array_equal(y.to_numpy(), np.ones(3))


@pytest.mark.parametrize("value", ["a", "float32", b"a", np.str_("a"), [1], {}])
def test_numbers_are_checked_before_an_output_is_made(value):
    scaled = mat.kernel("y = s * x", s="number", x="input", y="output")
    with pytest.raises(DTypeError, match="s must be a number, got"):
        scaled(value, mat.ones(3))


@pytest.mark.parametrize("text", ["raw(0)", "raw(-1)", "window(-1) 0", "window() wrap",
                                  "window (1) 0", "window(1.5) nearest"])
def test_wrong_declarations_of_raw_inputs_and_windows_are_explained(text):
    with pytest.raises(KernelError, match="an input is read by position if"):
        mat.kernel("y = x(1)", x=f"input {text}", y="output")


def test_one_mat_is_not_written_twice(polar):
    x = mat.ones(3)
    with pytest.raises(AliasError, match="one Mat for both"):
        polar(mat.ones(3), mat.ones(3), x, x)
    assert_array_equal(x.to_numpy(), np.ones(3))


@pytest.mark.parametrize(("text", "operands", "message"), [
    ("", {"y": "io"}, "string of C"), (3, {"y": "io"}, "string of C"),
    ("y = 1", {}, "writes something"),
    ("y = 1", {"y": "input"}, "writes something"), ("y = 1", {"y": "out"}, "'number', 'input', "
                                                                           "'output', 'io', got "
                                                                           "'out'"),
    ("int = 1", {"int": "io"}, "cannot be the name"),
    ("mat_x = 1", {"mat_x": "io"}, "cannot be the name"),
    ("for = 1", {"for": "io"}, "cannot be the name"), ("T = 1", {"T": "io"}, "cannot be the name")])
def test_bad_declarations(text, operands, message):
    with pytest.raises(KernelError, match=message):
        mat.kernel(text, **operands)


def test_bad_names():
    with pytest.raises(KernelError, match="identifier"):
        mat.kernel("y = 1", y="output", name="a b")
    with pytest.raises(KernelError, match="at most 16"):
        mat.kernel("y = 1", y="output", **{f"x{k}": "input" for k in range(16)})


@pytest.mark.host
@pytest.mark.parametrize(("text", "message"), [
    ("y = z * x", r"line 1 of the kernel: .*z.* undeclared.*\n    y = z \* x\n        \^"),
    ("T t = x;\ny = t +* 2", r"line 2 of the kernel: (?s:.*)\n    y = t \+\* 2\n"),
    ("y = x; x = 2", "cannot be assigned"), ("y = a; a = 2", "cannot be assigned"),
    ("y = nonsense(x)", "line 1 of the kernel: .*nonsense"),
    ("y = x }", "test_user_kernel.py:[0-9]+, line 1")])
@pytest.mark.sample(6)
def test_the_compiler_speaks_of_the_users_line(cache, text, message):
    bad = mat.kernel(text, a="number", x="input", y="output")
    x, y = mat.ones(3), mat.zeros(3)
    with pytest.raises(KernelError, match=message) as caught:
        bad(1, x, y)
    assert caught.value.args[0].startswith(__file__)
    assert_array_equal(y.to_numpy(), np.zeros(3))


@pytest.mark.sample(6)
@pytest.mark.parametrize("text", ["if (x > 1) y = x", "if (x <= 1) return; y = x",
                                  "for (; x > 1;) { y = x; break; }", "y *= x; if (x > 1) y = x"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_output_is_nan_where_it_is_not_assigned(cache, text, dtype):
    y = mat.zeros(3, dtype=dtype)
    mat.kernel(text, x="input", y="output")(mat.arange(3, dtype=dtype), y)
    assert_array_equal(y.to_numpy(), [np.nan, np.nan, 2])


@pytest.mark.host  # NVRTC's warnings are others
def test_what_the_compiler_warns_of_is_an_error(cache):
    with pytest.raises(KernelError, match=r"line 1 of the kernel: .*parentheses"):
        mat.kernel("int t; if (t = 1) y = x;", x="input", y="output")(mat.ones(3), mat.zeros(3))


@pytest.mark.slow
def test_a_return_ends_the_statements_of_one_element(cache):
    k = mat.kernel("""
        y = x;
        if (x < 0) { z *= 10; return; }
        T t = y * 2;
        for (int n = 0;; n++) { y = t + n; if (n > x) return; }
    """, x="input", z="io", y="output")
    for dtype in ("float32", "float64"):
        z, y = mat.ones(4, dtype=dtype), mat.empty(4, dtype=dtype)
        k(mat.array([-1, 0, 1, -2], dtype=dtype), z, y)
        assert z.tolist() == [10, 1, 1, 10]
        assert y.tolist() == [-1, 1, 4, -2]
    whole = mat.kernel("y = x; return", x="input", y="output")
    assert whole(mat.arange(3.0), mat.empty(3)).tolist() == [0, 1, 2]


@pytest.mark.slow
def test_a_correct_kernel_compiles_with_its_loops_and_switches(cache):
    k = mat.kernel("""
        switch ((int)x) {
        case 0: case 1: y = 1; break;
        case 2: if (x > 2.5) { y = 5; break; }
        default: y = 3;
        }
    """, x="input", y="output")
    assert k(mat.array([0, 1, 2, 2.75, 7]), mat.empty(5)).tolist() == [1, 1, 3, 5, 3]


def test_it_prints_and_is_documented(axpby):
    assert repr(axpby) == "<kernel axpby(a, x, b, y): y = a * x + b * y>"
    assert "y = a * x" in axpby.__doc__
    assert mat.kernel("y = 1", y="output", doc="Ones.").__doc__ == "Ones."
    assert axpby not in REGISTRY.values()


def test_it_is_pickled_by_its_text(axpby):
    again = pickle.loads(pickle.dumps(axpby))
    assert repr(again) == repr(axpby)
    assert_array_equal(again(1, mat.ones(2), 1, mat.ones(2)).to_numpy(), [2, 2])


# The cache


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """Set an empty cache, and count the runs of the compiler."""
    monkeypatch.setenv("MAT_CACHE", str(tmp_path / "cache"))
    runs = []
    compile_ = c_compiler._compile
    monkeypatch.setattr(c_compiler, "_compile", lambda *args: (runs.append(1), compile_(*args)))
    return tmp_path / "cache", runs


ELSEWHERE = """
import mat
k = mat.kernel("y = x + 1", x="input", y="output")
print(k(mat.ones(2), mat.empty(2)).tolist())
"""


def use(text="y = x + 1"):
    k = mat.kernel(text, x="input", y="output")
    assert_array_equal(k(mat.ones(2), mat.empty(2)).to_numpy(), [2, 2])


@pytest.mark.host
@pytest.mark.slow
def test_a_text_is_compiled_once(fresh):
    place_, runs = fresh
    use()
    use()
    assert len(runs) == 1
    assert len(list(place_.glob("*.so"))) == 1
    assert stat.S_IMODE(place_.stat().st_mode) == 0o700
    use("y = 1 + x")
    assert len(runs) == 2


DAMAGES = {"not a library": lambda d: b"no library", "empty": lambda d: b"",
           "half": lambda d: d[:len(d) // 2], "header": lambda d: d[:4096],
           "zeros": lambda d: bytes(len(d)), "zeros at its end": lambda d: d[:4096] + bytes(
               len(d) - 4096), "a byte": lambda d: d[:5000] + bytes([d[5000] ^ 255]) + d[5001:],
           "last byte missing": lambda d: d[:-1]}


@pytest.mark.host
@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_library_is_made_anew(fresh, damage):
    """In other processes: to load one can end the process."""
    place_, _ = fresh
    subprocess.run([sys.executable, "-c", ELSEWHERE], check=True)
    (found,) = place_.glob("*.so")
    good = found.read_bytes()
    found.write_bytes(DAMAGES[damage](good))
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", ELSEWHERE], capture_output=True, text=True,
                              check=False)
        assert (done.returncode, done.stdout) == (0, "[2.0, 2.0]\n"), done.stderr
    (found,) = place_.glob("*.so")
    assert len(found.read_bytes()) == len(good)


@pytest.mark.skipif(os.name == "nt" or os.getuid() == 0, reason="the superuser may write anywhere")
def test_a_place_that_cannot_be_written_is_not_used(fresh):
    place_, _ = fresh
    place_.mkdir(mode=0o500)
    use()
    assert list(place_.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="there are no such permissions")
@pytest.mark.slow
def test_what_others_can_write_is_not_trusted(fresh):
    place_, runs = fresh
    place_.mkdir()
    place_.chmod(0o777)
    use()
    assert list(place_.iterdir()) == []
    assert len(runs) <= 1  # it may be in the temporary place since the last test


@pytest.mark.slow
def test_threads_compile_once_and_agree(fresh):
    _, runs = fresh
    k = mat.kernel("y = x * 3", x="input", y="output")
    found = []
    threads = [threading.Thread(target=lambda: found.append(k(mat.ones(2), mat.empty(2)).tolist()))
               for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [[3.0, 3.0]] * 4
    assert len(runs) == 1


@pytest.mark.host
@pytest.mark.slow
def test_another_process_takes_what_is_there(fresh):
    place_, _ = fresh
    use()
    code = "from mat.support import c_compiler as compiler\ncompiler._compile = None\n" + ELSEWHERE
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "[2.0, 2.0]\n", done.stderr
    assert len(list(place_.glob("*.so"))) == 1


@pytest.mark.parametrize("cc", ["/bin/false", "/no/such/compiler"])
@pytest.mark.host
@pytest.mark.slow
def test_without_a_compiler_it_says_what_to_install(fresh, monkeypatch, cc):
    monkeypatch.setenv("CC", cc)
    k = mat.kernel("y = x - 1", x="input", y="output")
    y = mat.zeros(2)
    with pytest.raises(KernelError, match="apt install gcc"):
        k(mat.ones(2), y)
    monkeypatch.delenv("CC")
    assert_array_equal(k(mat.ones(2), y).to_numpy(), [0, 0])


@pytest.mark.host
@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("env"), reason="no program that calls another one")
def test_the_compiler_may_be_called_by_another_program(fresh, monkeypatch):
    monkeypatch.setenv("CC", f"env LC_ALL=C {c_compiler.compiler()[0]}")
    k = mat.kernel("y = x - 3", x="input", y="output")
    assert_array_equal(k(mat.ones(2), mat.zeros(2)).to_numpy(), [-2, -2])
    assert len(list(fresh[0].glob("*.so"))) == 1
