"""The base class of optimizers: gradients in, update nodes out."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Real
from typing import Any, ClassVar, Self

from playgrad.errors import GraphError
from playgrad.graph.autodiff import gradients
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.fill import fill
from playgrad.ops.elementwise.definitions import cast
from playgrad.ops.state import Variable, group, trainable_variables
from playgrad.ops.training.replica import cross_replica_mean
from playgrad.optim.schedules import Schedule

_REGISTRY: dict[str, type[Optimizer]] = {}


class Optimizer:
    """Base class of optimizers. An optimizer trains one model, and keeps its state in variables.

    A subclass sets ``kind``, the name by which `get` finds it, and implements ``_update``.

    Args:
        learning_rate: a number, or a learning-rate schedule.

    Attributes:
        iterations: uint32 scalar variable, the number of updates so far.
        learning_rate: float32 scalar variable (with a schedule, the initial rate); assign to it to
            change the rate during training.

    Raises:
        ValueError: the learning rate is not a finite number of at least 0.
    """

    kind: ClassVar[str] = "optimizer"

    def __init_subclass__(cls) -> None:
        if "kind" in cls.__dict__:
            _REGISTRY[cls.kind] = cls

    def __init__(self, learning_rate: float | Schedule) -> None:
        self.schedule = learning_rate if isinstance(learning_rate, Schedule) else None
        self.initial_learning_rate = checked_rate(
            learning_rate.initial_learning_rate
            if isinstance(learning_rate, Schedule)
            else learning_rate
        )
        self._graph: Graph | None = None
        self._scope = ""
        self._slots: dict[tuple[str, str], Variable] = {}

    # Methods to override

    @property
    def slots_per_weight(self) -> int:
        """The number of state variables for each trained variable, to estimate the memory."""
        return 0

    def _factors(self, rate: Tensor, step: Tensor) -> tuple[Tensor, ...]:
        """Return the scalars that all updates of a step use; ``step`` is float32, from 0."""
        return (rate,)

    def _update(
        self, variable: Variable, grad: Tensor, factors: Sequence[Tensor], gate: Tensor | None
    ) -> Tensor:
        """Update ``variable`` and its slots in place; return the new value.

        Args:
            factors: what `_factors` returned.
            gate: bool scalar; where it is false, nothing changes.
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
        """
        variables = list(var_list) if var_list is not None else trainable_variables(loss.graph)
        with loss.graph.as_default():
            grads = gradients(loss, variables)
            if all(grad is None for grad in grads):
                raise GraphError(
                    f"the loss '{loss.name}' does not depend on any of the variables to train.",
                    op=loss.node.name,
                    source=loss.node.source,
                )
            with loss.graph.phase("gradient"):
                averaged = [None if grad is None else cross_replica_mean(grad) for grad in grads]
            return self.apply_gradients(zip(averaged, variables, strict=True), gate)

    def apply_gradients(
        self, grads_and_vars: Iterable[tuple[Tensor | None, Tensor]], gate: Tensor | None = None
    ) -> Node:
        """Return a node that updates the variables once, with these gradients.

        Args:
            grads_and_vars: pairs; a variable whose gradient is None is not updated.
            gate: bool scalar; where it is false, no variable changes.

        Raises:
            GraphError: there are no gradients.
        """
        pairs = [(grad, variable) for grad, variable in grads_and_vars if grad is not None]
        if not pairs:
            raise GraphError("apply_gradients() got no gradients.")
        graph = pairs[0][1].graph
        self.prepare(graph)
        with graph.as_default(), graph.phase("update"):
            with graph.reenter_scope(self._scope):
                step = cast(self.iterations, "float32")
                rate: Tensor = self.learning_rate
                if self.schedule is not None:
                    rate = self.schedule.rate(rate, step)
                factors = self._factors(rate, step)
            updates: list[Tensor] = []
            for grad, variable in pairs:
                assert isinstance(variable, Variable)
                with graph.reenter_scope(f"{self._scope}{variable.variable_name}/"):
                    updates.append(self._update(variable, grad, factors, gate))
            with graph.reenter_scope(self._scope):
                increment: Any = 1 if gate is None else cast(gate, "uint32")
                updates.append(self.iterations.assign_add(increment))
                return group(*updates, name="update")

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
            self.learning_rate = Variable(
                self.initial_learning_rate, "learning_rate", trainable=False, dtype="float32"
            )

    def clone(self) -> Self:
        """Return an optimizer with the same settings and no state, for another model."""
        new = copy.copy(self)
        for name in ("iterations", "learning_rate"):
            vars(new).pop(name, None)
        new._graph, new._scope, new._slots = None, "", {}
        return new

    def slot(self, variable: Variable, name: str) -> Variable:
        """Return the state variable ``<optimizer>/<variable>/<name>``, zeros at first.

        It has the shape and the device of ``variable``.
        """
        key = (variable.variable_name, name)
        if key not in self._slots:
            graph = variable.graph
            scope = f"{self._scope}{variable.variable_name}/"
            with self._at_top(graph), graph.device(variable.device):
                with graph.reenter_scope(f"{scope}{name}/"):
                    zeros = fill(variable.spec.static_shape, 0.0, variable.dtype)
                with graph.reenter_scope(scope):
                    self._slots[key] = Variable(zeros, name, trainable=False)
        return self._slots[key]

    @property
    def variables(self) -> list[Variable]:
        """The optimizer's state: iterations, learning rate and slots."""
        if self._graph is None:
            return []
        return [self.iterations, self.learning_rate, *self._slots.values()]

    @contextmanager
    def _at_top(self, graph: Graph) -> Iterator[None]:
        """Leave all scopes: state variables are created once, wherever they are first needed."""
        with (
            graph.as_default(),
            graph.reenter_scope(""),
            graph.control_dependencies(None),
            graph.device(None),
            graph.phase("variable"),
        ):
            yield


def checked_rate(value: Any) -> float:
    """Return ``value`` as a learning rate.

    Raises:
        ValueError: it is not a finite number of at least 0.
    """
    rate = float(value) if isinstance(value, Real) else math.nan
    if not math.isfinite(rate) or rate < 0:
        raise ValueError(f"the learning rate must be a number of at least 0, got {value!r}")
    return rate


def get(value: str | Optimizer) -> Optimizer:
    """Return a new optimizer called ``value``; an `Optimizer` is returned as is.

    Raises:
        GraphError: there is no optimizer of that name.
    """
    if isinstance(value, Optimizer):
        return value
    if not isinstance(value, str) or value not in _REGISTRY:
        raise GraphError(
            f"there is no optimizer {value!r}.", hint=f"Use one of: {', '.join(_REGISTRY)}."
        )
    return _REGISTRY[value]()  # type: ignore[call-arg]
