"""The work of one device as Steps: what every backend shares, above its kernels.

A WebGPU Plan is lowered from the steps of a `StepList` (plan.py). For other backends they become
plain data (steps_data.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from playgrad.compiler.memory import Block, aligned, plan_memory
from playgrad.devices.kinds import Kind
from playgrad.errors import OutOfMemoryError
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.state import is_variable

FEED = "feed"


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


@dataclass(frozen=True)
class Step:
    """A node that computes, and where its inputs and outputs are."""

    node: Node
    inputs: tuple[Storage, ...]
    outputs: tuple[Storage, ...]


class StepList:
    """Collects the steps of nodes in order, and the storage of each tensor.

    Args:
        variables: the places of the variables.
        largest: the most bytes of a temporary.

    Attributes:
        items: the steps so far.
        storage: of every tensor added.
        blocks: the temporaries. Their lifetimes are set later.
        constants: the contents of the buffer of constants.
        feeds: fed tensors by channel or placeholder name, each at a separate place in a buffer
            "feed". The memory planner later lets feeds share bytes.
        written: the new values of variables that are not overwritten, by the variables' names.
    """

    def __init__(self, kind: Kind, variables: VariablePlaces, largest: int) -> None:
        self.kind = kind
        self.items: list[Step] = []
        self.storage: dict[Tensor, Storage] = {}
        self.blocks: list[Block] = []
        self.constants = bytearray()
        self.feeds: dict[str, tuple[Tensor, Place]] = {}
        self.written: dict[str, Tensor] = {}
        self._variables = variables
        self._largest = largest
        self._feed_bytes = 0

    def add(self, node: Node) -> Step | None:
        """Add a node, whose inputs must have been added; return its step if it computes."""
        if is_variable(node):
            self._fix(node.outputs[0], self._variables[node.name])
        elif node.op.name == "constant":
            self._constant(node.outputs[0], node.attrs["value"])
        elif node.op.name in ("placeholder", "receive"):
            self._feed(node)
        elif node.op.alias:
            self.storage[node.outputs[0]] = self.storage[node.inputs[0]]
        elif node.op.name == "read_variable" and not self.kind.updates_in_place:
            name = node.attrs["variable"]
            if name in self.written:
                self.storage[node.outputs[0]] = self.storage[self.written[name]]
            else:
                self._fix(node.outputs[0], self._variables[name])
        elif node.op.name not in ("no_op", "send"):
            return self._step(node)
        return None

    def new_block(self, size: int, node: Node) -> Storage:
        """Return the storage of a temporary of ``node``.

        Raises:
            OutOfMemoryError: it is too large.
        """
        if size > self._largest:
            raise OutOfMemoryError(
                f"'{node.name}' needs a buffer of {size / 2**20:.0f} MiB, but the adapter binds at "
                f"most {self._largest / 2**20:.0f} MiB.",
                hint="Use a smaller batch or a smaller layer, or device='cpu'.",
            )
        self.blocks.append(Block(size, 0, 0))
        return Storage(size, block=len(self.blocks) - 1)

    def _fix(self, tensor: Tensor, place: Place) -> None:
        self.storage[tensor] = Storage(self.kind.bytes_of(tensor.spec), place)

    def _constant(self, tensor: Tensor, value: Any) -> None:
        data = self.kind.to_bytes(value)
        self._fix(tensor, Place("constant", len(self.constants)))
        self.constants += data
        self.constants += bytes(aligned(len(data)) - len(data))

    def _feed(self, node: Node) -> None:
        tensor = node.outputs[0]
        place = Place(FEED, self._feed_bytes)
        self.feeds[node.attrs.get("channel", node.name)] = tensor, place
        self._fix(tensor, place)
        self._feed_bytes += aligned(self.kind.bytes_of(tensor.spec))

    def _step(self, node: Node) -> Step:
        writes = node.attrs["variables"] if node.op.writes else ()
        for index, tensor in enumerate(node.outputs):
            if index < len(writes) and self.kind.updates_in_place:
                self._fix(tensor, self._variables[writes[index]])
            else:
                self.storage[tensor] = self.new_block(self.kind.bytes_of(tensor.spec), node)
        if node.op.name == "read_variable":
            size = self.kind.bytes_of(node.outputs[0].spec)
            read: tuple[Storage, ...] = (Storage(size, self._variables[node.attrs["variable"]]),)
        else:
            read = tuple(self.storage[tensor] for tensor in node.inputs)
        step = Step(node, read, tuple(self.storage[tensor] for tensor in node.outputs))
        if not self.kind.updates_in_place:
            self.written.update(zip(writes, node.outputs, strict=False))
        self.items.append(step)
        return step


def place_feeds(
    feeds: Mapping[Place, Block],
    uses: Iterable[Iterable[Storage]],
    largest: int,
    reuse: bool = True,
) -> list[int]:
    """Place the feeds, and return the sizes of their buffers.

    The feeds of a segment are written before it begins. Later ones may reuse the place of one that
    nothing reads any more.

    Args:
        feeds: the block of each, whose first use is set.
        uses: the storages that are used at the same time, in order.
    """
    for now, storages in enumerate(uses):
        for storage in storages:
            if storage.place is not None and storage.place in feeds:
                block = feeds[storage.place]
                block.last = max(block.last, now)
    return plan_memory(list(feeds.values()), largest, reuse, min_arenas=1)
