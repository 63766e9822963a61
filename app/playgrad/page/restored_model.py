"""A trained model without its program, from a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from playgrad import io
from playgrad.data.input_description import KEY, InputDescription
from playgrad.errors import CheckpointError, ExportError, PlaygradError
from playgrad.graph.graph import Graph
from playgrad.graph.serialize import graph_from_json
from playgrad.graph.spec import Shape, TensorSpec
from playgrad.models.loading import model_from_json
from playgrad.models.model import Model
from playgrad.models.trainable import ARCHITECTURE
from playgrad.networks.inference import InferenceGraph, inference_graph
from playgrad.nn.deferred import DEFERRED
from playgrad.nn.layer import Layer
from playgrad.runtime.session import Session
from playgrad.training.checkpoints.record import Checkpoint, Weight

Array = np.ndarray[Any, Any]


class RestoredModel:
    """The model that a checkpoint's run trained last: its weights, and its graph for predictions.

    Attributes:
        checkpoint: the checkpoint that it was made from; changes with the weights.
        input_shape: the shape of the input, with None for the batch.
        input_dtype: the dtype of the input.
        input_description: how a picture becomes its input; None if it is not known.
        gives_logits: whether the output is scores before softmax.
    """

    packs_weights = False

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint
        record = self._record = checkpoint.model
        self.input_shape: Shape = tuple(record.input_shape)
        self.input_dtype = record.input_dtype
        self.input_description = InputDescription.from_metadata(record.file_metadata)
        self.gives_logits = record.gives_logits

    def named_layers(self) -> list[tuple[str, Layer]]:
        """Return none: a checkpoint has the graph, but not the layers."""
        return []

    def weight_specs(self) -> dict[str, TensorSpec]:
        """Return shapes and dtypes of all weights by name, as in files."""
        return {
            name: TensorSpec(tuple(weight.shape), weight.dtype)
            for name, weight in self._record.weights.items()
        }

    def named_weights(self) -> dict[str, Array]:
        """Return all weights by name, as in files."""
        return self.checkpoint.named_weights()

    def file_metadata(self) -> dict[str, str]:
        """Return the description of the model in files of its weights, as texts by name."""
        return self._record.file_metadata

    def take_file_metadata(self, metadata: Mapping[str, str]) -> None:
        """Take the description of the input from the metadata of a file of weights."""
        described = InputDescription.from_metadata(metadata)
        if described is not None:
            self.input_description = described
            self._record.file_metadata[KEY] = described.to_json()

    def layer_graph(self) -> dict[str, Any]:
        """Return the calls of layers, as ``Network.layer_graph`` does.

        Raises:
            ExportError: the checkpoint does not describe them.
        """
        return self.rebuilt().layer_graph()

    def rebuilt(self) -> Model:
        """Return a new model with the same layers, and initial weights.

        Raises:
            ExportError: the checkpoint does not describe them.
        """
        text = self._record.file_metadata.get(ARCHITECTURE)
        if text is None:
            raise ExportError(
                "the restored model does not describe its layers.", hint="Press Resume or Run."
            )
        return model_from_json(text)

    def compile_settings(self) -> None:
        """Return None: only the program has the settings of training."""

    def set_weights(self, values: Mapping[str, Array]) -> None:
        """Replace all weights. On an error, no weight changes.

        Raises:
            CheckpointError: a name is missing or unknown, or a shape or dtype differs.
        """
        checked = io.check_match(values, self.weight_specs())
        state = self.checkpoint.state
        for name, weight in self._record.weights.items():
            for variable, part in zip(
                weight.variables, self._divided(weight, checked[name]), strict=True
            ):
                state[variable] = np.ascontiguousarray(part)

    def _divided(self, weight: Weight, array: Array) -> list[Array]:
        sizes = [self.checkpoint.state[name].shape for name in weight.variables]
        if len(sizes) == 1:
            return [array]
        ends = np.cumsum([shape[weight.axis] for shape in sizes])
        return np.split(array, ends[:-1], weight.axis)

    def predict(self, x: Array) -> Array:
        """Return the first output for a batch of inputs, computed on the processor.

        Raises:
            CheckpointError: the graph cannot be rebuilt without the program that it came from.
        """
        graph = self._graph()
        state = self.checkpoint.state
        with Session(graph, "cpu", precision=self._record.precision) as session:
            variables = [node.name for node in graph.nodes if node.op.name == "variable"]
            session.assign({name: state[name] for name in variables})
            result: Array = session.run(self._record.outputs[0], {self._record.inputs[0]: x})
        return result

    def inference_graph(self) -> InferenceGraph:
        """Return how the outputs are computed, with the values of the weights.

        Raises:
            CheckpointError: the graph cannot be rebuilt without the program that it came from.
        """
        graph, record = self._graph(), self._record
        return inference_graph(
            "model",
            [graph.tensor(name) for name in record.inputs],
            [graph.tensor(name) for name in record.outputs],
            lambda variables: [self.checkpoint.state[tensor.node.name] for tensor in variables],
            self.input_description,
        )

    def _graph(self) -> Graph:
        if not self._record.outputs:
            raise CheckpointError(
                "the class of the model has no method call, so it has no outputs."
            )
        try:
            return graph_from_json(self._record.graph)
        except PlaygradError as error:
            why = error.message
            if DEFERRED in why:
                why = "it takes inputs of any size, for which its operations are built in a run."
            raise CheckpointError(
                f"the restored model can be saved, but not used before the program runs: {why}",
                hint="Press Resume or Run.",
            ) from None
