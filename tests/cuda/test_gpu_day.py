"""The run on a GPU, on a mock driver: its parts, and that what is known remains known, whatever
crashes, hangs or is killed.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import mat

from ..tools.gpu import day, jobs
from ..tools.gpu.journal import (
    BEGUN,
    CRASHED,
    CUT,
    DONE,
    FAILED,
    LEFT_OUT,
    OK,
    UNFINISHED,
    Journal,
    Line,
)
from ..tools.mock_driver.driver import missing

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.host, pytest.mark.once]
on_mock = pytest.mark.skipif(bool(missing()), reason=missing())

WORK = """
import os, sys, time
from tests.tools.gpu.journal import Recorder
recorder = Recorder.from_environment()
for name in ("first", "crash", "second", "hang", "lost", "third"):
    if name in recorder.finished():
        continue
    recorder.begin(name)
    print("doing", name, flush=True)
    if name == "crash":
        os.abort()
    if name == "hang":
        time.sleep(60)
    recorder.end(name, "failed" if name == "lost" else "ok", "as told")
    if name == "lost":
        os._exit(77)
recorder.done()
"""


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path / "report.md.jsonl")


def job(text, **more):
    given = {"limit": 60.0, "silence": 30.0, **more}
    return jobs.Job("Part", "job", [sys.executable, "-c", text], **given)


def outcomes(journal):
    return {line.name: line.outcome for line in journal.lines}


@pytest.mark.slow
def test_a_job_goes_on_after_what_ends_its_process(journal):
    jobs.run(job(WORK, silence=1.0), journal, time.monotonic() + 60)
    assert outcomes(journal) == {"first": OK, "crash": CRASHED, "second": OK, "hang": CUT,
                                 "lost": FAILED, "third": OK, "": DONE}
    texts = {line.name: line.text for line in journal.lines}
    assert "SIGABRT" in texts["crash"]
    assert "doing crash" in texts["crash"]
    assert texts["hang"] == "it took longer than its 1 s"


def test_a_job_without_progress_is_not_started_for_ever(journal):
    jobs.run(job("print('no such module'); raise SystemExit(3)"), journal, time.monotonic() + 60)
    assert [(line.name, line.outcome) for line in journal.lines] == []
    journal.refresh()
    assert [(line.name, line.outcome) for line in journal.lines] == [("", CRASHED)]
    assert "exit status 3: no such module" in journal.lines[0].text


@pytest.mark.slow
def test_a_job_ends_with_its_time(journal):
    begun = time.monotonic()
    jobs.run(job(WORK.replace('"crash", ', "")), journal, begun + 1.5)
    assert time.monotonic() - begun < 10
    journal.refresh()
    assert outcomes(journal) == {"first": OK, "second": OK, "hang": UNFINISHED, "": CUT}
    assert journal.progress("Part", "job").finished == {"first", "second"}  # the next run tries it


def test_a_process_ends_with_the_one_that_started_it(journal):
    """Also when that is killed, and can tell nobody."""
    starts = ("import sys\nfrom tests.tools.gpu import jobs\n"
              "from tests.tools.gpu.journal import Journal\n"
              "job = jobs.Job('Part', 'job', [sys.executable, '-c', sys.argv[2]], 60, 60)\n"
              "jobs.run(job, Journal(sys.argv[1]), 1e12)")
    hangs = "import os\nprint(os.getpid())\n" + WORK.replace('"first", "crash", "second", ', "")
    parent = subprocess.Popen([sys.executable, "-c", starts, str(journal.path),
                               hangs.replace("as told", str(0))], cwd=ROOT)
    until = time.monotonic() + 30
    while not journal.progress("Part", "job").open and time.monotonic() < until:
        time.sleep(0.05)
    child = subprocess.run(["pgrep", "-P", str(parent.pid)], capture_output=True, text=True,
                           check=False).stdout.split()
    parent.kill()
    parent.wait()
    assert len(child) == 1
    while alive(int(child[0])) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(int(child[0]))


def alive(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_journal_without_the_end_of_its_last_line(journal):
    journal.write(Line("Part", "job", "one", OK))
    journal.write(Line("Part", "job", "two", BEGUN))
    with journal.path.open("ab") as file:
        file.write(b'{"part": "Part", "job": ')
    read = Journal(journal.path)
    assert read.progress("Part", "job").finished == {"one"}
    assert read.progress("Part", "job").open == "two"
    with journal.path.open("ab") as file:  # another process goes on
        file.write(b'\n')
    read.write(Line("Part", "job", "two", OK))
    assert read.progress("Part", "job").finished == {"one", "two"}


def test_what_tests_are_run():
    """Each file once, none that does not use a GPU, and those of the sample among them."""
    found = day.files(day.Plan(Journal("unused")))
    assert len(found) == len(set(found)) > 100
    assert not day.WITHOUT_GPU & set(found)
    assert all((ROOT / path).exists() for path in [*found, *day.WITHOUT_GPU - {KIT}, *day.TRIAL])
    assert set(day.SAMPLED) <= set(found)


KIT = "tests/cuda/test_gpu_kit.py"


def test_the_order_and_the_time_of_parts(journal):
    plan = day.Plan(journal, minutes=10)
    found = [title for title, _, _ in day.parts(plan)]
    assert found == list(day.ENDS)
    assert list(day.ENDS.values()) == sorted(day.ENDS.values())
    plan = day.Plan(journal, only="calls")
    (found,) = [found for _, found, _ in day.parts(plan)][-1]
    assert found.words[-2:] == ["benchmarks", "Calls"]
    assert day.CONTACT not in [title for title, _, _ in day.parts(plan)]


def test_parts_have_floors(journal):
    """Also those after a part that took longer than its share, in a run of any length."""
    assert day.ends(day.Plan(journal), day.SUITE, 50.0) == 7200.0
    for minutes in (0.1, 1, 4, 10, 60):
        plan, whole = day.Plan(journal, minutes=minutes), 60 * minutes
        scale = min(1.0, whole / sum(day.FLOORS.values()))
        now = 0.0
        for title in day.ENDS:  # each takes all of its time
            end = day.ends(plan, title, now)
            assert end - now >= scale * day.FLOORS[title] - 1e-6
            now = max(end, now)
        assert now <= whole + 1e-6
    plan = day.Plan(journal, minutes=10)
    assert day.ends(plan, day.MEMCHECK, 0.0) == 600 * day.ENDS[day.MEMCHECK]
    assert day.ends(plan, day.RACECHECK, 300.0) == 320.0


@on_mock
@pytest.mark.slow
def test_the_second_round_has_only_the_tests_that_the_first_left_out(journal):
    path = "tests/cuda/test_gpu_report.py"
    for name in ("test_goals_are_judged", "test_the_page"):
        journal.write(Line(day.SUITE, path, f"{path}::{name}", OK))
    given = day._pytest(day.Plan(journal, mock=True), day.REST, path, ("-k", "page or judged"))
    jobs.run(given, journal, time.monotonic() + 60)
    assert [(line.part, line.name.partition("::")[2]) for line in journal.lines] == [
        (day.SUITE, "test_goals_are_judged"), (day.SUITE, "test_the_page"),
        (day.REST, "test_the_page_of_a_trial_has_no_times"), (day.REST, "")]


def test_what_sanitizers_say(journal):
    given = day._pytest(day.Plan(journal), day.MEMCHECK, "tests/cuda/test_a.py")
    for text in ("pytest\n========= ERROR SUMMARY: 0 errors\n",
                 "========= Invalid __global__ read\n========= ERROR SUMMARY: 1 error\n",
                 "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n",
                 "========= Error: Race reported between\n",
                 "========= Error: Device not supported\n"):
        day._summarized("memcheck", given, journal, 0, text)
    journal.refresh()
    assert [line.outcome for line in journal.lines] == [OK, FAILED, OK, FAILED, LEFT_OUT]
    assert "Invalid __global__ read" in journal.lines[1].text
    assert "Device not supported" in journal.lines[-1].text


def command(*words, **more):
    return [sys.executable, "-m", "tests.tools.gpu", *words]


def ended(words, environment=None):
    return subprocess.run(command(*words), capture_output=True, text=True, cwd=ROOT, timeout=500,
                          env={**os.environ, **(environment or {})}, check=False)


@pytest.mark.slow
def test_without_a_gpu_it_measures_nothing(tmp_path):
    if mat.cuda_available():
        pytest.skip("there is one")
    done = ended(["--report", str(tmp_path / "gpu.md")])
    assert done.returncode == 1
    assert "there is nothing to measure" in done.stdout
    assert "| there is a device | failed |" in (tmp_path / "gpu.md").read_text()


TOOL = """#!/bin/sh
# in place of NVIDIA's: it runs the command, and says that nothing was found
while [ "${1#--}" != "$1" ]; do shift 2; done
"$@"; status=$?
echo "========= ERROR SUMMARY: 0 errors"
exit $status
"""


@pytest.mark.unchecked("what it runs keeps arrays beyond their blocks, to time launches only")
@on_mock
@pytest.mark.slow
def test_the_whole_of_it(tmp_path):
    """Each part, with no more of the tests than show that they run."""
    tool, report = tmp_path / "compute-sanitizer", tmp_path / "gpu.md"
    tool.write_text(TOOL)
    tool.chmod(0o755)
    done = ended(["--mock", "--minutes", "4", "--report", str(report)],
                 {"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert done.returncode == 0, done.stdout + done.stderr
    text = report.read_text()
    assert "Nothing was measured" in text
    assert "Mock GPU 0" in text
    for line in ("| products of matrices by cuBLAS | ok |", "| an operation: x + y | ok |",
                 "| memcheck of tests/cuda/test_parts.py | ok | ERROR SUMMARY: 0 errors |",
                 "| racecheck of tests/cuda/test_parts.py | ok | ERROR SUMMARY: 0 errors |",
                 "| axpy of ten elements | runs |",
                 "| matmul, bfloat16, 16 | runs |"):
        assert line in text
    assert re.search(r"\| Tests: tests/cuda \| \d+ ok \|", text)
    assert "no more time" not in text
    lines = [json.loads(line) for line in Path(f"{report}.jsonl").read_text().splitlines()]
    matmul = next(line for line in lines if line["name"] == "Products: matmul, bfloat16, 16"
                  and line["outcome"] == OK)
    assert set(matmul["extra"]["found"]["others"]) == {"cuBLAS"}


@on_mock
@pytest.mark.slow
def test_a_rehearsal(tmp_path):
    """As on a GPU, of which there is one."""
    report = tmp_path / "gpu.md"
    done = ended(["--rehearse", "--report", str(report), "--tests", *day.TRIAL,
                  "tests/cuda/test_locked_ranges.py"])
    assert done.returncode == 0, done.stdout + done.stderr
    text = report.read_text()
    assert "Mock GPU 0" in text
    assert "Mock GPU 1" not in text
    lines = [json.loads(line) for line in Path(f"{report}.jsonl").read_text().splitlines()]
    left_out = {line["name"].partition("::")[2] for line in lines if line["outcome"] == LEFT_OUT}
    assert "test_the_device_that_asks_locks" in left_out
    assert sum(line["outcome"] == OK for line in lines) >= 8


@pytest.mark.unchecked("what it runs keeps arrays beyond their blocks, to time launches only")
@on_mock
@pytest.mark.slow
def test_killed_in_the_middle(tmp_path):
    """What has an outcome by then has it, and is not done again; the rest is, with `--go-on`."""
    report = tmp_path / "gpu.md"
    journal = Journal(f"{report}.jsonl")
    words = ["--mock", "--only", "calls", "--tests", "tests/cuda/test_parts.py", "--report",
             str(report)]
    process = subprocess.Popen(command(*words), cwd=ROOT, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 200
    progress = journal.progress("Benchmarks", "benchmarks")
    while len(progress.finished) < 2 and time.monotonic() < until:
        time.sleep(0.02)
        journal.refresh()
    process.send_signal(signal.SIGKILL)
    process.wait()
    time.sleep(1.5)  # until its children have ended, too
    before = journal.progress("Benchmarks", "benchmarks").finished
    assert len(before) >= 2
    assert re.search(r"\| Tests: tests/cuda \| \d+ ok \|", report.read_text())
    done = ended([*words, "--go-on"])
    assert done.returncode == 0, done.stdout + done.stderr
    journal.refresh()
    named = [(line.job, line.name) for line in journal.lines if line.name]
    assert len(named) == len(set(named))
    assert "| taking 1 MB and giving it back | runs |" in report.read_text()
