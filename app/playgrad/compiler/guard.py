"""Checks of indices and labels, for the same error on every device.

The references of operations on the cpu refuse an index outside its axis; kernels do not look. Most
indices of a program need no look in a run: they are the results of operations with a known range,
or come from data sets, which are checked where they enter. Those that only depend on what is fed
are computed and checked on the host, before anything runs. The others are sent to ``cpu:0``, and no
variable is written before they have been checked there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np

from playgrad.compiler.bounds import range_of
from playgrad.compiler.program import Program, Rewriter
from playgrad.devices.kinds import HOST, kind_of
from playgrad.errors import DataError, FeedError
from playgrad.graph.opdef import Array, Attrs, OpDef, lookup, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor, specs_of
from playgrad.graph.traversal import ancestors, topological
from playgrad.ops.state import BOOKKEEPING, DATA, TARGETS, contents_of, is_variable

_GIVEN = ("placeholder", "constant")
_OF_DATA = (DATA, BOOKKEEPING)
"""Contents of variables that need no look: inputs are checked where they enter."""
_OF_TARGETS = (*_OF_DATA, TARGETS)
_CHECKED_TARGETS = ("ctc_loss", "ctc_loss_gradient", "sparse_softmax_cross_entropy")
"""Operations of losses, which check targets where they enter. Others have an attribute "labels"."""
_MOST_ELEMENTS = 1 << 22
"""The most numbers that are computed on the host to check indices."""


@dataclass(frozen=True)
class HostCheck:
    """A check of an operation's inputs, from the feeds alone.

    Attributes:
        node: the operation.
        nodes: the nodes that its checked inputs depend on, in a topological order.
        feeds: the placeholders among them, by the names that they are fed under.
    """

    node: Node
    nodes: tuple[Node, ...]
    feeds: Mapping[str, Tensor]

    def run(self, arrays: Mapping[str, Array]) -> None:
        """Check the operation's inputs for the values of feeds.

        Raises:
            FeedError: a value that is fed to the operation itself is wrong.
            DataError: one that is computed from feeds is wrong.
        """
        values = {tensor: arrays[name] for name, tensor in self.feeds.items()}
        for node in self.nodes:
            if node.op.name == "constant":
                values[node.outputs[0]] = node.attrs["value"]
            elif node.op.name != "placeholder":
                with np.errstate(all="ignore"):
                    results = node.op.reference([values[x] for x in node.inputs], node.attrs)
                values.update(zip(node.outputs, results, strict=True))
        checked = _checked(self.node)
        assert self.node.op.check is not None
        problem = self.node.op.check(
            [values[tensor] for tensor in checked], specs_of(self.node.inputs), self.node.attrs
        )
        if problem:
            kind = FeedError if self.feeds and _is_fed(self.node) else DataError
            raise kind(problem, op=self.node.name, source=self.node.source)


def _check_reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    op = lookup(attrs["op"])
    specs = [TensorSpec(tuple(shape), kind) for shape, kind in attrs["specs"]]
    assert op.check is not None
    problem = op.check(inputs, specs, attrs["attrs"])
    if problem:
        raise DataError(problem, op=attrs["node"])
    return []


_CHECK = register(OpDef("check_inputs", lambda inputs, attrs: [], _check_reference, state=True))
"""Raises DataError unless the op ``attrs["op"]`` can take the inputs."""


def guard(program: Program) -> Program:
    """Add the checks of indices that a program needs on the devices of its nodes.

    Raises:
        DataError: an index that is a constant is outside.
    """
    host: list[HostCheck] = []
    unknown: list[Node] = []
    for node in program.order():
        unchecked = kind_of(node.device or HOST).has_kernels
        if node.op.check is None or not (unchecked or _is_fed(node)):
            continue
        if unchecked and all(tensor.node.op.name == "constant" for tensor in _checked(node)):
            HostCheck(node, tuple(tensor.node for tensor in _checked(node)), {}).run({})
            continue
        takes_labels = node.op.name in _CHECKED_TARGETS or "labels" in node.attrs
        trusted = _OF_TARGETS if takes_labels else _OF_DATA
        if _is_known(node) or all(_is_trusted(x, trusted) for x in _checked(node)):
            continue
        check = _host_check(program, node)
        if check is None:
            unknown.append(node)
        else:
            host.append(check)
    if unknown:
        program = _with_checks(program, unknown)
    return replace(program, checks=tuple(host)) if host else program


def input_checks(program: Program) -> list[HostCheck]:
    """Return the checks of a program, with known shapes, that depend on its feeds alone."""
    checks = [
        _host_check(program, node, limit=None)
        for node in program.order()
        if node.op.check is not None and not _is_known(node)
    ]
    return [check for check in checks if check is not None and check.feeds]


def depends_on_feeds(node: Node) -> bool:
    """Return whether the checked inputs are computed from feeds and constants alone."""
    nodes = ancestors([tensor.node for tensor in _checked(node)])
    others = [each for each in nodes if each.op.name != "placeholder"]
    return not any(each.op.state or each.op.writes for each in others)


def _checked(node: Node) -> list[Tensor]:
    return [node.inputs[number] for number in node.op.checked]


def _is_fed(node: Node) -> bool:
    return all(tensor.node.op.name in _GIVEN for tensor in _checked(node))


def _is_known(node: Node) -> bool:
    """Return whether the operations that compute an index bound it."""
    if len(node.op.checked) != 1 or node.op.check is None:
        return False
    specs = specs_of(node.inputs)
    ends = range_of(_checked(node)[0])
    return all(node.op.check([np.array([end])], specs, node.attrs) is None for end in ends)


def _is_trusted(tensor: Tensor, contents: Sequence[str]) -> bool:
    """Return whether all numbers come from variables with these contents."""
    node = tensor.node
    if is_variable(node):
        return contents_of(node) in contents
    if node.op.name in ("constant", "batch_indices"):
        return True
    if node.op.name in ("gather", "take_along_axis"):  # whose indices are checked, too
        return _is_trusted(node.inputs[0], contents)
    return bool(node.inputs) and all(_is_trusted(x, contents) for x in node.inputs)


def _host_check(
    program: Program, node: Node, limit: int | None = _MOST_ELEMENTS
) -> HostCheck | None:
    """Return the check of ``node`` on the host, if its checked inputs depend on feeds alone."""
    if not depends_on_feeds(node):
        return None
    nodes = sorted(ancestors([x.node for x in _checked(node)]), key=attrgetter("id"))
    if limit is not None and sum(t.spec.size for n in nodes for t in n.outputs) > limit:
        return None
    feeds = {name: tensor for name, tensor in program.feeds.items() if tensor.node in nodes}
    return HostCheck(node, tuple(nodes), feeds)


def _with_checks(program: Program, guarded: list[Node]) -> Program:
    """Return ``program`` with checks on the host, for which all writes wait."""
    rewriter = Rewriter(program)
    sources = {tensor.node for node in guarded for tensor in _checked(node)}
    # A write that an index depends on cannot wait for its check.
    early = ancestors(sources)
    order = program.order()
    late = {node for node in order if node.op.writes and node not in early}
    checks: list[Node] = []

    def before(node: Node) -> list[Node]:
        return [*node.predecessors, *(sources if node in late else ())]

    for node in topological(set(order), before):
        if node in late and not checks:
            checks = [_check_of(rewriter, each) for each in guarded]
        rewriter.copy(node, controls=checks if node in late else ())
    checks = checks or [_check_of(rewriter, each) for each in guarded]
    result = rewriter.finish()
    result.targets += checks
    return result


def _check_of(rewriter: Rewriter, node: Node) -> Node:
    """Add the check of the inputs of ``node``."""
    attrs = {
        "op": node.op.name,
        "node": node.name,
        "specs": [[list(spec.static_shape), spec.dtype] for spec in specs_of(node.inputs)],
        "attrs": node.attrs,
    }
    inputs = [rewriter[tensor] for tensor in _checked(node)]
    return rewriter.graph.copy(
        node, inputs, op=_CHECK, attrs=attrs, name=f"{node.name}/check", device=HOST
    )
