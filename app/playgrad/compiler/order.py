"""Orders the reads and writes of variables that are updated in place.

On a GPU an update overwrites the variable's buffer. Each reader of the old value gets a control
edge to the writer; a reader that has to run after the write, or a fetch, reads a copy made before
it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from playgrad.compiler.program import Program, Rewriter
from playgrad.devices.kinds import HOST, kind_of
from playgrad.dtypes import dtype
from playgrad.graph.opdef import Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.graph.traversal import topological
from playgrad.ops.core.kernel import KernelRequest, Lowering
from playgrad.ops.elementwise.elementwise_kernel import lower_elementwise
from playgrad.ops.elementwise.elementwise_op import elementwise_op
from playgrad.ops.expression import expr as e
from playgrad.ops.state import is_variable


def _lower_copy(request: KernelRequest) -> Lowering:
    """Lower a copy. Elements that are packed into words are copied as words."""
    spec = request.inputs[0]
    per_word = dtype(spec.dtype).per_word
    if per_word > 1:
        spec = TensorSpec((-(-spec.size // per_word),), "uint32")
    return lower_elementwise(replace(request, inputs=(spec,), outputs=(spec,)), [e.Leaf(0)])


_COPY_SAMPLES = tuple(
    Sample((np.arange(7).astype(kind),))
    for kind in ("float32", "int32", "uint8", "int8", "bool", "float16")
)
COPY = register(
    replace(
        elementwise_op("copy", lambda attrs: (e.Leaf(0),), None, _COPY_SAMPLES), lower=_lower_copy
    )
)


def order_writes(program: Program) -> Program:
    """Add the control edges and copies that make in-place updates safe."""
    return _Ordering(program).run()


class _Ordering:
    """Decides for each reader of an overwritten value: run before the write, or read a copy."""

    def __init__(self, program: Program) -> None:
        self.program, self.fetches = program, set(program.fetches)
        needed = set(program.order())
        self.consumers = {
            tensor: [node for node in dict.fromkeys(readers) if node in needed]
            for tensor, readers in program.consumers().items()
        }
        self.followers: dict[Node, list[Node]] = {}
        for node in needed:
            for earlier in node.predecessors:
                self.followers.setdefault(earlier, []).append(node)
        self.before: dict[Node, list[Node]] = {}  # writer -> nodes that must run before it
        self.copied: dict[Tensor, set[Node | None]] = {}  # -> readers of its copy; None: fetches

    def run(self) -> Program:
        writes = [
            (value, output.node)
            for values in _versions(self.program).values()
            for value, output in pairwise(values)
        ]
        for value, writer in writes:
            self._order(value.node, writer)
        for value, writer in writes:
            if kind_of(writer.device or HOST).updates_in_place:
                self._protect(value, writer)
        return _rewrite(self.program, self.before, self.copied)

    def _order(self, earlier: Node, writer: Node) -> None:
        self.before.setdefault(writer, []).append(earlier)
        self.followers.setdefault(earlier, []).append(writer)

    def _protect(self, value: Tensor, writer: Node) -> None:
        """Make all readers of ``value``, also through aliases, get its value before ``writer``.

        Fetches and sends read the device after all of its kernels, hence they need a copy.
        """
        if value in self.fetches:
            self.copied.setdefault(value, set()).add(None)
        for reader in self.consumers.get(value, []):
            if reader is writer:
                continue
            if reader.op.name == "send" or self._reaches(writer, reader):
                self.copied.setdefault(value, set()).add(reader)
                continue
            self._order(reader, writer)
            if reader.op.alias:
                self._protect(reader.outputs[0], writer)

    def _reaches(self, start: Node, goal: Node) -> bool:
        """Return whether ``goal`` has to run after ``start``, by the edges so far."""
        seen = {start}
        pending = [start]
        while pending:
            for follower in self.followers.get(pending.pop(), []):
                if follower is goal:
                    return True
                if follower not in seen:
                    seen.add(follower)
                    pending.append(follower)
        return False


def _versions(program: Program) -> dict[str, list[Tensor]]:
    """For each written variable, the tensors that share its buffer, in the order of writing."""
    order = program.order()
    versions: dict[str, list[Tensor]] = {}
    for node in order:
        if is_variable(node):
            versions.setdefault(node.name, []).insert(0, node.outputs[0])
        elif node.op.writes:
            for name, output in zip(node.attrs["variables"], node.outputs, strict=True):
                versions.setdefault(name, []).append(output)
    return {name: values for name, values in versions.items() if len(values) > 1}


def _rewrite(
    program: Program,
    before: dict[Node, list[Node]],
    copied: dict[Tensor, set[Node | None]],
) -> Program:
    rewriter = Rewriter(program)
    copies: dict[Tensor, Tensor] = {}
    order = topological(
        set(program.order()), lambda node: [*node.predecessors, *before.get(node, [])]
    )
    for node in order:
        inputs = [
            copies[tensor] if node in copied.get(tensor, ()) else rewriter[tensor]
            for tensor in node.inputs
        ]
        earlier = [rewriter.nodes[other] for other in before.get(node, [])]
        earlier += [copies[t].node for t in _same_buffer(node, copies, before)]
        new = rewriter.copy(node, inputs=inputs, controls=[n for n in earlier if n is not None])
        for old, tensor in zip(node.outputs, new.outputs, strict=True):
            if old in copied:
                name = f"{node.name}/before_update"
                copy = rewriter.graph.copy(node, [tensor], op=COPY, attrs={}, name=name)
                copies[old] = copy.output
    result = rewriter.finish()
    result.fetches = [
        copies[old] if None in copied.get(old, ()) else new
        for old, new in zip(program.fetches, result.fetches, strict=True)
    ]
    return result


def _same_buffer(
    node: Node, copies: dict[Tensor, Tensor], before: dict[Node, list[Node]]
) -> list[Tensor]:
    """The tensors that must be copied before ``node`` overwrites their buffer."""
    return [tensor for tensor in copies if tensor.node in before.get(node, [])]
