"""A cache of compiled programs, for a program that builds the same graph again.

It does so in a loop over settings, or in a console, each time with a new session. The key of a
compiled program is everything that it depends on: the nodes with their attributes, edges, scopes
and source lines, the fetches and feeds, the precision and the placement.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from itertools import takewhile
from operator import attrgetter
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from playgrad.compiler.place import Policy
from playgrad.compiler.program import Program
from playgrad.devices.kinds import canonical
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import OpDef
from playgrad.graph.tensor import Node
from playgrad.graph.traversal import ancestors
from playgrad.ops.state import RANDOM_ADVANCE

Entry = TypeVar("Entry")

CAPACITY = 16
_PLAIN = (str, bool, int, float, type(None))


class _NotPlainError(Exception):
    """A node has an attribute that cannot be part of a key."""


class _Fingerprint:
    """A hash of the nodes of a graph, updated as nodes are added.

    Operations are compared by identity: a user's operation may have the same name and another
    kernel in the next run. ``ops`` keeps them alive, so that no other object gets their identity.
    """

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=16)
        self._last_id = -1
        self.ops: dict[int, OpDef] = {}

    def of(self, graph: Graph) -> bytes:
        """Return the hash of all nodes so far, of which some may have been removed since.

        Raises:
            _NotPlainError: an attribute cannot be part of a key.
        """
        new = list(takewhile(lambda node: node.id > self._last_id, reversed(graph.nodes)))
        for node in reversed(new):
            self._hash.update(_description(node).encode())
            self.ops[id(node.op)] = node.op
        if new:
            self._last_id = new[0].id
        return self._hash.digest()


def _description(node: Node) -> str:
    return repr(
        (
            node.name,
            id(node.op),
            [tensor.name for tensor in node.inputs],
            [before.name for before in node.control_inputs],
            node.device,
            node.phase,
            node.task,
            node.source,
            _plain(node.attrs),
        )
    )


def _plain(value: Any) -> Any:
    """Return data whose text determines ``value``."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        content = hashlib.blake2b(np.ascontiguousarray(value).tobytes(), digest_size=16)
        return ("array", value.dtype.str, value.shape, content.digest())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return [(key, _plain(item)) for key, item in value.items()]
    raise _NotPlainError


def _placed(program: Program) -> list[Node]:
    """Return the nodes that ``place`` gives a device, in a fixed order."""
    extra = [program.graph.node(RANDOM_ADVANCE)] if RANDOM_ADVANCE in program.graph else []
    return sorted(ancestors([*program.roots, *extra]), key=attrgetter("id"))


class CompileCache(Generic[Entry]):
    """The most recently used entries, by key. Threads may share it."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._prints: WeakKeyDictionary[Graph, _Fingerprint] = WeakKeyDictionary()
        self._entries: OrderedDict[Hashable, tuple[Entry, list[OpDef]]] = OrderedDict()

    def key(
        self, program: Program, shapes: Mapping[str, tuple[int, ...]], policy: Policy
    ) -> Hashable | None:
        """Return the key of ``program``, or None if it cannot have one."""
        graph = program.graph
        with self._lock:
            fingerprint = self._prints.setdefault(graph, _Fingerprint())
            try:
                nodes = fingerprint.of(graph)
            except _NotPlainError:
                return None
        placed = _placed(program)
        chosen = [policy.chosen(n) for n in placed if policy.soft or n.device is None]
        scopes = (node.device for node in placed)
        named = {policy.default, *filter(None, (*chosen, *scopes))}
        names = sorted(set(map(canonical, named)))
        return (
            nodes,
            graph.seed,
            program.precision,
            tuple(tensor.name for tensor in program.fetches),
            tuple(node.name for node in program.targets),
            tuple((name, tensor.name) for name, tensor in program.feeds.items()),
            tuple(shapes.items()),
            policy.default,
            policy.soft,
            policy.apart,
            tuple((name in policy.available, policy.target(name)) for name in names),
            tuple(chosen),
        )

    def get(self, key: Hashable | None) -> Entry | None:
        with self._lock:
            entry = self._entries.get(key) if key is not None else None
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: Hashable | None, program: Program, compiled: Entry) -> None:
        if key is None:
            return
        with self._lock:
            self._entries[key] = (compiled, list(self._prints[program.graph].ops.values()))
            while len(self._entries) > self._capacity:
                self._entries.popitem(last=False)
