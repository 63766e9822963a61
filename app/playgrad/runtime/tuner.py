"""Measures the variants of kernels on an opened GPU.

A probe is one operation at one size. Each variant of its kernel is compiled as in any program,
checked against NumPy, and replayed many times in each submit. `devices.tuning.choose` chooses the
winner.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from playgrad.compiler.compile import compile_program
from playgrad.compiler.place import Policy
from playgrad.compiler.program import Program
from playgrad.devices import registry
from playgrad.devices.base import Plan
from playgrad.devices.target import Target
from playgrad.devices.tuning import VARIANTS, Times, Tuning, choose
from playgrad.devices.webgpu import LoadedPlan, WebGpuDevice
from playgrad.errors import KernelError
from playgrad.graph.graph import FLOAT32, Graph
from playgrad.graph.opdef import OpDef, lookup
from playgrad.ops.state import placeholder
from playgrad.runtime.recurrent_probe import LSTM_STEPS, lstm_shapes, lstm_work
from playgrad.runtime.row_probe import FEED_FORWARD, feed_forward_shapes, feed_forward_work

Array = np.ndarray[Any, Any]

SLICE = 0.005
"""Seconds of a repeat: long compared to the cost of a submit, too short for a user to notice."""
REPEATS = 5
HEATS = 3
"""Number of single replays by which slow variants are eliminated."""
MOST_REPLAYS = 512
LOST = 2.0
"""A variant is eliminated if it takes this many times as long as another, and over a slice."""
HOPELESS = 3.0
"""Where time is limited, a variant that took this many times as long as another in a probe is not
compiled for later probes of kernels with the same variants."""
PATIENCE = 3.0
"""Seconds after which an automatic measurement ends. The rest runs the first choice."""
ACCURACY = 1e-4
"""Allowed difference of float32 sums in any order, relative to the largest result."""

Measuring = Generator[None, None, dict[str, float]]
"""Measures a probe in pieces: the compilation of a variant, or a slice of each. Returns seconds by
variant."""


@dataclass(frozen=True)
class Probe:
    """One operation at one size.

    Attributes:
        kind: the kind of kernel that it measures, a key of `VARIANTS`.
        work: number of arithmetic operations.
        precision: of the program; inputs are float16 numbers where it is mixed.
        scale: of the inputs, which are normally distributed.
    """

    name: str
    kind: str
    op: OpDef
    shapes: tuple[tuple[int, ...], ...]
    work: int
    attrs: Mapping[str, Any] = field(default_factory=dict)
    precision: str = FLOAT32
    scale: float = 1.0

    def arrays(self) -> list[Array]:
        """Return the inputs, the same in every measurement."""
        random = np.random.default_rng(0)
        scale = np.float32(self.scale)
        arrays = [scale * random.standard_normal(shape, np.float32) for shape in self.shapes]
        if self.precision == FLOAT32:
            return arrays
        return [array.astype(np.float16).astype(np.float32) for array in arrays]


_PLAIN = {"transpose_a": False, "transpose_b": False}
_WINDOW = {"strides": [1, 1], "padding": [[0, 0], [0, 0]]}
_IMAGE, _FILTERS, _PIXELS = (4, 26, 26, 32), (3, 3, 32, 64), (4, 24, 24, 64)
_CONVOLUTION = 2 * math.prod(_PIXELS) * math.prod(_FILTERS[:3])

PROBES = (
    Probe(
        "square product", "product", lookup("matmul"), ((512, 512), (512, 512)),
        2 * 512**3, _PLAIN,
    ),
    Probe(
        "skinny product", "product", lookup("matmul"), ((64, 784), (784, 128)),
        2 * 64 * 784 * 128, _PLAIN,
    ),
    Probe(
        "convolution", "convolution", lookup("conv2d"), (_IMAGE, _FILTERS),
        _CONVOLUTION, _WINDOW,
    ),
    Probe(
        "filter gradient", "convolution", lookup("conv2d_filter_gradient"), (_IMAGE, _PIXELS),
        _CONVOLUTION, {**_WINDOW, "kernel_size": [3, 3]},
    ),
    Probe(
        "sums of rows", "reduction", lookup("reduce_sum"), ((512, 2048),), 512 * 2048,
        {"axes": [1], "keepdims": False},
    ),
    Probe(
        "sums of columns", "reduction", lookup("reduce_sum"), ((4096, 128),), 4096 * 128,
        {"axes": [0], "keepdims": False},
    ),
    # Large enough that a fast GPU does not keep them in its cache, or wait for a dispatch.
    Probe("large tensor", "memory", lookup("neg"), ((2048, 4096),), 2048 * 4096),
    Probe(
        "transposition", "memory", lookup("transpose"), ((2048, 2048),), 2048 * 2048,
        {"perm": [1, 0]},
    ),
    Probe(
        "softmax of rows", "memory", lookup("softmax"), ((4096, 1024),), 4096 * 1024, {"axis": 1}
    ),
    Probe(
        "steps of an LSTM", "recurrence", LSTM_STEPS, lstm_shapes(64, 12, 128),
        lstm_work(64, 12, 128), scale=0.1,
    ),
    Probe(
        "feed forward by rows", "rows", FEED_FORWARD, feed_forward_shapes(256, 64, 256),
        feed_forward_work(256, 64, 256), scale=0.3,
    ),
)  # fmt: skip


class Tuner:
    """Measures one device, a piece of a probe at a time.

    Attributes:
        times: seconds by probe and variant, of the probes that were measured.
        spent: seconds that measuring has taken.
    """

    def __init__(
        self,
        device: WebGpuDevice,
        probes: Sequence[Probe] | None = None,
        patience: float = math.inf,
    ) -> None:
        self.device = device
        self.times: dict[str, Mapping[str, float]] = {}
        self.spent = 0.0
        self._probes = PROBES if probes is None else probes
        self._patience = patience
        self._measuring: Measuring | None = None

    @property
    def is_done(self) -> bool:
        """True once all probes were measured or the time is used up."""
        return len(self.times) == len(self._probes) or self.spent > self._patience

    def measure_next(self) -> Probe:
        """Measure the next probe, or the rest of it, and return it."""
        probe = self._probes[len(self.times)]
        while probe.name not in self.times:
            self.advance()
        return probe

    def advance(self) -> None:
        """Do the next piece of work.

        Whatever interrupts it, the probe is measured again from its beginning.
        """
        started = time.perf_counter()
        probe = self._probes[len(self.times)]
        if self._measuring is None:
            self._measuring = _measure(self.device, probe, self._contenders(probe.kind))
        try:
            next(self._measuring)
        except StopIteration as end:
            self.times[probe.name] = end.value
            self._measuring = None
        except BaseException:
            self._measuring = None
            raise
        finally:
            self.spent += time.perf_counter() - started

    def pause(self) -> None:
        """Free what is on the device; the probe at hand is measured again from its beginning."""
        if self._measuring is not None:
            self._measuring.close()
            self._measuring = None

    def _contenders(self, kind: str) -> list[str]:
        """Return the variants of ``kind`` to measure: if time is limited, those that may win."""
        measured = [
            self.times[probe.name]
            for probe in self._probes
            if VARIANTS[probe.kind] == VARIANTS[kind] and self.times.get(probe.name)
        ]
        if self._patience == math.inf:
            measured = []
        return [
            variant
            for variant in VARIANTS[kind]
            if all(
                times.get(variant, math.inf) < HOPELESS * min(times.values()) for times in measured
            )
        ]

    def tuning(self) -> Tuning:
        """Return the best tuning according to the measurements so far."""
        kinds = {probe.name: probe.kind for probe in self._probes}
        return choose(self.times, kinds, _default(self.device))


def tune(device: WebGpuDevice, report: Callable[[Probe, Times], None]) -> Tuning:
    """Measure all probes; save and return the best tuning.

    Args:
        report: called after each probe, with all times so far.
    """
    tuner = Tuner(device)
    while not tuner.is_done:
        report(tuner.measure_next(), tuner.times)
    registry.save_tuning(device, tuner.tuning())
    return tuner.tuning()


def _default(device: WebGpuDevice) -> Tuning:
    return replace(device.target, measured=None).tuning


def measure(device: WebGpuDevice, probe: Probe, variants: Sequence[str]) -> dict[str, float]:
    """Return the seconds of ``variants``, without those that do not compile or compute wrong
    numbers."""
    measuring = _measure(device, probe, variants)
    while True:
        try:
            next(measuring)
        except StopIteration as end:
            seconds: dict[str, float] = end.value
            return seconds


def _measure(device: WebGpuDevice, probe: Probe, variants: Sequence[str]) -> Measuring:
    """Measure ``variants`` in pieces."""
    graph, arrays = Graph(), probe.arrays()
    with graph.as_default():
        inputs = [placeholder("float32", shape) for shape in probe.shapes]
        result = graph.add(probe.op, inputs, probe.attrs).output
    feeds = {tensor.node.name: array for tensor, array in zip(inputs, arrays, strict=True)}
    (expected,) = probe.op.reference(arrays, probe.attrs)
    by_name = {tensor.node.name: tensor for tensor in inputs}
    program = Program(graph, [result], feeds=by_name, precision=probe.precision)
    yield
    loaded: dict[str, LoadedPlan] = {}
    correct: dict[str, LoadedPlan] = {}
    try:
        for variant in variants:
            tuning = replace(_default(device), **{probe.kind: variant})
            target = replace(device.target, measured=tuning)
            try:
                plan, fetch = _compiled(device, program, target)
                loaded[variant] = device.load(plan, {})
                results = loaded[variant].run(0, feeds, [fetch]).arrays
            except KernelError:
                continue
            if _agrees(results[fetch], expected):
                correct[variant] = loaded[variant]
            yield
        return (yield from _race(correct))
    finally:
        for each in loaded.values():
            each.unload()


def _compiled(device: WebGpuDevice, program: Program, target: Target) -> tuple[Plan, str]:
    """Return the Plan of ``program`` on a device, if that has ``target``, and its fetch's name."""
    policy = Policy(device.name, [device.name], target=lambda name: target)
    shapes = {name: tensor.spec.static_shape for name, tensor in program.feeds.items()}
    compiled = compile_program(program, shapes, policy)
    (fetch,) = compiled.program.fetches
    return compiled.plan(device.name, target, {}), fetch.name


def _race(plans: Mapping[str, LoadedPlan]) -> Measuring:
    """Measure a replay of each variant."""
    times = yield from _least_seconds(plans, dict.fromkeys(plans, 1), HEATS)
    limit = max(SLICE, LOST * min(times.values(), default=0.0))
    contenders = {variant: plans[variant] for variant in plans if times[variant] < limit}
    replays = {variant: _replays(plan) for variant, plan in contenders.items()}
    yield
    return times | (yield from _least_seconds(contenders, replays, REPEATS))


def _least_seconds(
    plans: Mapping[str, LoadedPlan], replays: Mapping[str, int], repeats: int
) -> Measuring:
    """Measure the least seconds of a replay in ``repeats`` rounds, each of which is a piece.

    Variants take turns, so that other load on the machine affects all of them.
    """
    times = dict.fromkeys(plans, math.inf)
    for _ in range(repeats):
        for variant, plan in plans.items():
            count = replays[variant]
            times[variant] = min(times[variant], plan.run(0, {}, [], count).seconds / count)
        yield
    return times


def _agrees(result: Array, expected: Array) -> bool:
    # Not the other way round: comparisons with NaN are false.
    return bool(np.abs(result - expected).max() <= ACCURACY * np.abs(expected).max())


def _replays(plan: LoadedPlan) -> int:
    """Return the number of replays that fill a slice."""
    replays, seconds = 1, plan.run(0, {}, []).seconds
    while seconds < SLICE / 2 and replays < MOST_REPLAYS:
        replays = min(MOST_REPLAYS, math.ceil(replays * SLICE / seconds))
        seconds = plan.run(0, {}, [], replays).seconds
    return replays
