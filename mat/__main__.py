"""``python -m mat``: a prompt with `mat` at hand, IPython's if that is there; ``python -m mat
info``: what computes here.
"""

from __future__ import annotations

import argparse
import code
import importlib
import sys
from collections.abc import Sequence

import numpy as np

import mat

BANNER = "mat {version} on {device}; x = mat.zeros(3, 4), mat.show(x), mat.show_config(), help(mat)"


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m mat", description=__doc__)
    parser.add_argument("what", nargs="?", choices=["prompt", "info"], default="prompt",
                        help="a prompt (the default), or what mat.show_config() says")
    parser.add_argument("--device", default="cpu", help='on which operations compute: "cpu", '
                                                        '"cuda", "cuda:1", "emulated"')
    parser.add_argument("--dtype", default="float64", help="of new Mats")
    given = parser.parse_args(arguments)
    if given.what == "info":
        sys.stdout.write(f"{mat.show_config()!r}\n")
        return 0
    try:
        device = mat.set_device(given.device, required=True)
        mat.configure(dtype=given.dtype)
    except mat.MatError as error:
        parser.error(str(error))
    prompt(BANNER.format(version=mat.__version__, device=device))
    return 0


def prompt(banner: str) -> None:
    """Open IPython with our extension loaded, or the plain prompt."""
    names = {"mat": mat, "np": np}
    try:
        ipython = importlib.import_module("IPython")
    except ImportError:
        code.interact(banner, local=names, exitmsg="")
        return
    settings = importlib.import_module("traitlets.config").Config()
    settings.InteractiveShellApp.extensions = ["mat"]
    settings.TerminalInteractiveShell.banner1 = banner + "\n"
    ipython.start_ipython(argv=[], user_ns=names, config=settings)


if __name__ == "__main__":
    sys.exit(main())
