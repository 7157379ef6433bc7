"""The file for trace viewers: processes, threads and memories, its clock, and how it is laid over
the files of other profilers.
"""

import gzip
import json
import os
import threading
import time

import numpy as np
import pytest

import mat
from mat import FormatError

pytestmark = pytest.mark.host
TIMED = ("X", "i")


def load(path):
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


def names(entries, kind):
    return {(e["pid"], e.get("tid")): e["args"]["name"] for e in entries
            if e["ph"] == "M" and e["name"] == f"{kind}_name"}


def in_lanes(entries):
    """The beginnings and ends of the bars of each lane, in their order."""
    found = {}
    for e in entries:
        if e["ph"] == "X":
            found.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
    return {lane: sorted(bars, key=lambda bar: (bar[0], -bar[1])) for lane, bars in found.items()}


def assert_nested(entries):
    """Viewers want that two bars of a lane do not overlap, but that one encloses the other."""
    for lane, bars in in_lanes(entries).items():
        open_until = []
        for begin, end in bars:
            while open_until and open_until[-1] <= begin + 1e-3:
                open_until.pop()
            assert not open_until or end <= open_until[-1] + 1e-3, lane
            open_until.append(end)


@pytest.fixture
def busy():
    """A trace of three threads that copy at the same time, and the numbers of the threads."""
    xs, numbers, start = [mat.array(np.ones(100_000)) for _ in range(3)], {}, threading.Barrier(3)

    def work(k):
        numbers[f"worker {k}"] = threading.get_native_id()
        start.wait()
        with mat.use_device("emulated"):
            for _ in range(5):
                xs[k] += 1
                with xs[k].facet("array") as a:
                    a *= 2

    with mat.debug.trace() as t:
        threads = [threading.Thread(target=work, args=(k,), name=f"worker {k}") for k in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return t, numbers


def test_operations_are_in_the_threads_and_processes_of_the_system(busy):
    t, numbers = busy
    entries = t.chrome()["traceEvents"]
    operations = [e for e in entries if e.get("cat") == "operation"]
    assert len(operations) == 15
    assert {e["pid"] for e in entries} == {os.getpid()}
    threads = names(entries, "thread")
    assert {threads[os.getpid(), e["tid"]]: e["tid"] for e in operations} == numbers
    assert {e["name"] for e in operations} == {"add"}
    assert names(entries, "process") == {(os.getpid(), None): "mat"}


def test_copies_have_a_lane_for_each_memory_and_more_where_they_overlap(busy):
    entries = busy[0].chrome()["traceEvents"]
    copies = [e for e in entries if e.get("cat") == "copy"]
    threads = names(entries, "thread")
    lanes = {threads[e["pid"], e["tid"]] for e in copies}
    assert {name.partition(" (")[0] for name in lanes} == {"emulated", "host"}
    assert [e["args"]["nbytes"] for e in copies] == [800_000] * 30
    assert {e["args"]["thread"] for e in copies} == {"worker 0", "worker 1", "worker 2"}
    assert_nested(entries)


def test_copies_that_overlap_are_drawn_beside_each_other(busy):
    t, _ = busy
    copies = [e for e in t.events if e.kind == "copy" and e.target == "emulated"]
    one = copies[0]
    t.events[:] = [one, one._replace(mat="b", at=one.at + one.seconds / 2),
                   one._replace(mat="c", at=one.at + one.seconds)]
    t.operations.clear()
    entries = t.chrome()["traceEvents"]
    threads = names(entries, "thread")
    drawn = {e["args"]["mat"]: threads[e["pid"], e["tid"]] for e in entries if e["ph"] == "X"}
    assert drawn == {one.mat: "emulated", "b": "emulated (2)", "c": "emulated"}
    assert_nested(entries)


def test_the_bytes_of_each_memory_are_counted():
    with mat.debug.trace() as t, mat.use_device("emulated"):
        x = mat.array(np.ones(100))
        (x + x).to_numpy()
    counts = [e for e in t.chrome()["traceEvents"] if e["ph"] == "C"]
    on_device = [e["args"]["bytes"] for e in counts if e["name"] == "emulated"]
    assert max(on_device) == 1600
    assert on_device[0] == 800


def test_times_are_those_of_the_monotonic_clock_and_become_unix_times():
    before, wall = time.perf_counter(), time.time_ns()
    with mat.debug.trace() as t, mat.use_device("emulated"):
        mat.asum(mat.ones(10))
    after, wall_after = time.perf_counter(), time.time_ns()
    written = t.chrome()
    times = [e["ts"] for e in written["traceEvents"] if e["ph"] in TIMED]
    assert times
    assert all(before * 1e6 <= ts <= after * 1e6 for ts in times)
    unix = [written["baseTimeNanoseconds"] + 1e3 * ts for ts in times]
    slack = 1e7  # 10 ms, by which the system may set the wall clock meanwhile
    assert all(wall - slack <= ns <= wall_after + slack for ns in unix)


@pytest.fixture
def t():
    with mat.debug.trace() as t, mat.use_device("emulated"):
        (mat.ones(10) + 1).to_numpy()
    return t


def written(t, theirs, tmp_path, name="theirs.json"):
    """The bars of a trace that is laid over another file, by name."""
    data = json.dumps(theirs).encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    t.save(tmp_path / "both.json", over=tmp_path / name)
    both = load(tmp_path / "both.json")
    return both, {e["name"]: e["ts"] for e in both["traceEvents"] if e["ph"] == "X"}


def foreign(ts, **more):
    return {"traceEvents": [{"ph": "X", "name": "theirs", "pid": 1, "tid": 2, "ts": ts,
                             "dur": 5.0}], **more}


@pytest.mark.parametrize("name", ["theirs.json", "theirs.json.gz"])
def test_it_is_laid_over_a_file_that_has_a_base(name, t, tmp_path):
    base = 1_790_857_026_000_000_000
    both, bars = written(t, foreign(7.0, baseTimeNanoseconds=base, schemaVersion=1), tmp_path, name)
    assert both["schemaVersion"] == 1
    assert bars["theirs"] == 7.0
    ours = t.chrome()
    (add,) = [e for e in ours["traceEvents"] if e["name"] == "add"]
    unix = ours["baseTimeNanoseconds"] + 1e3 * add["ts"]
    assert base + 1e3 * bars["add"] == pytest.approx(unix, abs=1e6)


def test_it_is_laid_over_a_file_of_the_same_clock(t, tmp_path):
    now = t.begun * 1e6
    ours = {e["name"]: e["ts"] for e in t.chrome()["traceEvents"] if e["ph"] == "X"}
    for theirs in (foreign(now), foreign(now)["traceEvents"]):  # both forms of the format
        _, bars = written(t, theirs, tmp_path)
        assert bars == {**ours, "theirs": now}


def test_it_is_laid_over_a_file_of_unix_times(t, tmp_path):
    now = time.time() * 1e6 - 5e6
    theirs = foreign(now)
    theirs["traceEvents"][0]["dur"] = 1e7
    _, bars = written(t, theirs, tmp_path)
    assert bars["add"] == pytest.approx(time.time() * 1e6, abs=5e6)


@pytest.mark.parametrize(("theirs", "message"), [
    (foreign(7.0), "the clock of the other file is not known"),
    ({"events": []}, "traceEvents"), (3, "traceEvents"),
    (foreign("x"), "not a file in"), ([], "not a file in")])
def test_files_of_unknown_clocks_and_other_files_are_refused(theirs, message, t, tmp_path):
    with pytest.raises(FormatError, match=message):
        written(t, theirs, tmp_path)
    assert not (tmp_path / "both.json").exists()


def test_pages_are_not_laid_over_files(t, tmp_path):
    with pytest.raises(FormatError, match=r"ends in \.json"):
        t.save(tmp_path / "t.html", over=tmp_path / "theirs.json")


def test_names_that_the_other_file_gives_are_kept(t, tmp_path):
    here = {"pid": os.getpid(), "tid": threading.get_native_id()}
    theirs = foreign(t.begun * 1e6)
    theirs["traceEvents"] += [
        {"ph": "M", "name": "process_name", **here, "args": {"name": "python"}},
        {"ph": "M", "name": "thread_name", **here, "args": {"name": "main"}}]
    both, _ = written(t, theirs, tmp_path)
    assert names(both["traceEvents"], "process") == {(os.getpid(), here["tid"]): "python"}
    assert names(both["traceEvents"], "thread")[here["pid"], here["tid"]] == "main"
    assert "emulated" in names(both["traceEvents"], "thread").values()


def test_processes_are_laid_over_each_other(tmp_path):
    x = mat.ones(10)
    with mat.debug.trace() as t:
        with mat.use_device("emulated"):
            x += 1
        child = os.fork()
        if not child:
            with mat.use_device("emulated"):
                x *= 2
            t.save(tmp_path / "child.json")
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        with mat.use_device("emulated"):
            x -= 3
    t.save(tmp_path / "both.json.gz", over=tmp_path / "child.json")
    entries = load(tmp_path / "both.json.gz")["traceEvents"]
    operations = sorted((e["pid"], e["name"]) for e in entries if e.get("cat") == "operation")
    assert operations == sorted([(os.getpid(), "add"), (os.getpid(), "subtract"),
                                 (child, "multiply")])
    assert set(names(entries, "process")) == {(os.getpid(), None), (child, None)}
    assert_nested(entries)
