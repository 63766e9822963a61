"""Handwritten Plans for the tests of the browser's runner."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

COUNT = 600
"""Elements of each tensor: not a multiple of the workgroup size."""
BYTES = COUNT * 4
GROUPS = [-(-COUNT // 64), 1, 1]

DOUBLE = f"""
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {{
  if (id.x < {COUNT}u) {{ y[id.x] = 2.0 * x[id.x]; }}
}}
"""

ACCUMULATE = f"""
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> total: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {{
  if (id.x < {COUNT}u) {{ total[id.x] = total[id.x] + weight[id.x] * x[id.x]; }}
}}
"""

BROKEN = """
@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  x[id.x] = nonsense(1.0);
}
"""


def bias() -> np.ndarray:
    """The initial total: (COUNT,) float32."""
    return np.linspace(-1, 1, COUNT, dtype=np.float32)


def two_segments() -> dict[str, Any]:
    """Segment 0: arena = 2 x and fetch = 2 x. Segment 1: total += weight · arena.

    The weights are an external buffer, and the total starts from `bias()`.
    """
    arena = 4096
    return {
        "version": 2,
        "buffers": [
            {"id": 0, "size": 2 * arena, "role": "arena"},
            {"id": 1, "size": BYTES, "role": "feed"},
            {"id": 2, "size": BYTES, "role": "fetch"},
            {"id": 3, "size": BYTES, "role": "state", "external": "weight"},
            {
                "id": 4,
                "size": BYTES,
                "role": "constant",
                "data": base64.b64encode(bias().tobytes()).decode(),
            },
        ],
        "kernels": [
            {
                "id": 0,
                "family": "double",
                "params": {"n": COUNT},
                "wgsl": DOUBLE,
                "access": ["read", "read_write"],
            },
            {
                "id": 1,
                "family": "accumulate",
                "params": {},
                "wgsl": ACCUMULATE,
                "access": ["read", "read", "read_write"],
            },
        ],
        "segments": [[0, 2], [2, 3]],
        "commands": [
            {
                "kernel": 0,
                "bindings": [[1, 0, BYTES], [0, arena, BYTES]],
                "workgroups": GROUPS,
                "node": "dense/double",
            },
            {
                "kernel": 0,
                "bindings": [[1, 0, BYTES], [2, 0, BYTES]],
                "workgroups": GROUPS,
                "node": "dense/fetch",
            },
            {
                "kernel": 1,
                "bindings": [[0, arena, BYTES], [3, 0, BYTES], [4, 0, BYTES]],
                "workgroups": GROUPS,
                "node": "dense/accumulate",
            },
        ],
        "feeds": {"x:0": {"buffer": 1, "offset": 0, "shape": [COUNT], "dtype": "float32"}},
        "fetches": {"y:0": {"buffer": 2, "offset": 0, "shape": [COUNT], "dtype": "float32"}},
    }


def single(wgsl: str, access: list[str], bindings: list[list[int]]) -> dict[str, Any]:
    """One dispatch of one kernel over one buffer of BYTES; the node is called ``layer/node``."""
    return {
        "version": 2,
        "buffers": [{"id": 0, "size": BYTES, "role": "state"}],
        "kernels": [{"id": 0, "family": "only", "params": {}, "wgsl": wgsl, "access": access}],
        "segments": [[0, 1]],
        "commands": [
            {
                "kernel": 0,
                "bindings": bindings,
                "workgroups": GROUPS,
                "node": "layer/node",
            }
        ],
        "feeds": {},
        "fetches": {},
    }


def endless() -> dict[str, Any]:
    """One command that adds 1 to one element, to be replayed for a very long time."""
    wgsl = """
@group(0) @binding(0) var<storage, read_write> counter: array<u32>;
@compute @workgroup_size(1)
fn main() { counter[0] = counter[0] + 1u; }
"""
    plan = single(wgsl, ["read_write"], [[0, 0, 4]])
    plan["commands"][0]["workgroups"] = [1, 1, 1]
    return plan
