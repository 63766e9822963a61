"""Models: networks that can be compiled, trained, evaluated and asked for predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playgrad.errors import DataError, GraphError
from playgrad.graph.graph import FLOAT32, Graph, checked_precision
from playgrad.graph.tensor import Tensor
from playgrad.models.inputs import new_graph
from playgrad.models.step_methods import AnyTargets, StepMethods
from playgrad.networks.cloning import copy_structure, copy_values
from playgrad.networks.structure import Structure, find_structure
from playgrad.nn.layer import Layer
from playgrad.optim.optimizer import Optimizer
from playgrad.optim.optimizer import get as get_optimizer
from playgrad.runtime.session_placement import PlacementRequest
from playgrad.training import batch_api, evaluation, fitting
from playgrad.training.batch_source import BatchSource, check_rounds, is_stream, no_targets
from playgrad.training.callbacks import Callback, History
from playgrad.training.data_checks import as_sequence
from playgrad.training.fit_settings import Settings
from playgrad.training.named_outputs import compiled_objectives
from playgrad.training.recipe import Recipe, StepBuilder
from playgrad.training.streamed_evaluation import predict_stream


class Model(StepMethods):
    """A network from ``inputs`` to ``outputs`` that can be trained.

    Models of one graph may share layers; they then share weights and session.

    A subclass can do without inputs and outputs. It keeps its layers in attributes, alone or in
    lists, and computes the outputs in ``call(self, inputs, training=False)``. It is built by the
    first data, or by ``build((None, ...))``. ``train_step(self, data)`` and ``test_step`` can be
    overridden, too; a class that only trains the models that are its attributes needs no ``call``.

    Args:
        inputs: a tensor made by ``pg.Input``, or a list of them.
        outputs: a tensor, or a list of them, computed from the inputs; or a dictionary, whose keys
            are the names of the outputs. Files do not keep these names.
        name: shown in the summary and in errors.

    Attributes:
        stop_training: set it to True in a callback to end training after the current epoch.

    Raises:
        GraphError: there are no inputs or outputs, or an output does not depend on the inputs.
    """

    own_callbacks: tuple[Callback, ...] = ()
    """Callbacks that each ``fit`` calls before those passed to it."""

    def __init__(
        self,
        inputs: Tensor | Sequence[Tensor] | None = None,
        outputs: Tensor | Sequence[Tensor] | Mapping[str, Tensor] | None = None,
        name: str | None = None,
    ) -> None:
        if inputs is None and outputs is None and (self.is_subclassed or self.has_own_step):
            self.without_call = not self.is_subclassed
            self._set_up(new_graph(), None, name)
            return
        if inputs is None or outputs is None:
            raise GraphError(
                "a model needs inputs and outputs, or a class with a method call(self, inputs) or "
                "train_step(self, data)."
            )
        ins = [inputs] if isinstance(inputs, Tensor) else list(inputs)
        keys = list(outputs) if isinstance(outputs, Mapping) else None
        named = outputs.values() if isinstance(outputs, Mapping) else outputs
        outs = [named] if isinstance(named, Tensor) else list(named)
        if not ins or not outs:
            raise GraphError("a model needs at least one input and one output.")
        self._set_up(ins[0].graph, find_structure(ins, outs), name)
        self.output_keys = keys

    def _set_up(self, graph: Graph, structure: Structure | None, name: str | None) -> None:
        super().__init__(graph, structure, name)

    def clone(self, deep: bool = True) -> Model:
        """Return a model with the same structure, names and settings.

        The clone of a compiled model is compiled: with an optimizer that has no state yet and
        starts at the initial learning rate, and with the same strategy or placement. A `Sequential`
        gives a `Sequential`.

        Args:
            deep: whether the clone gets layers and variables of its own, in a graph of its own,
                with the same values. Otherwise both models share layers, and training one trains
                both.

        Raises:
            GraphError: ``deep`` is false and the model is not built, or its class has no ``call``.
        """
        if self.built:
            self.expect_outputs()
        if not deep:
            return self._twin(self.graph, self.structure, {})
        if self._structure is None:
            return self._twin(
                self.graph.empty(), None, {layer: layer.clone() for layer in self.layers}
            )
        copies = copy_structure(self._structure)
        twin = self._twin(copies.structure.graph, copies.structure, copies.layers)
        copy_values(self, twin, copies.variables)
        return twin

    def _twin(
        self, graph: Graph, structure: Structure | None, layers: Mapping[Layer, Layer]
    ) -> Model:
        """Return a model with ``structure`` and the settings of this one.

        Args:
            layers: the replacements of this model's layers.
        """
        twin = self._empty([layers.get(layer, layer) for layer in self.layers])
        twin._set_up(graph, structure, self.name)
        twin.take_configuration(self)
        return twin

    def take_configuration(self, other: Model) -> None:
        """Take the name, the device and the arguments of ``compile`` of ``other``, of which this is
        a copy or a changed version. The optimizer starts anew."""
        self.name = other.name
        self.take_settings(other)
        self._training.input = other.input_description
        self._recipe = None if other._recipe is None else other._recipe.for_network(self)

    def _empty(self, layers: list[Layer]) -> Model:
        """Return a model of the same class, with ``layers``, that is not set up yet."""
        return Model.__new__(Model)

    def compile(
        self,
        optimizer: str | Optimizer = "adam",
        loss: Any = None,
        metrics: Any = None,
        loss_weights: Sequence[float] | Mapping[str, float] | None = None,
        device: str = "auto",
        strategy: StepBuilder | None = None,
        placement: PlacementRequest = None,
        weighted_metrics: Any = None,
        precision: str = FLOAT32,
    ) -> None:
        """Configure the model for training.

        Args:
            optimizer: a name such as "adam", or an `Optimizer` that no other model uses.
            loss: a name, a `Loss`, or a function of (y_true, y_pred); a list of them, or a
                dictionary by the names of `output_names`, if the model has several outputs.
            metrics: a name, a `Metric` or a function, or a list of them; a list of lists, or a
                dictionary, if the model has several outputs.
            loss_weights: the factor of each output's loss in the sum that is minimized, as a list
                or a dictionary.
            device: "auto", "cpu", "gpu", or "reference" for NumPy alone. A device chosen on the
                command line or in the page overrides it.
            strategy: a strategy from ``pg.parallel``, to train on several devices.
            placement: "auto" takes the fastest device by measured costs, or cuts the training step
                into stages on several if that is faster; `pg.parallel.Automatic` has settings; a
                function of the node returns the device of each operation.
                `Session.placement_summary` explains the result.
            weighted_metrics: as ``metrics``, but samples count by their ``sample_weight`` or
                ``class_weight``. A metric that is also in ``metrics`` is called
                ``weighted_<name>`` in logs.
            precision: "float32", or "mixed" to round the operands of matrix products and
                convolutions to float16, which halves what a GPU reads for them. Sums, weights and
                everything else stay float32. It holds for `fit`, `evaluate` and `predict` of this
                model, on every device. Numbers beyond ±65,504 saturate. A precision chosen on the
                command line overrides it.

        Raises:
            GraphError: there is no optimizer, loss, metric, output or precision of that name, or
                both a strategy and a placement are given.
        """
        checked_precision(precision)
        if strategy is not None and placement is not None:
            raise GraphError(
                "a strategy places all operations itself.",
                hint="Pass either a strategy or a placement.",
            )
        if loss is None and (self.has_own_step or self.has_own_test_step):
            loss = AnyTargets()
        self._recipe = Recipe(
            self,
            get_optimizer(optimizer),
            compiled_objectives(self, loss, metrics, loss_weights, weighted_metrics),
            strategy,
            placement,
        )
        self._device, self.compiled_precision = device, precision

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Callback | Sequence[Callback] | None = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: bool = True,
        class_weight: Mapping[int, float] | None = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        *,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        seed: int | None = None,
        resume: bool = False,
        drop_remainder: bool = False,
    ) -> History:
        """Train the model on ``x`` and ``y``, or on batches from a data set.

        Arrays are copied to the device once and stay there. They are reshuffled in every round. The
        last batch of a round may be smaller; losses and metrics of an epoch are the means over its
        samples. An epoch is ``ceil(samples / batch_size)`` steps.

        A data set is a `pg.data.Dataset`, a generator or another iterable of batches ``(x, y)`` or
        ``(x, y, sample_weight)``. It is streamed: a few batches are on the device at a time. An
        epoch is one round through it, or ``steps_per_epoch`` batches.

        Args:
            x: inputs, an array (samples, ...); if the model has several inputs, a list of arrays,
                or a dictionary by the names of the inputs. Or a data set, which brings targets and
                the size of batches with it.
            y: targets, an array (samples, ...); a list of arrays if the model has several outputs.
            batch_size: samples per step; 32 if None.
            epochs: number of epochs.
            verbose: 0 for silence, 1 to print a line after each epoch.
            callbacks: a `Callback`, or a list of them.
            validation_split: the fraction of samples, the last ones, that are evaluated after each
                epoch and not trained with.
            validation_data: ``(x, y)``, ``(x, y, sample_weight)`` or a data set to evaluate after
                each epoch.
            shuffle: whether to shuffle the samples of arrays.
            class_weight: the weight of each class in the loss, such as ``{0: 1, 1: 5}``; classes
                that are left out weigh 1.
            sample_weight: an array (samples,), the weight of each sample in the loss, or
                (samples, steps), that of each step of sequences. Losses are multiplied by their
                weights; metrics are not, except ``weighted_metrics``.
            initial_epoch: the number of the first epoch, from 0, for callbacks and logs;
                ``epochs - initial_epoch`` epochs are trained.
            steps_per_epoch: steps of an epoch; a data set then continues where the last epoch
                ended, and may be endless.
            validation_steps: batches of a validation data set to evaluate; None for one round.
            seed: the seed of the order of samples; None derives one from the graph's seed.
            resume: whether to continue the training in the file that `pg.load` has loaded, at its
                step, as if it had not been interrupted. The other arguments must be the same as in
                that training; ``epochs`` may be more.
            drop_remainder: whether to leave out samples of arrays that do not fill the last batch
                of a round: others in each round if they are shuffled.

        Returns:
            The `History`: losses and metrics of every step, and their means over each epoch.

        Raises:
            GraphError: the model is not compiled.
            CheckpointError: there is no training to ``resume``, or the data or the settings differ.
            DataError, ShapeError, DTypeError: the data does not fit; nothing has changed.
            NonFiniteError: the loss became NaN or infinite; the weights are as before that
                step.
            OutOfMemoryError: the data does not fit on the device.
            KeyboardInterrupt: training was stopped; the model stays usable.
        """
        y = self._targets(x, y, self.has_own_step)
        settings = Settings(
            batch_size,
            epochs,
            verbose,
            (*self.own_callbacks, *as_sequence(callbacks)),
            validation_data,
            shuffle,
            seed,
            validation_split,
            class_weight,
            sample_weight,
            steps_per_epoch,
            validation_steps,
            initial_epoch=initial_epoch,
            resume=resume,
            drop_remainder=bool(drop_remainder),
        )
        return fitting.fit(self.recipe, self._training, x, y, settings, self)

    def evaluate(
        self,
        x: Any,
        y: Any = None,
        batch_size: int | None = None,
        verbose: int = 0,
        sample_weight: Any = None,
        steps: int | None = None,
        return_dict: bool = False,
    ) -> Any:
        """Return the means of loss and metrics over all samples.

        The result is exact: it does not depend on the batch size.

        Args:
            x, y, sample_weight: as for `fit`; only a ``test_step`` of the class can do without y.
            batch_size: samples per step; 200 if None.
            verbose: 1 to print the result.
            steps: batches of a data set to evaluate; None for one round.
            return_dict: whether to return numbers by name.

        Returns:
            ``[loss, metric, ...]``, or the loss alone if there are no metrics; a dictionary with
            ``return_dict``.

        Raises:
            GraphError: the model is not compiled.
            DataError, ShapeError, DTypeError: the data does not fit.
        """
        y = self._targets(x, y, self.has_own_test_step)
        logs = evaluation.evaluate(self.recipe, x, y, batch_size, sample_weight, steps)
        if verbose:
            print(", ".join(f"{name} {value:.4f}" for name, value in logs.items()))
        return _as_requested(logs, return_dict)

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: int | str = 0,
        steps: int | None = None,
    ) -> Any:
        """Return the outputs for ``x``.

        Args:
            x: as for `fit`; of the batches of a data set, ``(x, y)`` or ``x``, only x counts.
            batch_size: samples per run; 256 if None.
            verbose: as in Keras; there is nothing to print.
            steps: batches of a data set to predict; None for one round.

        Returns:
            An array (samples, ...), or a list of arrays if the model has several outputs; or a
            dictionary, if it was made with one.

        Raises:
            DataError, ShapeError, DTypeError: the data does not fit.
        """
        if is_stream(x):
            evaluation.no_arguments_for_streams(batch_size=batch_size)
            source = BatchSource(x, "the data set")
            check_rounds(source, steps, 1, "steps")
            return predict_stream(self, source, steps)
        if steps is not None:
            raise DataError("steps is for data sets; arrays are predicted whole.")
        return batch_api.predict(self, x, batch_size)

    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Mapping[int, float] | None = None,
        return_dict: bool = False,
    ) -> Any:
        """Update the weights once, from one batch.

        Args:
            x, y, sample_weight, class_weight: as for `fit`; only a ``train_step`` of the class can
                do without y.
            return_dict: whether to return numbers by name.

        Returns:
            Loss and metrics of the batch before the update, as `evaluate` returns them.

        Raises:
            NonFiniteError: the loss is NaN or infinite; nothing has changed.
        """
        y = self._targets(x, y, self.has_own_step)
        logs = batch_api.train_on_batch(self.recipe, x, y, sample_weight, class_weight)
        for callback in self.own_callbacks:  # a training of one step, such as of a schedule
            callback.set_model(self)
            callback.on_train_begin(logs)
            callback.on_steps_end(1, logs)
        return _as_requested(logs, return_dict)

    def _targets(self, x: Any, y: Any, has_own_step: bool) -> Any:
        """Return y, or zeros for a step of the class that takes none."""
        self.without_targets = y is None and has_own_step and not is_stream(x)
        return no_targets(x) if self.without_targets else y

    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False
    ) -> Any:
        """Return loss and metrics of one batch, as `evaluate` does.

        Args:
            x, y, sample_weight: arrays, as for `fit`.
            return_dict: whether to return numbers by name.

        Raises:
            DataError: the batch is a data set, or does not fit.
        """
        if is_stream(x):
            raise DataError(
                "test_on_batch takes the arrays of one batch.", hint="Pass data sets to evaluate()."
            )
        return self.evaluate(x, y, sample_weight=sample_weight, return_dict=return_dict)


def _as_requested(logs: dict[str, float], return_dict: bool) -> Any:
    """Return ``logs``, or their values as a list, or a single value alone."""
    if return_dict:
        return logs
    return list(logs.values()) if len(logs) > 1 else logs["loss"]
