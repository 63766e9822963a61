"""Times of operations on each kind of device, measured once by running them."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from playgrad.devices import registry
from playgrad.devices.kinds import HOST, kind_of
from playgrad.dtypes import dtype
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import Attrs, OpDef, lookup
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node
from playgrad.ops import placeholder, transpose
from playgrad.ops.state import is_variable
from playgrad.runtime.blas import shared_among
from playgrad.runtime.measuring import MeasuredNode, run_in_turns, seconds_by
from playgrad.runtime.members import ALONE, current_members, members_set
from playgrad.runtime.session import Session
from playgrad.runtime.trace import Event

BUDGET_SECONDS = 1.0
"""Limit for measuring one program's operations on one kind of device, the largest first. The rest
is estimated by its bytes, as cheap operations are."""
_LONG = 0.02
_CHAIN_LENGTH = 32
_REPEATS = 4
_MANY_BYTES = 1 << 16
"""Elementwise operations on at least this many bytes are measured, as they may compute much or
little for each element."""
_FREE = {"no_op", "constant", "placeholder", "variable", "read_variable", "send", "receive"}


class _Operation(NamedTuple):
    """An operation on inputs of known shapes."""

    op: OpDef
    specs: tuple[TensorSpec, ...]
    attrs: Attrs

    @property
    def key(self) -> tuple[Any, ...]:
        values = sorted(self.attrs.items())
        attrs = tuple((k, v.tobytes() if isinstance(v, np.ndarray) else repr(v)) for k, v in values)
        return (id(self.op), self.specs, attrs)


class OperationTimes:
    """Seconds of nodes by kind of device, remembered by operation, shapes and attributes.

    ``sharing`` is the number of processors that compute at the same time, each with its share of
    the cores.
    """

    def __init__(self) -> None:
        # Operations are compared by identity; keeping them alive keeps their identities unique.
        self._measured: dict[Any, tuple[float, OpDef]] = {}
        self._elementwise: dict[Any, tuple[float, float]] = {}

    def seconds(self, nodes: Iterable[Node], device: str, sharing: int = 1) -> dict[Node, float]:
        """Return the seconds of each of ``nodes``, whose shapes are known, on ``device``.

        Each member of a run measures alone; what the first one has measured is true for all.
        """
        nodes, members = list(nodes), current_members()
        with members_set(ALONE):
            seconds = self._seconds(nodes, device, sharing)
        return dict(zip(nodes, members.first_of(seconds), strict=True))

    def _seconds(self, nodes: Sequence[Node], device: str, sharing: int) -> list[float]:
        operations = {node: _operation(node) for node in nodes if _is_worth_measuring(node, device)}
        kind = _kind(device, sharing)
        keys = {node: (kind, *each.key) for node, each in operations.items()}
        end = time.perf_counter() + BUDGET_SECONDS
        for node in sorted(operations, key=_bytes_touched, reverse=True):
            if keys[node] not in self._measured and time.perf_counter() < end:
                operation = operations[node]
                self._measured[keys[node]] = (_measure(operation, device, sharing), operation.op)
        return [
            self._measured[keys[node]][0]
            if node in keys and keys[node] in self._measured
            else self._estimate(node, device, sharing)
            for node in nodes
        ]

    @cached_property
    def overhead(self) -> float:
        """Seconds that a single processor takes for each operation in addition to computing it."""
        members = current_members()
        with members_set(ALONE):
            return members.first_of(self._measured_overhead())

    def _measured_overhead(self) -> float:
        graph = Graph()
        with graph.as_default(), graph.device(HOST):
            start = tensor = placeholder("float32", [2, 2])
            for _ in range(_CHAIN_LENGTH):  # small operations that cannot be fused
                tensor = transpose(tensor)
        feeds = {start: np.zeros((2, 2), np.float32)}
        with Session(graph, HOST, threads=1) as session:
            (runs,) = run_in_turns([MeasuredNode(session, tensor.node, feeds)], 2 + 2 * _REPEATS)
        least = min(
            run.seconds - math.fsum(seconds_by(run.trace.events, _name).values()) for run in runs
        )
        return least / _CHAIN_LENGTH

    def _estimate(self, node: Node, device: str, sharing: int) -> float:
        """Return the seconds of an operation that computes little for each byte."""
        if node.op.name in _FREE or is_variable(node):
            return 0.0
        each, bandwidth = self._elementwise_rate(device, sharing)
        if node.op.alias:
            return 0.0 if kind_of(device).has_kernels else each
        return each + _bytes_touched(node) / bandwidth

    def _elementwise_rate(self, device: str, sharing: int) -> tuple[float, float]:
        """Return the seconds of an elementwise operation on few bytes, and bytes per second."""
        kind = _kind(device, sharing)
        if kind not in self._elementwise:
            small, large = (
                _Operation(lookup("add"), (TensorSpec((size,), "float32"),) * 2, {})
                for size in (4, _MANY_BYTES)
            )
            each, longer = (_measure(size, device, sharing) for size in (small, large))
            moved = 3 * bytes_of(large.specs[:1])
            self._elementwise[kind] = each, moved / max(longer - each, 1e-9)
        return self._elementwise[kind]


def _kind(device: str, sharing: int) -> tuple[str, int]:
    """Return the hardware behind ``device``: equal for devices that take equally long."""
    if kind_of(device).on_cores:
        return (HOST, max(1, (os.cpu_count() or 1) // sharing))
    return (registry.opened(device).adapter, 1)


def bytes_of(specs: Iterable[TensorSpec]) -> int:
    """Return the bytes of tensors of these specs."""
    return sum(spec.size * np.dtype(dtype(spec.dtype).numpy).itemsize for spec in specs)


def _bytes_touched(node: Node) -> int:
    return bytes_of(tensor.spec for tensor in (*node.inputs, *node.outputs))


def _operation(node: Node) -> _Operation:
    """Return the operation of ``node`` without its epilogue, which costs next to nothing."""
    op, inputs, attrs = node.op, node.inputs, node.attrs
    if "base" in attrs:
        op, inputs, attrs = (
            lookup(attrs["base"]),
            inputs[: attrs["base_inputs"]],
            attrs["base_attrs"],
        )
    return _Operation(op, tuple(tensor.spec for tensor in inputs), attrs)


def _is_worth_measuring(node: Node, device: str) -> bool:
    """Return whether the bytes of ``node`` alone say little of its time. A GPU's kernel that writes
    in place is never measured, as there may be no memory for separate results."""
    op = _operation(node).op
    if op.alias or op.state or op.name in _FREE or (op.writes and kind_of(device).updates_in_place):
        return False
    return not op.elementwise or _bytes_touched(node) >= _MANY_BYTES


def _measure(operation: _Operation, device: str, sharing: int) -> float:
    """Return the seconds of ``operation`` on arbitrary values. Integers are 0, which is valid as a
    row and as a class."""
    graph = Graph()
    with graph.as_default(), graph.device(device):
        feeds = {}
        for number, spec in enumerate(operation.specs):
            attrs = {"shape": list(spec.static_shape), "dtype": spec.dtype}
            tensor = graph.add(lookup("placeholder"), [], attrs, name=f"x{number}").output
            number_type = dtype(spec.dtype)
            value = 0.5 if number_type.floating else 0
            feeds[tensor] = np.full(spec.static_shape, value, number_type.numpy)
        # Writing into a variable takes as long as writing a new tensor.
        op = replace(operation.op, writes=False)
        node = graph.add(op, list(feeds), operation.attrs, name="measured")
    measure = _on_processor if kind_of(device).on_cores else _on_gpu
    with Session(graph, device, threads=1) as session, shared_among(sharing):
        return measure(session, node, feeds)


def _name(event: Event) -> str:
    return event.name


def _on_processor(session: Session, node: Node, feeds: Mapping[Any, Any]) -> float:
    (runs,) = run_in_turns([MeasuredNode(session, node, feeds)], 1 + 2 * _REPEATS, budget=_LONG)
    # An operation on constants alone was computed while compiling: its trace is empty.
    return min(seconds_by(run.trace.events, _name).get(node.name, 0.0) for run in runs)


def _on_gpu(session: Session, node: Node, feeds: Mapping[Any, Any]) -> float:
    session.repeat([node], 1, feeds)  # the first run creates the pipeline
    once = session.repeat([node], 1, feeds).seconds
    if once > _LONG:
        return once
    return min(session.repeat([node], _REPEATS, feeds).seconds / _REPEATS for _ in range(2))
