"""Programs for the device: compiled once, kept on disk, made anew if damaged or if what they depend
on changed.
"""

import errno
import os

import pytest

from mat.support.cuda_probe import probe

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from mat.cuda.runtime import nvrtc
from mat.cuda.runtime.nvrtc import Nvrtc, Program
from mat.support.c_compiler import CompileError

from ..support.needs_nvrtc import needs_nvrtc

pytestmark = pytest.mark.host

TEXT = '''#include "device.cuh"
struct F { int64_t n; };
MAT_KERNEL(put, F, 32) { ((float *)call.at[0])[frame.n] = 1; }
'''


class Counting:
    """A compiler that counts, and whose cubins say what they are of."""

    def __init__(self, version="one"):
        self.named, self.runs = version, 0

    def version(self):
        return self.named

    def compile(self, text, options, arch):
        self.runs += 1
        return f"{self.named} {arch} {options} {text}".encode()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MAT_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def counting(cache, monkeypatch):
    monkeypatch.setattr(nvrtc, "COMPILER", Counting())
    return nvrtc.COMPILER


def test_the_probe_says_how_many_or_why_none():
    found = probe()
    assert (found.devices > 0) == (found.reason == "")


def test_compiled_once_and_then_read(counting, cache):
    first = Program("a").cubin("sm_90")
    assert Program("a").cubin("sm_90") == first
    assert counting.runs == 1
    assert [p.suffix for p in cache.iterdir()] == [".cubin"]


@pytest.mark.parametrize(("program", "arch"),
                         [(Program("b"), "sm_90"), (Program("a", ("-DN=1",)), "sm_90"),
                          (Program("a"), "sm_80")])
def test_what_differs_is_compiled_apart(counting, program, arch):
    assert Program("a").cubin("sm_90") != program.cubin(arch)
    assert counting.runs == 2


def test_another_version_compiles_anew(counting):
    Program("a").cubin("sm_90")
    counting.named = "two"
    assert Program("a").cubin("sm_90").startswith(b"two")


def test_other_headers_compile_anew(counting, monkeypatch):
    Program("a").cubin("sm_90")
    monkeypatch.setattr(nvrtc, "_headers", lambda: b"changed")
    Program("a").cubin("sm_90")
    assert counting.runs == 2


@pytest.mark.parametrize("damage",
                         [lambda d: b"", lambda d: d[:-1], lambda d: d[:7], lambda d: b"x" + d[1:],
                          lambda d: d + b"x"])
def test_what_is_damaged_is_made_anew(counting, cache, damage):
    good = Program("a").cubin("sm_90")
    (file,) = cache.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert Program("a").cubin("sm_90") == good
    assert counting.runs == 2
    assert Program("a").cubin("sm_90") == good
    assert counting.runs == 2


def test_a_disk_that_is_full_keeps_nothing(counting, cache, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(os, "fsync", full)
    assert Program("a").cubin("sm_90") == Program("a").cubin("sm_90")
    assert counting.runs == 2
    assert list(cache.iterdir()) == []


def test_options_are_checked():
    with pytest.raises(ValueError, match="--wrong"):
        Nvrtc().compile("", ("--wrong",), "sm_90")


@needs_nvrtc
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_nvrtc_makes_a_cubin(cache, arch):
    assert Program(TEXT).cubin(arch)[:4] == b"\x7fELF"


@needs_nvrtc
def test_nvrtc_takes_macros(cache):
    text = TEXT.replace("= 1;", "= VALUE;")
    with pytest.raises(CompileError, match="VALUE"):
        Program(text).cubin("sm_90")
    assert Program(text, ("-DVALUE=2", "--use_fast_math")).cubin("sm_90")[:4] == b"\x7fELF"


@needs_nvrtc
def test_what_nvrtc_refuses_is_not_kept(cache):
    with pytest.raises(CompileError, match="nowhere"):
        Program("int f() { return nowhere; }").cubin("sm_90")
    assert list(cache.iterdir()) == []
