"""The values of variables where several processes run one program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from playgrad.devices.device import Device
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node
from playgrad.runtime.host_copies import Key
from playgrad.runtime.members import Held, Members
from playgrad.runtime.variables import VariableStore

Array = np.ndarray[Any, Any]


class SharedVariables(VariableStore):
    """Values of variables by graph and name, each kept by the member that owns its device.

    Every member knows which variables have a value, and who keeps it. `get` is collective.
    """

    is_shared = True

    def __init__(self, open_device: Callable[[str], Device], members: Members) -> None:
        super().__init__(open_device)
        self._members = members
        self._keepers: dict[Key, int] = {}  # in the same order at all members
        self._lent: Mapping[Key, Array] = {}

    def __contains__(self, key: Key) -> bool:
        return key in self._keepers

    def variables(self) -> list[Key]:
        return list(self._keepers)

    def release(self, key: Key) -> None:
        super().release(key)
        self._keepers.pop(key, None)

    def kept_here(self, nodes: Sequence[Node], home: Callable[[Node], str]) -> list[Node]:
        for node in nodes:
            self._keepers.setdefault((node.graph, node.name), self._members.owner(home(node)))
        return [node for node in nodes if self._is_here((node.graph, node.name))]

    def get(self, keys: Sequence[Key]) -> dict[Key, Array]:
        here = self.read([key for key in keys if self._is_here(key)])
        held = [
            Held(self._keepers[key], key[0].node(key[1]).outputs[0].spec, here.get(key))
            for key in keys
        ]
        return dict(zip(keys, self._members.share(held), strict=True))

    def read(self, keys: Sequence[Key]) -> dict[Key, Array]:
        lent = {key: self._lent[key] for key in keys if key in self._lent}
        return {**super().read([key for key in keys if key not in lent]), **lent}

    def set(self, values: Mapping[Key, Array]) -> None:
        super().set({key: array for key, array in values.items() if self._is_here(key)})

    @contextmanager
    def lending(self, graph: Graph, nodes: Sequence[Node]) -> Iterator[None]:
        keys = [(graph, node.name) for node in nodes]
        self._lent = self.get(keys) if keys else {}
        try:
            yield
        finally:
            self._lent = {}

    def _is_here(self, key: Key) -> bool:
        return self._keepers[key] == self._members.rank
