"""``python -m mat``: a Python prompt with `mat` imported, IPython's if that is installed;
``python -m mat info``: the output of ``mat.show_config()``; ``python -m mat --version``: the
version and the build; ``python -m mat run PROGRAM``: a NumPy program with `mat` in the place of its
`numpy`, ``python -m mat run --help`` says more.
"""

from __future__ import annotations

import argparse
import code
import gc
import importlib
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

import mat
from mat.support.installation import check_package
from mat.support.plugins import has_plugin, plugin

BANNER = "mat {version} on {device}; x = mat.zeros(3, 4), mat.show(x), mat.show_config(), help(mat)"
BUILD = ("kernels", "core", "Python", "NumPy", "BLAS")  # of mat.show_config()


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out the command line and return the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["run"] and has_plugin("run"):  # none if the package is not ours
        run = plugin("run").main
        if arguments is None:  # the process is the program's
            # what was imported stays to the end, where three collections would look through it
            gc.freeze()
        return run(words[1:])
    try:
        check_package()
    except ImportError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    parser = argparse.ArgumentParser(prog="python -m mat", description=__doc__)
    parser.add_argument("command", nargs="?", choices=["prompt", "info"], default="prompt",
                        help="a prompt (the default), or the output of mat.show_config()")
    parser.add_argument("--device", default="cpu",
                        help='the device to compute on: "cpu", "cuda", "cuda:1", "emulated"')
    parser.add_argument("--dtype", default="float64", help="the dtype of new Mats")
    parser.add_argument("--version", action="store_true",
                        help="the version, the compiled kernels and the compiled core, or why "
                             "there are none, Python, NumPy and BLAS")
    given = parser.parse_args(words)
    if given.version:
        sys.stdout.write(f"{version()}\n")
        return 0
    if given.command == "info":
        sys.stdout.write(f"{mat.show_config()!r}\n")
        return 0
    try:
        device = mat.set_device(given.device, required=True)
        mat.configure(dtype=given.dtype)
    except mat.MatError as error:
        parser.error(str(error))
    prompt(BANNER.format(version=mat.__version__, device=device))
    return 0


def version() -> str:
    """Return the version, and on further lines the build and the computing libraries."""
    facts = mat.show_config()
    return "\n".join([f"mat {facts['mat']}", *(f"{name}: {facts[name]}" for name in BUILD)])


def prompt(banner: str) -> None:
    """Open IPython with the extension of `mat` loaded, or else Python's own prompt."""
    names = {"mat": mat, "np": np}
    try:
        ipython = importlib.import_module("IPython")
    except ImportError:
        ipython = None
    if ipython is None:  # not within the handler: every error at the prompt would name it
        complete(names)
        code.interact(banner, local=names, exitmsg="")
        return
    settings = importlib.import_module("traitlets.config").Config()
    settings.InteractiveShellApp.extensions = ["mat"]
    settings.TerminalInteractiveShell.banner1 = banner + "\n"
    ipython.start_ipython(argv=[], user_ns=names, config=settings)


def complete(names: dict[str, Any]) -> None:
    """Complete names of `names` by the Tab key, where Python has readline."""
    try:
        readline, completer = map(importlib.import_module, ("readline", "rlcompleter"))
    except ImportError:
        return
    readline.set_completer(completer.Completer(names).complete)
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")


if __name__ == "__main__":
    sys.exit(main())
