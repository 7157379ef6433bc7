"""Settings apply in their own context only, or permanently; invalid ones change nothing."""

import contextvars
import threading

import numpy as np
import pytest

import mat
from mat.errors import DTypeError, MatError, SettingError

DEFAULTS = {"dtype": np.dtype("float64"), "print_contents": True, "print_facets": True,
            "device_enabled": True, "torn": "raise"}


def now():
    return {name: getattr(mat.settings, name) for name in DEFAULTS}


@pytest.fixture
def lasting():
    """Whatever `configure` changes is put back."""
    yield
    mat.configure(**DEFAULTS)


def in_thread(call):
    found = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    thread.join(20)
    return found[0]


def test_defaults():
    assert now() == DEFAULTS
    assert set(DEFAULTS) <= set(dir(mat.settings))


def test_a_block_changes_what_it_names_and_puts_it_back():
    with mat.settings(dtype="float32", torn="ignore") as options:
        assert options.dtype == np.float32
        assert now() == {**DEFAULTS, "dtype": np.dtype("float32"), "torn": "ignore"}
        with mat.settings(dtype=np.int8, print_facets=False):
            assert now() == {**DEFAULTS, "dtype": np.dtype("int8"), "torn": "ignore",
                             "print_facets": False}
        assert now() == {**DEFAULTS, "dtype": np.dtype("float32"), "torn": "ignore"}
    assert now() == DEFAULTS


def test_a_failing_block_puts_it_back_too():
    with pytest.raises(ZeroDivisionError), mat.settings(dtype="float32"):
        1 / 0  # noqa: B018
    assert now() == DEFAULTS


def test_a_block_is_seen_by_its_own_thread_only():
    inside, leave = threading.Event(), threading.Event()

    def other():
        with mat.settings(dtype="complex64"):
            inside.set()
            leave.wait(20)
            return mat.zeros(1).dtype.name

    found = []
    thread = threading.Thread(target=lambda: found.append(other()))
    thread.start()
    assert inside.wait(20)
    assert mat.zeros(1).dtype == np.float64
    with mat.settings(dtype="float32"):
        leave.set()
        thread.join(20)
        assert mat.zeros(1).dtype == np.float32
        new = contextvars.Context()
        assert in_thread(lambda: new.run(lambda: mat.zeros(1).dtype)) == np.float64
    assert found == ["complex64"]


def test_a_block_follows_a_copied_context():
    with mat.settings(dtype="float32"):
        context = contextvars.copy_context()
    assert context.run(lambda: mat.zeros(1).dtype) == np.float32
    assert mat.zeros(1).dtype == np.float64


def test_contexts_that_take_turns_do_not_mix():
    def body(dtype):
        with mat.settings(dtype=dtype):
            while True:
                yield mat.zeros(1).dtype.name

    contexts = [contextvars.Context() for _ in range(2)]
    bodies = [body(name) for name in ("int8", "int16")]
    for _ in range(3):
        assert [c.run(next, b) for c, b in zip(contexts, bodies, strict=True)] == ["int8", "int16"]
    assert mat.settings.dtype == np.float64
    for c, b in zip(contexts, bodies, strict=True):
        c.run(b.close)


def test_configure_is_for_good_and_for_every_thread(lasting):
    mat.configure(dtype="float32", print_facets=False)
    assert mat.zeros(1).dtype == np.float32
    assert repr(mat.zeros(1)) == "<Mat 1 [0.]>"
    assert in_thread(lambda: mat.zeros(1).dtype) == np.float32
    mat.configure(print_facets=True)
    assert mat.settings.dtype == np.float32
    assert repr(mat.zeros(1)) == "<Mat 1 - [0.]>"


def test_inside_a_block_its_own_settings_win(lasting):
    with mat.settings(torn="ignore"):
        mat.configure(torn="warn", dtype="int8")
        assert mat.settings.torn == "ignore"
    assert mat.settings.torn == "warn"
    assert mat.settings.dtype == np.int8


@pytest.mark.parametrize("change", [mat.configure, lambda **k: mat.settings(**k).__enter__()])
@pytest.mark.parametrize(("changes", "error", "message"), [
    ({"nonsense": 1}, SettingError, "'nonsense'.*dtype, print_contents"),
    ({"torn": "perhaps"}, SettingError, "'raise'.*'perhaps'"),
    ({"torn": None}, SettingError, "None"), ({"torn": []}, SettingError, r"\[\]"),
    ({"page_locked_bytes": -1}, SettingError, "page_locked_bytes is a number of bytes, got -1"),
    ({"page_locked_bytes": True}, SettingError, "got True"),
    ({"host_pool_bytes": -1}, SettingError, "host_pool_bytes is a number of bytes, or None.*-1"),
    ({"host_pool_bytes": 1.5}, SettingError, "got 1.5"),
    ({"host_pool_bytes": True}, SettingError, "got True"),
    ({"progress": 3}, SettingError, "progress is a function of bytes .*got 3"),
    ({"page_locked": 3}, SettingError, "page_locked is True or False"),
    ({"print_facets": 1}, SettingError, "print_facets is True or False, got 1"),
    ({"print_contents": "yes"}, SettingError, "'yes'"),
    ({"device_enabled": None}, SettingError, "None"),
    ({"dtype": "float128"}, DTypeError, "float128"),
    ({"dtype": None}, DTypeError, "None"), ({"dtype": "float32", "torn": 3}, SettingError, "3"),
    ({"print_facets": False, "dtype": "x"}, DTypeError, "'x'"),
])
def test_bad_settings_change_nothing(change, changes, error, message):
    assert issubclass(error, MatError)
    with pytest.raises(error, match=message):
        change(**changes)
    assert now() == DEFAULTS


def test_unknown_settings_cannot_be_read_or_set():
    with pytest.raises(AttributeError):
        _ = mat.settings.nonsense
    with pytest.raises(SettingError, match=r"mat\.configure\(dtype='float32'\)"):
        mat.settings.dtype = "float32"
    assert now() == DEFAULTS


def test_settings_print():
    assert repr(mat.settings) == ("mat.settings(dtype=dtype('float64'), print_contents=True, "
                                  "print_facets=True, "
                                  "device_enabled=True, torn='raise', page_locked=False, "
                                  "page_locked_bytes=1073741824, threads=None, "
                                  "host_pool_bytes=None, spill_dir=None, spill_above=None, "
                                  "progress=None, scalars=True, float32_products='ieee', "
                                  "fused=False)")


def test_device_enabled_is_taken_over_by_new_mats_and_their_views():
    with mat.settings(device_enabled=False):
        made = [mat.zeros(2), mat.array([1.0, 2]), mat.from_numpy(np.zeros(2)), mat.eye(2)]
    assert [x.device_enabled for x in made] == [False] * 4
    assert [x[:1].device_enabled for x in made] == [False] * 4
    assert (made[0] + 1).device_enabled is False
    assert mat.zeros(2).device_enabled is True


def torn():
    x = mat.zeros(2).fill_(1)
    with pytest.raises(ZeroDivisionError), x.facet("array", "io"):
        1 / 0  # noqa: B018
    return x


@pytest.mark.host
def test_reading_torn_data_raises_or_warns_each_time_or_does_nothing():
    x = torn()
    for _ in range(2):
        with pytest.raises(mat.TornError, match="test_settings"):
            x.to_numpy()
        with (mat.settings(torn="warn"),
              pytest.warns(RuntimeWarning, match="torn data.*test_settings")):
            assert x.tolist() == [1, 1]
        with mat.settings(torn="ignore"):
            assert x.tolist() == [1, 1]
        assert x.fresh == set()


@pytest.mark.host
def test_the_torn_policy_lets_a_block_read_and_write_what_stays_torn():
    x = torn()
    with mat.settings(torn="ignore"):
        with x.facet("array", "io") as a:
            a += 1
        assert x.tolist() == [2, 2]
    with pytest.raises(mat.TornError):
        x.tolist()
    with x.facet("array", "output") as a:
        a[:] = 3
    assert x.tolist() == [3, 3]
