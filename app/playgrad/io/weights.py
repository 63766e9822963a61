"""Weights files. The name decides the format of a new file, the content that of an existing one."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeVar

import numpy as np

from playgrad.errors import CheckpointError
from playgrad.io import npz, safetensors
from playgrad.io.archives import Archive
from playgrad.io.file_kinds import NPZ, PYTORCH_EXPORT, SAFETENSORS, TORCH, kind_of
from playgrad.io.npz import NpzFile
from playgrad.io.packed_file import KEY, PackedFile, packed_tensors
from playgrad.io.safetensors import LARGEST_HEADER, SafetensorsFile
from playgrad.io.tensor_entry import TensorFile, as_numbers, checked_name, count_text
from playgrad.io.tensorflow.bundle import TensorBundle, index_of_bundle
from playgrad.io.torch_file import TorchFile
from playgrad.io.user_files import user_files
from playgrad.io.whole_files import write_whole
from playgrad.io.writing import writing

Array = np.ndarray[Any, Any]
T = TypeVar("T", bound="HasShape")
FORMATS = ("safetensors", "npz")
"""Formats of weights files; each is also the ending of the file's name."""
_MOST_TIMES = 20
"""Maximum unpacked size of a file, as a multiple of the size of the file…"""
_ALWAYS_UNPACKED = 1 << 26
"""… and this many bytes: small files of zeros are harmless."""
_METADATA = {"format": "np", "producer": "playgrad"}


class HasShape(Protocol):
    """An array, or the announcement of one."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...


def encode(
    tensors: Mapping[str, Array], format: str, metadata: Mapping[str, str] | None = None
) -> bytes:
    """Return ``tensors`` as the bytes of a file of ``format``, "safetensors" or "npz".

    ``metadata`` are further texts by name, for which npz files have no place.

    Raises:
        CheckpointError: there is no such format, it does not have an array's dtype, or a name or a
            value is not valid.
    """
    tensors = {checked_name(name, {}): as_numbers(name, each) for name, each in tensors.items()}
    if format == "safetensors":
        return safetensors.dump(tensors, {**_METADATA, **(metadata or {})})
    if format == "npz":
        return npz.dump(tensors)
    raise CheckpointError(f"there is no weights format {format!r}.", hint=_USE)


def decode(content: bytes, expected: Mapping[str, Any] | None = None) -> dict[str, Array]:
    """Return the arrays in the bytes of a weights file, by name.

    The arrays take no more memory than ``content`` and the network of ``expected`` together:
    nothing is unpacked before the names, shapes and dtypes of the whole file are known to match.

    Args:
        expected: the weights of the network, as in `check_match`; None takes any. Without it, a
            file that unpacks to many times its size is refused.

    Raises:
        CheckpointError: the file is truncated or damaged, has another format, does not match
            ``expected``, or does not fit in memory.
    """
    file = _opened(content)
    if expected is not None:
        check_match(file.entries, expected)
    elif file.unpacked > _MOST_TIMES * len(content) + _ALWAYS_UNPACKED:
        raise CheckpointError(
            f"the file would unpack from {len(content):,} to {count_text(file.unpacked)} bytes.",
            hint="If that is right, load it into its model with model.load_weights(file).",
        )
    try:
        return {name: file.read(name) for name in expected or file.entries}
    except MemoryError:
        raise CheckpointError(
            f"the weights need {count_text(file.unpacked)} bytes, more than the available memory."
        ) from None


def open_weights(file: str | Path | BinaryIO | bytes) -> TensorFile:
    """Return a weights file after validating its header; its values are not read yet.

    It may be the path of a SavedModel or a checkpoint of TensorFlow.

    Raises:
        CheckpointError: the file cannot be read, is truncated or damaged, or has another format.
    """
    file = path_or_bytes(file)
    if isinstance(file, bytes):
        return _opened(file)
    with named_after(file):
        index = index_of_bundle(file)
        return TensorBundle(index) if index is not None else _opened(read_file(file))


@contextmanager
def named_after(file: Path | bytes) -> Iterator[None]:
    """Put the name of a file, if it has one, in front of an error about its content."""
    try:
        yield
    except CheckpointError as error:
        if not isinstance(file, bytes) and file.name not in error.message:
            error.message = f"{file.name}: {error.message}"
        raise


def _opened(content: bytes) -> TensorFile:
    """Return the file after validating its header."""
    kind = kind_of(content)
    if kind is TORCH:
        return TorchFile(content)
    if kind is PYTORCH_EXPORT:
        archive = Archive(content, "the export for PyTorch")
        return SafetensorsFile(archive.read("model.safetensors", archive.most_unpacked))
    if kind is not None and kind not in (NPZ, SAFETENSORS):
        raise CheckpointError(
            f"the file is {kind.name}, not a safetensors, npz or PyTorch file.", hint=kind.use
        )
    if content[:2] == b"PK":
        return NpzFile(content)
    if content[8:9] not in (b"{", b""):  # a header follows its length
        raise CheckpointError("the file is not a safetensors, npz or PyTorch file.")
    file = SafetensorsFile(content)
    return PackedFile(file) if KEY in file.metadata else file


def encode_checked(
    tensors: Mapping[str, Array],
    format: str,
    metadata: Mapping[str, str] | None = None,
    packed: bool = False,
) -> bytes:
    """Return the result of `encode`, after reading it back and comparing it with ``tensors``.

    Args:
        packed: whether a safetensors file has each tensor in its smallest exact form.

    Raises:
        CheckpointError: as `encode`; or the content differs from ``tensors``.
    """
    tensors = {name: as_numbers(name, each) for name, each in tensors.items()}
    if packed and format == "safetensors":
        stored, record = packed_tensors(tensors)
        content = encode(stored, format, {**(metadata or {}), **record})
    else:
        content = encode(tensors, format, metadata)
    decoded = decode(content, tensors if packed else None)
    if list(decoded) != list(tensors):
        raise _differs(f"its names are {_list(list(decoded))} instead of {_list(list(tensors))}")
    for name, array in tensors.items():
        if not _same(decoded.pop(name), array):
            raise _differs(f"'{name}' has other values")
    return content


def _same(one: Array, other: Array) -> bool:
    """Return whether arrays are equal bit for bit, NaN included, in whatever byte order."""
    one, other = (each.astype(each.dtype.newbyteorder("="), copy=False) for each in (one, other))
    return (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())


def _differs(how: str) -> CheckpointError:
    return CheckpointError(
        f"the weights were encoded wrongly: {how}. Nothing was saved.",
        hint="Save them again. If it happens again, restart Python or reload the page.",
    )


def format_of(path: str | Path) -> str:
    """Return the format that the extension of ``path`` names.

    Raises:
        CheckpointError: there is no such format.
    """
    ending = Path(path).suffix.lstrip(".").lower()
    if ending not in FORMATS:
        raise CheckpointError(f"the name '{Path(path).name}' does not tell the format.", hint=_USE)
    return ending


def save(
    tensors: Mapping[str, Array],
    file: str | Path | BinaryIO,
    format: str | None = None,
    metadata: Mapping[str, str] | None = None,
    packed: bool = False,
) -> None:
    """Write ``tensors`` to a file.

    Args:
        tensors: arrays by name.
        file: a path or an open binary file.
        format: "safetensors" or "npz". None takes it from the path's extension, or means
            safetensors for an open file.
        metadata: further texts by name, for which npz files have no place.
        packed: whether a safetensors file has each tensor in its smallest exact form; such files
            are for playgrad alone.

    Raises:
        CheckpointError: the file cannot be written, or there is no such format.
    """
    if isinstance(file, (str, Path)):
        write_file(file, encode_checked(tensors, format or format_of(file), metadata, packed))
    else:
        file.write(encode_checked(tensors, format or "safetensors", metadata, packed))


def write_file(path: str | Path, content: bytes | memoryview) -> None:
    """Write a file, whole or not at all.

    Raises:
        CheckpointError: it cannot be written.
    """
    _check_name(path)
    try:
        writing.once(lambda: write_whole(path, content))
    except OSError as error:
        raise CheckpointError(
            f"cannot write '{path}': {error.strerror}.",
            hint="Free some space or choose another folder. "
            "A file that had this name before is unchanged.",
        ) from None


def _check_name(path: str | Path) -> None:
    """Raise a CheckpointError if no file can have this name."""
    try:
        if b"\0" not in os.fsencode(path):
            return
    except UnicodeEncodeError:  # half of a pair of UTF-16
        pass
    raise CheckpointError(f"{str(path)!r} is not a valid name of a file.")


def load_metadata(file: str | Path | bytes) -> dict[str, str]:
    """Return the texts by name in a weights file: none in an npz file.

    Raises:
        CheckpointError: the file cannot be read, is truncated or damaged, or has another format.
    """
    opened = open_weights(file)
    return opened.metadata if isinstance(opened, (SafetensorsFile, PackedFile)) else {}


def load(
    file: str | Path | BinaryIO | bytes, expected: Mapping[str, Any] | None = None
) -> dict[str, Array]:
    """Return the arrays in a weights file, by name.

    Args:
        file: a path, an open binary file, or the bytes of a file.
        expected: the weights of the network, as for `decode`.

    Raises:
        CheckpointError: the file cannot be read, is truncated or damaged, has another format, or
            does not match ``expected``.
    """
    file = path_or_bytes(file)
    if isinstance(file, bytes):
        return decode(file, expected)
    content = read_file(file, expected)
    with named_after(file):
        return decode(content, expected)


def path_or_bytes(file: Any) -> Path | bytes:
    """Return the path of a file, or the content of one that is open or in memory.

    Args:
        file: a path, an open binary file, or the bytes of a file.

    Raises:
        CheckpointError: it is none of these.
    """
    if isinstance(file, (str, os.PathLike)):
        return Path(file)
    content = file.read() if hasattr(file, "read") else file
    if isinstance(content, (bytes, bytearray, memoryview)):
        return bytes(content)
    if isinstance(content, str):
        raise CheckpointError("the file is open as text.", hint="Open it with open(name, 'rb').")
    raise CheckpointError(
        f"a file is a path, an open binary file, or bytes, got {type(file).__name__}."
    )


def read_file(path: str | Path, expected: Mapping[str, Any] | None = None) -> bytes:
    """Return the bytes of a file, or of one that the host keeps under this name.

    Args:
        expected: the weights of the network, as for `decode`; a file that is far too large for them
            is not read. None reads any.

    Raises:
        CheckpointError: it cannot be read, or is far too large.
    """
    path = Path(path)
    _check_name(path)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not an ordinary file"
            raise CheckpointError(f"cannot read '{path}': it is {kind}.")
        _check_size(path.name, status.st_size, expected)
        return path.read_bytes()
    except FileNotFoundError as error:
        content = user_files().read(str(path))
        if content is None:
            hint = user_files().advice
            raise CheckpointError(f"cannot read '{path}': {error.strerror}.", hint=hint) from None
        _check_size(path.name, len(content), expected)
        return content
    except OSError as error:
        raise CheckpointError(f"cannot read '{path}': {error.strerror}.") from None
    except MemoryError:
        raise CheckpointError(
            f"cannot read '{path}': it has {status.st_size:,} bytes, more than the available "
            "memory."
        ) from None


def _check_size(name: str, size: int, expected: Mapping[str, Any] | None) -> None:
    """Raise a CheckpointError if a file of ``size`` bytes is far too large for the weights."""
    if expected is None:
        return
    needed = sum(spec.size * 4 for spec in expected.values())
    if size > _MOST_TIMES * needed + LARGEST_HEADER:
        raise CheckpointError(
            f"{name}: the file has {size:,} bytes, but the weights of this model {needed:,}.",
            hint=_SAME,
        )


def check_match(tensors: Mapping[str, T], expected: Mapping[str, Any]) -> dict[str, T]:
    """Return ``tensors`` in the order of ``expected``, if they match.

    Args:
        tensors: arrays by name, or anything with their ``shape`` and ``dtype``.
        expected: by name, objects with a ``shape`` and the name of a ``dtype``.

    Raises:
        CheckpointError: names are missing or unknown, or a shape or dtype differs.
    """
    missing = [name for name in expected if name not in tensors]
    unknown = [name for name in tensors if name not in expected]
    differences = [f"it needs {_list(missing)}, not in the file"] if missing else []
    differences += [f"the file has {_list(unknown)}, not in the model"] if unknown else []
    if differences:
        raise CheckpointError(
            f"the weights do not belong to this model: {'; '.join(differences)}.",
            hint=f"{_SAME} pg.match_weights(model, file) matches other names and layouts.",
        )
    for name, spec in expected.items():
        array = tensors[name]
        if array.shape != tuple(spec.shape):
            raise CheckpointError(
                f"'{name}' has shape {array.shape} in the file, but {tuple(spec.shape)} "
                "in the model.",
                hint=_SAME,
            )
        if array.dtype.name != spec.dtype:
            raise CheckpointError(
                f"'{name}' is {array.dtype.name} in the file, but {spec.dtype} in the model.",
                hint=f"Convert it before saving: array.astype('{spec.dtype}').",
            )
    return {name: tensors[name] for name in expected}


def _list(names: list[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:4])
    return shown + (f" and {len(names) - 4} more" if len(names) > 4 else "")


_SAME = "Load them into a model with the same layers, of the same sizes."
_USE = f"Use one of: {', '.join('.' + name for name in FORMATS)}."
