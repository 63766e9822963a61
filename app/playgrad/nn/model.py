"""Models: layers between inputs and outputs, that can be trained, saved and asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from playgrad import io, optim
from playgrad.errors import CheckpointError, GraphError
from playgrad.graph.graph import Graph
from playgrad.graph.source import user_source
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Node, Tensor
from playgrad.nn import fitting
from playgrad.nn.callbacks import Callback, History
from playgrad.nn.calls import notes_of
from playgrad.nn.heads import Heads
from playgrad.nn.layer import Layer
from playgrad.nn.losses import FromScores
from playgrad.nn.structure import Structure, find_structure
from playgrad.nn.summary import summary_text
from playgrad.ops.elementwise import cast
from playgrad.ops.state import Variable
from playgrad.runtime.options import get_options
from playgrad.runtime.session import Session

Array = np.ndarray[Any, Any]


class Model:
    """What lies between ``inputs`` (made by ``pg.Input``) and ``outputs`` of one graph.

    Models of one graph may share layers, and then share their weights and their session.

    Args:
        inputs, outputs: a tensor, or a list of several.
        name: shown in the summary.

    Attributes:
        graph: where the layers and their variables are.
        optimizer: what ``compile`` was given.
        history: of the last ``fit``.
    """

    def __init__(
        self,
        inputs: Tensor | Sequence[Tensor],
        outputs: Tensor | Sequence[Tensor],
        name: str | None = None,
    ) -> None:
        ins = [inputs] if isinstance(inputs, Tensor) else list(inputs)
        outs = [outputs] if isinstance(outputs, Tensor) else list(outputs)
        if not ins or not outs:
            raise GraphError("a model needs at least one input and one output.")
        self._set_up(ins[0].graph, name)
        self._structure: Structure | None = find_structure(ins, outs)

    def _set_up(self, graph: Graph, name: str | None) -> None:
        self.graph = graph
        self.name = name or type(self).__name__.lower()
        self.source = user_source()
        self.optimizer: optim.Optimizer | None = None
        self.history: History | None = None
        self.heads: Heads | None = None
        self.cache: dict[Any, Any] = {}
        """Training and evaluation steps already built, by what they were built for."""
        self.stop_training = False
        """Set by callbacks: training ends after the epoch."""
        self.input_maximum = 1.0
        """The largest input value in the data last trained on: 255 for images in bytes."""
        self.training_step: Node | None = None
        """What ``fit`` runs at each step."""
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

    @property
    def gives_logits(self) -> bool:
        """Whether the (first) output is scores before softmax, by what its loss expects."""
        loss = self.heads.loss_of(0) if self.heads and self.heads.losses else None
        return isinstance(loss, FromScores) and loss.from_logits

    @property
    def training_targets(self) -> list[Node]:
        """What ``fit`` runs at each step.

        Raises:
            GraphError: the model has not been trained.
        """
        if self.training_step is None:
            raise GraphError(f"the model '{self.name}' has not been trained yet.")
        return [self.training_step]

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

    def apply(self, inputs: Sequence[Tensor], training: bool) -> list[Tensor]:
        """All outputs for ``inputs``, which are cast to what the model takes."""
        ready = [cast(x, own.dtype) for x, own in zip(inputs, self.inputs, strict=True)]
        return self.structure.replay(ready, training)

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
        """All variables of the layers by their names in files: ``dense_1/kernel``."""
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
        """The values of all weights by name."""
        return {name: self.session.value(weight) for name, weight in self.weights.items()}

    def set_weights(self, values: Mapping[str, Array]) -> None:
        """Replace all weights, or on any error none.

        Raises:
            CheckpointError: a name is missing or unknown, or a shape or dtype differs.
        """
        weights = self.weights
        checked = io.check_match(values, {name: weight.spec for name, weight in weights.items()})
        self.session.assign({weights[name]: array for name, array in checked.items()})

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
            self._move(wanted)
        session: Session = notes.session
        return session

    def _move(self, device: str) -> None:
        """Go on on another device, with the weights and the optimizer's state as they are."""
        notes = notes_of(self.graph)
        old: Session = notes.session
        kept: list[Variable] = [*self.weights.values()]
        kept += self.optimizer.variables if self.optimizer else []
        values = {variable: old.value(variable) for variable in kept}
        new = Session(self.graph, device)
        new.assign(values)
        old.close()
        notes.session = new

    def close(self) -> None:
        """Free the session's buffers; the weights are lost."""
        notes = notes_of(self.graph)
        if notes.session is not None:
            notes.session.close()
            notes.session = None

    # Training

    def compile(
        self,
        optimizer: str | optim.Optimizer = "adam",
        loss: Any = None,
        metrics: Sequence[Any] | None = None,
        loss_weights: Sequence[float] | None = None,
        device: str = "auto",
    ) -> None:
        """Say how the model is to be trained.

        Args:
            optimizer: a name, or an optimizer of its own for each model.
            loss: a name, a `Loss`, or a function; a list where there are several outputs.
            metrics: names, `Metric`s or functions; a list of lists for several outputs.
            loss_weights: what each output's loss counts in the sum.
            device: "auto", "cpu" or "gpu"; an option of the host, where set, goes before it.
        """
        self.optimizer = optim.get(optimizer)
        self.heads = Heads(loss, metrics or (), loss_weights)
        self._device = device
        self.cache.clear()

    def fit(
        self,
        x: Any,
        y: Any,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Sequence[Callback] | None = None,
        *,
        validation_data: tuple[Any, Any] | None = None,
        shuffle: bool = True,
        seed: int | None = None,
    ) -> History:
        """Train on ``x`` and ``y``, which are put on the device once and stay there.

        Batches are taken from an endless stream of samples, shuffled anew each time round, so
        every batch is full: a step may take its last samples from the next time round. An epoch is
        ``ceil(samples / batch_size)`` steps. Calling it again goes on where it ended.

        Args:
            x, y: arrays of equal length, or lists of them for several inputs or outputs.
            batch_size: samples a step; 32 where None.
            verbose: 0 for silence, 1 to print a line after each epoch.
            validation_data: ``(x, y)`` to evaluate after each epoch, whole.
            seed: of the order of samples; None takes one from the graph's seed.

        Returns:
            The `History`: means of each epoch, and every step's numbers.

        Raises:
            DataError, ShapeError, DTypeError: the data cannot be used; nothing has changed.
            NonFiniteError: the loss became NaN or infinite; the weights are as before that step.
            OutOfMemoryError: the device has no room for the data.
            KeyboardInterrupt: stopped; the model stays usable.
        """
        settings = fitting.Settings(
            fitting.BATCH if batch_size is None else batch_size,
            epochs,
            verbose,
            tuple(callbacks or ()),
            validation_data,
            shuffle,
            seed,
        )
        return fitting.fit(self, x, y, settings)

    def evaluate(
        self,
        x: Any,
        y: Any,
        batch_size: int | None = None,
        verbose: int = 0,
        return_dict: bool = False,
    ) -> Any:
        """Mean loss and metrics over all samples, exact whatever the batch size.

        Returns:
            ``[loss, metric, ...]``, the loss alone where there are no metrics, or with
            ``return_dict`` numbers by name.
        """
        logs = fitting.evaluate(self, x, y, batch_size)
        if verbose:
            print(", ".join(f"{name} {value:.4f}" for name, value in logs.items()))
        if return_dict:
            return logs
        return list(logs.values()) if len(logs) > 1 else logs["loss"]

    def predict(self, x: Any, batch_size: int = 256) -> Any:
        """The outputs for ``x``: an array (samples, ...), or a list for several outputs."""
        return fitting.predict(self, x, batch_size)

    def train_on_batch(self, x: Any, y: Any, return_dict: bool = False) -> Any:
        """One update on one batch; the result is as that of ``evaluate``, from before the update.

        Raises:
            NonFiniteError: the loss is NaN or infinite; nothing has changed.
        """
        logs = fitting.train_on_batch(self, x, y)
        if return_dict:
            return logs
        return list(logs.values()) if len(logs) > 1 else logs["loss"]

    def compiled(self) -> tuple[optim.Optimizer, Heads]:
        """Optimizer and heads.

        Raises:
            GraphError: ``compile`` has not been called, or named no loss.
        """
        if self.optimizer is None or self.heads is None or not self.heads.losses:
            raise GraphError(
                f"the model '{self.name}' has no optimizer and loss yet.",
                source=self.source,
                hint="Call model.compile(optimizer, loss) first.",
            )
        return self.optimizer, self.heads

    def ensure_built(self, arrays: Sequence[Array]) -> None:
        """Build the model for samples such as ``arrays``, where that is still to be done."""

    def summary(self, print_fn: Callable[[str], Any] = print) -> None:
        """Print the layers with their output shapes and numbers of parameters."""
        print_fn(summary_text(f"{type(self).__name__} '{self.name}'", self._summary_rows()))

    def _summary_rows(self) -> list[tuple[str, Layer]]:
        return self.named_layers()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} '{self.name}'>"
