"""``cond``: one of two branches, chosen when the graph runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from playgrad.dtypes import dtype
from playgrad.errors import GraphError
from playgrad.graph.copying import CopyMap
from playgrad.graph.graph import Graph
from playgrad.graph.source import user_source
from playgrad.graph.tensor import Node, Tensor, specs_of
from playgrad.ops.arrays.shape import identity
from playgrad.ops.control.branch_input import branch_input, expect_predicate
from playgrad.ops.control.nested import flatten, rebuild, same_structure
from playgrad.ops.control.recording import Recording, expect_same_specs, record
from playgrad.ops.core.build import as_tensor, graph_of
from playgrad.ops.elementwise.definitions import logical_not, where
from playgrad.ops.state import Variable, group, value_of


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any],
         name: str | None = None) -> Any:  # fmt: skip
    """Return the result of ``true_fn`` if ``pred`` is true when the graph runs, else that of
    ``false_fn``.

    Each function is called once, while the graph is built. Both branches are computed, and ``pred``
    selects between their results, which needs no round trip to a GPU. Otherwise only the chosen
    branch counts: the other one changes no variable, runs no iteration of a ``while_loop``, and
    contributes exactly 0 to gradients, even where it divides by 0.

    Args:
        pred: a bool scalar. A Python bool chooses while the graph is built.
        true_fn, false_fn: functions without arguments. Both return a tensor, or equally nested
            lists, tuples and dictionaries of tensors, of equal shapes and dtypes. Functions that
            only write variables may return None, a node, or what ``assign`` returns.
        name: the name scope of the branches.

    Returns:
        What the functions return; a node to run if they return no tensors. The writes of the chosen
        branch are made when the result is fetched.

    Raises:
        GraphError: the results are nested differently, or a branch writes a variable twice, or
            reads it again after writing it.
        ShapeError, DTypeError: ``pred`` is not a bool scalar, or the results differ in shape or
            dtype.
    """
    if isinstance(pred, bool):
        return true_fn() if pred else false_fn()
    graph = graph_of(pred)
    source = user_source()
    pred = as_tensor(pred, graph)
    with graph.as_default(), graph.name_scope(name or "cond") as prefix:
        expect_predicate(pred.spec, "the predicate of cond", source)
        branches = [
            _Branch(record(graph, f"{prefix}{side}/", fn, (), ()), graph, taken)
            for side, fn, taken in (
                ("true", true_fn, pred),
                ("false", false_fn, logical_not(pred)),
            )
        ]
        first, second = (branch.recording for branch in branches)
        if first.is_only_effect and second.is_only_effect and first.is_empty != second.is_empty:
            first.result = second.result = None  # one returned what assign() returns
            first.outputs = second.outputs = []
        same_structure(second.result, first.result, "the result of false_fn")
        expect_same_specs(
            specs_of(first.outputs), specs_of(second.outputs), "the result of cond", source
        )
        taken, other = (branch.build() for branch in branches)
        results = [where(pred, a, b) for a, b in zip(taken, other, strict=True)]
        writes = _write(pred, branches[0].written, branches[1].written)
        if not flatten(first.result):
            return group(*(tensor.node for tensor in writes))
        if writes:
            with graph.control_dependencies(writes):
                results = [identity(tensor) for tensor in results]
        return rebuild(first.result, results)


class _Branch:
    """A branch of ``cond``.

    Attributes:
        written: after `build`, the values of the variables that it writes, by the variable.
    """

    def __init__(self, recording: Recording, graph: Graph, taken: Tensor) -> None:
        self.recording = recording
        self.graph = graph
        self.taken = taken
        self.written: dict[Tensor, Tensor] = {}

    def build(self) -> list[Tensor]:
        """Add the branch to the graph, and return its outputs."""
        written = {name for node in self.recording.writes for name in node.attrs["variables"]}
        for node in self.recording.nodes:
            if node.op.name == "read_variable" and node.attrs["variable"] in written:
                raise GraphError(
                    f"a branch of cond cannot read the variable {node.attrs['variable']!r} again "
                    "after writing it.",
                    op=node.name,
                    source=node.source,
                    hint="Use the tensor that assign() returns.",
                )
        return self.recording.instantiate(
            self.graph,
            (),
            scope=self.recording.prefix,
            captured=guarded(self.recording.captures, self.taken),
            change=self._change,
        )

    def _change(self, node: Node, copies: CopyMap, name: str) -> Node | None:
        inputs = [copies[tensor] for tensor in node.inputs]
        if node.op.name == "while_loop":
            return self.graph.copy(
                node,
                [*inputs, self.taken],
                attrs={**node.attrs, "gates": node.attrs["gates"] + 1},
                name=name,
            )
        if not node.op.writes:
            return None
        attrs = {key: value for key, value in node.attrs.items() if key != "variables"}
        copy = self.graph.copy(node, inputs, op=value_of(node.op), attrs=attrs, name=name)
        for variable, value in zip(node.attrs["variables"], copy.outputs, strict=True):
            tensor = self.graph.tensor(variable)
            if tensor in self.written:
                raise GraphError(
                    f"a branch of cond writes the variable {variable!r} twice.",
                    op=node.name,
                    source=node.source,
                    hint="Compute the value, and assign it once.",
                )
            self.written[tensor] = value
        return copy


def guarded(captures: Sequence[Tensor], taken: Tensor) -> dict[Tensor, Tensor]:
    """Return the tensors in place of ``captures`` in a branch that counts where ``taken``."""
    return {
        tensor: branch_input(tensor, taken)
        for tensor in captures
        if dtype(tensor.dtype).floating and tensor.node.op.name != "constant"
    }


def _write(
    pred: Tensor, on_true: dict[Tensor, Tensor], on_false: dict[Tensor, Tensor]
) -> list[Tensor]:
    """Write the variables of both branches: the value of the chosen one, or the old one."""
    writes = []
    for variable in dict.fromkeys([*on_true, *on_false]):
        assert isinstance(variable, Variable)
        value = where(pred, on_true.get(variable, variable), on_false.get(variable, variable))
        writes.append(variable.assign(value))
    return writes
