"""The errors that playgrad raises.

Each error says what is wrong, where (operation, shapes, line of the user's program) and what to do.
These parts are also attributes, so that the page can mark the line and the node.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any


class PlaygradError(Exception):
    """Base class of all playgrad errors.

    Attributes:
        message: what is wrong.
        op: the name of the node, or None.
        source: (file, line) in the user's program that created the node, or None.
        hint: what to do, or None.
        code: names a kind of error that the page can mend, such as "labels-outside"; or None.
        values: the numbers and names in its sentence.
    """

    def __init__(
        self,
        message: str,
        *,
        op: str | None = None,
        source: tuple[str, int] | None = None,
        hint: str | None = None,
        code: str | None = None,
        values: Mapping[str, float | str] | None = None,
    ) -> None:
        self.message = message
        self.op = op
        self.source = source
        self.hint = hint
        self.code = code
        self.values = dict(values or {})
        super().__init__(message)

    def __str__(self) -> str:
        text = self.message
        if self.op and f"'{self.op}'" not in text and not text.startswith(f"{self.op}: "):
            text = f"{self.op}: {text}"
        if self.source:
            text += f" (created at {self.source[0]}, line {self.source[1]})"
        if self.hint:
            text += f" {self.hint}" if text.endswith((".", "!", "?")) else f". {self.hint}"
        return text

    def located(self, op: str | None, source: tuple[str, int] | None) -> PlaygradError:
        """Fill in node and source, unless a more precise place is already known."""
        self.op = self.op or op
        self.source = self.source or source
        return self


class ShapeError(PlaygradError, ValueError):
    """A shape is not valid, or shapes do not fit together."""


class DTypeError(PlaygradError, TypeError):
    """A tensor or value has a dtype that is not supported or does not match."""


class GraphError(PlaygradError, ValueError):
    """A graph is malformed, or a node, tensor or name is used in a way it does not allow."""


class FeedError(PlaygradError, ValueError):
    """A feed is missing or unknown, or its value does not fit the placeholder."""


class DataError(PlaygradError, ValueError):
    """Data for training, evaluation or prediction cannot be used."""


class GameError(PlaygradError, ValueError):
    """A move breaks the rules of a game, or a search or match was asked for that cannot be."""


class ReadError(DataError):
    """A file, or a record in it, cannot be read.

    Attributes:
        file: its name.
        record: the number of the record, from 0, or of the line of a text, from 1; None for the
            whole file.
    """

    def __init__(
        self, message: str, *, file: str = "", record: int | None = None, **details: Any
    ) -> None:
        super().__init__(message, **details)
        self.file = file
        self.record = record


class NonFiniteError(PlaygradError, ArithmeticError):
    """A loss became NaN or infinite. The variables keep their values from before that step."""


class UnsupportedOpError(PlaygradError, RuntimeError):
    """An operation cannot run on the device on which it was placed."""


class KernelError(PlaygradError, RuntimeError):
    """A kernel could not be written, or the device's compiler or validator rejected it."""


class DeviceError(PlaygradError, RuntimeError):
    """A device does not exist or cannot be opened."""


class DeviceLostError(DeviceError):
    """The connection to a device was lost, and its buffers with it."""


class DeviceTimeoutError(DeviceLostError):
    """A device did not answer in time and is treated as lost."""


class OutOfMemoryError(PlaygradError, MemoryError):
    """A device has not enough memory, or a tensor exceeds its limits."""


class CheckpointError(PlaygradError, ValueError):
    """A weights file is damaged, has another format, or does not match the model."""


class SequenceLengthError(CheckpointError):
    """A model takes sequences of any length, but a layer, or a format of files, needs one.

    Attributes:
        inputs: the shape of one sample and the dtype of each input, with None for open sizes.
    """

    def __init__(
        self,
        message: str,
        *,
        inputs: Sequence[tuple[tuple[int | None, ...], str]] = (),
        **details: Any,
    ) -> None:
        super().__init__(message, **details)
        self.inputs = tuple(inputs)


class ExportError(CheckpointError):
    """A format has no equivalent of a layer or an operation of the model."""


def error_to_json(error: BaseException) -> dict[str, Any]:
    """Return ``error`` as plain data, which ``error_from_json`` turns back into an error."""
    data: dict[str, Any] = {"type": type(error).__name__, "message": str(error), "op": None}
    if isinstance(error, PlaygradError):
        data |= {"message": error.message, "op": error.op, "hint": error.hint}
        data["source"] = error.source and list(error.source)
    return {**data, "notes": getattr(error, "__notes__", [])}


def error_from_json(data: Mapping[str, Any]) -> BaseException:
    """Return the error that ``error_to_json`` described.

    An error that is neither playgrad's nor built into Python becomes a RuntimeError.
    """
    name, text = data["type"], data["message"]
    kind = globals().get(name) or getattr(builtins, name, None)
    error: BaseException
    if isinstance(kind, type) and issubclass(kind, PlaygradError):
        source = data.get("source")
        place = (source[0], source[1]) if source else None
        error = kind(text, op=data["op"], source=place, hint=data.get("hint"))
    elif isinstance(kind, type) and issubclass(kind, (Exception, KeyboardInterrupt)):
        error = kind(text)
    else:
        error = RuntimeError(f"{name}: {text}")
    for note in data.get("notes", ()):
        error.add_note(note)
    return error


def shape_text(shape: tuple[int | None, ...]) -> str:
    """Return a shape as text, such as ``(?, 784)``, with ``?`` for an unknown dimension."""
    inner = ", ".join("?" if dim is None else str(dim) for dim in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"
