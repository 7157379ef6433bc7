"""``import mat`` is light: it loads little, starts no threads, prints nothing, and offers public
names only.
"""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from ..support import needs

ROOT = Path(__file__).parents[2]


def python(*arguments):
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True,
                          timeout=120, check=False)


def after(code):
    """What a new process prints as JSON after running `code` without warnings or output."""
    done = python("-W", "error", "-c", code)
    assert done.stderr == ""
    assert done.returncode == 0
    return json.loads(done.stdout)


@cache
def loaded(code):
    names = after(f"{code}\nimport sys, json\nprint(json.dumps(sorted(sys.modules)))")
    return {name.partition(".")[0] for name in names}


def test_import_loads_neither_scipy_nor_what_is_optional():
    heavy = {"scipy", "torch", "cuda", "cupy", "matplotlib", "ml_dtypes", "sklearn", "pytest",
             "IPython", "pandas", "jax"}
    names = loaded("import mat")
    assert "mat" in names
    assert names & heavy == set()


def test_import_loads_numpy_and_cffi_as_the_only_other_packages():
    beside = loaded("import mat") - loaded("import numpy, cffi") - set(sys.stdlib_module_names)
    compiled = {name for name in beside if name.startswith(("_cython_", "cython_runtime"))}
    # two are cffi's; what Cython compiled registers names of no package
    assert beside - compiled <= {"mat", "_cffi_backend", "pycparser"}


def test_at_most_blas_is_loaded_of_scipy_when_it_is_needed():
    names, library = after(
        "import mat, sys, json\nmat.axpy(1.0, mat.ones(3), mat.ones(3))\n"
        "from mat.support.blas_library import routine_address\n"
        "print(json.dumps([sorted(sys.modules), bool(routine_address('dgemm'))]))")
    assert ("scipy" in names) is not library
    assert ("scipy.linalg.cython_blas" in names) is not library
    assert not any(name.startswith(("scipy.special", "scipy.sparse", "scipy.optimize"))
                   for name in names)


def test_scipy_can_be_imported_after_its_blas():
    code = """import json, mat
product = mat.eye(3) @ mat.full((3, 3), 2.0)
from scipy.linalg import blas, inv
print(json.dumps([product.tolist(), blas.ddot([1.0, 2.0], [3.0, 4.0]), inv([[4.0]]).tolist()]))"""
    assert after(code) == [[[2.0] * 3] * 3, 11.0, [[0.25]]]


@needs.native
@pytest.mark.unchecked("it is in a module that is loaded late")
def test_what_many_programs_do_without_is_loaded_at_its_first_use():
    late = ["mat.debug", "mat.debug.show", "mat.io.npy", "mat.ops.primitives.user_kernel",
            "json", "hashlib", "html", "subprocess", "tempfile"]
    code = f"""import json as encoder, sys, numpy
del sys.modules["json"]
sys.modules.pop("hashlib", None)
import mat
early = [name for name in {late} if name in sys.modules]
"inspection", mat.debug, mat.show, mat.save, mat.kernel
print(encoder.dumps([early, [name for name in {late} if name in sys.modules]]))"""
    early, found = after(code)
    assert early == []
    assert set(found) >= {"mat.debug", "mat.debug.show", "mat.io.npy",
                          "mat.ops.primitives.user_kernel"}


@needs.native
@pytest.mark.unchecked("the check of directions loads more")
def test_import_loads_few_modules_and_no_operations():
    names = after("import mat, sys, json\nprint(json.dumps(sorted(sys.modules)))")
    own = [name for name in names if name.startswith("mat.")]
    late = ("mat.ops.engine", "mat.ops.tiles", "mat.ops.linear", "mat.extend", "mat.interop.dask")
    assert [name for name in own if name.startswith(late)] == []
    assert len(own) <= 120  # each takes about 0.2 ms, of which `import numpy` takes 40


@needs.native
def test_numpys_transforms_are_imported_by_those_who_use_them():
    code = """import sys, json, mat, numpy as np
x = mat.ones(4)
mat.median(x), np.concatenate([x, x])
early = "numpy.fft" in sys.modules
print(json.dumps([early, type(np.fft.fft(x)).__name__, type(mat.fft.fftshift(x)).__name__,
                  np.real(np.fft.ifft(np.fft.fft(x))).tolist(), mat.fft.rfftfreq(4).tolist()]))"""
    assert after(code) == [False, "Mat", "Mat", [1.0] * 4, [0.0, 0.25, 0.5]]


def test_every_method_that_is_loaded_late_is_bound_by_its_module():
    code = """import json, mat
from mat.matrix.methods import Methods
from mat.matrix.operators import OPERATORS
from mat.support.plugins import AttributeAtFirstUse, plugin
late = {n: f for n, f in vars(Methods).items() if isinstance(f, AttributeAtFirstUse)}
for f in late.values():
    plugin(f.module)
x = mat.ones(1, dtype=mat.int8)
for use in ("x + x", "x @ x", "x // x", "divmod(x, x)"):
    eval(use)
print(json.dumps([n for n in late if isinstance(vars(Methods)[n], AttributeAtFirstUse)]
                 + [n for n, o in OPERATORS.items() if "at_first_use" in repr(o.function)]))"""
    assert after(code) == []


@pytest.mark.parametrize("use", ["x + x", "2 - x", "x @ x", "-x", "x ** 2", "~x",
                                 "x // 2", "divmod(x, 2)", "x == x", "x[[0]]", "x.sum()", "x.T.mT"])
@pytest.mark.sample(4)
def test_the_first_operation_of_a_process_gives_what_later_ones_do(use):
    code = f"""import json, mat
x = mat.full((2, 2), 3, mat.int64)
print(json.dumps([repr({use}), repr({use})]))"""
    first, second = after(code)
    assert first == second


@pytest.mark.parametrize("use", ["x.load_", "mat.Mat.write", "x._repr_html_()", "x.read_"])
@pytest.mark.sample(4)
def test_a_method_has_its_module_loaded_at_its_first_use(use):
    code = f"""import json, mat
x = mat.ones(2)
first, second = {use}, {use}
print(json.dumps([str(first) == str(second), repr(first)]))"""
    same, text = after(code)
    assert same
    assert "AtFirstUse" not in text


def test_methods_of_subclasses_are_called_once():
    code = """import json, mat
calls = []
class Own(mat.Mat):
    def sort(self):
        calls.append("sort")
        return super().sort()
    def __array_function__(self, *args):
        calls.append("function")
        return super().__array_function__(*args)
x = Own(3, fill=2)
x.sort()
import numpy
numpy.median(x)
print(json.dumps(calls))"""
    assert after(code) == ["sort", "function"]


@needs.native
@pytest.mark.unchecked("it reads declarations itself")
def test_reading_declarations_of_c_is_left_to_those_who_compile():
    assert "pycparser" not in loaded("import mat\nmat.ones(3, 3) @ mat.ones(3)")


def test_the_other_name_of_mat_is_an_import_of_its_own():
    code = """import json, sys, mat
before = "mat.array_api" in sys.modules
from mat.array_api import linalg as first
import mat.array_api.linalg as second
from mat import array_api as third
print(json.dumps([before, first is second is mat.linalg, third is mat is sys.modules["mat"]]))"""
    assert after(code) == [False, True, True]


def test_import_starts_no_threads_and_prints_nothing():
    assert after("import threading\nimport mat\nprint(threading.active_count())") == 1


def test_mats_left_at_exit_cause_no_noise():
    code = """import mat
x = mat.ones(3).fill_(2)
access = x.facet('array', 'io')
access.__enter__()
y = [x.T, x[1:], x @ x]"""
    done = python("-W", "error", "-c", code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_import_does_not_change_numpy_or_the_warning_filters():
    code = """import json, warnings, numpy as np
def state():
    return [len(warnings.filters), np.geterr(), np.get_printoptions()['linewidth']]
before = state()
import mat
mat.ones(2) / mat.zeros(2)
print(json.dumps(before == state()))"""
    assert after(code) is True


def test_every_public_name_is_there():
    code = """import json, mat
from mat import *
print(json.dumps([str(zeros(2)), [n for n in mat.__all__ if n not in globals()]]))"""
    assert after(code) == ["<Mat 2 - [0. 0.]>", []]


def test_completion_shows_public_names_only():
    names, own, numpys = after(
        "import mat, json, numpy\nprint(json.dumps([dir(mat), mat.__all__, numpy.__all__]))")
    assert set(own) <= set(names)
    assert set(names) - set(own) - {"array_api"} <= set(numpys)
