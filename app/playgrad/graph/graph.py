"""The dataflow graph: nodes in the order they were made, and the scopes they were made in."""

from __future__ import annotations

import operator
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from playgrad.errors import DTypeError, GraphError, PlaygradError
from playgrad.graph.opdef import OpDef
from playgrad.graph.source import user_source
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor

_NAME = re.compile(r"[^\s:/]+(/[^\s:/]+)*")


class Graph:
    """Operations, variables and placeholders, connected by data and control edges.

    Graphs are independent of each other. A node only ever refers to nodes made before it, so the
    order of creation is a topological order.

    Args:
        seed: seed of the random operations; the same seed gives the same numbers.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.nodes: list[Node] = []
        self._by_name: dict[str, Node] = {}
        self._taken: dict[str, int] = {}
        self._scopes = _Scopes()
        self.random_ops = 0

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
            GraphError: an input belongs to another graph, or the name cannot be one.
        """
        source = source or user_source()
        attrs = dict(attrs or {})
        scopes = self._scopes
        full_name = self.unique_name(scopes.path + _checked_name(name or op.name))
        for tensor in inputs:
            if tensor.graph is not self:
                raise GraphError(
                    f"input '{tensor.name}' of {full_name} belongs to another graph.",
                    op=full_name,
                    source=source,
                    hint="Build both in the same `with graph.as_default():` block.",
                )
        controls = dict.fromkeys([*scopes.controls, *control_inputs])
        node = Node(
            graph=self,
            id=len(self.nodes),
            name=full_name,
            op=op,
            inputs=tuple(inputs),
            attrs=attrs,
            control_inputs=tuple(controls),
            device=device or scopes.device,
            phase=phase or scopes.phase,
            task=task or scopes.task,
            source=source,
        )
        return self._append(node, None)

    def copy(
        self,
        node: Node,
        op: OpDef,
        inputs: Sequence[Tensor],
        attrs: dict[str, Any],
        *,
        name: str | None = None,
        control_inputs: Sequence[Node] = (),
        device: str | None = None,
        task: str | None = None,
        specs: Sequence[TensorSpec] | None = None,
    ) -> Node:
        """Add what stands for (part of) ``node`` of another graph, whatever the scopes are.

        Args:
            inputs: tensors of this graph.
            attrs: shared with the caller; nobody changes them.
            name, device, task: where they differ from those of ``node``.
            specs: what the op's rule gives for these inputs and attributes, where that is known.

        Raises:
            ShapeError, DTypeError: the op's rule does not accept the inputs.
        """
        made = Node(
            graph=self,
            id=len(self.nodes),
            name=self.unique_name(name or node.name),
            op=op,
            inputs=tuple(inputs),
            attrs=attrs,
            control_inputs=tuple(control_inputs),
            device=device or node.device,
            phase=node.phase,
            task=task or node.task,
            source=node.source,
        )
        return self._append(made, specs)

    def _append(self, node: Node, specs: Sequence[TensorSpec] | None) -> Node:
        if specs is None:
            try:
                specs = node.op.infer([tensor.spec for tensor in node.inputs], node.attrs)
            except PlaygradError as error:
                raise error.located(node.name, node.source) from None
        node.outputs = tuple([Tensor(node, i, spec) for i, spec in enumerate(specs)])
        self.nodes.append(node)
        self._by_name[node.name] = node
        return node

    @property
    def current_scope(self) -> str:
        """The prefix that new nodes get: ``""`` or ``"outer/inner/"``."""
        return self._scopes.path

    @property
    def current_device(self) -> str | None:
        """The device that new nodes are placed on; None outside of device scopes."""
        return self._scopes.device

    def unique_name(self, name: str) -> str:
        """``name``, or ``name_1``, ``name_2``, ... where it is taken."""
        if name not in self._by_name and name not in self._taken:
            self._taken[name] = 0
            return name
        while True:
            self._taken[name] = self._taken.get(name, 0) + 1
            candidate = f"{name}_{self._taken[name]}"
            if candidate not in self._by_name and candidate not in self._taken:
                self._taken[candidate] = 0
                return candidate

    def node(self, name: str) -> Node:
        """The node called ``name``.

        Raises:
            GraphError: there is none.
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
        """The tensor called ``node:index`` (``:0`` may be left out)."""
        node_name, _, index = name.partition(":")
        node = self.node(node_name)
        number = int(index or 0) if (index or "0").isdecimal() else -1
        if not 0 <= number < len(node.outputs):
            raise GraphError(f"'{node_name}' has {len(node.outputs)} outputs; {name!r} is none.")
        return node.outputs[number]

    def next_random_seed(self, seed: int | None) -> list[int]:
        """The key (graph seed, op seed) of a new random op: counted where no seed is named.

        Raises:
            DTypeError: a seed is no whole number.
        """
        if seed is None:
            self.random_ops += 1
            seed = self.random_ops
        return [_word(self.seed), _word(seed)]

    @contextmanager
    def as_default(self) -> Iterator[Graph]:
        """Make this the graph that operations are added to, within the block."""
        _stack().append(self)
        try:
            yield self
        finally:
            _stack().pop()

    @contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Prefix the names of nodes made in the block; yields the unique prefix, slash included.

        An empty name, or None, forgets outer scopes.
        """
        path = self.unique_name(self._scopes.path + _checked_name(name)) + "/" if name else ""
        with self._scopes.changed(path=path):
            yield path

    @contextmanager
    def reenter_scope(self, path: str) -> Iterator[str]:
        """Go back into a name scope by the prefix that ``name_scope`` gave."""
        with self._scopes.changed(path=path):
            yield path

    @contextmanager
    def device(self, name: str | None) -> Iterator[None]:
        """Place nodes made in the block on device ``name`` (``"cpu:0"``, ``"gpu:0"``)."""
        with self._scopes.changed(device=name):
            yield

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Mark nodes made in the block as forward, gradient, update, input or variable."""
        with self._scopes.changed(phase=name):
            yield

    @contextmanager
    def task(self, name: str | None) -> Iterator[None]:
        """Nodes made in the block are one piece of work of their device.

        A device does its pieces one after the other, in the order in which their first nodes were
        made; the results of one are sent to other devices as soon as it has ended.
        """
        with self._scopes.changed(task=name):
            yield

    @contextmanager
    def control_dependencies(self, before: Iterable[Node | Tensor] | None) -> Iterator[None]:
        """Nodes made in the block run after all of ``before``; None forgets outer blocks.

        Raises:
            GraphError: one of ``before`` is no node or tensor of this graph.
        """
        if before is None:
            controls: tuple[Node, ...] = ()
        else:
            new = [item.node if isinstance(item, Tensor) else item for item in before]
            for node in new:
                if not isinstance(node, Node) or node.graph is not self:
                    raise GraphError(f"nothing can wait for {node!r:.60}: it is not in this graph.")
            controls = (*self._scopes.controls, *new)
        with self._scopes.changed(controls=controls):
            yield


def _checked_name(name: str) -> str:
    """``name``, if it can be told from other names wherever names are written.

    Raises:
        GraphError: it holds a blank or a colon, or a part between slashes is empty.
    """
    if not _NAME.fullmatch(name):
        raise GraphError(
            f"{name!r} cannot name an operation or a scope: no blank, no colon, and something "
            "before and after each slash."
        )
    return name


def _word(seed: Any) -> int:
    """The low 32 bits of ``seed``."""
    try:
        return operator.index(seed) & 0xFFFFFFFF
    except TypeError:
        raise DTypeError(f"a seed must be a whole number, not {seed!r}.") from None


class _Scopes(threading.local):
    """The scopes a thread is in while it builds a graph."""

    def __init__(self) -> None:
        self.path = ""
        self.device: str | None = None
        self.phase = "forward"
        self.task: str | None = None
        self.controls: tuple[Node, ...] = ()

    @contextmanager
    def changed(self, **values: Any) -> Iterator[None]:
        before = {key: getattr(self, key) for key in values}
        self.__dict__.update(values)
        try:
            yield
        finally:
            self.__dict__.update(before)


class _Defaults(threading.local):
    def __init__(self) -> None:
        self.stack: list[Graph] = []


_defaults = _Defaults()
_root = Graph()


def _stack() -> list[Graph]:
    return _defaults.stack


def get_default_graph() -> Graph:
    """Where operations are added: the graph of the innermost ``as_default``, else a global one."""
    return _stack()[-1] if _stack() else _root


def reset_default_graph(seed: int = 0) -> Graph:
    """Begin anew: replace the global default graph by an empty one and return it."""
    global _root
    if _stack():
        raise GraphError("reset_default_graph() cannot be used inside `with graph.as_default():`.")
    _root = Graph(seed)
    return _root
