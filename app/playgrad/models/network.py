"""Layers between inputs and outputs: their structure, their weights, and where those are kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from playgrad import io
from playgrad.errors import CheckpointError, GraphError
from playgrad.graph.graph import Graph
from playgrad.graph.source import user_source
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.models.structure import Structure
from playgrad.models.summary import summary_text
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import notes_of
from playgrad.ops.elementwise.definitions import cast
from playgrad.ops.state import Variable, global_variables
from playgrad.runtime.options import get_options
from playgrad.runtime.session import Session
from playgrad.training.device_data import is_data

Array = np.ndarray[Any, Any]


class Network:
    """What a model is before anything is said of training.

    Attributes:
        graph: where the layers and their variables are.
        source: (file, line) where the user made the model.
    """

    def __init__(self, graph: Graph, structure: Structure | None, name: str | None) -> None:
        self.graph = graph
        self.name = name or type(self).__name__.lower()
        self.source = user_source()
        self._structure = structure
        self._device = "auto"

    # Structure

    @property
    def structure(self) -> Structure:
        """Inputs, outputs and what lies between.

        Raises:
            GraphError: the model has not been built.
        """
        if self._structure is None:
            raise GraphError(
                f"the model '{self.name}' is not built yet: the shape of its samples is unknown.",
                source=self.source,
                hint="Train it, or call model.build(sample_shape).",
            )
        return self._structure

    @property
    def built(self) -> bool:
        """Whether the layers have their variables."""
        return self._structure is not None

    @property
    def layers(self) -> list[Layer]:
        """The layers in the order in which they are called."""
        return self.structure.layers

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return self.structure.inputs

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        return self.structure.outputs

    @property
    def input_shape(self) -> Shape:
        """The shape of the (first) input; None for the batch."""
        return self.inputs[0].shape

    @property
    def output_shape(self) -> Shape:
        """The shape of the (first) output; None for the batch."""
        return self.outputs[0].shape

    def call(self, inputs: Tensor | Sequence[Tensor], training: bool = False) -> Any:
        """The model applied to other tensors of its graph, with the same weights.

        Returns:
            A tensor, or a list where the model has several outputs.
        """
        tensors = [inputs] if isinstance(inputs, Tensor) else list(inputs)
        if len(tensors) != len(self.inputs):
            raise GraphError(
                f"the model '{self.name}' has {len(self.inputs)} inputs, not {len(tensors)}."
            )
        for tensor in tensors:
            if tensor.graph is not self.graph:
                raise GraphError(f"'{tensor.name}' does not belong to the graph of '{self.name}'.")
        outputs = self.apply(tensors, training)
        return outputs[0] if len(outputs) == 1 else outputs

    __call__ = call

    def apply(
        self, inputs: Sequence[Tensor], training: bool, devices: Sequence[str | None] = ()
    ) -> list[Tensor]:
        """All outputs for ``inputs``, which are cast to what the model takes; each layer in the
        device scope of ``devices``, where given, instead of its own."""
        ready = [cast(x, own.dtype) for x, own in zip(inputs, self.inputs, strict=True)]
        return self.structure.replay(ready, training, devices)

    @property
    def output_names(self) -> list[str]:
        """What the outputs are called in logs: by the layers that make them."""
        calls = notes_of(self.graph).by_output
        names = {layer: name for name, layer in self.named_layers()}
        return [
            names[calls[output].layer] if output in calls else output.node.name
            for output in self.outputs
        ]

    def named_layers(self) -> list[tuple[str, Layer]]:
        """Layers with the names they have in this model: those of a kind are numbered from 1.

        That is the layer's own name unless several models share a graph.
        """
        layers = self.structure.layers
        taken = {layer.name for layer in layers if layer.named_by_user}
        counts: dict[str, int] = {}
        named: list[tuple[str, Layer]] = []
        for layer in layers:
            name = layer.name or layer.kind
            if not layer.named_by_user:
                kind = name.rpartition("_")[0]
                while True:
                    counts[kind] = counts.get(kind, 0) + 1
                    name = f"{kind}_{counts[kind]}"
                    if name not in taken:
                        break
            named.append((name, layer))
        return named

    # Weights

    @property
    def weights(self) -> dict[str, Variable]:
        """All variables of the layers by name: ``dense_1/kernel``."""
        return {
            f"{layer_name}/{name}": variable
            for layer_name, layer in self.named_layers()
            for name, variable in layer.variables.items()
        }

    @property
    def trainable_variables(self) -> list[Variable]:
        """The variables that training changes."""
        return [variable for variable in self.weights.values() if variable.trainable]

    def count_params(self) -> int:
        """The number of all weights."""
        return sum(math.prod(weight.spec.static_shape) for weight in self.weights.values())

    def get_weights(self) -> dict[str, Array]:
        """All weights by their names in files. Those of a layer spread over devices are whole."""
        return {
            f"{layer_name}/{name}": array
            for layer_name, layer in self.named_layers()
            for name, array in layer.joined(
                {name: self.session.value(v) for name, v in layer.variables.items()}
            ).items()
        }

    def set_weights(self, values: Mapping[str, Array]) -> None:
        """Replace all weights, or on any error none.

        Raises:
            CheckpointError: a name is missing or unknown, or a shape or dtype differs.
        """
        if not isinstance(values, Mapping):
            raise CheckpointError(
                f"weights are set by name, {{'dense_1/kernel': array}}, not from "
                f"{type(values).__name__}."
            )
        layers = self.named_layers()
        checked = io.check_match(
            values,
            {
                f"{own}/{name}": spec
                for own, layer in layers
                for name, spec in layer.weight_specs().items()
            },
        )
        assigned: dict[Variable, Array] = {}
        for own, layer in layers:
            weights = {name: checked[f"{own}/{name}"] for name in layer.weight_specs()}
            parts = layer.divided(weights)
            assigned.update((layer.variables[name], array) for name, array in parts.items())
        self.session.assign(assigned)

    def save_weights(self, file: str | Path | BinaryIO, format: str | None = None) -> None:
        """Write all weights to a path (``.safetensors`` or ``.npz``) or an open binary file."""
        io.save(self.get_weights(), file, format)

    def load_weights(self, file: str | Path | BinaryIO | bytes) -> None:
        """Read all weights, in either format, or on any error none.

        Raises:
            CheckpointError: truncated, foreign, or not of this model.
        """
        tensors = io.load(file)
        try:
            self.set_weights(tensors)
        except CheckpointError as error:
            if isinstance(file, (str, Path)):
                error.message = f"{Path(file).name}: {error.message}"
            raise

    # Session

    @property
    def session(self) -> Session:
        """Holds the values of the variables; models of one graph share it."""
        notes = notes_of(self.graph)
        chosen = get_options().device
        wanted = self._device if chosen in (None, "auto") else str(chosen)
        if notes.session is None:
            notes.session = Session(self.graph, wanted)
        elif wanted != "auto" and not notes.session.device.startswith(wanted):
            notes.session = _moved(notes.session, self.graph, wanted)
        session: Session = notes.session
        return session

    def close(self) -> None:
        """Free the session's buffers; the weights are lost."""
        notes = notes_of(self.graph)
        if notes.session is not None:
            notes.session.close()
            notes.session = None

    def ensure_built(self, arrays: Sequence[Array]) -> None:
        """Build the model for samples such as ``arrays``, where that is still to be done."""

    def summary(self, print_fn: Callable[[str], Any] = print) -> None:
        """Print the layers with their output shapes and numbers of parameters."""
        print_fn(summary_text(f"{type(self).__name__} '{self.name}'", self._summary_rows()))

    def _summary_rows(self) -> list[tuple[str, Layer]]:
        return self.named_layers()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} '{self.name}'>"


def _moved(old: Session, graph: Graph, device: str) -> Session:
    """A session on another device with all values of the one that it replaces, but no data sets."""
    kept = [variable for variable in global_variables(graph) if not is_data(variable)]
    new = Session(graph, device)
    new.assign({variable: old.value(variable) for variable in kept})
    old.close()
    return new
