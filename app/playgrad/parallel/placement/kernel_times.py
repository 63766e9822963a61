"""What operations take on each kind of device, measured once by running them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from playgrad.devices import registry
from playgrad.dtypes import dtype
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import Attrs, OpDef, lookup
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops import placeholder, transpose
from playgrad.ops.state import is_variable
from playgrad.runtime.blas import shared_among
from playgrad.runtime.session import Session
from playgrad.runtime.trace import Trace

BUDGET_SECONDS = 1.0
"""For measuring the operations of one program on one kind of device, the largest first. What is
left then is estimated by its bytes, as cheap operations are."""
_LONG = 0.02
_LENGTH = 32
_REPEATS = 4
_MANY_BYTES = 1 << 16
"""An elementwise operation on so many is measured, too: it may compute much or little of each."""
_FREE = {"no_op", "constant", "placeholder", "variable", "read_variable", "send", "receive"}


@dataclass(frozen=True)
class Rate:
    """Of operations that do little to much data: seconds of each, and bytes a second."""

    each: float
    bandwidth: float


@dataclass(frozen=True)
class Kind:
    """Devices that take equally long.

    Attributes:
        device: one of them, on which is measured.
        together: how many processors work at the same time, each with its share of the cores.
    """

    device: str
    together: int = 1

    @property
    def hardware(self) -> tuple[str, int]:
        """What two kinds have in common that take equally long."""
        if self.device.startswith("cpu"):
            return ("cpu", max(1, (os.cpu_count() or 1) // self.together))
        return (registry.gpu(int(self.device.partition(":")[2])).adapter, 1)


@dataclass(frozen=True)
class _Sample:
    op: OpDef
    specs: tuple[TensorSpec, ...]
    attrs: Attrs
    outputs: tuple[TensorSpec, ...]

    @property
    def bytes(self) -> int:
        return bytes_of((*self.specs, *self.outputs))


class KernelTimes:
    """Seconds of nodes by kind of device; what was measured is remembered by operation, shapes and
    attributes."""

    def __init__(self) -> None:
        # Operations count by identity; they are kept, so that no other gets their identity.
        self._known: dict[Any, tuple[float, OpDef]] = {}
        self._rates: dict[Any, Rate] = {}

    def seconds(self, nodes: Iterable[Node], kind: Kind) -> dict[Node, float]:
        """What each of ``nodes`` (all shapes known) takes on a device of ``kind``."""
        own = list(nodes)
        host = kind.hardware
        samples = {node: _sample(node) for node in own if _is_heavy(node, kind)}
        keys = {node: (host, *_key(sample)) for node, sample in samples.items()}
        end = time.perf_counter() + BUDGET_SECONDS
        for node in sorted(samples, key=lambda node: -samples[node].bytes):
            if keys[node] not in self._known and time.perf_counter() < end:
                self._known[keys[node]] = (_measure(samples[node], kind), samples[node].op)
        rate = self._rate(kind)
        known = {node: self._known[key][0] for node, key in keys.items() if key in self._known}
        return {node: known[node] if node in known else _estimate(node, rate, kind) for node in own}

    @cached_property
    def overhead(self) -> float:
        """Seconds that a lone processor takes for each operation besides computing it."""
        return _chain(_LENGTH) / _LENGTH

    def _rate(self, kind: Kind) -> Rate:
        host = kind.hardware
        if host not in self._rates:
            small, large = _addition(4), _addition(_MANY_BYTES)
            each, long = _measure(small, kind), _measure(large, kind)
            self._rates[host] = Rate(each, large.bytes / max(long - each, 1e-9))
        return self._rates[host]


def bytes_of(specs: Iterable[TensorSpec]) -> int:
    """Bytes of the values of tensors."""
    return sum(spec.size * np.dtype(dtype(spec.dtype).numpy).itemsize for spec in specs)


def _base(node: Node) -> tuple[OpDef, tuple[Tensor, ...], Attrs]:
    """``node`` without what the compiler has joined onto it, which costs next to nothing there."""
    if "base" in node.attrs:
        inputs = node.inputs[: node.attrs["base_inputs"]]
        return lookup(node.attrs["base"]), inputs, node.attrs["base_attrs"]
    return node.op, node.inputs, node.attrs


def _is_heavy(node: Node, kind: Kind) -> bool:
    """Whether its bytes alone say little of the time that it takes. A GPU's kernel that writes in
    place may have no room for as many results besides."""
    op, _, _ = _base(node)
    if op.alias or op.state or op.name in _FREE:
        return False
    if op.writes and not kind.device.startswith("cpu"):
        return False
    return not op.elementwise or _touched(node) >= _MANY_BYTES


def _sample(node: Node) -> _Sample:
    op, inputs, attrs = _base(node)
    outputs = tuple(tensor.spec for tensor in node.outputs)
    return _Sample(op, tuple(tensor.spec for tensor in inputs), attrs, outputs)


def _key(sample: _Sample) -> tuple[Any, ...]:
    values = sorted(sample.attrs.items())
    attrs = tuple((k, v.tobytes() if isinstance(v, np.ndarray) else repr(v)) for k, v in values)
    return (id(sample.op), sample.specs, attrs)


def _addition(size: int) -> _Sample:
    spec = TensorSpec((size,), "float32")
    return _Sample(lookup("add"), (spec, spec), {}, (spec,))


def _estimate(node: Node, rate: Rate, kind: Kind) -> float:
    if node.op.name in _FREE or is_variable(node):
        return 0.0
    if node.op.alias:
        return rate.each if kind.device.startswith("cpu") else 0.0
    return rate.each + _touched(node) / rate.bandwidth


def _touched(node: Node) -> int:
    return bytes_of(tensor.spec for tensor in (*node.inputs, *node.outputs))


def _measure(sample: _Sample, kind: Kind) -> float:
    """The least of a few runs with made-up values: whatever they are, zeros are valid numbers of
    rows and of classes."""
    graph = Graph()
    with graph.as_default(), graph.device(kind.device):
        feeds = {}
        for number, spec in enumerate(sample.specs):
            attrs = {"shape": list(spec.static_shape), "dtype": spec.dtype}
            tensor = graph.add(lookup("placeholder"), [], attrs, name=f"x{number}").output
            feeds[tensor] = _values(spec)
        # Into a variable or not takes equally long.
        op = replace(sample.op, writes=False)
        node = graph.add(op, list(feeds), sample.attrs, name="measured")
    measure = _on_processor if kind.device.startswith("cpu") else _on_gpu
    with (
        Session(graph, kind.device, threads=1) as session,
        shared_among(kind.together),
    ):
        return measure(session, node, feeds)


def _values(spec: TensorSpec) -> np.ndarray[Any, Any]:
    kind = dtype(spec.dtype)
    if kind.floating:
        return np.full(spec.static_shape, 0.5, kind.numpy)
    return np.zeros(spec.static_shape, kind.numpy)


def _on_processor(session: Session, node: Node, feeds: Any) -> float:
    least, start = float("inf"), time.perf_counter()
    for number in range(1 + 2 * _REPEATS):
        trace = Trace()
        session.run([node], feeds, trace)
        # An operation of constants alone was computed while compiling.
        own = [e.end - e.start for e in trace.events if e.name == node.name]
        least = min(least, sum(own))
        # The first may be slow, and others too, where the machine has other work.
        if time.perf_counter() - start > (_LONG if number > 2 else 10 * _LONG):
            break
    return least


def _on_gpu(session: Session, node: Node, feeds: Any) -> float:
    session.repeat([node], 1, feeds)  # the first run makes the pipeline
    once = session.repeat([node], 1, feeds).seconds
    if once > _LONG:
        return once
    return min(session.repeat([node], _REPEATS, feeds).seconds / _REPEATS for _ in range(2))


def _chain(length: int) -> float:
    """The least seconds that a run of so many small operations, which cannot be joined, takes
    besides the operations."""
    graph = Graph()
    with graph.as_default(), graph.device("cpu:0"):
        start = tensor = placeholder("float32", [2, 2])
        for _ in range(length):
            tensor = transpose(tensor)
    feeds = {start: np.zeros((2, 2), np.float32)}
    least = float("inf")
    with Session(graph, "cpu:0", threads=1) as session:
        for _ in range(2 + 2 * _REPEATS):
            trace = Trace()
            begin = time.perf_counter()
            session.run([tensor.node], feeds, trace)
            whole = time.perf_counter() - begin
            inside = sum(event.end - event.start for event in trace.events)
            least = min(least, whole - inside)
    return least
