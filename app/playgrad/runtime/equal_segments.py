"""Equal segments: those whose code is the same, whatever their nodes and variables are called.

Replicas, and the micro-batches of a pipeline, compute the same again and again. Writing and
compiling the code of a node takes about as long as a hundred runs of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.state import is_variable

_LARGE = 1 << 12
"""The most bytes of an array that is compared with others."""


def code_key(
    nodes: Sequence[Node], fetches: Sequence[Tensor], fed: Sequence[Tensor]
) -> tuple[Hashable, list[str]]:
    """Return a key that is equal for segments whose code is the same, and the variables that the
    segment names, in an order that is the same for equal ones.

    Args:
        nodes: in an order of execution.
    """
    numbers: dict[Tensor, int] = {}
    variables: dict[str, int] = {}

    def number(tensor: Tensor) -> int:
        return numbers.setdefault(tensor, len(numbers))

    places = {node: place for place, node in enumerate(nodes)}
    rows: list[Hashable] = [(number(tensor), tensor.spec) for tensor in fed]
    for node in nodes:
        attrs = dict(node.attrs)
        names = [node.name] if is_variable(node) else []
        names += [attrs.pop("variable")] if node.op.name == "read_variable" else []
        names += attrs.pop("variables") if node.op.writes else []
        before = [places[each] for each in node.control_inputs if each in places]
        rows.append((
            _Itself(node.op),
            tuple(variables.setdefault(name, len(variables)) for name in names),
            tuple(map(number, node.inputs)),
            tuple((number(tensor), tensor.spec) for tensor in node.outputs),
            tuple(before),
            () if is_variable(node) else _frozen(attrs),
        ))  # fmt: skip
    return (tuple(rows), tuple(map(number, fetches))), list(variables)


def _frozen(value: Any) -> Hashable:
    """Return what is equal for equal values only; unlike these, 0, 0.0, -0.0 and False differ."""
    if isinstance(value, (str, bool, int, float, type(None))):
        return repr(value)
    if isinstance(value, np.ndarray) and value.nbytes <= _LARGE and value.dtype != object:
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, Mapping):
        return tuple((name, _frozen(each)) for name, each in sorted(value.items()))
    if isinstance(value, (list, tuple)):
        return tuple(map(_frozen, value))
    return _Itself(value)


class _Itself:
    """An object that equals itself only, and is kept, so that no other one gets its identity."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)
