"""Plans with an edited kernel in place of one of theirs."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from playgrad.devices.target import Target
from playgrad.inspection.loop_guard import guarded
from playgrad.ops.custom.loop_alarm import has_loops, with_alarm

_ALARM = "pg_bench_loops"


def edited_plan(plan: Mapping[str, Any], kernel: int, wgsl: str) -> dict[str, Any]:
    """Return ``plan`` with ``wgsl`` as its kernel number ``kernel``."""
    edited = copy.deepcopy(dict(plan))
    edited["kernels"][kernel]["wgsl"] = wgsl
    return edited


def ending_plan(
    plan: Mapping[str, Any], kernel: int, wgsl: str, target: Target
) -> dict[str, Any] | None:
    """Return ``plan`` with an edited kernel whose loops end, and with an alarm if the driver ends
    them early; None if the kernel needs neither."""
    table = plan["kernels"][kernel]
    has_room = len(table["access"]) < target.limits.max_storage_buffers_per_shader_stage
    if target.most_rounds is None or not has_room or not has_loops(wgsl):
        text = guarded(wgsl)
        return None if text == wgsl else edited_plan(plan, kernel, text)
    try:
        text = with_alarm(wgsl, _ALARM)
    except (ValueError, IndexError, StopIteration):  # not WGSL: the compiler says what is wrong
        return None
    number = len(table["access"])
    binding = f"@group(0) @binding({number}) var<storage, read_write> {_ALARM}"
    edited = edited_plan(plan, kernel, f"{guarded(text)}{binding}: array<atomic<u32>>;\n")
    edited["kernels"][kernel]["access"].append("read_write")
    buffer = len(edited["buffers"])
    edited["buffers"].append({"id": buffer, "size": 4, "role": "arena"})
    commands = [c for c in edited["commands"] if c["kernel"] == edited["kernels"][kernel]["id"]]
    for command in commands:
        command["bindings"].append([buffer, 0, 4])
    alarm = {"buffer": buffer, "offset": 0, "node": commands[0]["node"], "op": commands[0]["node"]}
    edited["alarms"] = [*edited.get("alarms", ()), alarm]
    return edited
