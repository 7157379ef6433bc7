"""`mat.random`: NumPy's methods and functions, with Mats from our streams."""

import copy
import pickle

import numpy as np
import pytest

import mat
from mat import Mat

# for each method of both classes, calls with its arguments
COMMON = {
    "beta": [(1, 2, 3), (1.0, [2.0, 3.0])], "binomial": [(5, 0.5, 3), ([1, 2], 0.5)],
    "bytes": [(4,)], "chisquare": [(2, 3)],
    "choice": [(5, 3), ([1.0, 2.0, 3.0], (2, 2)), (4, 2, False), (3, 2, True, [0.2, 0.3, 0.5])],
    "dirichlet": [([1.0, 2.0], 3)], "exponential": [(1.0, 3), ([1.0, 2.0],)], "f": [(1, 2, 3)],
    "gamma": [(1.0, 2.0, 3)], "geometric": [(0.5, 3)], "gumbel": [(0.0, 1.0, (2, 3))],
    "hypergeometric": [(5, 5, 3, 4)], "laplace": [(0, 1, 3)], "logistic": [(0, 1, 3)],
    "lognormal": [(0, 1, 3)], "logseries": [(0.5, 3)], "multinomial": [(5, [0.5, 0.5], 3)],
    "multivariate_normal": [([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]], 3)],
    "negative_binomial": [(3, 0.5, 3)], "noncentral_chisquare": [(1, 2, 3)],
    "noncentral_f": [(1, 2, 3, 4)], "normal": [(0, 1, 3), ([0.0, 1.0], 2), (0, [1.0, 2.0], (3, 2)),
                                               ()],
    "pareto": [(1, 3)], "permutation": [(5,), ([1.0, 2.0, 3.0],)], "poisson": [(3, 4)],
    "power": [(2, 3)], "random": [(3,), ((2, 3),), ()], "rayleigh": [(1, 3)],
    "standard_cauchy": [(3,)], "standard_exponential": [(3,)], "standard_gamma": [(1.0, 3)],
    "standard_normal": [(3,), ()], "standard_t": [(3, 4)], "triangular": [(0, 1, 2, 3)],
    "uniform": [(0, 1, 3), ([0.0, 1.0], 2), ()], "vonmises": [(0, 1, 3)], "wald": [(1, 2, 3)],
    "weibull": [(1, 3)], "zipf": [(2, 3)]}
GENERATOR = COMMON | {
    "integers": [(5,), (0, 5, (2, 3)), ([3, 4],)],
    "multivariate_hypergeometric": [([5, 5], 3, 2)], "permuted": [([1.0, 2.0, 3.0],)]}
LEGACY = COMMON | {
    "rand": [(), (2, 3)], "randn": [(), (2, 3)], "randint": [(5,), (0, 5, (2, 3))],
    "random_integers": [(5, 6, 3)], "random_sample": [(), (3,)], "tomaxint": [(3,)]}
WITHOUT_CALLS = {"shuffle", "seed", "get_state", "set_state", "spawn", "bit_generator"}
CASES = [("Generator", n, a) for n in GENERATOR for a in GENERATOR[n]] + [
    ("RandomState", n, a) for n in LEGACY for a in LEGACY[n]]


def make(module, owner, seed):
    return module.random.default_rng(seed) if owner == "Generator" else (
        module.random.RandomState(seed))


@pytest.mark.parametrize("owner", ["Generator", "RandomState"])
def test_every_method_is_there_and_called(owner):
    theirs = {n for n in dir(getattr(np.random, owner)) if not n.startswith("_")}
    assert theirs <= set(dir(getattr(mat.random, owner)))
    assert theirs <= (GENERATOR if owner == "Generator" else LEGACY).keys() | WITHOUT_CALLS


def same(a, b):
    return a.equals(b) if isinstance(a, Mat) else a == b


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("owner", "name", "args"), CASES)
def test_methods_have_shapes_and_dtypes_of_numpys(owner, name, args):
    wanted = getattr(make(np, owner, 1), name)(*args)
    got = getattr(make(mat, owner, 1), name)(*args)
    if isinstance(wanted, np.ndarray | np.generic):
        assert isinstance(got, Mat)
        assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
    else:
        assert type(got) is type(wanted)
    assert same(got, getattr(make(mat, owner, 1), name)(*args))
    with mat.use_device("emulated"):
        there = getattr(make(mat, owner, 1), name)(*args)
        close = np.allclose(np.asarray(got), np.asarray(there)) if isinstance(got, Mat) else (
            got == pytest.approx(there))
        assert close


def test_mats_are_parameters():
    rng = mat.random.default_rng(1)
    assert rng.normal(mat.array([0.0, 1e6]), 1.0).tolist()[1] > 1e5
    assert rng.poisson(mat.array([0.0, 100.0])).tolist()[0] == 0
    assert rng.choice(mat.arange(4.0), 2).dtype == np.float64


@pytest.mark.parametrize("call", [
    lambda r: r.uniform(2, 1), lambda r: r.normal(0, -1), lambda r: r.normal([0], [-1.0]),
    lambda r: r.uniform(0, np.inf), lambda r: r.random(-1), lambda r: r.random(3, dtype="int32"),
    lambda r: r.normal([0, 1], 1, size=3), lambda r: r.integers(5, 1), lambda r: r.choice([], 2),
    lambda r: r.poisson(-1), lambda r: r.choice(3, 5, replace=False)])
def test_errors_are_those_of_numpy_and_use_up_nothing(call):
    kinds = (ValueError, TypeError, OverflowError)
    with pytest.raises(kinds) as theirs:
        call(np.random.default_rng(1))
    rng = mat.random.default_rng(1)
    with pytest.raises(kinds) as ours:
        call(rng)
    assert issubclass(ours.type, theirs.type)
    assert rng.bit_generator.counter == 0


def test_distributions_are_right():
    rng = mat.random.default_rng(3)
    x = rng.uniform(-2, 4, 20_000)
    assert abs(x.mean().item() - 1) < 0.05
    assert -2 <= x.min().item() <= x.max().item() < 4
    y = rng.normal(5, 2, 20_000)
    assert abs(y.mean().item() - 5) < 0.1
    assert abs(y.std().item() - 2) < 0.1
    assert abs(rng.poisson(3, 20_000).mean().item() - 3) < 0.1
    assert np.bincount(rng.integers(0, 4, 20_000).to_numpy(), minlength=4).min() > 4500


def test_calls_use_other_numbers_each():
    rng = mat.random.default_rng(3)
    assert not rng.poisson(100, 50).equals(rng.poisson(100, 50))
    assert not rng.random(5).equals(rng.random(5))
    one, other = rng.spawn(2)
    assert not one.random(5).equals(other.random(5))


def test_out_and_dtype():
    rng, x = mat.random.default_rng(1), mat.zeros((2, 3), dtype="float32")
    assert rng.random(out=x, dtype="float32") is x
    assert rng.standard_normal((2, 3), dtype="float32").dtype == np.float32
    assert rng.standard_exponential(3, dtype=np.float32).dtype == np.float32
    assert rng.integers(0, 5, 3, dtype="uint8").dtype == np.uint8
    with pytest.raises(mat.ShapeError, match="out has shape"):
        rng.random((3, 2), out=x, dtype="float32")
    with pytest.raises(mat.DTypeError, match="out has float32"):
        rng.random(out=x, dtype="float64")
    with pytest.raises(mat.DTypeError, match="out must be a Mat"):
        rng.random(out=np.zeros(3))
    with mat.settings(dtype="float32"):
        assert rng.random(3).dtype == rng.normal(0, 1, 3).dtype == np.float32


@pytest.mark.parametrize("make_operand", [mat.array, np.array, list])
def test_shuffle_works_in_place(make_operand):
    x = make_operand(list(range(20)))
    assert mat.random.default_rng(2).shuffle(x) is None
    assert sorted(int(v) for v in x) == list(range(20))
    assert [int(v) for v in x] != list(range(20))
    mat.random.shuffle(x)
    assert sorted(int(v) for v in x) == list(range(20))


def test_functions_draw_from_the_stream_that_seed_restarts():
    for restart in (mat.seed, mat.random.seed):
        restart(5)
        found = mat.random.rand(3), mat.random.randint(0, 9, 4), mat.random.normal(0, 1, 2)
        mat.random.seed(5)
        again = mat.random.rand(3), mat.random.randint(0, 9, 4), mat.random.normal(0, 1, 2)
        assert all(a.equals(b) for a, b in zip(found, again, strict=True))
    mat.seed(5)
    assert mat.random.random(3).equals(mat.zeros(3).uniform_(rng=mat.Rng(5)))


@pytest.mark.parametrize("legacy", [True, False])
def test_states_are_kept(legacy):
    mat.random.seed(1)
    mat.random.rand(5)
    state = mat.random.get_state(legacy)
    found = mat.random.poisson(9, 6)
    mat.random.set_state(state)
    assert found.equals(mat.random.poisson(9, 6))
    with pytest.raises(mat.SettingError, match="a state is"):
        mat.random.set_state(("MT19937", 1, 2))


@pytest.mark.parametrize("seed", [0, 2**64 - 1, 2**70, [1, 2, 3], np.int64(4),
                                  np.random.SeedSequence(3)])
def test_seeds(seed):
    assert mat.random.default_rng(seed).random() == mat.random.default_rng(seed).random()


def test_generators_of_generators():
    rng = mat.random.default_rng(1)
    assert mat.random.default_rng(rng) is rng
    assert mat.random.Generator(rng.bit_generator).bit_generator is rng.bit_generator
    assert mat.random.Generator(np.random.PCG64(1)).random() < 1
    for other in (copy.deepcopy(rng), pickle.loads(pickle.dumps(rng))):
        assert other is not rng
        assert other.random() == mat.random.default_rng(1).random()
    for seed in (-1, 1.5, "text"):
        with pytest.raises((ValueError, TypeError)):
            mat.random.default_rng(seed)
