"""Digests of a run: members of a run compare them, since all must compute the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import numpy as np

from playgrad.compiler.program import Program
from playgrad.graph.tensor import Node

Array = np.ndarray[Any, Any]
_MOST_NAMED = 3


@dataclass(frozen=True)
class RunDigest:
    """A run that begins, as members compare it.

    Attributes:
        program: a digest of the graph, its devices, and what is computed of it.
        text: the results and the size of the graph in words.
        feeds: a digest of each array that is fed, by its name.
    """

    program: int
    text: str
    feeds: Mapping[str, int] = field(default_factory=dict)

    def fed(self, feeds: Mapping[str, Array]) -> RunDigest:
        """Return the digest of a run of the same program with ``feeds``."""
        if not feeds:
            return self
        digests = {name: array_digest(array) for name, array in feeds.items()}
        return RunDigest(self.program, self.text, digests)

    @property
    def all_feeds(self) -> int:
        """One digest of all feeds."""
        return crc32(repr(sorted(self.feeds.items())).encode()) if self.feeds else 0


def program_digest(program: Program) -> RunDigest:
    """Return the digest of a compiled program: operations, attributes, devices, results."""
    order = program.order()
    results = [*(t.name for t in program.fetches), *(node.name for node in program.targets)]
    parts = [
        (n.name, n.op.name, n.device, [t.spec for t in n.outputs], _attributes(n)) for n in order
    ]
    fed = sorted((name, tensor.name) for name, tensor in program.feeds.items())
    number = crc32(repr((parts, results, fed)).encode())
    named = ", ".join(results[:_MOST_NAMED])
    more = f" and {len(results) - _MOST_NAMED} more" if len(results) > _MOST_NAMED else ""
    text = f"{named}{more} in a graph of {len(order)} operations (digest {number:08x})"
    return RunDigest(number, text)


def array_digest(array: Array) -> int:
    """Return a digest of the shape, the dtype and the content of an array."""
    start = crc32(f"{array.shape} {array.dtype}".encode())
    return crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, start)


def _attributes(node: Node) -> list[tuple[str, Any]]:
    return [(name, _plain(value)) for name, value in sorted(node.attrs.items())]


def _plain(value: Any) -> Any:
    """Return ``value`` as what has the same text in each process; other objects are their type."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return value
    if isinstance(value, np.ndarray):
        return array_digest(value) if value.dtype != object else value.shape
    if isinstance(value, np.generic):
        return repr(value)
    if isinstance(value, Mapping):
        return sorted((str(key), _plain(each)) for key, each in value.items())
    if isinstance(value, Sequence):
        return [_plain(each) for each in value]
    if isinstance(value, (set, frozenset)):
        return sorted(str(_plain(each)) for each in value)
    return type(value).__name__
