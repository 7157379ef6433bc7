"""An exception at any line: `interrupted` raises one at the k-th line that Python runs in some of
the files of mat.
"""

import dis
import gc
import linecache
import random
import sys
from pathlib import Path

import mat

ROOT = str(Path(mat.__file__).parent)


class Interrupt(BaseException):
    """What is raised, as by a signal handler."""


def interrupted(call, k, files):
    """Call, and raise at the k-th line in `files` (names within mat).

    Return the place, or nothing if there are fewer lines.
    """
    names = tuple(f"{ROOT}/{name}" for name in files)
    left = k

    def within_one():
        line = 0  # the last one that began; the frame is not kept

        def within(frame, event, arg):
            nonlocal left, line
            if event == "line" and not leaves_with(frame) and not loops(frame, line):
                left -= 1
                if not left:
                    raise Interrupt(f"{frame.f_code.co_filename}:{frame.f_lineno}")
            line = frame.f_lineno
            return within
        return within

    def entered(frame, event, arg):
        if not frame.f_code.co_filename.startswith(names) or finalizing(frame):
            return None
        return within_one()

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        call()
    except Interrupt as interrupt:
        return str(interrupt)
    finally:
        sys.settrace(before)
    return ""


def leaves_with(frame):
    """Return whether a `with` statement is about to be left.

    A signal handler never runs there: between the block and `__exit__` Python checks for no
    signals. A lock would remain locked.
    """
    code, at = frame.f_code, frame.f_lasti
    return (linecache.getline(code.co_filename, frame.f_lineno).lstrip().startswith("with ")
            and dis.opname[code.co_code[at]] in ("LOAD_CONST", "RETURN_CONST"))


def loops(frame, before):
    """Return whether the line that begins is the one before, as in a comprehension.

    Since Python 3.12 an exception of a trace function in there leaves `with` statements without
    their `__exit__`; that of a signal handler does not.
    """
    return frame.f_lineno == before and sys.version_info >= (3, 12)


def finalizing(frame):
    """Return whether a finalizer runs: what is raised in there reaches nobody."""
    while frame is not None:
        if frame.f_code.co_name in ("__del__", "end_late", "_free_all"):
            return True
        frame = frame.f_back
    return False


def every_line(call, check, files, step=1, most=2000):
    """Call with an exception at each line in turn, and `check` after each; return their number.

    With a `step` above 1, that is each line of so many, beginning with a random one.
    """
    gc.disable()  # what a collection runs is counted by chance
    try:
        for k in range(random.randint(1, step), most, step):
            came = interrupted(call, k, files)
            try:
                check()
            except BaseException as error:
                error.add_note(f"after an interrupt at line {k}, {came}")
                raise
            if not came:
                return k - step
    finally:
        gc.enable()
    raise AssertionError(f"more than {most} lines")
