"""The base class of optimizers: gradients in, update nodes out."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar, Self, TypedDict

from playgrad.constructed import Constructed
from playgrad.errors import DTypeError, GraphError
from playgrad.graph.autodiff import gradients
from playgrad.graph.eager import at_once, graph_mode
from playgrad.graph.graph import Graph
from playgrad.graph.source import warn_user
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.fill import fill
from playgrad.ops.elementwise.definitions import cast, logical_and, where
from playgrad.ops.state import Variable, group, trainable_variables
from playgrad.ops.training.replica import cross_replica_mean
from playgrad.optim.accumulation import Accumulation, AccumulationRound, every
from playgrad.optim.after_update import constrained, overwritten
from playgrad.optim.clipping import Clipping
from playgrad.optim.kept_gradients import kept_gradients
from playgrad.optim.schedules import Schedule
from playgrad.optim.setting_checks import checked_frequency, checked_rate, checked_scale
from playgrad.optim.weight_decay import WeightDecay
from playgrad.records import OptimizerRecord

_NONE_TO_TRAIN = (
    "There are none: all layers are without weights, frozen, or quantized. Set trainable = True on "
    "a frozen layer or model before training; train a network before it is quantized."
)

_AVERAGE = "average"
_ACCUMULATED = "accumulated"
_EMA_MOMENTUM = 0.99
BY_KIND: dict[str, type[Optimizer]] = {}
"""Every class of optimizers that has a ``kind``."""
RECORDED: dict[str, type[Optimizer]] = {}
"""The classes that have a record, by their kinds."""


class _Gates(threading.local):
    """The function that gives updates without a gate of their own one."""

    function: Callable[[Sequence[Tensor]], Tensor] | None = None


_gates = _Gates()


@contextmanager
def gated_updates(function: Callable[[Sequence[Tensor]], Tensor]) -> Iterator[None]:
    """Let `Optimizer.apply_gradients` in the block change nothing where a gate is false.

    Args:
        function: returns the gate, a bool scalar, for the gradients.
    """
    before, _gates.function = _gates.function, function
    try:
        yield
    finally:
        _gates.function = before


class CommonOptions(TypedDict, total=False):
    """The options that every optimizer takes; see `Optimizer`."""

    clipnorm: float | None
    clipvalue: float | None
    global_clipnorm: float | None
    use_ema: bool
    ema_momentum: float
    ema_overwrite_frequency: int | None
    loss_scale_factor: float | None
    gradient_accumulation_steps: int | None


class OptimizerOptions(CommonOptions, total=False):
    """The options of optimizers without weight decay by default."""

    weight_decay: float | None


class Optimizer(Constructed):
    """Base class of optimizers. An optimizer trains one model, and keeps its state in variables.

    A subclass sets ``kind``, the name by which `get` finds it, and implements ``_update``. The
    library's own have a ``record`` of facts for other packages and the page.

    Args:
        learning_rate: a number, or a learning-rate schedule.
        weight_decay: decoupled weight decay (Loshchilov and Hutter 2019): each step takes the
            fraction ``rate * weight_decay`` off every weight. None for none.
        clipnorm: the largest norm of the gradient of one variable; None for any. A longer gradient
            is scaled down.
        clipvalue: the largest absolute value of an element of a gradient; None for any.
        global_clipnorm: the largest norm of all gradients together; None for any. Only one of the
            three limits can be set.
        use_ema: whether to keep an exponential moving average of each weight (Polyak and Juditsky
            1992). `playgrad.nn.SwapEMAWeights` evaluates with the averages, and `Model.fit` ends
            by copying them into the weights.
        ema_momentum: the fraction of the moving averages that is kept in each step. There is a
            warning if it is set without ``use_ema``.
        ema_overwrite_frequency: the number of updates after which, again and again, the weights are
            set to their moving averages; None for never during training.
        loss_scale_factor: the factor by which `minimize` multiplies the loss and `apply_gradients`
            divides gradients; None for 1.
        gradient_accumulation_steps: the number of steps, at least 2, whose mean gradient makes an
            update; None for an update in each step.

    Attributes:
        iterations: uint32 scalar variable, the number of steps so far.
        learning_rate: float32 scalar variable (with a schedule, the initial rate), which exists
            once training has begun. ``model.session.assign({optimizer.learning_rate: 0.01})``
            changes the rate; before training, ``optimizer.learning_rate = 0.01`` does.

    Raises:
        ValueError: the learning rate or the weight decay is not a finite number of at least 0,
            several limits are set, a limit is not positive, ``ema_momentum`` is not between 0
            and 1, or another number is out of range.
    """

    kind: ClassVar[str] = "optimizer"
    record: ClassVar[OptimizerRecord]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "kind" in cls.__dict__:
            BY_KIND[cls.kind] = cls
        if isinstance(cls.__dict__.get("record"), OptimizerRecord):
            RECORDED.setdefault(cls.kind, cls)

    def __init__(
        self,
        learning_rate: float | Schedule,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = _EMA_MOMENTUM,
        ema_overwrite_frequency: int | None = None,
        loss_scale_factor: float | None = None,
        gradient_accumulation_steps: int | None = None,
    ) -> None:
        self.schedule = learning_rate if isinstance(learning_rate, Schedule) else None
        self.initial_learning_rate = checked_rate(
            learning_rate.initial_learning_rate
            if isinstance(learning_rate, Schedule)
            else learning_rate
        )
        self.weight_decay = WeightDecay(weight_decay)
        self.clipping = Clipping(clipnorm, clipvalue, global_clipnorm)
        self.use_ema = bool(use_ema)
        if not 0.0 <= ema_momentum <= 1.0:
            raise ValueError(f"ema_momentum must be between 0 and 1, got {ema_momentum}")
        if ema_momentum != _EMA_MOMENTUM and not use_ema:
            warn_user(
                f"ema_momentum={ema_momentum} of {type(self).__name__} does nothing without "
                "use_ema=True."
            )
        self.ema_momentum = float(ema_momentum)
        self.ema_overwrite_frequency = checked_frequency(ema_overwrite_frequency, use_ema)
        self.loss_scale_factor = checked_scale(loss_scale_factor)
        self.accumulation = Accumulation(gradient_accumulation_steps)
        self._graph: Graph | None = None
        self._scope = ""
        self._slots: dict[tuple[str, str], Variable] = {}

    # Methods to override

    @property
    def slots_per_weight(self) -> int:
        """The number of state variables for each trained variable, to estimate the memory.

        Moving averages of the weights are not counted.
        """
        return 0

    def _factors(self, rate: Tensor, step: Tensor) -> tuple[Tensor, ...]:
        """Return the scalars that all updates of a step use; ``step`` is float32, from 0."""
        return (rate,)

    def _update(
        self,
        variable: Variable,
        grad: Tensor,
        factors: Sequence[Tensor],
        gate: Tensor | None,
        decay: Tensor | None,
    ) -> Tensor:
        """Update ``variable`` and its slots in place; return the new value.

        Args:
            factors: the result of `_factors`.
            gate: bool scalar; where it is false, nothing changes.
            decay: the fraction to take off ``variable`` first; None for nothing.
        """
        raise NotImplementedError

    # Methods of every optimizer

    def minimize(
        self,
        loss: Tensor,
        var_list: Sequence[Tensor] | None = None,
        gate: Tensor | None = None,
    ) -> Node:
        """Return a node that updates the variables once, to reduce ``loss``.

        In a distributed step, the gradients are averaged over the replicas.

        Args:
            loss: a scalar.
            var_list: the variables; None for all trainable variables of the graph.
            gate: bool scalar; where it is false, no variable changes.

        Raises:
            GraphError: the loss does not depend on any of the variables.
            DTypeError: a variable is not float32.
        """
        variables = list(var_list) if var_list is not None else trainable_variables(loss.graph)
        _expect_float32(variables)
        with loss.graph.as_default():
            scale = self.loss_scale_factor
            grads = gradients(loss if scale is None else loss * scale, variables)
            if all(grad is None for grad in grads):
                raise GraphError(
                    f"the loss '{loss.name}' does not depend on any of the variables to train.",
                    op=loss.node.name,
                    source=loss.node.source,
                    hint=None if variables else _NONE_TO_TRAIN,
                )
            with loss.graph.phase("gradient"):
                averaged = [None if grad is None else cross_replica_mean(grad) for grad in grads]
            return self.apply_gradients(zip(averaged, variables, strict=True), gate)

    def apply(self, grads: Sequence[Tensor | None], trainable_variables: Sequence[Tensor]) -> Node:
        """Update ``trainable_variables`` by their gradients, as `apply_gradients` does."""
        return self.apply_gradients(zip(grads, trainable_variables, strict=True))

    def apply_gradients(
        self, grads_and_vars: Iterable[tuple[Tensor | None, Tensor]], gate: Tensor | None = None
    ) -> Node:
        """Return a node that updates the variables once, with these gradients.

        The constraint of a variable, if it has one, is applied to its new value.

        Args:
            grads_and_vars: pairs; a variable whose gradient is None is not updated.
            gate: bool scalar; where it is false, no variable changes.

        Raises:
            GraphError: there are no gradients.
            DTypeError: a variable is not float32.
        """
        pairs = [(grad, variable) for grad, variable in grads_and_vars if grad is not None]
        _expect_float32([variable for _, variable in pairs])
        if not pairs:
            raise GraphError("apply_gradients() got no gradients.")
        graph = pairs[0][1].graph
        self.prepare(graph)
        if gate is None and _gates.function is not None:
            gate = _gates.function([grad for grad, _ in pairs])
        with at_once(*[grad for grad, _ in pairs]), graph.as_default(), graph.phase("update"):
            with graph.reenter_scope(self._scope):
                current = self.accumulation.round(self.iterations, gate)
                step = cast(current.count, "float32")
                rate: Tensor = self.learning_rate
                if self.schedule is not None:
                    # Schedules count steps, as in Keras; the rest of the step counts updates.
                    rate = self.schedule.rate(rate, cast(self.iterations, "float32"))
                factors = self._factors(rate, step)
                decay = self.weight_decay.of_step(rate)
                kept = self._kept_average(step) if self.use_ema else None
                means, updates = self._means(pairs, current)
                clipped = self.clipping.clipped(kept_gradients(means, pairs), means)
                update_gate = current.update_gate
                overwrites = self._overwrites(current)
            for grad, (_, variable) in zip(clipped, pairs, strict=True):
                assert isinstance(variable, Variable)
                own_decay = decay if self.weight_decay.applies_to(variable) else None
                with graph.reenter_scope(f"{self._scope}{variable.variable_name}/"):
                    new = self._update(variable, grad, factors, update_gate, own_decay)
                    if variable.constraint is not None or variable.keep is not None:
                        new = constrained(variable, new, gate)
                    updates.append(new)
                    if kept is not None:
                        # Of constrained weights: in Keras, averages leave the constraint's bounds.
                        average = self._update_average(variable, new, kept, gate)
                        updates.append(average)
                        if overwrites is not None:
                            updates.append(overwritten(variable, new, average, overwrites))
            with graph.reenter_scope(self._scope):
                increment: Any = 1 if gate is None else cast(gate, "uint32")
                updates.append(self.iterations.assign_add(increment))
                return group(*updates, name="update")

    def _means(
        self, pairs: Sequence[tuple[Tensor, Tensor]], current: AccumulationRound
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Return the gradients to update with, and the writes that accumulate them."""
        means: list[Tensor] = []
        writes: list[Tensor] = []
        for scaled, variable in pairs:
            assert isinstance(variable, Variable)
            scale = self.loss_scale_factor
            grad = scaled if scale is None else scaled * (1.0 / scale)
            slot = partial(self.slot, variable, _ACCUMULATED)
            mean, more = self.accumulation.mean(grad, slot, current)
            means.append(mean)
            writes += more
        return means, writes

    @property
    def learning_rate(self) -> Variable:
        if self._graph is None:
            raise AttributeError(
                f"this {type(self).__name__} has no variable of its learning rate before training; "
                f"initial_learning_rate is {self.initial_learning_rate:g}"
            )
        return self._learning_rate

    @learning_rate.setter
    def learning_rate(self, rate: float) -> None:
        """Set the rate with which training is going to begin.

        Raises:
            GraphError: training has begun.
            ValueError: it is not a finite number of at least 0.
        """
        if self._graph is not None:
            raise GraphError(
                "training has begun, so the learning rate is a variable of the session.",
                hint="Call model.session.assign({model.optimizer.learning_rate: rate}), or use "
                "nn.LearningRateScheduler.",
            )
        self.initial_learning_rate = checked_rate(rate)
        self.schedule = None

    def prepare(self, graph: Graph) -> None:
        """Create ``iterations`` and ``learning_rate`` in ``graph``, unless they exist.

        Raises:
            GraphError: the optimizer trains another model.
        """
        if self._graph is graph:
            return
        if self._graph is not None:
            raise GraphError(
                f"this {type(self).__name__} already trains another model.",
                hint="Create an optimizer for each model.",
            )
        self._graph = graph
        with self._at_top(graph), graph.name_scope(self.kind) as self._scope:
            self.iterations = Variable(0, "iterations", trainable=False, dtype="uint32")
            self._learning_rate = Variable(
                self.initial_learning_rate, "learning_rate", trainable=False, dtype="float32"
            )

    def exclude_from_weight_decay(
        self, var_list: Sequence[Variable] = (), var_names: Sequence[str] = ()
    ) -> None:
        """Leave variables out of weight decay. To be called before training.

        Args:
            var_list: the variables.
            var_names: parts of names: ``["bias"]`` means every variable with "bias" in its name.

        Raises:
            GraphError: training has begun.
        """
        if self._graph is not None:
            raise GraphError(
                "weight decay is part of the training step already.",
                hint="Call exclude_from_weight_decay() before training.",
            )
        self.weight_decay = copy.copy(self.weight_decay)  # clones may share it
        self.weight_decay.exclude((v.variable_name for v in var_list), var_names)

    # Moving averages of the weights

    def average_of(self, variable: Variable) -> Variable | None:
        """Return the moving average of ``variable``; None if there is none."""
        return self._slots.get((variable.variable_name, _AVERAGE))

    def _overwrites(self, current: AccumulationRound) -> Tensor | None:
        """Return where the weights are set to their averages, a bool scalar; None for never."""
        if self.ema_overwrite_frequency is None or not self.use_ema:
            return None
        now = every(current.count, self.ema_overwrite_frequency)
        return now if current.gate is None else logical_and(current.gate, now)

    def _kept_average(self, step: Tensor) -> Tensor:
        """Return the fraction of the averages to keep: 0 in the first step, which sets them."""
        return where(step > 0.0, fill((), self.ema_momentum), fill((), 0.0))

    def _update_average(
        self, variable: Variable, new: Tensor, kept: Tensor, gate: Tensor | None
    ) -> Tensor:
        average = self.slot(variable, _AVERAGE)
        value = average * kept + new * (1.0 - kept)
        return average.assign(value if gate is None else where(gate, value, average))

    def clone(self) -> Self:
        """Return an optimizer with the same settings and no state, for another model."""
        new = copy.copy(self)
        for name in ("iterations", "learning_rate"):
            vars(new).pop(name, None)
        new._graph, new._scope, new._slots = None, "", {}
        return new

    def slot(self, variable: Variable, name: str, initial: float = 0.0) -> Variable:
        """Return the state variable ``<optimizer>/<variable>/<name>``, all ``initial`` at first.

        It has the shape and the device of ``variable``.
        """
        key = (variable.variable_name, name)
        if key not in self._slots:
            graph = variable.graph
            scope = f"{self._scope}{variable.variable_name}/"
            with self._at_top(graph), graph.device(variable.device):
                with graph.reenter_scope(f"{scope}{name}/"):
                    values = fill(variable.spec.static_shape, initial, variable.dtype)
                with graph.reenter_scope(scope):
                    self._slots[key] = Variable(values, name, trainable=False)
        return self._slots[key]

    @property
    def variables(self) -> list[Variable]:
        """The optimizer's state: iterations, learning rate and slots."""
        if self._graph is None:
            return []
        return [self.iterations, self.learning_rate, *self._slots.values()]

    def state_names(self) -> dict[str, list[str]]:
        """Return the state variables by their names: each is a slot of a variable, or has none.

        `add_state` creates them in another graph.
        """
        if self._graph is None:
            return {}
        names = {slot.variable_name: list(key) for key, slot in self._slots.items()}
        return {
            self.iterations.variable_name: ["iterations"],
            self.learning_rate.variable_name: ["learning_rate"],
            **names,
        }

    def add_state(self, graph: Graph, names: Mapping[str, Sequence[str]]) -> dict[str, Variable]:
        """Create the state variables that `state_names` returned, by the same names.

        Raises:
            GraphError: ``graph`` lacks the variable of a slot.
        """
        self.prepare(graph)
        created: dict[str, Variable] = {}
        for name, (owner, *slot) in names.items():
            if not slot:
                is_count = owner == "iterations"
                created[name] = self.iterations if is_count else self.learning_rate
                continue
            variable = graph.node(owner).outputs[0]
            assert isinstance(variable, Variable)
            created[name] = self.slot(variable, slot[0])
        return created

    @contextmanager
    def _at_top(self, graph: Graph) -> Iterator[None]:
        """Leave all scopes: state variables are created once, wherever they are first needed."""
        with (
            graph_mode(),
            graph.as_default(),
            graph.reenter_scope(""),
            graph.control_dependencies(None),
            graph.device(None),
            graph.phase("variable"),
        ):
            yield


def _expect_float32(variables: Iterable[Tensor]) -> None:
    for variable in variables:
        if variable.dtype != "float32":
            raise DTypeError(
                f"'{variable.node.name}' is {variable.dtype}, but optimizers train float32.",
                source=variable.node.source,
                hint="Keep it in float32, and cast it where it is used.",
            )


def get(value: str | Optimizer) -> Optimizer:
    """Return a new optimizer called ``value``; an `Optimizer` is returned as is.

    Names of classes, such as "Adam", count as well.

    Raises:
        GraphError: there is no optimizer of that name.
    """
    if isinstance(value, Optimizer):
        return value
    if not isinstance(value, str) or value.lower() not in BY_KIND:
        raise GraphError(
            f"there is no optimizer {value!r}.", hint=f"Use one of: {', '.join(BY_KIND)}."
        )
    return BY_KIND[value.lower()]()  # type: ignore[call-arg]
