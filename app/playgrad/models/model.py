"""Models: layers between inputs and outputs, that can be trained, saved and asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playgrad import optim
from playgrad.errors import GraphError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node, Tensor
from playgrad.models.cloning import copy_structure
from playgrad.models.network import Network
from playgrad.models.structure import Structure, find_structure
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import notes_of
from playgrad.nn.losses import FromScores
from playgrad.ops.core.build import one_or_more
from playgrad.ops.state import placeholder
from playgrad.parallel import Strategy
from playgrad.parallel.asynchronous import ParameterServer
from playgrad.runtime.session_placement import PlacementRequest
from playgrad.training import batch_api, fitting
from playgrad.training.callbacks import Callback, History
from playgrad.training.data_checks import several
from playgrad.training.objectives import Objectives


def Input(  # noqa: N802 - the name that Keras gave it
    shape: Sequence[int | None], dtype: Any = "float32", name: str | None = None
) -> Tensor:
    """A tensor that stands for a batch of samples of ``shape``; the batch size is open.

    It belongs to the default graph, and so do the layers called on it.
    """
    return placeholder(dtype, (None, *one_or_more(shape)), name or "input")


class Model(Network):
    """What lies between ``inputs`` (made by ``pg.Input``) and ``outputs`` of one graph.

    Models of one graph may share layers, and then share their weights and their session.

    Args:
        inputs, outputs: a tensor, or a list of several.
        name: shown in the summary.

    Attributes:
        optimizer: what ``compile`` was given.
        history: of the last ``fit``.
        training_step: what ``fit`` runs at each step.
        parameter_server: what has it run, where replicas computed the gradients; else None.
        input_maximum: the largest input value in the data last trained on: 255 for bytes.
        stop_training: set by callbacks: training ends after the epoch.
        cache: training and evaluation steps already built, by what they were built for.
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
        self._set_up(ins[0].graph, find_structure(ins, outs), name)

    def _set_up(self, graph: Graph, structure: Structure | None, name: str | None) -> None:
        super().__init__(graph, structure, name)
        self.optimizer: optim.Optimizer | None = None
        self.heads: Objectives | None = None
        self.strategy: Strategy | None = None
        self.placement: PlacementRequest = None
        self.history: History | None = None
        self.training_step: Node | None = None
        self.parameter_server: ParameterServer | None = None
        self.input_maximum = 1.0
        self.stop_training = False
        self.cache: dict[Any, Any] = {}

    def clone(self, deep: bool = True) -> Model:
        """Another model with the same structure, names and settings: a Sequential of a Sequential,
        else a Model.

        Where this one is compiled it is, too, with an optimizer of its own that has no state yet
        and begins with the initial learning rate, and is trained by the same strategy,
        or in the same placement.

        Args:
            deep: whether it gets layers and variables of its own, in a graph of its own, that hold
                the same values; otherwise it shares the layers of this model, and training one
                trains both.

        Raises:
            GraphError: there is nothing to share, as this model is not built.
        """
        if not deep:
            return self._twin(self.graph, self.structure, {})
        if self._structure is None:
            copied = {layer: layer.clone() for layer in self.layers}
            return self._twin(Graph(self.graph.seed), None, copied)
        copies = copy_structure(self._structure)
        twin = self._twin(copies.structure.graph, copies.structure, copies.layers)
        session = notes_of(self.graph).session
        if session is not None:  # until there is one, all variables are as they begin
            values = {new: session.value(old) for old, new in copies.variables.items()}
            twin.session.assign(values)
        return twin

    def _twin(
        self, graph: Graph, structure: Structure | None, layers: Mapping[Layer, Layer]
    ) -> Model:
        """A model with ``structure``; ``layers`` are those in the place of this model's."""
        twin = self._empty([layers.get(layer, layer) for layer in self.layers])
        twin._set_up(graph, structure, self.name)
        twin.source = self.source
        twin._device = self._device
        twin.input_maximum = self.input_maximum
        if self.optimizer is not None:
            twin.optimizer, twin.heads = self.optimizer.clone(), self.heads
            twin.strategy, twin.placement = self.strategy, self.placement
        return twin

    def _empty(self, layers: list[Layer]) -> Model:
        """A model of this sort, of ``layers``, that is still to be set up."""
        return Model.__new__(Model)

    def compile(
        self,
        optimizer: str | optim.Optimizer = "adam",
        loss: Any = None,
        metrics: Any = None,
        loss_weights: Sequence[float] | None = None,
        device: str = "auto",
        strategy: Strategy | None = None,
        placement: PlacementRequest = None,
    ) -> None:
        """Say how the model is to be trained.

        Args:
            optimizer: a name, or an optimizer of its own for each model.
            loss: a name, a `Loss`, or a function; a list where there are several outputs.
            metrics: a name, a `Metric`, a function, or a list of them; a list of lists for
                several outputs.
            loss_weights: what each output's loss counts in the sum.
            device: "auto", "cpu" or "gpu"; an option of the host, where set, goes before it.
            strategy: how several devices train it together, one of those in ``pg.parallel``.
            placement: "auto" divides the training step among devices by a cost model, where that
                makes it faster; `pg.parallel.Automatic` says more, a function decides for each
                operation. `Session.placement_summary` tells what came of it.

        Raises:
            GraphError: a strategy and a placement, which would both decide the same.
        """
        if strategy is not None and placement is not None:
            raise GraphError(
                "a strategy places all operations itself.", hint="Give either it or a placement."
            )
        self.optimizer = optim.get(optimizer)
        self.heads = Objectives(loss, several(metrics), loss_weights)
        self._device = device
        self.strategy = strategy
        self.placement = placement
        self.cache.clear()

    def fit(
        self,
        x: Any,
        y: Any,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Callback | Sequence[Callback] | None = None,
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
            callbacks: what is told of the progress, one or several.
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
            tuple(several(callbacks)),
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

    def predict(self, x: Any, batch_size: int | None = None) -> Any:
        """The outputs for ``x``: an array (samples, ...), or a list for several outputs."""
        return batch_api.predict(self, x, batch_size)

    def train_on_batch(self, x: Any, y: Any, return_dict: bool = False) -> Any:
        """One update on one batch; the result is as that of ``evaluate``, from before the update.

        Raises:
            NonFiniteError: the loss is NaN or infinite; nothing has changed.
        """
        logs = batch_api.train_on_batch(self, x, y)
        if return_dict:
            return logs
        return list(logs.values()) if len(logs) > 1 else logs["loss"]

    def compiled(self) -> tuple[optim.Optimizer, Objectives]:
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
