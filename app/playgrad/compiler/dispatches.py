"""The dispatches of the nodes on one GPU, in order, with their operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playgrad.compiler.long_loops import within_rounds
from playgrad.compiler.memory import Block, aligned
from playgrad.compiler.order import COPY
from playgrad.dtypes import dtype, to_device_bytes
from playgrad.errors import OutOfMemoryError, UnsupportedOpError
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.core.kernel import KernelCall, KernelRequest, Target
from playgrad.ops.core.loops import rounds
from playgrad.ops.elementwise.unpacked import lower_unpacked
from playgrad.ops.state import is_variable

FEED = "feed"
ALARM = "alarm"


@dataclass(frozen=True)
class Place:
    """An offset in a named buffer."""

    buffer: str
    offset: int


VariablePlaces = Mapping[str, Place]
"""The place of each variable in the session's buffers, by name."""


@dataclass(frozen=True)
class Storage:
    """The bytes of a tensor: at a fixed place, or in the temporary block number ``block``."""

    size: int
    place: Place | None = None
    block: int = -1

    @property
    def key(self) -> Place | int:
        """Equal for two storages if and only if they share bytes."""
        return self.block if self.place is None else self.place


@dataclass(eq=False)
class Dispatch:
    call: KernelCall
    node: Node
    operands: list[tuple[Storage, bool]]  # storage and whether it is written, by binding


def device_bytes(spec: TensorSpec) -> int:
    """Return the bytes that a tensor takes on a GPU."""
    return dtype(spec.dtype).device_bytes(spec.size)


class Dispatches:
    """Collects dispatches and the storage of each tensor.

    Attributes:
        items: the dispatches so far.
        storage: of every tensor added.
        blocks: the temporaries. Their lifetimes are set when the dispatches have been grouped.
        constants: the contents of the buffer of constants.
        alarms: the nodes with an alarm, whose word is at a place of its own in a buffer "alarm".
        feeds: fed tensors by channel or placeholder name, each at a separate place in a buffer
            "feed". The memory planner later lets feeds share bytes.
    """

    def __init__(self, target: Target, variables: VariablePlaces) -> None:
        self.target = target
        self.variables = variables
        self.items: list[Dispatch] = []
        self.storage: dict[Tensor, Storage] = {}
        self.blocks: list[Block] = []
        self.constants = bytearray()
        self.alarms: dict[Node, Place] = {}
        self.feeds: dict[str, tuple[Tensor, Place]] = {}
        self._feed_bytes = 0

    def add(self, node: Node) -> None:
        """Lower one node. Everything that it reads must have been added."""
        if is_variable(node):
            self._fix(node.outputs[0], self.variables[node.name])
        elif node.op.name == "constant":
            self._constant(node.outputs[0], node.attrs["value"])
        elif node.op.name in ("placeholder", "receive"):
            self._feed(node)
        elif node.op.alias:
            self.storage[node.outputs[0]] = self.storage[node.inputs[0]]
        elif node.op.name not in ("no_op", "send"):
            self._lower(node)

    def _fix(self, tensor: Tensor, place: Place) -> None:
        self.storage[tensor] = Storage(device_bytes(tensor.spec), place)

    def _constant(self, tensor: Tensor, value: Any) -> None:
        data = to_device_bytes(value)
        self._fix(tensor, Place("constant", len(self.constants)))
        self.constants += data
        self.constants += bytes(aligned(len(data)) - len(data))

    def _feed(self, node: Node) -> None:
        tensor = node.outputs[0]
        place = Place(FEED, self._feed_bytes)
        self.feeds[node.attrs.get("channel", node.name)] = tensor, place
        self._fix(tensor, place)
        self._feed_bytes += aligned(device_bytes(tensor.spec))

    def _block(self, size: int, node: Node) -> Storage:
        limit = self.target.limits.max_storage_buffer_binding_size
        if size > limit:
            raise OutOfMemoryError(
                f"'{node.name}' needs a buffer of {size / 2**20:.0f} MiB, but the adapter binds at "
                f"most {limit / 2**20:.0f} MiB.",
                hint="Use a smaller batch or a smaller layer, or device='cpu'.",
            )
        self.blocks.append(Block(size, 0, 0))
        return Storage(size, block=len(self.blocks) - 1)

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

    def _lower(self, node: Node) -> None:
        for index, tensor in enumerate(node.outputs):
            if node.op.writes:
                self._fix(tensor, self.variables[node.attrs["variables"][index]])
            else:
                self.storage[tensor] = self._block(device_bytes(tensor.spec), node)
        if node.op.name == "read_variable":
            self._read_variable(node)
            return
        request = KernelRequest(
            inputs=tuple(tensor.spec for tensor in node.inputs),
            outputs=tuple(tensor.spec for tensor in node.outputs),
            attrs=node.attrs,
            target=self.target,
            aliases=self._aliases(node),
        )
        if node.op.lower is None:
            raise UnsupportedOpError(f"the operation {node.op.name!r} cannot run on a GPU.")
        lowering = lower_unpacked(node.op, request)
        if not any(spec.size for spec in request.outputs):
            return  # nothing to compute, by kernels with indices out of range
        scratch = [self._block(max(4, size), node) for size in lowering.scratch]
        filled: set[int] = set()
        for call in lowering.calls:
            self._dispatch(node, self._in_time(call, node), scratch, filled)

    def _read_variable(self, node: Node) -> None:
        size = device_bytes(node.outputs[0].spec)
        source = Storage(size, self.variables[node.attrs["variable"]])
        self._copy(node, source, self.storage[node.outputs[0]])

    def _copy(self, node: Node, source: Storage, target: Storage) -> None:
        words = (TensorSpec((source.size // 4,), "uint32"),)
        assert COPY.lower is not None
        call: KernelCall = COPY.lower(KernelRequest(words, words, {}, self.target)).calls[0]
        self.items.append(Dispatch(call, node, [(source, False), (target, True)]))

    def _aliases(self, node: Node) -> dict[int, int]:
        if not node.op.writes:
            return {}
        outputs = [self.storage[tensor].place for tensor in node.outputs]
        return {
            i: outputs.index(self.storage[tensor].place)
            for i, tensor in enumerate(node.inputs)
            if self.storage[tensor].place in outputs
        }

    def _dispatch(
        self, node: Node, call: KernelCall, scratch: list[Storage], filled: set[int]
    ) -> None:
        """Add one dispatch. The first that binds a scratch buffer writes it, later ones read it
        unless they say otherwise."""
        operands = []
        for binding in call.bindings:
            if binding.kind == "input":
                operands.append((self.storage[node.inputs[binding.index]], False))
            elif binding.kind == "output":
                operands.append((self.storage[node.outputs[binding.index]], True))
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
                    copy = self._block(storage.size, node)
                    self._copy(node, storage, copy)
                    storage = copy
                bound.add(storage.place)
            result.append((storage, written))
        return result
