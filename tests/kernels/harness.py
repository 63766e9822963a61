"""Runs a single lowering with a minimal Plan, without graph or compiler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from playgrad.devices.base import Execution, Host
from playgrad.devices.target import Limits, Target
from playgrad.devices.tuning import Tuning
from playgrad.dtypes import dtype, from_device_bytes, to_device_bytes
from playgrad.graph.spec import TensorSpec
from playgrad.ops.core.kernel import KernelCall, KernelRequest, Lowering

SOFTWARE = Target(is_software=True, limits=Limits())
GPU = Target(is_software=False, limits=Limits(), has_packed_dot=True)
QUADS = Target(is_software=True, limits=Limits(), has_quads=True)
FAMILIES = {
    "registers": SOFTWARE,
    "shared": GPU,
    "small_registers": replace(
        GPU, measured=Tuning("registers_4x4", "registers_4x4", "many_invocations")
    ),
    "small_shared": replace(GPU, measured=Tuning("shared_32", "shared_32", "trees")),
}
"""Targets that together run every variant of every kernel, but for the following."""
BY_BLOCKS = replace(GPU, measured=Tuning("blocks_8x8", "blocks_8x4", "trees", "vectors"))
"""Products by blocks, and kernels that read memory by vectors."""

Array = np.ndarray[Any, Any]
Lower = Callable[[KernelRequest], Lowering]


def make_request(
    inputs: Sequence[Array],
    outputs: Sequence[tuple[tuple[int, ...], str]],
    attrs: Mapping[str, Any],
    target: Target,
) -> KernelRequest:
    return KernelRequest(
        inputs=tuple(TensorSpec(array.shape, array.dtype.name) for array in inputs),
        outputs=tuple(TensorSpec(shape, name) for shape, name in outputs),
        attrs=dict(attrs),
        target=target,
    )


def module(call: KernelCall) -> str:
    """Return the complete WGSL of a call, with its bindings declared."""
    lines = [
        f"@group(0) @binding({i}) var<storage, {_access(binding.kind)}> {binding.name}: "
        f"array<{binding.element}>;"
        for i, binding in enumerate(call.bindings)
    ]
    return "\n".join([*lines, call.code])


def make_plan(request: KernelRequest, lowering: Lowering) -> dict[str, Any]:
    """Return a Plan whose buffers are the inputs, the outputs and the scratch buffers, in order."""
    sizes = [dtype(spec.dtype).device_bytes(spec.size) for spec in request.inputs]
    sizes += [dtype(spec.dtype).device_bytes(spec.size) for spec in request.outputs]
    first = {"input": 0, "output": len(request.inputs), "scratch": len(sizes)}
    sizes += lowering.scratch
    kernels, commands = [], []
    for number, call in enumerate(lowering.calls):
        access = [_access(binding.kind) for binding in call.bindings]
        kernels.append(
            {"id": number, "family": call.family, "params": dict(call.params),
             "wgsl": module(call), "access": access}
        )  # fmt: skip
        places = [first[binding.kind] + binding.index for binding in call.bindings]
        commands.append(
            {"kernel": number, "node": f"test/{call.family}",
             "bindings": [[place, 0, sizes[place]] for place in places],
             "workgroups": list(call.workgroups)}
        )  # fmt: skip
    return {
        "version": 2,
        "buffers": [{"id": i, "size": size, "role": "arena"} for i, size in enumerate(sizes)],
        "kernels": kernels,
        "segments": [[0, len(commands)]],
        "commands": commands,
        "feeds": {},
        "fetches": {},
    }


def run(
    host: Host,
    lower: Lower,
    inputs: Sequence[Array],
    outputs: Sequence[tuple[tuple[int, ...], str]],
    attrs: Mapping[str, Any] | None = None,
    target: Target = SOFTWARE,
) -> list[Array]:
    """Run the kernels of ``lower`` and return the outputs; buffers start out filled with NaN."""
    request = make_request(inputs, outputs, attrs or {}, target)
    lowering = lower(request)
    plan = make_plan(request, lowering)
    program = host.load(plan)
    try:
        writes = [((program, i), 0, to_device_bytes(array)) for i, array in enumerate(inputs)]
        for buffer in plan["buffers"][len(inputs) :]:
            rubbish = np.full(buffer["size"] // 4, 0x7FC12345, np.uint32)
            writes.append(((program, buffer["id"]), 0, rubbish.tobytes()))
        reads = [
            ((program, len(inputs) + i), 0, plan["buffers"][len(inputs) + i]["size"])
            for i in range(len(outputs))
        ]
        result = host.execute(Execution(program, writes=writes, reads=reads))
    finally:
        host.unload(program)
    return [
        from_device_bytes(data, name, shape)
        for data, (shape, name) in zip(result.data, outputs, strict=True)
    ]


def with_limits(target: Target, **changes: int) -> Target:
    return replace(target, limits=replace(target.limits, **changes))


def _access(kind: str) -> str:
    return "read" if kind == "input" else "read_write"
