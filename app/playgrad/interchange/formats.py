"""The formats in which a trained network leaves playgrad."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from playgrad.errors import CheckpointError
from playgrad.graph.tensor import Tensor
from playgrad.interchange.onnx.export import onnx_bytes
from playgrad.interchange.prediction import variables_of
from playgrad.interchange.script.export import script_text
from playgrad.io.weights import write_file
from playgrad.models.structure import Structure

Array = np.ndarray[Any, Any]


class Readable(Protocol):
    """A session, as far as formats need it."""

    def values(self, variables: Sequence[Tensor | str]) -> list[Array]: ...


class Exported(Protocol):
    """A network, as far as formats need it; the class `Network` itself imports this module."""

    name: str

    @property
    def structure(self) -> Structure: ...

    @property
    def session(self) -> Readable: ...

    def save_weights(self, file: str | Path, format: str | None = None) -> None: ...


@dataclass(frozen=True)
class Format:
    """A format of files.

    Attributes:
        name: the name in ``playgrad export --format``.
        ending: the ending of its files, with the dot.
        purpose: one sentence about what opens such a file.
        write: writes a model to a path, whole or not at all.
        losses: tells what the format cannot keep of a model, a phrase each.
    """

    name: str
    ending: str
    purpose: str
    write: Callable[[Exported, Path], None]
    losses: Callable[[Exported], list[str]]


def _training(_model: Exported) -> list[str]:
    return ["the compile settings", "the state of the optimizer"]


def _architecture_and_training(model: Exported) -> list[str]:
    return ["the architecture", *_training(model)]


def _values(model: Exported) -> dict[Tensor, Array]:
    """Return the variables that predictions depend on, with their values."""
    variables = variables_of(model.structure.inputs, model.structure.outputs)
    return dict(zip(variables, model.session.values(variables), strict=True))


def _write_onnx(model: Exported, path: Path) -> None:
    structure = model.structure
    data = onnx_bytes(structure.inputs, structure.outputs, _values(model), model.name)
    write_file(path, data)


def _write_script(model: Exported, path: Path) -> None:
    structure = model.structure
    text = script_text(structure.inputs, structure.outputs, _values(model), model.name, path.name)
    write_file(path, text.encode())


def _weights(format_name: str) -> Callable[[Exported, Path], None]:
    return lambda model, path: model.save_weights(path, format_name)


FORMATS: tuple[Format, ...] = (
    Format(
        "safetensors",
        ".safetensors",
        "Weights and layers for pg.load_model; the weights for any library with safetensors.",
        _weights("safetensors"),
        _training,
    ),
    Format(
        "npz",
        ".npz",
        "Weights alone: opened by playgrad, and by numpy.load.",
        _weights("npz"),
        _architecture_and_training,
    ),
    Format(
        "onnx",
        ".onnx",
        "The network for prediction: run by ONNX Runtime and the many tools that read ONNX.",
        _write_onnx,
        _training,
    ),
    Format(
        "script",
        ".py",
        "One Python script that predicts: needs Python and NumPy, nothing else.",
        _write_script,
        _training,
    ),
)


def format_of(path: str | Path, name: str | None = None) -> Format:
    """Return the format with this name, or with the ending of the path.

    Raises:
        CheckpointError: there is no such format.
    """
    for each in FORMATS:
        if each.name == name if name else str(path).endswith(each.ending):
            return each
    known = ", ".join(f"{each.name} ({each.ending})" for each in FORMATS)
    asked = f"no format is called '{name}'" if name else f"no format has the ending of '{path}'"
    raise CheckpointError(f"{asked}.", hint=f"The formats are: {known}.")


def export(model: Exported, path: str | Path, name: str | None = None) -> None:
    """Write a model to a file in the format of its ending, or with this name.

    Raises:
        CheckpointError: there is no such format, or the file cannot be written.
        ExportError: the format has no equivalent of a layer or operation; the file is not written.
    """
    format_of(path, name).write(model, Path(path))
