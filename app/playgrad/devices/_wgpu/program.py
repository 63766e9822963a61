"""A Plan made ready to run: pipelines and bind groups made once, so that a step only encodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import wgpu

from playgrad.devices._wgpu.errors import translated
from playgrad.devices.base import Plan

Dispatch = tuple[Any, Any, int, int, int]
"""(pipeline, bind group, x, y, z)"""


@dataclass(frozen=True)
class Copy:
    """A copy between buffers: the arguments of ``copy_buffer_to_buffer``."""

    arguments: tuple[Any, int, Any, int, int]


@dataclass
class ReplayablePlan:
    """A loaded plan: its buffers, the ids of those it owns, the steps of each segment."""

    buffers: dict[int, Any]
    owned: list[int]
    segments: list[list[Dispatch | Copy]]


class Preparer:
    """Makes plans ready on one device. Pipelines are kept by their text: plans share most kernels.

    Args:
        adapter: what errors call the device.
    """

    def __init__(self, device: Any, adapter: str) -> None:
        self._device = device
        self._adapter = adapter
        self._pipelines: dict[tuple[str, tuple[str, ...]], tuple[Any, Any]] = {}

    def prepare(self, plan: Plan, buffers: Mapping[int, Any]) -> list[list[Dispatch | Copy]]:
        """The steps of each segment, over ``buffers`` by plan buffer id.

        Raises:
            KernelError: a kernel does not compile, or a step breaks the device's rules.
        """
        pipelines = {kernel["id"]: self._pipeline(kernel) for kernel in plan["kernels"]}
        families = {kernel["id"]: kernel["family"] for kernel in plan["kernels"]}
        steps = [
            self._step(step, buffers, pipelines, families.get(step.get("kernel")))
            for step in plan["steps"]
        ]
        return [steps[first:last] for first, last in plan["segments"]]

    def _pipeline(self, kernel: dict[str, Any]) -> tuple[Any, Any]:
        """(bind group layout, pipeline) of a kernel."""
        key = (kernel["wgsl"], tuple(kernel["access"]))
        if key in self._pipelines:
            return self._pipelines[key]
        types = {"read": "read-only-storage", "read_write": "storage"}
        entries = [
            {
                "binding": i,
                "visibility": wgpu.ShaderStage.COMPUTE,
                "buffer": {"type": types[access]},
            }
            for i, access in enumerate(kernel["access"])
        ]
        with translated(self._adapter, f"kernel {kernel['family']} {kernel.get('params', '')}"):
            layout = self._device.create_bind_group_layout(entries=entries)
            pipeline = self._device.create_compute_pipeline(
                layout=self._device.create_pipeline_layout(bind_group_layouts=[layout]),
                compute={
                    "module": self._device.create_shader_module(code=kernel["wgsl"]),
                    "entry_point": "main",
                },
            )
        self._pipelines[key] = (layout, pipeline)
        return layout, pipeline

    def _step(
        self,
        step: dict[str, Any],
        buffers: Mapping[int, Any],
        pipelines: Mapping[int, tuple[Any, Any]],
        family: str | None,
    ) -> Dispatch | Copy:
        if step["kind"] == "copy":
            (source, start), (target, end) = step["source"], step["target"]
            return Copy((buffers[source], start, buffers[target], end, step["size"]))
        layout, pipeline = pipelines[step["kernel"]]
        entries = [
            {"binding": i, "resource": {"buffer": buffers[b], "offset": offset, "size": size}}
            for i, (b, offset, size) in enumerate(step["bindings"])
        ]
        with translated(self._adapter, f"kernel {family}", node=step["node"]):
            group = self._device.create_bind_group(layout=layout, entries=entries)
        x, y, z = step["workgroups"]
        return pipeline, group, x, y, z


def encode(device: Any, steps: Sequence[Dispatch | Copy], times: int = 1) -> Any:
    """A command buffer with ``steps``, ``times`` over, in as few passes as copies allow."""
    encoder = device.create_command_encoder()
    compute = None
    current = None
    for _ in range(times):
        for step in steps:
            if isinstance(step, Copy):
                if compute is not None:
                    compute.end()
                    compute = None
                encoder.copy_buffer_to_buffer(*step.arguments)
                continue
            if compute is None:
                compute = encoder.begin_compute_pass()
                current = None
            pipeline, group, x, y, z = step
            if pipeline is not current:
                compute.set_pipeline(pipeline)
                current = pipeline
            compute.set_bind_group(0, group)
            compute.dispatch_workgroups(x, y, z)
    if compute is not None:
        compute.end()
    return encoder.finish()
