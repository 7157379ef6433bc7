"""Damaged files: small ones of every format, with random or malicious changes to their bytes. They
are made without `mat`.
"""

import io
import json
import random
import struct
import zipfile

import numpy as np

DTYPES = ("<f8", "<f4", "|b1", "|i1", "<c16", ">i4", "<u2", "<V2", "<f2")
NUMBERS = (0, 1, -1, 2**7, 2**8 - 1, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62,
           2**63 - 1, 2**64 - 1)
TEXTS = (b"-1", b"0", b"1e9", b"99999999999", b"9223372036854775807", b"18446744073709551616",
         b"9" * 40, b"True", b"None",
         b"()", b"'|O'", b"[" * 30, b"(" * 30, b"{}", b"'", b'"', b",", b"\\", b"\0", b"\xff\xfe",
         b"NaN", b"null", b"../../x",
         b"(1,)*9**9", b"__metadata__", b'"F32"', b"'<f8'", b"<U5", b"M8[ns]", b"[0,0]",
         b"\xf0\x9f\x92\xa3")


def array(k):
    shape = ((2, 3), (), (0, 4), (5,), (2, 1, 2))[k % 5]
    dtype = np.dtype(DTYPES[k % len(DTYPES)])
    count = int(np.prod(shape))
    return np.frombuffer(bytes(range(count * dtype.itemsize % 256)) + bytes(count * dtype.itemsize),
                         dtype, count).reshape(
        shape, order="CF"[k % 2])


def npy(k):
    file = io.BytesIO()
    np.lib.format.write_array(file, array(k), ((1, 0), (2, 0), (3, 0))[k % 3])
    return file.getvalue()


def safetensors(k):
    names = {"BOOL": 1, "F32": 4, "BF16": 2, "I64": 8}
    header, at = {"__metadata__": {"k": str(k)}} if k % 2 else {}, 0
    for j, (code, size) in enumerate(list(names.items())[:k % 5]):
        shape = ((2, 2), (3,), (), (0, 2))[(j + k) % 4]
        end = at + int(np.prod(shape)) * size
        header[f"w{j}"] = {"dtype": code, "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + bytes(range(at))


def npz(k):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)[k % 2]) as archive:
        for j in range(k % 3):
            with archive.open(("a", "b/c", "ü")[j] + ".npy", "w",
                              force_zip64=bool(k % 4)) as member:
                member.write(npy(k + j))
    return file.getvalue()


FORMATS = {"npy": npy, "safetensors": safetensors, "npz": npz}


# What happens to them


def flipped(rng, data):
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:]


def overwritten(rng, data):
    at = rng.randrange(len(data))
    return data[:at] + bytes([rng.choice((0, 1, 0x20, 0x27, 0x30, 0x39, 0x7F, 0x80,
                                          0xFF))]) + data[at + 1:]


def numbered(rng, data):
    size = rng.choice((1, 2, 4, 8))
    at = rng.randrange(max(1, len(data) - size))
    return data[:at] + (rng.choice(NUMBERS) % 2**(8 * size)).to_bytes(size,
                                                                      "little") + data[at + size:]


def cut(rng, data):
    return data[:rng.randrange(len(data))]


def lengthened(rng, data):
    return data + bytes(rng.randrange(1, 40))


def without_a_part(rng, data):
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.randrange(1, 16):]


def doubled(rng, data):
    at, n = rng.randrange(len(data)), rng.randrange(1, 64)
    return data[:at + n] + data[at:]


def told_otherwise(rng, data):
    at = rng.randrange(len(data))
    return data[:at] + rng.choice(TEXTS) + data[at + rng.choice((0, 1, 1, 2, 5)):]


def recounted(rng, data):
    """Replace a digit by another one."""
    digits = [k for k, c in enumerate(data[:400]) if 0x30 <= c <= 0x39]
    if not digits:
        return flipped(rng, data)
    at = rng.choice(digits)
    return data[:at] + rng.choice((b"0", b"1", b"7", b"9", b"-1", b"99", b"999999999",
                                   b"1.5")) + data[at + 1:]


def exchanged(rng, data):
    a, b = sorted(rng.randrange(len(data)) for _ in range(2))
    return data[:a] + data[b:] + data[a:b]


DAMAGE = (flipped, overwritten, numbered, cut, lengthened, without_a_part, doubled, told_otherwise,
          recounted, exchanged)


def damaged(kind, seed, count):
    """Yield so many files of a format, each with a little damage; always the same ones."""
    rng = random.Random(f"{kind} {seed}")
    originals = [FORMATS[kind](k) for k in range(60)]
    for _ in range(count):
        data = rng.choice(originals)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            data = rng.choice(DAMAGE)(rng, data) or b"\0"
        yield data
