"""Weights files. The name decides the format of a new file, the content that of an existing one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from playgrad.errors import CheckpointError
from playgrad.io import npz, safetensors
from playgrad.io.whole_files import write_whole

Array = np.ndarray[Any, Any]
FORMATS = ("safetensors", "npz")
"""Formats of weights files; each is also the ending of the file's name."""
_METADATA = {"format": "np", "producer": "playgrad"}


def encode(tensors: Mapping[str, Array], format: str) -> bytes:
    """Return ``tensors`` as the bytes of a file of ``format``, "safetensors" or "npz".

    Raises:
        CheckpointError: there is no such format, or it does not have an array's dtype.
    """
    if format == "safetensors":
        return safetensors.dump(tensors, _METADATA)
    if format == "npz":
        return npz.dump(tensors)
    raise CheckpointError(f"there is no weights format {format!r}.", hint=_USE)


def decode(content: bytes) -> dict[str, Array]:
    """Return the arrays in the bytes of a weights file, by name.

    Raises:
        CheckpointError: the file is truncated or damaged, or has another format.
    """
    if content[:2] == b"PK":
        return npz.parse(content)
    if content[:6] == b"\x93NUMPY":
        raise CheckpointError(
            "the file is a single array (npy), not weights by name.",
            hint="Save them with numpy.savez(file, **weights).",
        )
    if content[8:9] not in (b"{", b""):  # a header follows its length
        raise CheckpointError("the file is neither a safetensors nor an npz file.")
    return safetensors.parse(content)


def format_of(path: str | Path) -> str:
    """Return the format that the extension of ``path`` names.

    Raises:
        CheckpointError: there is no such format.
    """
    ending = Path(path).suffix.lstrip(".")
    if ending not in FORMATS:
        raise CheckpointError(f"the name '{Path(path).name}' does not tell the format.", hint=_USE)
    return ending


def save(
    tensors: Mapping[str, Array], file: str | Path | BinaryIO, format: str | None = None
) -> None:
    """Write ``tensors`` to a file.

    Args:
        tensors: arrays by name.
        file: a path or an open binary file.
        format: "safetensors" or "npz". None takes it from the path's extension, or means
            safetensors for an open file.

    Raises:
        CheckpointError: the file cannot be written, or there is no such format.
    """
    if isinstance(file, (str, Path)):
        content = encode(tensors, format or format_of(file))
        try:
            write_whole(file, content)
        except OSError as error:
            raise CheckpointError(
                f"cannot write '{file}': {error.strerror}.",
                hint="Free some space or choose another folder. "
                "A file that had this name before is unchanged.",
            ) from None
    else:
        file.write(encode(tensors, format or "safetensors"))


def load(file: str | Path | BinaryIO | bytes) -> dict[str, Array]:
    """Return the arrays in a weights file, by name.

    Args:
        file: a path, an open binary file, or the bytes of a file.

    Raises:
        CheckpointError: the file cannot be read, is truncated or damaged, or has another format.
    """
    if isinstance(file, bytes):
        return decode(file)
    if not isinstance(file, (str, Path)):
        return decode(file.read())
    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise CheckpointError(f"cannot read '{file}': {error.strerror}.") from None
    try:
        return decode(content)
    except CheckpointError as error:
        error.message = f"{Path(file).name}: {error.message}"
        raise


def check_match(tensors: Mapping[str, Array], expected: Mapping[str, Any]) -> dict[str, Array]:
    """Return ``tensors`` in the order of ``expected``, if they match.

    Args:
        tensors: arrays by name.
        expected: by name, objects with a ``shape`` and the name of a ``dtype``.

    Raises:
        CheckpointError: names are missing or unknown, or a shape or dtype differs.
    """
    missing = [name for name in expected if name not in tensors]
    unknown = [name for name in tensors if name not in expected]
    if missing or unknown:
        raise CheckpointError(
            "the weights do not belong to this model:"
            + (f" it needs {_list(missing)}, not in the file;" if missing else "")
            + (f" the file has {_list(unknown)}, not in the model;" if unknown else ""),
            hint=_SAME,
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
