"""The dispatches of steps on one GPU, in order, with their operands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playgrad.compiler.long_loops import within_rounds
from playgrad.compiler.memory import aligned
from playgrad.compiler.order import COPY
from playgrad.compiler.steps import Place, Step, StepList, Storage
from playgrad.errors import UnsupportedOpError
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node
from playgrad.ops.core.kernel import KernelCall, KernelRequest, Target
from playgrad.ops.core.loops import rounds
from playgrad.ops.elementwise.unpacked import lower_unpacked

ALARM = "alarm"


@dataclass(eq=False)
class Dispatch:
    call: KernelCall
    node: Node
    operands: list[tuple[Storage, bool]]  # storage and whether it is written, by binding


class Dispatches:
    """Collects the dispatches of steps.

    Args:
        steps: where they come from; temporaries that kernels need are added to its blocks.

    Attributes:
        items: the dispatches so far.
        alarms: the nodes with an alarm, whose word is at a place of its own in a buffer "alarm".
    """

    def __init__(self, target: Target, steps: StepList) -> None:
        self.target = target
        self.steps = steps
        self.items: list[Dispatch] = []
        self.alarms: dict[Node, Place] = {}

    def _in_time(self, call: KernelCall, node: Node) -> KernelCall:
        """Return ``call`` with loops that the driver does not end early.

        Raises:
            UnsupportedOpError: they are too long.
        """
        result = within_rounds(call, self.target)
        if result is None:
            raise UnsupportedOpError(
                f"the operation {node.op.name!r} needs {rounds(call.loops):,} rounds of loops, "
                f"which llvmpipe ends after {self.target.most_rounds:,}.",
                hint="Use device='cpu'.",
            )
        return result

    def lower(self, step: Step) -> None:
        """Add the dispatches of a step.

        Raises:
            UnsupportedOpError: it cannot run on a GPU.
            OutOfMemoryError: a temporary is too large.
        """
        node = step.node
        if node.op.name == "read_variable":
            self._copy(node, step.inputs[0], step.outputs[0])
            return
        request = KernelRequest(
            inputs=tuple(tensor.spec for tensor in node.inputs),
            outputs=tuple(tensor.spec for tensor in node.outputs),
            attrs=node.attrs,
            target=self.target,
            aliases=_aliases(step),
        )
        lowering = lower_unpacked(node.op, request)
        if not any(spec.size for spec in request.outputs):
            return  # nothing to compute, by kernels with indices out of range
        scratch = [self.steps.new_block(max(4, size), node) for size in lowering.scratch]
        filled: set[int] = set()
        for call in lowering.calls:
            self._dispatch(step, self._in_time(call, node), scratch, filled)

    def _copy(self, node: Node, source: Storage, target: Storage) -> None:
        words = (TensorSpec((source.size // 4,), "uint32"),)
        assert COPY.lower is not None
        call: KernelCall = COPY.lower(KernelRequest(words, words, {}, self.target)).calls[0]
        self.items.append(Dispatch(call, node, [(source, False), (target, True)]))

    def _dispatch(
        self, step: Step, call: KernelCall, scratch: list[Storage], filled: set[int]
    ) -> None:
        """Add one dispatch. The first that binds a scratch buffer writes it, later ones read it
        unless they say otherwise."""
        node = step.node
        operands = []
        for binding in call.bindings:
            if binding.kind == "input":
                operands.append((step.inputs[binding.index], False))
            elif binding.kind == "output":
                operands.append((step.outputs[binding.index], True))
            elif binding.kind == "alarm":
                place = self.alarms.setdefault(node, Place(ALARM, aligned(4) * len(self.alarms)))
                operands.append((Storage(4, place), True))
            else:
                written = binding.rewritten or binding.index not in filled
                operands.append((scratch[binding.index], written))
        filled.update(b.index for b in call.bindings if b.kind == "scratch")
        self.items.append(Dispatch(call, node, self._apart(node, operands)))

    def _apart(
        self, node: Node, operands: Sequence[tuple[Storage, bool]]
    ) -> list[tuple[Storage, bool]]:
        """``operands``, without a variable bound twice in a dispatch that writes its buffer.

        All bindings of a written buffer are for writing, and such bindings may not overlap. So the
        second one gets a copy.
        """
        bound = {storage.place for storage, written in operands if written}
        buffers = {place.buffer for place in bound if place is not None}
        result = []
        for storage, written in operands:
            if not written and storage.place is not None and storage.place.buffer in buffers:
                if storage.place in bound:
                    copy = self.steps.new_block(storage.size, node)
                    self._copy(node, storage, copy)
                    storage = copy
                bound.add(storage.place)
            result.append((storage, written))
        return result


def _aliases(step: Step) -> dict[int, int]:
    """Return the outputs in the same bytes as inputs, by the inputs' numbers."""
    if not step.node.op.writes:
        return {}
    outputs = [storage.place for storage in step.outputs]
    return {
        number: outputs.index(storage.place)
        for number, storage in enumerate(step.inputs)
        if storage.place in outputs
    }
