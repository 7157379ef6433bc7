"""The process of a job: ``python -m tests.tools.gpu.worker contact`` or ``... benchmarks TITLE
...``, with ``--mock`` on the mock driver. Each outcome goes to the journal.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from dataclasses import asdict
from functools import partial

from .jobs import LOST
from .journal import FAILED, LEFT_OUT, OK, Recorder


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.gpu.worker", description=__doc__)
    parser.add_argument("part", choices=("facts", "contact", "benchmarks"))
    parser.add_argument("titles", nargs="*", help="of sections")
    parser.add_argument("--mock", action="store_true")
    given = parser.parse_args()
    recorder = Recorder.from_environment()
    from .mocking import driver  # here: all that can go wrong is to be recorded

    with driver(given.mock):
        if given.part == "facts":
            facts(recorder)
        elif given.part == "contact":
            contact(recorder, given.mock)
        else:
            benchmarks(recorder, given.titles, given.mock)


def facts(recorder: Recorder) -> None:
    """Write what the numbers depend on."""
    from . import facts as all_facts

    recorder.begin("facts")
    found, most = all_facts.facts(), all_facts.limits()
    recorder.end("facts", OK, facts=found, limits=most)
    recorder.done()


def contact(recorder: Recorder, mock: bool) -> None:
    """Make the checks that have no outcome yet."""
    from . import contact as checks

    finished = recorder.finished()
    for name, check in checks.CHECKS.items():
        if name in finished:
            continue
        recorder.begin(name)
        try:
            recorder.end(name, OK, check(mock))
        except checks.LeftOut as reason:
            recorder.end(name, LEFT_OUT, str(reason))
        except Exception as error:
            traceback.print_exc()
            recorder.end(name, FAILED, f"{type(error).__name__}: {error}"[:1000])
        end_if_lost()
    recorder.done()


def benchmarks(recorder: Recorder, titles: list[str], mock: bool) -> None:
    """Measure what of these sections has no outcome yet."""
    import mat

    from . import limits
    from .measuring import name_of, run
    from .report import in_words
    from .sections import SECTIONS
    from .setting import Setting

    # functions of the driver and of cuBLAS that are called as they are need a current device
    with mat.use_device("cuda", required=True) as device, device.gpu.current():
        at, most = Setting(device, small=mock, alone=mock), limits.of(device.gpu)
        for title in titles:
            for found in run(partial(SECTIONS[title], at), device.synchronize, mock, recorder,
                             title):
                text = found.failed or ("" if mock else in_words(found, most))
                recorder.end(name_of(title, found.name), FAILED if found.failed else OK, text,
                             section=title, found=asdict(found))
                end_if_lost()
            mat.trim()
            if at.torch:
                at.torch.cuda.empty_cache()
    recorder.done()


def end_if_lost() -> None:
    """End the process if its device has failed: nothing can be done with it here any more."""
    failures = sys.modules.get("mat.cuda.runtime.gpu")
    if failures is not None and failures.FAILURES:
        print(f"the device has failed: {list(failures.FAILURES.values())}", flush=True)
        sys.stdout.flush()
        os._exit(LOST)


if __name__ == "__main__":
    main()
