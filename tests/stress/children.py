"""`outcome_of`: run a function in a forked child, so that whatever it breaks (a lock that nobody
releases, a pool's counts, the process itself) is the child's alone, and is a text for the parent.
"""

import contextlib
import faulthandler
import gc
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings


def outcome_of(function, seconds=60):
    """Return what is wrong after `function` in a child, as a text: "" if nothing is.

    `function` returns such a text, too, or None. A child that takes longer than `seconds` is ended,
    and the text then is where its threads were.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as said, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of forks in processes with threads
        child = os.fork()
        if not child:
            _run(function, said)
        status = wait_for(child, seconds)
        said.seek(0)
        text = said.read().decode(errors="replace")
    if status == 0:
        return ""
    if status < 0:
        text += f"\nthe child was ended by {signal.Signals(-status).name}"
    return text or f"the child ended with status {status}"


def _run(function, said):
    """Carry out `function` in this process, the child, and end it."""
    status = 1
    with contextlib.suppress(BaseException):
        faulthandler.enable(said)
        # a watchdog thread of faulthandler's would hang in a child of this one
        faulthandler.register(signal.SIGUSR1, said, all_threads=True)
        gc.freeze()  # what the parent made: collections in the child need not look at it
        try:
            text = function() or ""
        except BaseException:
            text = traceback.format_exc()
        status = 1 if text else 0
        os.write(said.fileno(), text.encode())
    os._exit(status)


def wait_for(child, seconds):
    """Return the exit status of a child, negative for a signal.

    After so many seconds it is told to say where its threads are, and ended.
    """
    end = time.monotonic() + seconds
    pause = 0.0005
    while time.monotonic() < end:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(pause)
        pause = min(0.05, 2 * pause)
    os.kill(child, signal.SIGUSR1)
    time.sleep(0.5)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -signal.SIGKILL  # also if SIGUSR1 woke it
