"""Machine code of kernels, as NVIDIA's disassembler shows it: the wheel nvidia-cuda-nvdisasm."""

import re
import shutil
import subprocess
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

SECTION = re.compile(r"^\s*\.section\s+\.text\.(\w+),", re.MULTILINE)
INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)",
                         re.MULTILINE)


@cache
def disassembler():
    """Return the path of nvdisasm, or None."""
    try:
        found = find_spec("nvidia")
    except ImportError:
        found = None
    folders = [Path(p) for p in (found.submodule_search_locations if found else ())]
    wheels = (p for folder in folders for p in folder.glob("*/bin/nvdisasm"))
    return next(map(str, wheels), None) or shutil.which("nvdisasm")


def opcodes(cubin):
    """Return the opcodes of each kernel in the bytes of a cubin, in order, by its name."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        done = subprocess.run([disassembler(), "-c", file.name], capture_output=True, text=True,
                              check=True)
    parts = SECTION.split(done.stdout)
    return {name: INSTRUCTION.findall(text)
            for name, text in zip(parts[1::2], parts[2::2], strict=True)}
