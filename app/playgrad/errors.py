"""The errors playgrad raises.

Every error says what is wrong, where (operation, shapes, the user's own line) and what to do.
The parts are also attributes, so that the page can mark the line and the node.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any


class PlaygradError(Exception):
    """Base of all playgrad errors.

    Attributes:
        op: name of the operation (graph node) concerned, or None.
        source: (file, line) of the user's code that made the operation, or None.
        hint: what to do about it, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        op: str | None = None,
        source: tuple[str, int] | None = None,
        hint: str | None = None,
    ) -> None:
        self.message = message
        self.op = op
        self.source = source
        self.hint = hint
        super().__init__(message)

    def __str__(self) -> str:
        text = self.message
        if self.op and f"'{self.op}'" not in text:
            text = f"{self.op}: {text}"
        if self.source:
            text += f" (made at {self.source[0]}, line {self.source[1]})"
        if self.hint:
            text += f" {self.hint}"
        return text

    def located(self, op: str | None, source: tuple[str, int] | None) -> PlaygradError:
        """Fill in where it happened, unless a more precise place is already known."""
        self.op = self.op or op
        self.source = self.source or source
        return self


class ShapeError(PlaygradError, ValueError):
    """Shapes do not fit together."""


class DTypeError(PlaygradError, TypeError):
    """An element type is not the one needed."""


class GraphError(PlaygradError, ValueError):
    """The graph is not well formed, or is used in a way that it cannot be."""


class FeedError(PlaygradError, ValueError):
    """A feed is missing, unknown, or does not fit its placeholder."""


class DataError(PlaygradError, ValueError):
    """The data given for training or evaluation cannot be used."""


class NonFiniteError(PlaygradError, ArithmeticError):
    """A loss became NaN or infinite; the variables keep their last good values."""


class UnsupportedOpError(PlaygradError, RuntimeError):
    """An operation cannot run on the device it was placed on."""


class KernelError(PlaygradError, RuntimeError):
    """A kernel was refused by the device's compiler or validator."""


class DeviceError(PlaygradError, RuntimeError):
    """A device does not exist, or cannot be opened."""


class DeviceLostError(DeviceError):
    """The device went away; its buffers are gone with it."""


class DeviceTimeoutError(DeviceLostError):
    """A device did not answer in time, and was given up."""


class OutOfMemoryError(PlaygradError, MemoryError):
    """The device has no room, or a tensor is larger than its limits allow."""


class CheckpointError(PlaygradError, ValueError):
    """A weights file is damaged, foreign, or does not fit the model."""


def error_record(error: BaseException) -> dict[str, Any]:
    """``error`` as plain data, to be raised again by ``error_of`` in another interpreter."""
    record: dict[str, Any] = {"type": type(error).__name__, "message": str(error), "op": None}
    if isinstance(error, PlaygradError):
        record |= {"message": error.message, "op": error.op, "hint": error.hint}
        record["source"] = error.source and list(error.source)
    return {**record, "notes": getattr(error, "__notes__", [])}


def error_of(record: Mapping[str, Any]) -> BaseException:
    """The error that a record tells of. Those that are neither ours nor Python's own are
    RuntimeErrors."""
    name, text = record["type"], record["message"]
    kind = globals().get(name) or getattr(builtins, name, None)
    error: BaseException
    if isinstance(kind, type) and issubclass(kind, PlaygradError):
        source = record.get("source")
        place = (source[0], source[1]) if source else None
        error = kind(text, op=record["op"], source=place, hint=record.get("hint"))
    elif isinstance(kind, type) and issubclass(kind, (Exception, KeyboardInterrupt)):
        error = kind(text)
    else:
        error = RuntimeError(f"{name}: {text}")
    for note in record.get("notes", ()):
        error.add_note(note)
    return error


def shape_text(shape: tuple[int | None, ...]) -> str:
    """``(?, 784)``: a shape as people write it, ``?`` where it is not known."""
    inner = ", ".join("?" if dim is None else str(dim) for dim in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"
