"""Networks with a recipe for their training, and with its state."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, Self

from playgrad.data.excerpt import Excerpt
from playgrad.data.graph_excerpt import GraphExcerpt
from playgrad.data.input_description import KEY, InputDescription
from playgrad.errors import ExportError, GraphError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node
from playgrad.io.file_kinds import is_keras
from playgrad.io.hdf5.layout import is_hdf5
from playgrad.io.project_archive import ENDING
from playgrad.io.weights import load_metadata, path_or_bytes
from playgrad.models.configuration import structure_config, structure_from_config
from playgrad.networks.compile_settings import CompileSettings
from playgrad.networks.network import Network
from playgrad.networks.structure import Structure
from playgrad.nn.kept_weights import KEY as KEPT
from playgrad.nn.metrics import Metric
from playgrad.ops.state import Variable
from playgrad.optim.optimizer import Optimizer
from playgrad.parallel.parameter_server import ParameterServer
from playgrad.runtime.session_placement import PlacementRequest
from playgrad.training.callbacks import History
from playgrad.training.checkpoints.project_file import checkpoint_of_project, save_checkpoint
from playgrad.training.checkpoints.record import Checkpoint
from playgrad.training.recipe import Recipe, StepBuilder
from playgrad.training.state import TrainingState

ARCHITECTURE = "playgrad.model"
"""The name of the structure, as ``to_json`` returns it, in the metadata of weights files."""


class TrainableNetwork(Network):
    """A network with its recipe, and the state of its last training."""

    def __init__(self, graph: Graph, structure: Structure | None, name: str | None) -> None:
        super().__init__(graph, structure, name)
        self._recipe: Recipe | None = None
        self._training = TrainingState()

    # As plain data

    def get_config(self) -> dict[str, Any]:
        """Return name, layers and structure as plain data, without weights.

        Raises:
            GraphError: an argument of a layer is a function.
        """
        self.expect_outputs()
        return {"name": self.name, **structure_config(self.structure)}

    def layer_graph(self) -> dict[str, Any]:
        """Return name, layers and calls as ``get_config`` of a functional model does, with the
        names of ``named_layers``, and shape and dtype of each tensor between them.

        Raises:
            ExportError: an argument of a layer is a function.
        """
        try:
            self.expect_outputs()
            config = structure_config(self.structure)
        except GraphError as error:
            raise ExportError(error.message, hint=error.hint) from None
        names = {layer.name: name for name, layer in self.named_layers()}
        layers = [{**layer, "name": names[layer["name"]]} for layer in config["layers"]]
        calls = [item for item in self.structure.items if not isinstance(item, Node)]
        between = [*self.inputs, *(tensor for call in calls for tensor in call.outputs)]
        tensors = {tensor.name: [list(tensor.shape), tensor.dtype] for tensor in between}
        return {"name": self.name, **config, "layers": layers, "tensors": tensors}

    def compile_settings(self) -> CompileSettings | None:
        """Return the settings of ``compile``; None before it, or without a loss."""
        recipe = self._recipe
        if recipe is None or not recipe.objectives.losses:
            return None
        optimizer, objectives = recipe.optimizer, recipe.objectives
        rate = optimizer.initial_learning_rate
        if optimizer.variables:
            rate = float(self.session.value(optimizer.learning_rate))
        count = len(self.outputs)
        trained = set(self.trainable_variables)
        return CompileSettings(
            optimizer,
            rate,
            [objectives.loss_of(output) for output in range(count)],
            _of_each(objectives.metrics, count),
            _of_each(objectives.weighted_metrics, count),
            objectives.loss_weights,
            frozenset(name for name, v in self.named_variables.items() if v in trained),
        )

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Return a new model with new layers and initial weights, not compiled.

        Raises:
            GraphError: the configuration is damaged, or has an unknown layer or operation.
        """
        model = cls.__new__(cls)
        structure = structure_from_config(config)
        TrainableNetwork.__init__(model, structure.graph, structure, config.get("name"))
        return model

    @property
    def class_in_files(self) -> str:
        """The class that a file of the model names: a class of the user's is saved as a Model."""
        return "Model"

    def to_json(self) -> str:
        """Return the text of ``get_config`` for ``pg.model_from_json``.

        Raises:
            GraphError: an argument of a layer is a function, an array, or another value that JSON
                does not have.
        """
        described = {"class_name": self.class_in_files, "config": self.get_config()}
        return json.dumps(described, default=_not_json, separators=(",", ":"))

    def file_metadata(self) -> dict[str, str]:
        """Return the structure, if JSON can have it, and the description of the input."""
        described = self.input_description
        metadata = {} if described is None else {KEY: described.to_json()}
        with suppress(GraphError):
            metadata[ARCHITECTURE] = self.to_json()
        kept = {name: v.keep.kind for name, v in self.kept_variables().items() if v.keep}
        if kept:
            metadata[KEPT] = json.dumps(kept, separators=(",", ":"))
        return metadata

    def kept_variables(self) -> dict[str, Variable]:
        """Return the weights that may keep zeros or shared values in training, by their names in
        files; also those of layers that are frozen, which may be trained again."""
        return {
            f"{layer_name}/{name}": variable
            for layer_name, layer in self.named_layers()
            for name, variable in layer.variables.items()
            if variable.dtype.startswith("float")
        }

    # Files with the state of the training

    def save(self, file: str | Path) -> None:
        """Write the model with everything that training needs to continue, whole or not at all.

        A ``.playgrad`` file has the layers, the weights, the arguments of ``compile``, the state of
        the optimizer and of the random numbers, the place in the data, the history, and the text of
        the program. `pg.load` loads it, ``playgrad train --resume`` continues it, and the page
        opens it as a project. It can be written at any time, by a callback in the middle of an
        epoch as well. Other endings choose another format, as in `export`.

        Args:
            file: a path.

        Raises:
            GraphError: the model is not built.
            CheckpointError: the file cannot be written, or the format has no equivalent of a layer.
        """
        if str(file).lower().endswith(ENDING):
            save_checkpoint(self, self._recipe, self._training, file)
        else:
            self.export(file)

    def load_weights(self, file: str | Path | BinaryIO | bytes) -> None:
        """Load all weights from a safetensors, npz, PyTorch or playgrad file.

        On an error, none changes. See `Network.load_weights`; of a ``.playgrad`` file, the state of
        the training is left out.

        Args:
            file: a path, an open binary file, or the bytes of a file.

        Raises:
            CheckpointError: the file is truncated, in another format, or of another model.
        """
        file = path_or_bytes(file)
        checkpoint = checkpoint_of_project(file)
        if checkpoint is not None:
            self.set_weights(checkpoint.named_weights())
            self.take_file_metadata(checkpoint.model.file_metadata)
        else:
            super().load_weights(file)
            self.take_file_metadata({} if is_hdf5(file) or is_keras(file) else load_metadata(file))

    def take_file_metadata(self, metadata: Mapping[str, str]) -> None:
        """Take the facts of a file about its weights that also hold for this network."""
        described = InputDescription.from_metadata(metadata)
        if described is not None:
            self._training.input = described

    def take_loaded(self, checkpoint: Checkpoint) -> None:
        """Take the history of the checkpoint from which the model was loaded."""
        state, fits = self._training, checkpoint.fits
        state.loaded = checkpoint
        state.input = InputDescription.from_metadata(checkpoint.model.file_metadata)
        if fits:
            state.history = fits[-1].as_history()

    def begin_training_anew(self) -> None:
        """Give up the steps that were built, and the state of the optimizer if it has any."""
        if self._recipe is not None:
            recipe, has_state = self._recipe, bool(self._recipe.optimizer.variables)
            self._recipe = recipe.for_network(self)
            if not has_state:
                self._recipe.optimizer = recipe.optimizer

    def set_device(self, device: str) -> None:
        """Use "cpu", "gpu" or "auto" from now on, as `Model.compile` does."""
        self._device = device

    # The recipe

    @property
    def recipe(self) -> Recipe:
        """The optimizer, losses, metrics and strategy that ``compile`` was called with.

        Raises:
            GraphError: ``compile`` has not been called, or without a loss.
        """
        if self._recipe is None or not self._recipe.objectives.losses:
            raise GraphError(
                f"the model '{self.name}' has no optimizer and loss yet.",
                source=self.source,
                hint="Call model.compile(optimizer, loss) first.",
            )
        return self._recipe

    @property
    def is_compiled(self) -> bool:
        """True if it has a loss to be trained or judged with."""
        return self._recipe is not None and bool(self._recipe.objectives.losses)

    @property
    def optimizer(self) -> Optimizer | None:
        """The optimizer; None before ``compile``."""
        return None if self._recipe is None else self._recipe.optimizer

    @property
    def strategy(self) -> StepBuilder | None:
        """The strategy for training on several devices, if there is one.

        Set it after ``compile`` to train with another one, with the same optimizer and its state.
        """
        return None if self._recipe is None else self._recipe.strategy

    @strategy.setter
    def strategy(self, strategy: StepBuilder | None) -> None:
        self.recipe.strategy = strategy

    @property
    def placement(self) -> PlacementRequest:
        """The placement of the training step, if there is one. It can be set after ``compile``."""
        return None if self._recipe is None else self._recipe.placement

    @placement.setter
    def placement(self, placement: PlacementRequest) -> None:
        self.recipe.placement = placement

    @property
    def gives_logits(self) -> bool:
        """True if the first output is scores before softmax, judging by its loss."""
        return self._recipe is not None and self._recipe.objectives.gives_logits

    def direction_of(self, log: str) -> str | None:
        """Return "min" or "max": whether smaller or larger values of a loss or metric are better.

        Args:
            log: its name in logs, with or without ``val_``.

        Returns:
            None if there is no such loss or metric, or if it does not say.
        """
        return self.recipe.objectives.direction_of(log, self.output_names, self.outputs)

    # The state of the last ``fit``

    @property
    def history(self) -> History | None:
        """The history of the last ``fit``, running or finished; None before the first."""
        return self._training.history

    @history.setter
    def history(self, history: History | None) -> None:  # model.history = model.fit(...)
        self._training.history = history

    @property
    def training_loop(self) -> Any:
        """The `RunningFit` of the last ``fit``, running or finished; None before the first."""
        return self._training.loop

    @property
    def training_step(self) -> Node | None:
        """The node that ``fit`` runs in each step; None before the first ``fit``."""
        return None if self._training.step is None else self._training.step.run

    @property
    def training_targets(self) -> list[Node]:
        """The nodes that ``fit`` runs in each step.

        Raises:
            GraphError: the model has not been trained.
        """
        if self.training_step is None:
            raise GraphError(f"the model '{self.name}' has not been trained yet.")
        return [self.training_step]

    @property
    def parameter_server(self) -> ParameterServer | None:
        """The parameter server that ran the last ``fit``, if there was one."""
        return None if self._training.step is None else self._training.step.parameter_server

    @property
    def input_description(self) -> InputDescription | None:
        """The pixels of the data of the last ``fit``, or of the file that the model is from."""
        return self._training.input

    @input_description.setter
    def input_description(self, described: InputDescription | None) -> None:
        self._training.input = described

    @property
    def train_excerpt(self) -> Excerpt | None:
        """Some of the samples that the last ``fit`` trained with."""
        return self._training.train

    @property
    def test_excerpt(self) -> Excerpt | None:
        """Some of the samples that the last ``fit`` was evaluated with."""
        return self._training.test

    @property
    def graph_excerpt(self) -> GraphExcerpt | None:
        """The only sample that the last ``fit`` trained with, if it may be a graph."""
        return self._training.graph

    @property
    def fit_source(self) -> tuple[str, int] | None:
        """File and line of the program that called the last ``fit``."""
        return self._training.source

    @property
    def lost(self) -> bool:
        """True if the last ``fit`` ended with a loss that was NaN or infinite."""
        return self._training.lost

    @property
    def stop_training(self) -> bool:
        """True if training is to end after the current epoch."""
        return self._training.stop

    @stop_training.setter
    def stop_training(self, stop: bool) -> None:
        self._training.stop = stop


def _of_each(groups: Sequence[Sequence[Metric]], count: int) -> list[Sequence[Metric]]:
    """Return the metrics of each output; one group is for all."""
    return list(groups) * count if len(groups) == 1 else list(groups)


def _not_json(value: object) -> NoReturn:
    """Refuse an argument of a layer.

    Raises:
        GraphError: always.
    """
    raise GraphError(
        f"a layer has an argument of type {type(value).__name__}, which cannot be saved in a "
        "configuration.",
        hint="Save the weights, and build the model in code.",
    )
