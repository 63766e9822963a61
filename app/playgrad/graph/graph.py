"""The dataflow graph, and the default graph that operations are added to."""

from __future__ import annotations

import operator
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from playgrad.errors import DTypeError, GraphError, PlaygradError
from playgrad.graph.eager import (
    DETACHED_IDS,
    compute_detached,
    compute_if_eager,
    detached_inputs,
    graph_mode,
    record,
)
from playgrad.graph.opdef import OpDef, lookup
from playgrad.graph.scopes import Scoped, checked_name
from playgrad.graph.source import user_source
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor, specs_of

FLOAT32, MIXED = "float32", "mixed"
PRECISIONS = (FLOAT32, MIXED)


def checked_precision(name: object) -> str:
    """Return ``name`` if it is one of `PRECISIONS`.

    Raises:
        GraphError: it is not.
    """
    if name not in PRECISIONS:
        raise GraphError(
            f"precision must be {' or '.join(map(repr, PRECISIONS))}, got {name!r:.60}.",
            source=user_source(),
        )
    return str(name)


class Graph(Scoped):
    """Operations, variables and placeholders, connected by data and control edges.

    Graphs are independent of each other. A node refers only to nodes created before it, so the
    order of creation is a topological order.

    Args:
        seed: seed of the random operations; the same seed gives the same numbers.
    """

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.seed = seed
        self.nodes: list[Node] = []
        self._last_id = -1
        self._by_name: dict[str, Node] = {}
        self.random_ops = 0

    def empty(self) -> Graph:
        """Return a graph of the same seed, without nodes."""
        return Graph(self.seed)

    def __repr__(self) -> str:
        return f"<Graph of {len(self.nodes)} nodes>"

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def add(
        self,
        op: OpDef,
        inputs: Sequence[Tensor] = (),
        attrs: Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        control_inputs: Iterable[Node] = (),
        phase: str | None = None,
        device: str | None = None,
        task: str | None = None,
        source: tuple[str, int] | None = None,
    ) -> Node:
        """Add a node and return it.

        Raises:
            ShapeError, DTypeError: the op's rule does not accept the inputs.
            GraphError: an input belongs to another graph, or the name is not valid.
        """
        scope = self._thread.scope
        controls = dict.fromkeys([*scope.controls, *control_inputs])
        node = Node(
            graph=self,
            id=next(DETACHED_IDS),
            name=scope.path + checked_name(name or op.name),
            op=op,
            inputs=tuple(inputs),
            attrs=dict(attrs or {}),
            control_inputs=tuple(controls),
            device=device or scope.device,
            phase=phase or scope.phase,
            task=task or scope.task,
            source=source or user_source(),
        )
        arrays = None if node.phase == "variable" else detached_inputs(node)
        if arrays is None:
            self._attach(node)
            compute_if_eager(node)
        else:
            node.detached = True
            self._infer(node, None)
            compute_detached(node, arrays)
        record(node)
        if node.detached:
            node.forget_inputs()
        return node

    def _attach(self, node: Node) -> None:
        """Add a new node to the list; inputs that were computed outside of it become constants.

        Raises:
            ShapeError, DTypeError: the op's rule does not accept the inputs.
            GraphError: an input belongs to another graph.
        """
        node.id, node.name = self._next_id(), self.reserved_name(node.name)
        if any(tensor.node.detached for tensor in node.inputs):
            node.inputs = tuple(map(self._constant_if_detached, node.inputs))
            node.id = self._next_id()
        node.control_inputs = tuple(each for each in node.control_inputs if not each.detached)
        for tensor in node.inputs:
            if tensor.graph is not self:
                raise GraphError(
                    f"input '{tensor.name}' of {node.name} belongs to another graph.",
                    op=node.name,
                    source=node.source,
                    hint="Build both in the same `with graph.as_default():` block.",
                )
        self._append(node, None)

    def _constant_if_detached(self, tensor: Tensor) -> Tensor:
        if not tensor.node.detached:
            return tensor
        with graph_mode():
            value = tensor.eager_value
            return self.add(lookup("constant"), attrs={"value": value}, phase="input").output

    def copy(
        self,
        original: Node,
        inputs: Sequence[Tensor],
        *,
        op: OpDef | None = None,
        attrs: dict[str, Any] | None = None,
        name: str | None = None,
        control_inputs: Sequence[Node] = (),
        device: str | None = None,
        task: str | None = None,
    ) -> Node:
        """Add a copy of ``original``, a node of this or another graph, within the current scopes.

        Args:
            inputs: tensors of this graph.
            op, attrs, name, device, task: override the original's. ``attrs`` is shared with
                the caller and must not be changed afterwards.
            control_inputs: nodes of this graph.

        Raises:
            ShapeError, DTypeError: the op's rule does not accept the inputs.
        """
        controls: Iterable[Node] = ()
        scope = self._thread.scope
        if control_inputs or scope.controls:
            controls = dict.fromkeys([*scope.controls, *control_inputs])
        specs = None
        if op is None and attrs is None and specs_of(inputs) == specs_of(original.inputs):
            specs = specs_of(original.outputs)
        node = Node(
            graph=self,
            id=self._next_id(),
            name=self.reserved_name(scope.path + (name or original.name)),
            op=op or original.op,
            inputs=tuple(inputs),
            attrs=original.attrs if attrs is None else attrs,
            control_inputs=tuple(controls),
            device=device or original.device or scope.device,
            phase=original.phase,
            task=task or original.task or scope.task,
            source=original.source,
        )
        return self._append(node, specs)

    def _next_id(self) -> int:
        self._last_id += 1  # never that of a node that was removed
        return self._last_id

    def remove(self, nodes: Collection[Node]) -> None:
        """Take ``nodes`` out again, which no other node of the graph may use.

        Their names stay reserved.
        """
        self.nodes = [node for node in self.nodes if node not in nodes]
        for node in nodes:
            del self._by_name[node.name]

    def _append(self, node: Node, specs: Sequence[TensorSpec] | None) -> Node:
        self._infer(node, specs)
        self.nodes.append(node)
        self._by_name[node.name] = node
        return node

    def _infer(self, node: Node, specs: Sequence[TensorSpec] | None) -> None:
        if specs is None:
            try:
                specs = node.op.infer([tensor.spec for tensor in node.inputs], node.attrs)
            except PlaygradError as error:
                raise error.located(node.name, node.source) from None
        node.outputs = tuple([Tensor(node, i, spec) for i, spec in enumerate(specs)])

    def node(self, name: str) -> Node:
        """Return the node called ``name``.

        Raises:
            GraphError: the graph has no such node.
        """
        try:
            return self._by_name[name]
        except KeyError:
            close = [known for known in self._by_name if name.split("/")[-1] in known][:3]
            raise GraphError(
                f"the graph has no node named {name!r}.",
                hint=f"Did you mean {', '.join(close)}?" if close else None,
            ) from None

    def tensor(self, name: str) -> Tensor:
        """Return the tensor called ``node:index`` (``:0`` may be omitted).

        Raises:
            GraphError: the graph has no such tensor.
        """
        node_name, _, index = name.partition(":")
        node = self.node(node_name)
        number = int(index or 0) if (index or "0").isdecimal() else -1
        if not 0 <= number < len(node.outputs):
            raise GraphError(f"no tensor {name!r}: '{node_name}' has {len(node.outputs)} outputs.")
        return node.outputs[number]

    def next_random_seed(self, seed: int | None) -> list[int]:
        """Return the key (graph seed, op seed) of a new random op; the op seed counts up if None.

        Raises:
            DTypeError: a seed is not an integer.
        """
        if seed is None:
            self.random_ops += 1
            seed = self.random_ops
        return [_word(self.seed), _word(seed)]

    @contextmanager
    def as_default(self) -> Iterator[Graph]:
        """Make this the default graph, which operations are added to, within the block."""
        _stack().append(self)
        try:
            yield self
        finally:
            _stack().pop()

    @contextmanager
    def control_dependencies(self, before: Iterable[Node | Tensor] | None) -> Iterator[None]:
        """Run nodes created in the block after all of ``before``; None leaves outer blocks.

        Raises:
            GraphError: one of ``before`` is not a node or tensor of this graph.
        """
        if before is None:
            controls: tuple[Node, ...] = ()
        else:
            new = [item.node if isinstance(item, Tensor) else item for item in before]
            for node in new:
                if not isinstance(node, Node) or node.graph is not self:
                    raise GraphError(f"not a node or tensor of this graph: {node!r:.60}.")
            controls = (*self._thread.scope.controls, *new)
        with self._changed(controls=controls):
            yield


def _word(seed: Any) -> int:
    """Return the low 32 bits of ``seed``."""
    try:
        return operator.index(seed) & 0xFFFFFFFF
    except TypeError:
        raise DTypeError(f"a seed must be an integer, got {seed!r}.") from None


class _Defaults(threading.local):
    def __init__(self) -> None:
        self.stack: list[Graph] = []


_defaults = _Defaults()
_root = Graph()


def _stack() -> list[Graph]:
    return _defaults.stack


def get_default_graph() -> Graph:
    """Return the graph of the innermost ``as_default``, else a global one.

    Operations are added to it.
    """
    return _stack()[-1] if _stack() else _root


def reset_default_graph(seed: int = 0) -> Graph:
    """Replace the global default graph by an empty one, and return it.

    Raises:
        GraphError: inside `with graph.as_default():`.
    """
    global _root
    if _stack():
        raise GraphError("reset_default_graph() cannot be used inside `with graph.as_default():`.")
    _root = Graph(seed)
    return _root


def name_scope(name: str | None) -> AbstractContextManager[str]:
    """Prefix the names of operations created in the block; None leaves all name scopes."""
    return get_default_graph().name_scope(name)


def device(name: str | None) -> AbstractContextManager[None]:
    """Place operations created in the block: ``with pg.device("gpu:0"):``."""
    return get_default_graph().device(name)


def control_dependencies(
    before: Iterable[Node | Tensor] | None,
) -> AbstractContextManager[None]:
    """Run operations created in the block after all of ``before``."""
    return get_default_graph().control_dependencies(before)


@contextmanager
def at_top(graph: Graph, phase: str = "forward") -> Iterator[None]:
    """Make ``graph`` the default graph, outside of eager mode and the scopes of the caller."""
    with (
        graph.as_default(),
        graph.reenter_scope(""),
        graph.control_dependencies(None),
        graph.device(None),
        graph.phase(phase),
        graph_mode(),
    ):
        yield
