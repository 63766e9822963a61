"""Emitters: how operations are written into a compiled step, in WebAssembly.

An emitter writes the code of one node. What has no emitter, or one that does not support the node,
is computed by the operation's reference between two compiled runs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node
from playgrad.wasm.step import StepCode
from playgrad.wasm.values import StackValue


@dataclass(frozen=True)
class Operand:
    """A tensor in memory: its elements as in NumPy, in C order, without gaps.

    Attributes:
        spec: its shape, which is known, and dtype.
        address: of its first element, a multiple of the element's size.
        place: equal for two operands if and only if they have the same address.
    """

    spec: TensorSpec
    address: StackValue
    place: Hashable

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return self.spec.static_shape


Emit = Callable[[StepCode, Node, Sequence[Operand], Sequence[Operand]], None]
"""``emit(step, node, inputs, outputs)`` writes to ``step.f`` what computes the outputs."""


def _never(node: Node) -> bool:
    return False


@dataclass(frozen=True)
class Emitter:
    """How an operation is compiled.

    Attributes:
        supports: whether ``emit`` can write a node's code. All shapes of the node are known.
        in_place: outputs may have the address of an input of the same shape and dtype: the code
            reads an element of such inputs for the last time before it writes that element.
        may_fail: the code stores at ``step.failure`` if it finds inputs that the reference would
            raise an error for. The reference then runs, and its error is raised.
        returns_early: whether a node may store 1 at ``step.unfinished`` and end before its work is
            done. It is then called again, and goes on; nothing else of the step runs meanwhile.
    """

    emit: Emit
    supports: Callable[[Node], bool]
    in_place: bool = False
    may_fail: bool = False
    returns_early: Callable[[Node], bool] = _never


MOST_OPERANDS = 900
"""The most inputs and outputs of a node: they are parameters of a function, of which browsers take
1,000."""
_EMITTERS: dict[str, Emitter] = {}
_FALLBACKS: dict[str, Emitter] = {}
"""For nodes that the operation's first emitter does not support."""


def emitter(
    *operations: str,
    supports: Callable[[Node], bool] = lambda node: True,
    in_place: bool = False,
    may_fail: bool = False,
    returns_early: Callable[[Node], bool] = _never,
    fallback: bool = False,
) -> Callable[[Emit], Emit]:
    """Register the decorated function as the emitter of ``operations``; see `Emitter`.

    Args:
        fallback: whether it is for the nodes that the operations' other emitter does not support.
    """
    table = _FALLBACKS if fallback else _EMITTERS

    def register(emit: Emit) -> Emit:
        for operation in operations:
            if operation in table:
                raise ValueError(f"{operation!r} already has an emitter.")
            table[operation] = Emitter(emit, supports, in_place, may_fail, returns_early)
        return emit

    return register


def emitter_of(node: Node) -> Emitter | None:
    """Return the emitter that can write the code of ``node``, or None."""
    name = node.op.name if node.op.elementwise is None else ELEMENTWISE
    if node.op.source is not None and name != ELEMENTWISE:
        return None
    if len(node.inputs) + len(node.outputs) > MOST_OPERANDS:
        return None
    for table in (_EMITTERS, _FALLBACKS):
        if name in table and table[name].supports(node):
            return table[name]
    return None


ELEMENTWISE = "elementwise"
"""The name under which the emitter of all elementwise operations is registered."""


def emitted_operations() -> frozenset[str]:
    """Return the names under which there are emitters."""
    return frozenset(_EMITTERS)
