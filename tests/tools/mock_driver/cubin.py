"""Read the registers, stack and shared memory of kernels from a cubin of NVRTC."""

import struct
from typing import NamedTuple

# attributes in the section .nv.info, each with the number of a symbol
FRAME_SIZE, REGISTERS = 0x11, 0x2F
WORDS = 0x04  # their format: a size, and so many bytes


# bytes of local memory, by kernel: on Hopper NVRTC 13.0 spills two registers rather than use 72,
# and 13.5 another two, four in a sum of complex64, and keeps the truth values of a vector in an
# array
SPILLED = {"correlate_4_f16": 8, "convolve_rows_f16": 8, "reduce_sum_F_column": 16,
           "mat_two_b1_flat": 80}


class Kernel(NamedTuple):
    """A kernel; `stack`: bytes of local memory that each thread has, for spilled registers or for
    arrays.
    """

    name: str
    registers: int
    stack: int
    shared: int


def kernels(cubin):
    """Return the kernels in the bytes of a cubin, by name."""
    sections = _sections(cubin)
    names = _symbols(cubin, sections)
    found = {}
    for attribute, symbol, value in _info(sections.get(".nv.info", b"")):
        found.setdefault(names[symbol], {})[attribute] = value
    return {name: Kernel(name, values.get(REGISTERS, 0), values.get(FRAME_SIZE, 0),
                         len(sections.get(f".nv.shared.{name}", b"")))
            for name, values in sorted(found.items()) if f".text.{name}" in sections}


def _sections(cubin):
    assert cubin[:5] == b"\x7fELF\x02", "64 bits"
    (start,) = struct.unpack_from("<Q", cubin, 40)
    size, count, of_names = struct.unpack_from("<HHH", cubin, 58)
    headers = [struct.unpack_from("<IIQQQQ", cubin, start + k * size) for k in range(count)]
    text = headers[of_names][4]
    nothing = 8  # the type of sections that take no room in the file
    return {_text(cubin, text + name): bytes(length) if kind == nothing
            else cubin[offset:offset + length]
            for name, kind, _, _, offset, length in headers}


def _symbols(cubin, sections):
    table = sections[".symtab"]
    return [_text(sections[".strtab"], struct.unpack_from("<I", table, at)[0])
            for at in range(0, len(table), 24)]


def _text(data, at):
    return data[at:data.index(b"\0", at)].decode()


def _info(data):
    at = 0
    while at < len(data):
        form, attribute, size = struct.unpack_from("<BBH", data, at)
        at += 4
        if form == WORDS:
            if size == 8:
                yield attribute, *struct.unpack_from("<II", data, at)
            at += size
