"""`TensorBundle`: the variables of a SavedModel or a checkpoint of TensorFlow.

The format is that of ``tensorflow/core/protobuf/tensor_bundle.proto``: an index, whose entries say
where the values of tensors are in one or several files of data.
"""

from __future__ import annotations

import stat
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from playgrad.errors import CheckpointError
from playgrad.io.tensor_entry import (
    BFLOAT16,
    MOST_DIMENSIONS,
    ByteOrder,
    TensorEntry,
    TensorFile,
    check_count,
    checked_entry,
    checked_name,
)
from playgrad.io.tensorflow.checksum import masked_crc32c
from playgrad.io.tensorflow.fields import Fields, fields, number, parts
from playgrad.io.tensorflow.table import read_table

Array = np.ndarray[Any, Any]
_INDEX = ".index"
_VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"
_OBJECTS = "_CHECKPOINTABLE_OBJECT_GRAPH"
_STRING = 7
_DTYPES = {
    1: "f4", 2: "f8", 3: "i4", 4: "u1", 5: "i2", 6: "i1", 9: "i8", 10: "?", 14: BFLOAT16, 17: "u2",
    19: "f2", 22: "u4", 23: "u8",
}  # fmt: skip
"""Codes for `TensorEntry.of_code` by those of ``tensorflow/core/framework/types.proto``."""
_LARGEST_INDEX = 1 << 26
_LARGEST_OBJECTS = 1 << 26
_MOST_SHARDS = 10_000
_OTHERS = ("_all_variables", "keras_api", "save_counter")
"""The first parts of keys of what is not a weight, or is there under another key as well."""
_DAMAGED = "the TensorFlow index is damaged"


def index_of_bundle(path: Path) -> Path | None:
    """Return the index of a SavedModel's folder or of the prefix of a checkpoint; None for others.

    Args:
        path: the folder, ``…/variables``, ``…/ckpt-7`` or the index itself.
    """
    if path.name.lower().endswith(_INDEX):
        return path
    candidates = (path / "variables" / "variables.index", path / "variables.index")
    beside = [path.with_name(path.name + _INDEX)] if path.name and not path.exists() else []
    return next((each for each in (*candidates, *beside) if each.is_file()), None)


class TensorBundle(TensorFile):
    """The weights in a checkpoint; the variables of optimizers and metrics are left out.

    Args:
        index: the path of its index.

    Attributes:
        entries: the variables by the names that TensorFlow gave them, such as ``dense_1/kernel``,
            or by their keys where several have the same name.
        sorted_by: the keys of the variables, by their names, with a number for each direction.

    Raises:
        CheckpointError: the index cannot be read, or is damaged.
    """

    def __init__(self, index: Path) -> None:
        self._prefix = index.with_name(index.name[: -len(_INDEX)])
        table = read_table(_part(index, 0, None, _LARGEST_INDEX))
        header = fields(table.pop(b"", b""))
        self._shards = number(header, 1)
        self._order: ByteOrder = "<" if number(header, 2) == 0 else ">"
        if not 0 < self._shards <= _MOST_SHARDS:
            raise CheckpointError(f"{_DAMAGED}: it has {self._shards:,} files of data.")
        messages = {_text(key): fields(value) for key, value in table.items()}
        names = self._names(messages.pop(_OBJECTS, None))
        self.entries: dict[str, TensorEntry] = {}
        self.sorted_by: dict[str, str] = {}
        self._messages: dict[str, Fields] = {}
        self._checked: set[str] = set()
        weights = {k: m for k, m in messages.items() if _is_weight(k) and number(m, 1) != _STRING}
        check_count(len(weights))
        counts = Counter(names.get(key, key) for key in weights)
        for key, message in weights.items():
            name = names.get(key, key)
            name = key.removesuffix(_VALUE) if counts[name] > 1 else name.removesuffix(_VALUE)
            self.entries[checked_name(name, self.entries)] = self._entry(name, message)
            self.sorted_by[name] = _in_order(key.removesuffix(_VALUE))
            self._messages[name] = message

    def _entry(self, name: str, message: Fields) -> TensorEntry:
        code = _DTYPES.get(number(message, 1))
        if code is None or 7 in message:
            what = "divided into slices" if 7 in message else f"of type {number(message, 1)}"
            raise CheckpointError(f"'{name[:80]}' in the TensorFlow file is {what}: not read.")
        dims = [dim for shape in parts(message, 2) for dim in parts(fields(shape), 2)]
        shape = tuple(number(fields(dim), 1) for dim in dims)
        begin, size = number(message, 4), number(message, 5)
        entry = TensorEntry.of_code(code, shape, begin, begin + size, self._order)
        if len(shape) > MOST_DIMENSIONS or any(each >= 1 << 62 for each in shape):
            raise CheckpointError(f"the shape of '{name[:80]}' is not valid.")
        if checked_entry(name, entry).stored_size != size or number(message, 3) >= self._shards:
            raise CheckpointError(f"{_DAMAGED}: the place of '{name[:80]}' is not valid.")
        return entry

    def _names(self, message: Fields | None) -> dict[str, str]:
        """Return the names of variables by their keys, as the graph of objects has them.

        It is a string of TensorFlow: its length, a checksum of that, and its bytes.
        """
        if message is None:
            return {}
        stored = self._stored(_OBJECTS, message, _LARGEST_OBJECTS)
        place = 0
        while place < len(stored) and stored[place] >= 0x80:
            place += 1
        found: dict[str, str] = {}
        for node in parts(fields(stored[place + 5 :]), 1):
            for attribute in parts(fields(node), 2):
                values = fields(attribute)
                texts = [parts(values, each) for each in (2, 3)]
                if all(texts) and texts[0][-1]:
                    found[_text(texts[1][-1])] = _text(texts[0][-1])
        return found

    def _stored(self, name: str, message: Fields, most: int) -> bytes:
        shard, begin, size = (number(message, each) for each in (3, 4, 5))
        path = self._prefix.with_name(f"{self._prefix.name}.data-{shard:05d}-of-{self._shards:05d}")
        return _part(path, begin, size, most)

    def read(self, name: str) -> Array:
        """Return the values of a variable.

        Raises:
            CheckpointError: they are missing or damaged.
        """
        entry, message = self.entries[name], self._messages[name]
        stored = self._stored(name, message, entry.stored_size)
        if 6 in message and masked_crc32c(stored) != number(message, 6):
            raise CheckpointError(f"the values of '{name}' are damaged: their checksum differs.")
        return np.array(entry.values(name, stored)).reshape(entry.shape)


def _is_weight(key: str) -> bool:
    first, *rest = key.split("/")
    if first in _OTHERS or ".OPTIMIZER_SLOT" in rest:
        return False
    # Keras 3 has the weights of a network among the things of its optimizer.
    return "optimizer" not in (first, *rest) or "_trainable_variables" in rest


def _in_order(key: str) -> str:
    """Return a key that sorts the two layers of `nn.Bidirectional` as they are called."""
    return key.replace("/forward_layer/", "/0/").replace("/backward_layer/", "/1/")


def _part(path: Path, begin: int, size: int | None, most: int) -> bytes:
    """Return ``size`` bytes of a file, or all."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise CheckpointError(f"cannot read '{path}': it is not an ordinary file.")
        size = status.st_size if size is None else size
        if begin + size > status.st_size:
            raise CheckpointError(f"{path.name} is truncated: it has {status.st_size:,} bytes.")
        if size > most:
            raise CheckpointError(f"{path.name} has {size:,} bytes, more than {most:,}.")
        with open(path, "rb") as file:
            file.seek(begin)
            content = file.read(size)
    except OSError as error:
        raise CheckpointError(f"cannot read '{path}': {error.strerror}.") from None
    if len(content) != size:
        raise CheckpointError(f"{path.name} is truncated.")
    return content


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise CheckpointError(f"{_DAMAGED}: a name is not valid Unicode.") from None
