"""The formats in which a trained network leaves playgrad."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from playgrad.errors import CheckpointError
from playgrad.models.structure import Structure


class Exported(Protocol):
    """A network, as far as formats need it; the class `Network` itself imports this module."""

    name: str

    @property
    def structure(self) -> Structure: ...

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


def _nothing_but_weights(_model: Exported) -> list[str]:
    return ["the architecture", "the state of the optimizer"]


def _weights(format_name: str) -> Callable[[Exported, Path], None]:
    return lambda model, path: model.save_weights(path, format_name)


FORMATS: tuple[Format, ...] = (
    Format(
        "safetensors",
        ".safetensors",
        "Weights alone: opened by playgrad, and by the safetensors library.",
        _weights("safetensors"),
        _nothing_but_weights,
    ),
    Format(
        "npz",
        ".npz",
        "Weights alone: opened by playgrad, and by numpy.load.",
        _weights("npz"),
        _nothing_but_weights,
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
