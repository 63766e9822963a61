"""Replays one Plan, from the same state, with either runner."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
from wgpu.backends import wgpu_native

from playgrad.compiler.steps import Place
from playgrad.devices import kinds
from playgrad.devices._wgpu import WgpuHost
from playgrad.devices.base import Execution
from playgrad.dtypes import dtype, from_device_bytes, to_device_bytes
from playgrad.graph.spec import TensorSpec
from playgrad.ops.state import is_variable
from playgrad.runtime.runnable import Runnable

if TYPE_CHECKING:
    from playwright.sync_api import Page

Array = np.ndarray[Any, Any]
GPU = "gpu:0"


@dataclass(frozen=True)
class Recording:
    """A Plan as the session compiled it, with the bytes of its external buffers.

    Attributes:
        state: the external buffers by key.
        feeds: by name.
        variables: specs and places in the external buffers.
    """

    plan: dict[str, Any]
    state: dict[str, bytes]
    feeds: dict[str, bytes]
    variables: dict[str, tuple[TensorSpec, Place]]


@dataclass(frozen=True)
class Outcome:
    """The outcome of some steps: fetches, variables, and the number of submits."""

    fetches: dict[str, Array]
    variables: dict[str, Array]
    counts: dict[str, int]


def record(runnable: Runnable, feeds: Mapping[str, Array] | None = None) -> Recording:
    """The whole of ``runnable``, which must be one segment of the GPU, as it would run now."""
    (segment,) = runnable.compiled.segments[GPU]
    assert segment.index == 0
    loaded, store = runnable.plans[GPU], runnable.store
    plan, host = loaded.plan, loaded.device.host
    graph = runnable.graph
    places = store.places_on(graph, GPU)
    variables = {
        node.name: (node.outputs[0].spec, places[node.name])
        for node in graph.nodes
        if is_variable(node) and node.name in places
    }
    sizes: dict[str, int] = {}
    for spec, place in variables.values():
        end = place.offset + kinds.GPU.bytes_of(spec)
        sizes[place.buffer] = max(sizes.get(place.buffer, 0), end)
    state = {}
    for key, buffer in store.external(GPU).items():
        (state[key],) = host.execute(Execution(reads=[(buffer, 0, sizes[key])])).data
    given = {name: to_device_bytes((feeds or {})[name]) for name in plan["feeds"]}
    return Recording(plan, state, given, variables)


def _reads(recording: Recording) -> list[tuple[str, TensorSpec, str | int, int]]:
    """(name, spec, plan buffer or key of an external one, offset) of fetches, then variables."""
    fetches = [
        (name, TensorSpec(tuple(slot["shape"]), slot["dtype"]), slot["buffer"], slot["offset"])
        for name, slot in recording.plan["fetches"].items()
    ]
    variables = [
        (name, spec, place.buffer, place.offset)
        for name, (spec, place) in recording.variables.items()
    ]
    return [*fetches, *variables]


def _outcome(recording: Recording, data: list[bytes], counts: dict[str, int]) -> Outcome:
    arrays = [
        (name, from_device_bytes(part, spec.dtype, spec.static_shape))
        for (name, spec, _, _), part in zip(_reads(recording), data, strict=True)
    ]
    fetched = len(recording.plan["fetches"])
    return Outcome(dict(arrays[:fetched]), dict(arrays[fetched:]), counts)


def on_desktop(host: WgpuHost, recording: Recording, steps: int = 1) -> Outcome:
    """Replay with wgpu-py; leaves nothing on the host."""
    external = {key: host.create_buffer(len(data)) for key, data in recording.state.items()}
    program = host.load(recording.plan, external)
    slots = recording.plan["feeds"]
    writes = [(external[key], 0, data) for key, data in recording.state.items()]
    feeds = [
        ((program, slots[name]["buffer"]), slots[name]["offset"], data)
        for name, data in recording.feeds.items()
    ]
    host.execute(Execution(writes=[*writes, *feeds]))
    with _counted() as counts:
        host.execute(Execution(program, steps=steps))
    reads = [
        (external[where] if isinstance(where, str) else (program, where), offset, size(spec))
        for _, spec, where, offset in _reads(recording)
    ]
    data = host.execute(Execution(reads=reads)).data
    host.unload(program)
    for buffer in external.values():
        host.destroy_buffer(buffer)
    return _outcome(recording, data, counts)


@contextmanager
def _counted() -> Iterator[dict[str, int]]:
    """Yield a dictionary that is filled with call counts at the end."""
    calls = {
        "submits": (wgpu_native.GPUQueue, "submit"),
        "waits": (wgpu_native.GPUQueue, "read_buffer"),
        "passes": (wgpu_native.GPUCommandEncoder, "begin_compute_pass"),
        "dispatches": (wgpu_native.GPUComputePassEncoder, "dispatch_workgroups"),
    }
    counts: dict[str, int] = {}
    with ExitStack() as stack:
        spies = {
            name: stack.enter_context(
                mock.patch.object(owner, method, autospec=True, side_effect=getattr(owner, method))
            )
            for name, (owner, method) in calls.items()
        }
        yield counts
        counts.update({name: spy.call_count for name, spy in spies.items()})
        counts["submits"] -= counts.pop("waits")  # each of which submits a copy


def size(spec: TensorSpec) -> int:
    return dtype(spec.dtype).device_bytes(spec.size)


OPEN_IN_PAGE = """async () => {
  const { Runner } = await import("/static/engine/runner.js");
  const { findAdapter, openDevice } = await import("/static/engine/adapter.js");
  const runner = new Runner(await openDevice(await findAdapter(navigator.gpu)));
  await runner.calibrate();

  const counts = {};
  const count = (owner, method, name) => {
    const own = owner.prototype[method];
    owner.prototype[method] = function (...args) {
      counts[name] += 1;
      return own.apply(this, args);
    };
  };
  count(GPUQueue, "submit", "submits");
  count(GPUCommandEncoder, "beginComputePass", "passes");
  count(GPUComputePassEncoder, "dispatchWorkgroups", "dispatches");

  const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const text = (array) => btoa(Array.from(array, (byte) => String.fromCharCode(byte)).join(""));

  globalThis.replay = async ({ plan, state, feeds, reads, steps }) => {
    const external = {};
    const writes = [];
    for (const [key, data] of Object.entries(state)) {
      const content = bytes(data);
      external[key] = await runner.createBuffer(content.length);
      writes.push([external[key], 0, content]);
    }
    const program = await runner.load(plan, external);
    for (const [buffer, offset, data] of feeds) {
      writes.push([[program, buffer], offset, bytes(data)]);
    }
    await runner.execute({ writes });
    Object.assign(counts, { submits: 0, passes: 0, dispatches: 0 });
    const { seconds } = await runner.execute({ program, steps });
    const counted = { ...counts };
    const { data } = await runner.execute({
      reads: reads.map(([where, offset, size]) =>
        [typeof where === "string" ? external[where] : [program, where], offset, size]),
    });
    runner.unload(program);
    for (const id of Object.values(external)) runner.destroyBuffer(id);
    return { data: text(data), counts: counted, seconds, stats: runner.stats() };
  };
}"""


def in_page(page: Page, recording: Recording, steps: int = 1) -> Outcome:
    """Replay with static/engine/runner.js in a page in which OPEN_IN_PAGE was evaluated."""
    slots = recording.plan["feeds"]
    reads = [(where, offset, size(spec)) for _, spec, where, offset in _reads(recording)]
    result = page.evaluate(
        "work => replay(work)",
        {
            "plan": recording.plan,
            "state": {key: _text(data) for key, data in recording.state.items()},
            "feeds": [
                [slots[name]["buffer"], slots[name]["offset"], _text(data)]
                for name, data in recording.feeds.items()
            ],
            "reads": reads,
            "steps": steps,
        },
    )
    assert (result["stats"]["buffers"], result["stats"]["programs"]) == (0, 0), result["stats"]
    everything = base64.b64decode(result["data"])
    data, start = [], 0
    for _, _, length in reads:
        data.append(everything[start : start + length])
        start += length
    return _outcome(recording, data, result["counts"])


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
