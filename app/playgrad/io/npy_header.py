"""The header of NumPy's npy format, read without evaluating it as Python.

The header is the text of a Python dictionary with the keys ``descr``, ``fortran_order`` and
``shape`` (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
"""

from __future__ import annotations

import re
from typing import IO, NamedTuple

import numpy as np

from playgrad.errors import CheckpointError
from playgrad.io.safetensors_header import DTYPES
from playgrad.io.tensor_entry import MOST_DIMENSIONS, TensorEntry, checked_entry, count_text

MAGIC = b"\x93NUMPY"
LARGEST_HEADER = 1 << 16
"""Maximum number of bytes of a header; the format's version 1 has the same limit."""

_ITEM = re.compile(
    r"""\s*+(['"])(descr|fortran_order|shape)\1\s*+:\s*+
    ('[^']*+'|"[^"]*+"|True|False|\([^()]*+\)|\[[^']*+.*\])\s*+(,|$)""",
    re.VERBOSE | re.DOTALL,
)
_SHAPE = re.compile(r"\(\s*+(?:[0-9]{1,19}L?\s*+(?:,\s*+|(?=\))))*+\)")
_OTHERS = {
    "O": "objects of Python",
    "U": "texts",
    "S": "texts",
    "c": "complex numbers",
    "M": "dates",
    "m": "times",
}
_CODES = {code[1:] for code in DTYPES.values()}


class NpyHeader(NamedTuple):
    """The header of an array: ``entry`` counts bytes from the start of the npy file."""

    entry: TensorEntry
    fortran_order: bool


def read_header(file: IO[bytes], name: str, size: int) -> NpyHeader:
    """Read the header of the npy file ``file``, which has ``size`` bytes.

    Raises:
        CheckpointError: it is damaged, its dtype is not one of numbers, or shape and size do not
            match.
    """
    start = file.read(8)
    if start[:6] != MAGIC or len(start) < 8:
        raise _damaged(name, "it does not begin as an npy file does")
    if start[6] not in (1, 2, 3):
        raise _damaged(name, f"its version {start[6]} is unknown")
    width = 2 if start[6] == 1 else 4
    length = int.from_bytes(file.read(width), "little")
    if length > LARGEST_HEADER:
        raise _damaged(name, f"its header would be {length:,} bytes long")
    text = file.read(length)
    if len(text) < length:
        raise _damaged(name, "its header is truncated")
    fields = _fields(text.decode("latin1"), name)
    begin = 8 + width + length
    entry = TensorEntry(_dtype(fields["descr"], name), _shape(fields["shape"], name), begin, size)
    if entry.size != size - begin:
        raise CheckpointError(
            f"'{name}' has {size - begin:,} bytes, but its shape {entry.shape} needs "
            f"{count_text(entry.size)}."
        )
    return NpyHeader(checked_entry(name, entry), fields["fortran_order"] == "True")


def _fields(text: str, name: str) -> dict[str, str]:
    inside = text.strip()
    if inside[:1] != "{" or inside[-1:] != "}":
        raise _damaged(name, "its header is not a dictionary")
    inside = inside[1:-1].rstrip()
    fields: dict[str, str] = {}
    position = 0
    while position < len(inside):
        match = _ITEM.match(inside, position)
        if match is None or match[2] in fields:
            raise _damaged(name, "its header cannot be read")
        fields[match[2]] = match[3]
        position = match.end()
    if len(fields) != 3 or fields["fortran_order"] not in ("True", "False"):
        raise _damaged(name, "its header lacks descr, fortran_order or shape")
    return fields


def _dtype(text: str, name: str) -> np.dtype[np.generic]:
    code = text[1:-1]
    if text[0] not in "'\"" or code[:1] not in "<>|=" or code[1:] not in _CODES:
        kind = _OTHERS.get(code[1:2], "values") if text[0] in "'\"" else "records"
        raise CheckpointError(
            f"'{name}' cannot be read: it holds {kind} (dtype {text[:40]}), not numbers.",
            hint="Convert them to numbers before saving, and save without allow_pickle.",
        )
    return np.dtype(code)


def _shape(text: str, name: str) -> tuple[int, ...]:
    if not _SHAPE.fullmatch(text):
        raise _damaged(name, f"its shape {text[:40]} is not a tuple of whole numbers")
    shape = tuple(int(number) for number in re.findall(r"[0-9]+", text))
    if len(shape) > MOST_DIMENSIONS:
        raise _damaged(name, f"it has more than {MOST_DIMENSIONS} dimensions")
    return shape


def _damaged(name: str, reason: str) -> CheckpointError:
    return CheckpointError(f"'{name}' cannot be read: {reason}.")
