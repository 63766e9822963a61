"""Plans ready to run: pipelines and bind groups are created once, so that a step only encodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import wgpu

from playgrad.devices._wgpu.errors import translated
from playgrad.devices.base import Plan

Dispatch = tuple[Any, Any, int, int, int]
"""(pipeline, bind group, x, y, z)"""


@dataclass
class ReplayablePlan:
    """A loaded Plan: its buffers, the ids of its own ones, the dispatches of each segment."""

    buffers: dict[int, Any]
    owned: list[int]
    segments: list[list[Dispatch]]


class Preparer:
    """Prepares Plans for one device.

    Pipelines are cached by the text of their kernels, as Plans share most kernels.

    Args:
        adapter: the adapter's name, for error messages.
    """

    def __init__(self, device: Any, adapter: str) -> None:
        self._device = device
        self._adapter = adapter
        self._pipelines: dict[tuple[str, tuple[str, ...]], tuple[Any, Any]] = {}

    def prepare(self, plan: Plan, buffers: Mapping[int, Any]) -> list[list[Dispatch]]:
        """Return the dispatches of each segment, on ``buffers`` by plan buffer id.

        Raises:
            KernelError: a kernel does not compile, or a command breaks the device's rules.
        """
        pipelines = {kernel["id"]: self._pipeline(kernel) for kernel in plan["kernels"]}
        families = {kernel["id"]: kernel["family"] for kernel in plan["kernels"]}
        dispatches = [
            self._dispatch(command, buffers, pipelines, families[command["kernel"]])
            for command in plan["commands"]
        ]
        return [dispatches[first:last] for first, last in plan["segments"]]

    def _pipeline(self, kernel: dict[str, Any]) -> tuple[Any, Any]:
        """Return the bind group layout and the pipeline of a kernel."""
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

    def _dispatch(
        self,
        command: dict[str, Any],
        buffers: Mapping[int, Any],
        pipelines: Mapping[int, tuple[Any, Any]],
        family: str,
    ) -> Dispatch:
        layout, pipeline = pipelines[command["kernel"]]
        entries = [
            {"binding": i, "resource": {"buffer": buffers[b], "offset": offset, "size": size}}
            for i, (b, offset, size) in enumerate(command["bindings"])
        ]
        with translated(self._adapter, f"kernel {family}", node=command["node"]):
            group = self._device.create_bind_group(layout=layout, entries=entries)
        x, y, z = command["workgroups"]
        return pipeline, group, x, y, z


def encode(device: Any, dispatches: Sequence[Dispatch], times: int = 1) -> Any:
    """Return a command buffer that runs ``dispatches`` ``times`` times, in one compute pass."""
    encoder = device.create_command_encoder()
    compute = encoder.begin_compute_pass()
    current = None
    for _ in range(times):
        for pipeline, group, x, y, z in dispatches:
            if pipeline is not current:
                compute.set_pipeline(pipeline)
                current = pipeline
            compute.set_bind_group(0, group)
            compute.dispatch_workgroups(x, y, z)
    compute.end()
    return encoder.finish()
