"""``function``: a step of a training loop of your own, as a function of arrays."""

from __future__ import annotations

import functools
import inspect
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.dtypes import default_dtype
from playgrad.errors import GraphError
from playgrad.graph.eager import is_building, is_recording
from playgrad.graph.graph import FLOAT32, Graph, at_top, get_default_graph
from playgrad.graph.tensor import Node, Tensor
from playgrad.networks.network import Network
from playgrad.networks.shared_session import shared_session
from playgrad.ops.joined.uses import Uses, noted_uses, still_valid
from playgrad.ops.state import RANDOM_ADVANCE, Variable, placeholder
from playgrad.runtime.hooks import get_hooks
from playgrad.runtime.options import get_options
from playgrad.runtime.session import Session
from playgrad.training.layer_updates import assign_updates, collected_updates

_FIXED = (bool, str, type(None))


@dataclass(frozen=True)
class _Traced:
    """The graph of one call: placeholders by argument, the results, the nodes that write,
    and the kinds of joined calls that it was built for."""

    feeds: Mapping[str, Tensor]
    results: Any
    writes: list[Node]
    folds: Uses


class CompiledFunction:
    """A Python function of tensors that is called with arrays; see `function`."""

    def __init__(self, python_function: Callable[..., Any], owner: Any, device: str) -> None:
        functools.update_wrapper(self, python_function)
        self._owner = owner
        self._default_graph = get_default_graph()
        self._python_function = python_function
        self._signature = inspect.signature(python_function)
        self._device = device
        self._traced: dict[Hashable, _Traced] = {}

    @property
    def owner(self) -> Any:
        """The model, tensor or graph whose graph and session it uses."""
        if self._owner is None:
            self._owner = _owner_in(self._python_function)
        return self._default_graph if self._owner is None else self._owner

    @property
    def graph(self) -> Graph:
        """The graph that its operations are added to.

        Raises:
            GraphError: the model is not built.
        """
        owner = self.owner
        if not getattr(owner, "built", True):
            raise GraphError(
                f"the model '{owner.name}' is not built: the shape of its samples is unknown.",
                source=owner.source,
                hint="Begin it with pg.Input(shape), or call model.build(sample_shape).",
            )
        graph: Graph = owner if isinstance(owner, Graph) else owner.graph
        return graph

    @property
    def session(self) -> Session:
        """The session that it runs in, which models of the graph share."""
        session = getattr(self.owner, "session", None)
        if isinstance(session, Session):
            return session
        session = shared_session(self.graph).on(self.graph, self._device)
        return session.in_precision(get_options().precision or FLOAT32)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function once, and return arrays in the structure of its result.

        Raises:
            ShapeError, DTypeError: an argument cannot become a tensor, or does not fit.
        """
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values: dict[str, Any] = {}
        self._with_each(bound, values.setdefault)
        if is_recording() or any(map(_is_symbolic, values.values())):
            return self._python_function(*args, **kwargs)  # within another one, or a tape
        arrays = {
            name: value.numpy() if isinstance(value, Tensor) else np.asarray(value)
            for name, value in values.items()
            if not isinstance(value, _FIXED)
        }
        fixed = {name: value for name, value in values.items() if name not in arrays}
        traced = self._trace(bound, arrays, fixed)
        feeds = {traced.feeds[name]: array for name, array in arrays.items()}
        return self.session.run([traced.results, traced.writes], feeds)[0]

    def _with_each(
        self, bound: inspect.BoundArguments, change: Callable[[str, Any], Any]
    ) -> inspect.BoundArguments:
        """Return ``bound`` with ``change(name, value)`` in place of each argument.

        Arguments in ``*args`` are called ``args/0``, ``args/1`` and so on, arguments in
        ``**kwargs`` ``kwargs/key``.
        """
        changed: OrderedDict[str, Any] = OrderedDict()
        for name, value in bound.arguments.items():
            kind = self._signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                changed[name] = tuple(change(f"{name}/{i}", each) for i, each in enumerate(value))
            elif kind is inspect.Parameter.VAR_KEYWORD:
                changed[name] = {key: change(f"{name}/{key}", each) for key, each in value.items()}
            else:
                changed[name] = change(name, value)
        return inspect.BoundArguments(self._signature, changed)

    def _trace(
        self,
        bound: inspect.BoundArguments,
        arrays: Mapping[str, np.ndarray[Any, Any]],
        fixed: dict[str, Any],
    ) -> _Traced:
        """Build the graph for arguments of these dtypes and shapes, once."""
        graph = self.graph
        specs = {
            name: (default_dtype(a), (None, *a.shape[1:])[: a.ndim]) for name, a in arrays.items()
        }
        key = (graph, tuple(specs.items()), tuple(fixed.items()))
        known = self._traced.get(key)
        if known is not None and still_valid(known.folds):
            return known
        before = len(graph.nodes)
        with at_top(graph), graph.name_scope(self._python_function.__name__.strip("<>")) as scope:
            feeds = {name: placeholder(*spec, name=name) for name, spec in specs.items()}
            given = {**fixed, **feeds}
            tensors = self._with_each(bound, lambda name, _: given[name])
            with collected_updates(graph) as updates, noted_uses() as folds:
                results = self._python_function(*tensors.args, **tensors.kwargs)
            with graph.reenter_scope(scope):
                assign_updates(updates)
        if results is None:
            results = []
        writes = [
            node for node in graph.nodes[before:] if node.op.writes and node.name != RANDOM_ADVANCE
        ]
        if writes and isinstance(self.owner, Network):
            get_hooks().looping(self.owner)
        traced = self._traced[key] = _Traced(feeds, results, writes, folds)
        return traced


def _is_symbolic(value: Any) -> bool:
    """Return whether ``value`` is a tensor of a graph that is being built."""
    return isinstance(value, Tensor) and (
        is_building() or (value.eager_value is None and value.node.op.name != "constant")
    )


def _owner_in(python_function: Callable[..., Any]) -> Any:
    """Return a model, or else a variable, that a function uses by its name; None for none."""
    used = inspect.getclosurevars(python_function)
    values = [*used.nonlocals.values(), *used.globals.values()]
    for kind in (Network, Variable):
        for value in values:
            for each in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(each, kind) and getattr(each, "built", True):
                    return each
    return None


def function(owner: Any = None, device: str = "auto") -> Any:
    """Compile a Python function of tensors into one of arrays, for a training loop of your own.

    As a decorator, ``@pg.function(model)`` or ``@pg.function``. The function is called once for
    each combination of dtypes and shapes, with the first dimension left open, to build its part of
    the graph. After that each call runs this part: everything that it returns, and every variable
    that it writes by ``assign`` or ``optimizer.minimize``. Python's own statements in it
    (``print``, ``if``) therefore run once. Variables are read as they were before the call.

    Arrays, numbers and lists become tensors; bools, strings and None stay unchanged, and each
    value of them has a graph of its own.

    Args:
        owner: a model, variable or graph, whose graph and session to use; None for a model or
            variable that the function uses, or else the default graph.
        device: "auto", "cpu" or "gpu"; a model has its own.

    Returns:
        A `CompiledFunction`.
    """
    if inspect.isfunction(owner):
        return CompiledFunction(owner, None, device)
    return lambda python_function: CompiledFunction(python_function, owner, device)
