"""`match_weights`: weights from files whose names and layouts are not the network's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np

from playgrad.errors import CheckpointError, DataError, shape_text
from playgrad.graph.spec import TensorSpec
from playgrad.interchange.matching.assignment import How, assigned, layout_of, natural
from playgrad.interchange.matching.slots import Described, Layout, Slot, slots_of
from playgrad.io.safetensors import SafetensorsFile
from playgrad.io.tensor_entry import TensorFile, converted
from playgrad.io.tensorflow.bundle import TensorBundle
from playgrad.io.weights import open_weights

Array = np.ndarray[Any, Any]
Names = str | Sequence[str] | None

_WORDS: Mapping[How, str] = {
    "name": "name",
    "layer": "layer and order",
    "shape": "shape and order",
    "hand": "you",
}
LAYOUT = "playgrad.layout"
"""The name of the layout in the metadata of safetensors files."""
_COUNTER = "num_batches_tracked"  # PyTorch's count of batches, which playgrad has no use for


class Weighted(Protocol):
    """A network, as far as its weights go."""

    def weight_specs(self) -> dict[str, TensorSpec]: ...

    def set_weights(self, values: Mapping[str, Array]) -> None: ...


class WeightMatching:
    """An assignment of the tensors of a file to the weights of a model; see `match_weights`.

    ``print(matching)`` shows the table. ``matching["dense_1/kernel"]`` is the name of a tensor in
    the file, None without one; assign to it to correct it. A weight that comes from several tensors
    has a tuple of names: the two biases of an LSTM or GRU of PyTorch.

    Attributes:
        layout: how the file stores kernels: "pytorch" or "keras".
        is_stated: whether the file says that it has PyTorch's layout: our export wrote it.
        slots: the tensors that the model takes, in the order of its weights.
        shapes: the shapes of the file's tensors by name.
    """

    def __init__(
        self, model: Weighted, file: TensorFile, layout: Layout | None, network: Described | None
    ) -> None:
        self._model, self._file = model, file
        self._specs = model.weight_specs()
        shapes = {name: entry.shape for name, entry in file.entries.items()}
        keys = file.sorted_by
        order = list(shapes) if keys is None else sorted(shapes, key=lambda n: natural(keys[n]))
        self.shapes = {n: shapes[n] for n in order if n.rpartition(".")[2] != _COUNTER}
        self.is_stated = _is_stated(file)
        self.layout: Layout = layout or layout_in(file)
        needed = {name: tuple(spec.static_shape) for name, spec in self._specs.items()}
        self.slots = slots_of(needed, self.layout, network)
        numbers = {n: s for n, s in self.shapes.items() if self._is_floating(n)}
        self._assigned: dict[Slot, tuple[str, How]] = assigned(
            self.slots, numbers, isinstance(file, TensorBundle)
        )

    def source(self, slot: Slot) -> tuple[str, How] | None:
        """Return the tensor for a slot and how it was matched, or None."""
        return self._assigned.get(slot)

    def choices(self, slot: Slot) -> list[str]:
        """Return the names of the tensors that have the shape of a slot."""
        return [n for n, s in self.shapes.items() if s == slot.shape and self._is_floating(n)]

    @property
    def missing(self) -> list[Slot]:
        """The slots without a tensor."""
        return [slot for slot in self.slots if slot not in self._assigned]

    @property
    def unused(self) -> list[str]:
        """The names of the file's tensors that go nowhere."""
        used = {tensor for tensor, _ in self._assigned.values()}
        return [name for name in self.shapes if name not in used]

    @property
    def fits(self) -> bool:
        """True if every weight has its tensors."""
        return not self.missing

    def __iter__(self) -> Iterator[str]:
        return iter(self._specs)

    def __getitem__(self, weight: str) -> str | tuple[str | None, ...] | None:
        names = [self._assigned.get(slot, (None,))[0] for slot in self._slots(weight)]
        return names[0] if len(names) == 1 else tuple(names)

    def __setitem__(self, weight: str, tensors: Names) -> None:
        slots = self._slots(weight)
        if tensors is None or isinstance(tensors, str):
            names: list[str | None] = [tensors]
        else:
            names = list(tensors)
        if len(names) != len(slots):
            wanted = ", ".join(f"{slot.name} {shape_text(slot.shape)}" for slot in slots)
            raise CheckpointError(
                f"'{weight}' takes {len(slots)} tensors, got {len(names)}.",
                hint=f"Give their names in this order: {wanted}.",
            )
        for slot, name in zip(slots, names, strict=True):
            self.check(slot, name)
        for slot, name in zip(slots, names, strict=True):
            self.assign(slot, name)

    def assign(self, slot: Slot, tensor: str | None) -> None:
        """Choose the tensor of a slot; None for none.

        Raises:
            CheckpointError: the tensor is not in the file, or does not fit.
        """
        self.check(slot, tensor)
        if tensor is None:
            self._assigned.pop(slot, None)
        elif self._assigned.get(slot, ("",))[0] != tensor:
            self._assigned[slot] = tensor, "hand"

    def check(self, slot: Slot, tensor: str | None) -> None:
        """Raise CheckpointError unless ``tensor`` fits the slot."""
        if tensor is None:
            return
        if tensor not in self.shapes:
            raise CheckpointError(
                f"the file has no tensor '{str(tensor)[:80]}'.",
                hint="print(matching) lists the unused tensors.",
            )
        if self.shapes[tensor] != slot.shape:
            raise CheckpointError(
                f"'{tensor}' has shape {shape_text(self.shapes[tensor])}, but "
                f"{_weights(slot)} needs {shape_text(slot.shape)} in this file's layout, "
                f"{self.layout}."
            )
        if not self._is_floating(tensor):
            dtype = self._file.entries[tensor].dtype
            raise CheckpointError(f"'{tensor}' is {dtype.name}, but weights are floating-point.")

    def apply(self) -> None:
        """Replace all weights of the model by the file's. On an error, none changes.

        Raises:
            CheckpointError: a weight has no tensor, or the file is damaged.
        """
        missing = self.missing
        if missing:
            slot, name = missing[0], missing[0].weights[0]
            raise CheckpointError(
                f"{len(missing)} of {len(self.slots)} tensors are missing: {_weights(slot)} needs "
                f"one of shape {shape_text(slot.shape)}.",
                hint=f'Choose it: matching["{name}"] = "...", or load into a model with the '
                "layers of the file. Nothing has changed.",
            )
        self._model.set_weights(self.weights())

    def weights(self) -> dict[str, Array]:
        """Return the arrays of all weights by name; every slot must have its tensor.

        Raises:
            CheckpointError: the file is damaged, or a dtype cannot hold a value.
        """
        sizes = [spec.size for spec in self._specs.values()]
        elements = np.zeros(sum(sizes), np.float64)  # holds float32 and int32 exactly
        for slot in sorted(self.slots, key=lambda each: each.is_added):
            values = self._file.read(self._assigned[slot][0]).astype(np.float64)
            if slot.is_added:
                elements[slot.places] += values
            else:
                elements[slot.places] = values
        starts = np.cumsum([0, *sizes])
        return {
            name: converted(
                name, elements[start : start + spec.size].reshape(spec.static_shape), spec.dtype
            )
            for (name, spec), start in zip(self._specs.items(), starts[:-1], strict=True)
        }

    def _slots(self, weight: str) -> list[Slot]:
        slots = [slot for slot in self.slots if weight in slot.weights]
        if not slots:
            raise CheckpointError(
                f"the model has no weight '{str(weight)[:80]}'.",
                hint=f"Its weights are: {', '.join(self._specs)}.",
            )
        return slots

    def _is_floating(self, name: str) -> bool:
        return self._file.entries[name].dtype.kind == "f"

    def __repr__(self) -> str:
        rows = [("weight", "shape", "in the file", "shape", "matched by")]
        for slot in self.slots:
            shapes = ", ".join(shape_text(self._specs[name].shape) for name in slot.weights)
            source = self._assigned.get(slot)
            if source is None:
                there = ("nothing", f"needs {shape_text(slot.shape)}", "")
            else:
                there = (source[0], shape_text(slot.shape), _WORDS[source[1]])
            rows.append((", ".join(slot.weights), shapes, *there))
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        lines.insert(1, "-" * max(map(len, lines)))
        if self.unused:
            unused = (f"{name} {shape_text(self.shapes[name])}" for name in self.unused)
            lines.append(f"not used: {', '.join(unused)}")
        return "\n".join(lines)


def layout_in(file: TensorFile) -> Layout:
    """Return the layout that a file states, or that its names tell."""
    return "pytorch" if _is_stated(file) else layout_of(file.entries)


def _is_stated(file: TensorFile) -> bool:
    return isinstance(file, SafetensorsFile) and file.metadata.get(LAYOUT) == "pytorch"


def _weights(slot: Slot) -> str:
    return " with ".join(f"'{name}'" for name in slot.weights)


def match_weights(
    model: Any, file: str | Path | BinaryIO | bytes, layout: Layout | None = None
) -> WeightMatching:
    """Match the tensors of a file with the weights of a model, without changing any.

    Tensors are matched by their names, else by the shapes and the order of layers. The layouts of
    PyTorch are converted: (out, in) of linear layers, (out, in, height, width) of convolutions, the
    columns of a linear layer after flattened images, the gates of a GRU, the two biases of an LSTM.

    Args:
        model: a built model with the layers of the file.
        file: a safetensors, npz or PyTorch file: a path, an open binary file, or its bytes; or the
            path of a SavedModel or checkpoint of TensorFlow. Nothing in it is executed.
        layout: "pytorch", or "keras" for kernels as in playgrad; None for what the names tell.

    Returns:
        The matching, which can be printed, corrected and applied.

    Raises:
        CheckpointError: the file cannot be read or is damaged.
        GraphError: the model is not built.
        DataError: ``model`` is not a model.
    """
    if not hasattr(model, "weight_specs"):
        raise DataError(f"pg.match_weights takes a model first, got {type(model).__name__}.")
    if layout not in (None, "pytorch", "keras"):
        raise CheckpointError(f'layout must be "pytorch", "keras" or None, got {layout!r}.')
    return WeightMatching(model, open_weights(file), layout, model)
