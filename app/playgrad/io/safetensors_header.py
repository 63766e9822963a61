"""The JSON header of a safetensors file, read without building anything that it may not contain.

``json.loads`` would build whatever a damaged or hostile header describes: lists nested a million
deep, or objects that take twenty times the memory of their text. This reader knows the few things
that a header consists of, and stops at the first thing that is not one of them.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable
from typing import Any

from playgrad.errors import CheckpointError
from playgrad.io.tensor_entry import (
    BFLOAT16,
    MOST_DIMENSIONS,
    TensorEntry,
    check_count,
    checked_name,
)

METADATA = "__metadata__"
DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}
"""NumPy's codes by the names of the format."""

_SPACE = re.compile(rb"[ \t\r\n]*+")
_STRING = re.compile(rb'"(?:[^"\\\x00-\x1f]++|\\.)*+"')
_NUMBER = re.compile(rb"(?:0|[1-9][0-9]{0,18})(?![0-9.eE])")
_KEYS = ("dtype", "shape", "data_offsets")
_CHUNK = 1 << 16


class HeaderReader:
    """Reads one header, from front to back.

    Args:
        text: the header as UTF-8.

    Attributes:
        entries: the tensors by name, in the order of the header.
        metadata: texts by name.
    """

    def __init__(self, text: memoryview) -> None:
        self._text = text
        self._position = 0
        self.entries: dict[str, TensorEntry] = {}
        self.metadata: dict[str, str] = {}

    def read(self) -> None:
        """Read the header into ``entries`` and ``metadata``.

        Raises:
            CheckpointError: it is not a header.
        """
        _check_utf8(self._text)
        if self._next() != b"{":
            raise CheckpointError("not a safetensors file: its header is not a JSON object.")
        self._object(self._item)
        if self._next():
            raise self._not_json("text follows its end")

    def _item(self, name: str) -> None:
        if name == METADATA:
            if self.metadata:
                raise CheckpointError(f"'{METADATA}' occurs twice in the header.")
            if self._next() != b"{":
                raise CheckpointError(f"'{METADATA}' is not a JSON object of texts.")
            self._object(self._metadatum)
        else:
            checked_name(name, self.entries)
            check_count(len(self.entries) + 1)
            self.entries[name] = self._entry(name)

    def _metadatum(self, name: str) -> None:
        if self._next() != b'"':
            raise CheckpointError(f"'{METADATA}' is not a JSON object of texts.")
        self.metadata[name] = self._string()

    def _entry(self, name: str) -> TensorEntry:
        fields: dict[str, Any] = {}

        def field(key: str) -> None:
            if key not in _KEYS or key in fields:
                raise CheckpointError(
                    f"'{name}' has {'twice' if key in fields else 'the unknown field'} "
                    f"{key!r:.60} in the header."
                )
            fields[key] = self._dtype(name) if key == "dtype" else self._numbers(name)

        if self._next() != b"{":
            raise _incomplete(name)
        self._object(field)
        if len(fields) != len(_KEYS) or len(fields["data_offsets"]) != 2:
            raise _incomplete(name)
        begin, end = fields["data_offsets"]
        if begin > end:
            raise CheckpointError(f"'{name}' begins at byte {begin:,}, after its end {end:,}.")
        return TensorEntry.of_code(fields["dtype"], tuple(fields["shape"]), begin, end)

    def _dtype(self, name: str) -> str:
        if self._next() != b'"':
            raise CheckpointError(f"the dtype of '{name}' is not a text.")
        code = self._string()
        if code == "BF16":  # read, but never written, so not among the DTYPES
            return BFLOAT16
        if code not in DTYPES:
            raise CheckpointError(f"'{name}' is of dtype {code!r:.60}, which playgrad cannot read.")
        return DTYPES[code]

    def _numbers(self, name: str) -> list[int]:
        wrong = CheckpointError(f"the shape or data_offsets of '{name}' are not whole numbers.")
        numbers: list[int] = []
        if self._next() != b"[":
            raise wrong
        self._position += 1
        if self._next() == b"]":
            self._position += 1
            return numbers
        while True:
            self._next()
            match = _NUMBER.match(self._text, self._position)
            if match is None:
                raise wrong
            numbers.append(int(match[0]))
            self._position = match.end()
            if len(numbers) > MOST_DIMENSIONS:
                raise CheckpointError(f"'{name}' has more than {MOST_DIMENSIONS} dimensions.")
            mark = self._next()
            if mark not in (b",", b"]"):
                raise wrong
            self._position += 1
            if mark == b"]":
                return numbers

    # The parts of JSON

    def _object(self, item: Callable[[str], None]) -> None:
        """Read an object; ``item`` gets each name and reads its value."""
        self._position += 1
        if self._next() == b"}":
            self._position += 1
            return
        while True:
            if self._next() != b'"':
                raise self._not_json("a name in quotes is missing")
            name = self._string()
            if self._next() != b":":
                raise self._not_json("a colon is missing")
            self._position += 1
            item(name)
            mark = self._next()
            if mark not in (b",", b"}"):
                raise self._not_json("a comma or a closing brace is missing")
            self._position += 1
            if mark == b"}":
                return

    def _string(self) -> str:
        match = _STRING.match(self._text, self._position)
        if match is None:
            raise self._not_json("a text has no end")
        self._position = match.end()
        try:
            text: str = json.loads(match[0])
        except ValueError:
            raise self._not_json("a text has a wrong escape") from None
        return text

    def _next(self) -> bytes:
        """Skip blanks, and return the byte there; empty at the end."""
        match = _SPACE.match(self._text, self._position)
        assert match is not None
        self._position = match.end()
        return bytes(self._text[self._position : self._position + 1])

    def _not_json(self, reason: str) -> CheckpointError:
        return CheckpointError(
            "not a safetensors file: its header is not JSON "
            f"({reason}, at byte {self._position:,})."
        )


def _incomplete(name: str) -> CheckpointError:
    return CheckpointError(f"'{name}' lacks a dtype, a shape or two data_offsets in the header.")


def _check_utf8(text: memoryview) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(text), _CHUNK):
            decoder.decode(text[start : start + _CHUNK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise CheckpointError(
            f"not a safetensors file: its header is not JSON ({error.reason})."
        ) from None
