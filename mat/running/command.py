"""``python -m mat run``: a NumPy program, unchanged, with `mat` in the place of its `numpy`."""

from __future__ import annotations

import argparse
import builtins
import io
import os
import runpy
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from types import CodeType, ModuleType
from typing import Any, TypeAlias

import numpy as np

from ..devices.device import cuda_available, in_use, set_device
from ..errors import MatError, SettingError
from ..support.plugins import plugin
from .report import Profile, Report, profiled
from .stand_in import (
    NUMPYS_RANDOM,
    ProgramFiles,
    as_in_numpy,
    falling_back,
    importing,
    package_place,
    stand_in,
)

USAGE = """python -m mat run [options] PROGRAM [ARGUMENTS]
       python -m mat run [options] -m MODULE [ARGUMENTS]"""


@contextmanager
def in_place_of_numpy(program: ProgramFiles) -> Iterator[Profile]:
    """Yield the costs by line of a program whose files get `mat` where they import NumPy."""
    with ExitStack() as open_blocks:
        profile: Profile = open_blocks.enter_context(profiled(program))
        open_blocks.enter_context(falling_back(profile.kept))
        open_blocks.enter_context(as_in_numpy())
        open_blocks.enter_context(importing(program, stand_in))
        yield profile


def main(arguments: Sequence[str]) -> int:
    """Run the program of a command line and return its exit status."""
    given, parser = _parsed(arguments)
    try:
        place, run = _of_module(given) if given.module else _of_file(given)
        program = ProgramFiles([place, *map(package_place, given.also)])
        device = set_device(given.device, pool_bytes=given.pool, required=True)
        if given.fused:
            plugin("mat").configure(fused=True)
        if given.numpy_random:
            NUMPYS_RANDOM.append(True)
    except (MatError, OSError) as error:
        parser.error(str(error))
    with in_place_of_numpy(program) as profile:
        status = _status(run)
    report = Report(profile, given.module or given.program, str(device.name))
    sys.stdout.flush()
    if given.report:
        report.save(given.report)
        sys.stderr.write(f"{report.summary()}\nreport: {given.report}\n")
    else:
        sys.stderr.write(f"{report}\n")
    return status


def _parsed(arguments: Sequence[str]) -> tuple[argparse.Namespace, argparse.ArgumentParser]:
    parser = argparse.ArgumentParser(
        prog="python -m mat run", usage=USAGE, description=__doc__,
        # without a width it would import shutil, and with it modules for all compressed files
        formatter_class=partial(argparse.HelpFormatter, width=100))
    parser.add_argument("--device", default="cuda" if cuda_available() else "cpu",
                        help="the device to compute on; by default a CUDA device if there is one, "
                             "else the host")
    parser.add_argument("--pool", type=int, metavar="BYTES",
                        help="the memory that may be used of the device")
    parser.add_argument("--fused", action="store_true",
                        help="compute element-wise expressions in one pass")
    parser.add_argument("--numpy-random", action="store_true",
                        help="draw NumPy's random numbers, on the host, to print what the program "
                             "prints with NumPy")
    parser.add_argument("--report", metavar="FILE",
                        help="write the report to FILE as HTML, not to the standard error stream")
    parser.add_argument("--also", action="append", default=[], metavar="PACKAGE",
                        help="a package that computes with mat, too, besides the program's folder; "
                             "can be given several times")
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module, as python -m")
    parser.add_argument("program", nargs="?", metavar="PROGRAM", help="the file to run")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGUMENTS",
                        help="those of the program")
    given = parser.parse_args(_before_the_module(arguments))
    if given.module is None and given.program is None:
        parser.error("a program is missing: PROGRAM, or -m MODULE")
    return given, parser


def _before_the_module(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with all after ``-m MODULE`` marked as those of the module."""
    found = list(arguments)
    for k, argument in enumerate(found):
        if argument == "-m":
            return [*found[:k + 2], "--", *found[k + 2:]]
        if not argument.startswith("-") and (k == 0 or found[k - 1] not in _WITH_VALUE):
            return [*found[:k], "--", *found[k:]]
    return found


_WITH_VALUE = ("--device", "--pool", "--report", "--also")


# Running


Run = Any  # a function without arguments


def _of_file(given: argparse.Namespace) -> tuple[Path, Run]:
    """Return the folder of a program and the function that runs it."""
    path = Path(given.program).absolute()
    sys.argv[:] = [given.program, *given.arguments]
    if path.is_dir() and not (path / "__main__.py").is_file():
        raise SettingError(f"the folder {given.program} has no __main__.py; name the file to run")
    if path.is_dir() or path.suffix in (".zip", ".pyz"):  # with a __main__.py in it
        return path, lambda: runpy.run_path(str(path), run_name="__main__")
    with io.open_code(str(path)) as file:
        code = compile(file.read(), str(path), "exec", dont_inherit=True)
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = str(path.resolve().parent)
    return path.resolve().parent, lambda: _execute(code, str(path))


def _execute(code: CodeType, file: str) -> None:
    """Run code as the main module."""
    main = ModuleType("__main__")
    main.__dict__.update(__file__=file, __builtins__=builtins, __cached__=None)
    sys.modules["__main__"] = main
    exec(code, main.__dict__)


def _of_module(given: argparse.Namespace) -> tuple[Path, Run]:
    """Return the folder of a module's package, or its file, and the function that runs it."""
    name = given.module
    arguments = [*([] if given.program is None else [given.program]), *given.arguments]
    sys.argv[:] = [name, *arguments]
    place = package_place(name.partition(".")[0])
    return place, lambda: runpy.run_module(name, run_name="__main__", alter_sys=True)


def _status(run: Run) -> int:
    """Run a program; return its exit status, after the traceback of an error."""
    try:
        run()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        sys.stderr.write(f"{end.code}\n")
        return 1
    except KeyboardInterrupt as error:
        _show(error)
        return 130
    except BaseException as error:
        _show(error)
        return 1
    return 0


def _show(error: BaseException) -> None:
    """Print a traceback that begins with the program."""
    own, frame = os.path.dirname(__file__), error.__traceback__
    while frame is not None and (frame.tb_frame.f_code.co_filename.startswith(own)
                                 or frame.tb_frame.f_code.co_filename.startswith("<frozen runpy")):
        frame = frame.tb_next
    traceback.print_exception(type(error), error, frame)


# The extension of IPython, ``%load_ext mat.numpy``: cells import stand-ins of NumPy's modules, and
# ``%mat_report`` shows what their lines have cost


Shell: TypeAlias = Any  # an IPython.InteractiveShell
_open: list[ExitStack] = []  # the block of the extension, while it is loaded


def load_extension(shell: Shell) -> None:
    """Give the cells of a shell, and modules in its folder, `mat` in place of NumPy."""
    if _open:
        return
    block = ExitStack()
    profile = block.enter_context(in_place_of_numpy(ProgramFiles([os.getcwd()])))
    _open.append(block)

    def mat_report(line: str) -> Report:
        """Show what the lines of cells have cost; write it as HTML to the file that is named."""
        profile.seconds = perf_counter() - profile.begun
        report = Report(profile, "notebook", str(in_use().name))
        if line.strip():
            report.save(line.strip())
        return report

    shell.register_magic_function(mat_report, "line", "mat_report")
    names = shell.user_ns
    for name in [n for n, value in names.items() if value is np]:
        names[name] = stand_in("numpy")


def unload_extension(shell: Shell) -> None:
    """Let further cells import NumPy itself."""
    while _open:
        _open.pop().close()
    names, ours = shell.user_ns, stand_in("numpy")
    for name in [n for n, value in names.items() if value is ours]:
        names[name] = np
