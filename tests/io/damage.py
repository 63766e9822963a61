"""Damaged weights files: seeded mutations of real ones, and files made to cause harm."""

from __future__ import annotations

import io
import json
import random
import re
import struct
import zipfile
from collections.abc import Callable, Iterator

import numpy as np
import safetensors.numpy

from playgrad.io import encode
from tests.sweeps import SEED, dice

Content = bytes
Weights = dict[str, np.ndarray]


def weights(scale: int = 1) -> Weights:
    draw = np.random.default_rng(1)
    return {
        "dense_1/kernel": draw.normal(size=(20 * scale, 8)).astype(np.float32),
        "dense_1/bias": np.zeros(8, np.float32),
        "norm/mean": draw.normal(size=8).astype(np.float32),
        "empty": np.zeros((0, 3), np.float32),
        "steps": np.array(7, np.float32),
    }


def compressed(tensors: Weights) -> Content:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **tensors)
    return buffer.getvalue()


def real_files() -> list[Content]:
    tensors = weights()
    return [
        encode(tensors, "safetensors"),
        safetensors.numpy.save(tensors, {"producer": "elsewhere"}),
        encode(tensors, "npz"),
        compressed(tensors),
    ]


# Mutations: each takes a random generator and the bytes of a file.

_ODD_NUMBERS = (
    "-1", "0", "1", "7", "4294967296", "9223372036854775807", "18446744073709551616", "1e3", "1.5",
    "true", "false", "null", "NaN", "-Infinity", '"8"', "[]", "{}", "[" * 50, "1" + "0" * 400, "",
)  # fmt: skip
_FIELDS = (
    b"dtype", b"shape", b"data_offsets", b"descr", b"fortran_order", b"F32", b"<f4", b".npy",
)  # fmt: skip
_ODD_FIELDS = (
    b"", b"I64", b"BOOL", b"|O", b"|b1", b"<f8", b"<U4", b"\xff\xfe", b"shape", b"dtype",
    b"F8_E5M2", b"__metadata__", b"../../x", b"/x", b"\x00", b'"', b"\\ud800",
    b"__import__('os')", b"x" * 9000,
)  # fmt: skip


def flip_bits(draw: random.Random, content: bytearray) -> None:
    for _ in range(draw.choice((1, 1, 2, 8, 64))):
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)


def truncate(draw: random.Random, content: bytearray) -> None:
    del content[draw.randrange(len(content)) :]


def delete(draw: random.Random, content: bytearray) -> None:
    start = draw.randrange(len(content))
    del content[start : start + draw.choice((1, 4, 30, 200))]


def insert(draw: random.Random, content: bytearray) -> None:
    position = draw.randrange(len(content))
    content[position:position] = draw.randbytes(draw.choice((1, 4, 30, 200)))


def repeat(draw: random.Random, content: bytearray) -> None:
    start, position = draw.randrange(len(content)), draw.randrange(len(content))
    content[position:position] = content[start : start + draw.choice((1, 8, 100, 1000))]


def edit_length(draw: random.Random, content: bytearray) -> None:
    """Change the length of the header, or another word of 2, 4 or 8 bytes."""
    width = draw.choice((2, 4, 8))
    position = draw.choice((0, draw.randrange(max(1, len(content) - 8))))
    value = draw.choice((0, 1, 2, 255, 65535, 2**31, 2**32 - 1, 2**63, 2**64 - 1, len(content)))
    content[position : position + width] = (value % 256**width).to_bytes(width, "little")


def edit_number(draw: random.Random, content: bytearray) -> None:
    """Replace a number of a header."""
    numbers = list(re.finditer(rb"(?<=[\[, (])\d+(?=[\], )])", content))
    if numbers:
        place = draw.choice(numbers)
        content[place.start() : place.end()] = draw.choice(_ODD_NUMBERS).encode()
        _mend_length(draw, content)


def edit_field(draw: random.Random, content: bytearray) -> None:
    """Replace a key, a dtype or the end of a name."""
    places = [m for field in _FIELDS for m in re.finditer(re.escape(field), bytes(content))]
    if places:
        place = draw.choice(places)
        content[place.start() : place.end()] = draw.choice(_ODD_FIELDS)
        _mend_length(draw, content)


def swap_names(draw: random.Random, content: bytearray) -> None:
    names = [name.encode() for name in weights()]
    old, new = draw.sample(names, 2)
    content[:] = bytes(content).replace(old, new, draw.choice((1, -1)))
    _mend_length(draw, content)


def edit_directory(draw: random.Random, content: bytearray) -> None:
    """Let an entry of a zip file's directory lie: flags, method, sizes, offset, lengths."""
    starts = [m.start() for m in re.finditer(rb"PK\x01\x02|PK\x03\x04|PK\x05\x06", bytes(content))]
    if not starts:
        return edit_number(draw, content)
    for _ in range(draw.choice((1, 1, 3))):
        position = draw.choice(starts) + draw.randrange(4, 46)
        value = draw.choice((0, 1, 8, 9, 12, 0x7F, 0xFF, draw.randrange(256)))
        content[position : position + 1] = bytes((value,))
    return None


def _mend_length(draw: random.Random, content: bytearray) -> None:
    """Mostly let the length of a safetensors header fit again, so that the edit is read."""
    if content[8:9] == b"{" and draw.random() < 0.9:
        end = content.rfind(b"}}")
        if end > 0:
            content[:8] = (end + 2 - 8).to_bytes(8, "little")


MUTATIONS: tuple[Callable[[random.Random, bytearray], None], ...] = (
    flip_bits, truncate, delete, insert, repeat, edit_length, edit_number, edit_field, swap_names,
    edit_directory,
)  # fmt: skip


def empty_shape(draw: random.Random) -> tuple[int, ...]:
    """Return a shape without elements whose other dimensions may be too large for any array."""
    sizes = (0, 1, 3, 2**16, 2**31 - 1, 2**32, 2**61, 2**62, 2**63 - 1, 2**63, 10**18)
    shape = [0, *(draw.choice(sizes) for _ in range(draw.choice((1, 1, 2, 3, 10))))]
    draw.shuffle(shape)
    return tuple(shape)


def _without_elements(draw: random.Random) -> Content:
    """Return a valid file of an array without elements, perhaps of an impossible shape."""
    shape = empty_shape(draw)
    if draw.random() < 0.5:
        dtype = draw.choice(("F32", "U8", "F64"))
        return safetensors_of({"a": {"dtype": dtype, "shape": shape, "data_offsets": [0, 0]}})
    return _array(npy_header(draw.choice(("'<f4'", "'|u1'")), str(shape)), b"")


def mutated(count: int) -> Iterator[tuple[str, Content]]:
    """Yield ``count`` damaged files with their descriptions."""
    draw = dice("weights")
    files = real_files()
    for number in range(count):
        if draw.random() < 0.05:
            yield f"{SEED}/{number}: without elements", _without_elements(draw)
            continue
        content = bytearray(draw.choice(files))
        names = []
        for _ in range(draw.choice((1, 1, 1, 2, 4))):
            mutation = draw.choice(MUTATIONS)
            if len(content) > 100:
                mutation(draw, content)
                names.append(mutation.__name__)
        if draw.random() < 0.05:  # the head of one file and the tail of another
            other = draw.choice(files)
            content[draw.randrange(len(content) + 1) :] = other[draw.randrange(len(other)) :]
            names.append("splice")
        yield f"{SEED}/{number}: {', '.join(names)}", bytes(content)


# Files made to cause harm

_MEGABYTE = 1 << 20


def safetensors_of(header: bytes | dict[str, object], data: bytes = b"") -> Content:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def _overlapping() -> Content:
    entry = {"dtype": "U8", "shape": [_MEGABYTE], "data_offsets": [0, _MEGABYTE]}
    return safetensors_of({f"t{n}": entry for n in range(1000)}, bytes(_MEGABYTE))


def npz_of(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Content:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


def npy_of(header: bytes, data: bytes = b"", version: int = 1) -> bytes:
    width = "<H" if version == 1 else "<I"
    return b"\x93NUMPY" + bytes((version, 0)) + struct.pack(width, len(header)) + header + data


def npy_header(descr: str = "'<f4'", shape: str = "(2,)", fortran: str = "False") -> bytes:
    return f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}".encode()


def _zeros(count: int) -> Content:
    """Return an npz file of ``count`` megabytes of zeros, packed a thousand times smaller."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("dense_1/kernel.npy", "w") as file,
    ):
        file.write(npy_of(npy_header("'|u1'", f"({count * _MEGABYTE},)")))
        for _ in range(count):
            file.write(bytes(_MEGABYTE))
    return buffer.getvalue()


def _one_body_for_many(count: int) -> Content:
    """Return an npz file whose directory lists one array ``count`` times."""
    content = npz_of(("a.npy", npy_of(npy_header("'|u1'", f"({_MEGABYTE},)"), bytes(_MEGABYTE))))
    start = content.index(b"PK\x01\x02")
    end = content.index(b"PK\x05\x06")
    entry = content[start:end]
    directory = b"".join(entry.replace(b"a.npy", b"%c.npy" % n) for n in range(97, 123))
    directory = directory * (count // 26)
    tail = bytearray(content[end:])
    total = count // 26 * 26
    struct.pack_into("<HHII", tail, 8, total, total, len(directory), start)
    return content[:start] + directory + bytes(tail)


def _many_members(count: int) -> Content:
    """Return an npz file whose directory lists ``count`` arrays of nothing."""
    content = npz_of(("12345.npy", b""), method=0)
    start, end = content.index(b"PK\x01\x02"), content.index(b"PK\x05\x06")
    entry = content[start:end]
    directory = b"".join(entry.replace(b"12345", b"%05d" % n) for n in range(count))
    tail = bytearray(content[end:])
    struct.pack_into("<HHII", tail, 8, count, count, len(directory), start)
    return content[:start] + directory + bytes(tail)


def _encrypted() -> Content:
    content = bytearray(npz_of(("a.npy", npy_of(npy_header(), bytes(8))), method=0))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + offset] |= 1
    return bytes(content)


def _pickled() -> Content:
    buffer = io.BytesIO()
    np.savez(buffer, a=np.array([{"a": 1}], dtype=object))
    return buffer.getvalue()


def _array(header: bytes, data: bytes = bytes(8), version: int = 1) -> Content:
    return npz_of(("a.npy", npy_of(header, data, version)))


def crafted() -> dict[str, Content]:
    """Return files made to cause harm, by description. None of them is valid."""
    deep = b"[" * 200_000
    small = npy_of(npy_header(), bytes(8))
    return {
        "deep lists": safetensors_of(b'{"a":' + deep + b"}"),
        "deep lists that end": safetensors_of(b'{"a":' + b"[" * 900 + b"]" * 900 + b"}"),
        "deep dtype": safetensors_of(
            b'{"a":{"shape":[],"data_offsets":[0,0],"dtype":' + b"[" * 900 + b"]" * 900 + b"}}"
        ),
        "deep objects": safetensors_of(b'{"a":' * 50_000),
        "deep metadata": safetensors_of(b'{"__metadata__":{"a":' + deep),
        "many objects": safetensors_of(b'{"a":[' + b"{}," * _MEGABYTE + b"{}]}"),
        "many numbers": safetensors_of(b'{"a":{"shape":[' + b"1," * _MEGABYTE + b"1]}}"),
        "many tensors": safetensors_of(
            b"{"
            + b",".join(
                b'"%d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}' % n for n in range(50_000)
            )
            + b"}"
        ),
        "overlapping tensors": _overlapping(),
        "emoji in a long name": safetensors_of(b'{"' + b"x" * _MEGABYTE + "😀".encode() + b'":1}'),
        "blanks only": safetensors_of(b"{" + b" " * 4 * _MEGABYTE),
        "100 MB announced": (100_000_000).to_bytes(8, "little") + b"{}",
        "all of memory announced": (2**64 - 1).to_bytes(8, "little") + b"{}",
        "a gigantic shape": safetensors_of(
            {"a": {"dtype": "F32", "shape": [2**62] * 30, "data_offsets": [0, 2**63]}}
        ),
        "zeros that unpack": _zeros(200),
        "one body for many": _one_body_for_many(2600),
        "many members": _many_members(25_000),
        "encrypted": _encrypted(),
        "pickled": _pickled(),
        "bzip2": npz_of(("a.npy", small), method=zipfile.ZIP_BZIP2),
        "lzma": npz_of(("a.npy", small), method=zipfile.ZIP_LZMA),
        "absolute name": npz_of(("/etc/a.npy", small)),
        "name above": npz_of(("../a.npy", small)),
        "not an array": npz_of(("a.txt", b"hello")),
        "records": _array(npy_header("[('a', '<f4'), ('b', '<f4')]", "(1,)")),
        "objects": _array(npy_header("'|O'", "(1,)")),
        "texts": _array(npy_header("'<U2'", "(1,)")),
        "dates": _array(npy_header("'<M8[ns]'", "(1,)")),
        "complex": _array(npy_header("'<c8'", "(1,)")),
        "code as header": _array(b"__import__('os').abort()"),
        "code as shape": _array(npy_header(shape="(__import__('os').abort(),)")),
        "deep header": _array(b"(" * 60_000),
        "deep shape": _array(npy_header(shape="(" * 9000 + ")" * 9000)),
        "long header": _array(npy_header() + b" " * 70_000, version=2),
        "header of 4 GB announced": npz_of(("a.npy", b"\x93NUMPY\2\0\xff\xff\xff\xff{}")),
        "version 9": npz_of(("a.npy", b"\x93NUMPY\x09\0" + small[8:])),
        "a gigantic array": _array(npy_header(shape="(1152921504606846976,)")),
        "many dimensions": _array(npy_header(shape="(" + "1," * 100 + ")")),
        "negative dimension": _array(npy_header(shape="(-2,)")),
        "dimension a float": _array(npy_header(shape="(2.0,)")),
        "dimension a flag": _array(npy_header(shape="(True,)")),
        "dimension a product": _array(npy_header(shape="(9**9**9,)")),
        "too short": _array(npy_header(shape="(3,)")),
        "order a text": _array(npy_header(fortran="'no'")),
        "odd booleans": _array(npy_header("'|b1'", "(8,)"), b"\2" * 8),
        "a file of nothing": b"",
        "zeros": bytes(_MEGABYTE),
    }
