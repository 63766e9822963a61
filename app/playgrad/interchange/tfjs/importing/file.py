"""`TfjsFile`: the parts of a layers model of TensorFlow.js, checked.

The format is that of ``tf.io.ModelJSON``: the topology, and a manifest of groups of weights, whose
values follow each other in one or several files beside it.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from playgrad.data.input_description import KEY, InputDescription
from playgrad.errors import CheckpointError
from playgrad.io.archives import Archive
from playgrad.io.file_kinds import TFJS_MODEL, TFJS_TOPOLOGY
from playgrad.io.npz import is_path
from playgrad.io.tensor_entry import (
    MOST_DIMENSIONS,
    TensorEntry,
    check_count,
    checked_entry,
    checked_name,
)
from playgrad.io.weights import read_file
from playgrad.json_text import check_unicode, parse_json

Array = np.ndarray[Any, Any]
_DTYPES = {"float32": "<f4", "int32": "<i4", "bool": "|b1"}
_QUANTIZED = {"uint8": "|u1", "uint16": "<u2", "float16": "<f2"}
_MOST_FILES = 10_000
_LARGEST_TOPOLOGY = 1 << 26
DAMAGED = "the TensorFlow.js file is damaged"


class TfjsFile:
    """The topology and the weights of a model.

    Args:
        file: the path of ``model.json`` beside its weights, of its folder, or of a ZIP archive with
            both; or the bytes of such an archive.

    Attributes:
        topology: the description of the layers, in the format of Keras.
        weights: the arrays by name, in their order.
        input: how a picture becomes the input, if playgrad wrote the file and knew it.

    Raises:
        CheckpointError: a file is missing, damaged, or not one of a layers model.
    """

    def __init__(self, file: str | Path | bytes) -> None:
        data, read = _parts(file)
        topology = data.get("modelTopology")
        is_graph = isinstance(topology, Mapping) and "node" in topology
        if data.get("format") == "graph-model" or is_graph:
            raise CheckpointError(
                "the file has a graph model of TensorFlow.js, which has operations, not layers.",
                hint="Layers models are read. Convert the model with tensorflowjs_converter "
                "--output_format=tfjs_layers_model, or the original to ONNX.",
            )
        if not isinstance(topology, Mapping):
            raise CheckpointError("the JSON file does not describe a model of TensorFlow.js.")
        self.topology: Mapping[str, Any] = topology
        self.weights: dict[str, Array] = {}
        self._files: set[str] = set()
        groups = listed(data.get("weightsManifest"))
        check_count(len(groups))
        for group in groups:
            self._add_group(mapped(group), read)
        user = data.get("userDefinedMetadata")
        self.input = InputDescription.from_dict(
            user.get(KEY) if isinstance(user, Mapping) else None
        )

    def _add_group(self, group: Mapping[str, Any], read: Callable[[str], bytes]) -> None:
        entries = listed(group.get("weights"))
        check_count(len(self.weights) + len(entries))
        paths = listed(group.get("paths"))
        if len(paths) > _MOST_FILES:
            raise CheckpointError(f"{DAMAGED}: it has more than {_MOST_FILES:,} files of weights.")
        content = b"".join(read(self._next_file(path)) for path in paths)
        place = 0
        for each in map(mapped, entries):
            name = checked_name(each.get("name", ""), self.weights)
            entry = _entry(name, each, place)
            if entry.end > len(content):
                raise CheckpointError(
                    f"the values of '{name[:80]}' are truncated: they end at byte {entry.end:,} of "
                    f"{len(content):,}."
                )
            stored = entry.values(name, content[place : entry.end]).reshape(entry.shape)
            self.weights[name] = _dequantized(stored, each)
            place = entry.end
        if place != len(content):
            raise CheckpointError(f"{DAMAGED}: {len(content) - place:,} bytes belong to no weight.")

    def _next_file(self, path: Any) -> str:
        """Return the name of a file of weights, each of which is read once."""
        if (name := _checked_path(path)) in self._files:
            raise CheckpointError(f"{DAMAGED}: '{name[:80]}' has the weights of two places.")
        self._files.add(name)
        return name


def packed(file: Path) -> bytes:
    """Return the model of a folder, or of ``model.json``, as a ZIP archive.

    Raises:
        CheckpointError: a file is missing or damaged.
    """
    data, read = _parts(file)
    groups = [mapped(group) for group in listed(data.get("weightsManifest"))]
    paths = {_checked_path(path) for group in groups for path in listed(group.get("paths"))}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo(TFJS_MODEL), json.dumps(data))
        for path in sorted(paths):
            archive.writestr(zipfile.ZipInfo(path), read(path))
    return buffer.getvalue()


def _parts(file: str | Path | bytes) -> tuple[Mapping[str, Any], Callable[[str], bytes]]:
    """Return the content of ``model.json``, and a function that reads a file beside it."""
    path = None if isinstance(file, bytes) else Path(file)
    if path is not None and path.is_dir() and (path / TFJS_MODEL).is_file():
        path /= TFJS_MODEL
    content = file if isinstance(file, bytes) else read_file(path or file)
    if content[:2] == b"PK":
        archive = Archive(content, "the TensorFlow.js file")
        place = _folder(archive.names)
        text = archive.read(f"{place}{TFJS_MODEL}", _LARGEST_TOPOLOGY)
        left = archive.most_unpacked

        def inside(name: str) -> bytes:
            nonlocal left
            unpacked = archive.read(f"{place}{name}", left)
            left -= len(unpacked)
            return unpacked

        return _parsed(text), inside
    if len(content) > _LARGEST_TOPOLOGY:
        raise CheckpointError(f"the JSON file has more than {_LARGEST_TOPOLOGY:,} bytes.")
    data = _parsed(content)

    def beside(name: str) -> bytes:
        if path is None:
            raise CheckpointError(f"the file is {TFJS_TOPOLOGY.name}.", hint=TFJS_TOPOLOGY.use)
        return read_file(path.parent / name)

    return data, beside


def _folder(names: list[str]) -> str:
    """Return the folder of the model in an archive, with a slash if there is one."""
    places = [
        name.removesuffix(TFJS_MODEL) for name in names if f"/{name}".endswith(f"/{TFJS_MODEL}")
    ]
    if len(places) != 1:
        raise CheckpointError(
            f"the ZIP archive has {len(places) or 'no'} files {TFJS_MODEL}.",
            hint=f"Pack one {TFJS_MODEL} with its files of weights.",
        )
    return places[0]


def _parsed(text: bytes) -> Mapping[str, Any]:
    try:
        data = parse_json(text)
        check_unicode(data)
    except ValueError as error:
        raise CheckpointError(f"{DAMAGED}: it is not JSON ({str(error)[:200]}).") from None
    return mapped(data)


def _checked_path(path: Any) -> str:
    if not isinstance(path, str) or not path or "\0" in path or is_path(path) or ":" in path:
        raise CheckpointError(
            f"'{str(path)[:80]}' is not the name of a file beside {TFJS_MODEL}.",
            hint="Files of weights are read from its folder alone.",
        )
    return path


def _entry(name: str, data: Mapping[str, Any], begin: int) -> TensorEntry:
    quantization, codes = data.get("quantization"), _DTYPES
    stored = data.get("dtype")
    if quantization is not None:
        stored, codes = mapped(quantization).get("dtype"), _QUANTIZED
    shape = data.get("shape")
    if not isinstance(stored, str) or stored not in codes:
        raise CheckpointError(f"'{name[:80]}' is stored as {stored!r:.40}, which is not read.")
    if (
        not isinstance(shape, list)
        or len(shape) > MOST_DIMENSIONS
        or any(type(size) is not int or not 0 <= size < 1 << 62 for size in shape)
    ):
        raise CheckpointError(f"the shape of '{name[:80]}' is not valid.")
    dtype = np.dtype(codes[stored])
    end = begin + math.prod(shape) * dtype.itemsize
    return checked_entry(name, TensorEntry(dtype, tuple(shape), begin, end))


def _dequantized(stored: Array, data: Mapping[str, Any]) -> Array:
    """Return the values that TensorFlow.js computes with: ``stored * scale + min``."""
    if data.get("quantization") is None:
        return stored.astype(stored.dtype.newbyteorder("="))
    if stored.dtype.kind == "f":
        return stored.astype(np.float32)
    scale, lowest = (data["quantization"].get(key) for key in ("scale", "min"))
    if any(type(each) not in (int, float) or not abs(each) < 1e38 for each in (scale, lowest)):
        raise CheckpointError(f"{DAMAGED}: the scale of '{str(data['name'])[:80]}' is not valid.")
    dtype = np.int32 if data.get("dtype") == "int32" else np.float32
    values = stored * np.float64(scale) + lowest
    return (np.round(values) if dtype is np.int32 else values).astype(dtype)


def listed(value: Any) -> list[Any]:
    """Return a list of the description, or raise CheckpointError."""
    if not isinstance(value, list):
        raise CheckpointError(f"{DAMAGED}: a list is missing.")
    return value


def mapped(value: Any) -> Mapping[str, Any]:
    """Return an object of the description, or raise CheckpointError."""
    if not isinstance(value, Mapping):
        raise CheckpointError(f"{DAMAGED}: an object is missing.")
    return value
