"""Kernels from the WGSL of the user's program.

The text has the buffers and sizes of its operation at hand: ``x[i]`` for each input by its name,
``result[i]`` (or ``result0``, ``result1``), and the numbers ``${x_size}``, ``${x_shape_0}``,
``${result_size}``, each attribute as ``${name}``, and ``${index}``, the number of the invocation.
Where a driver may end loops early, the text is changed so that a run finds out (`loop_alarm.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from playgrad.errors import KernelError
from playgrad.graph.spec import TensorSpec
from playgrad.ops.core.kernel import (
    Binding,
    KernelCall,
    KernelRequest,
    Lowering,
    flat_index,
    grid,
    input_binding,
    output_binding,
)
from playgrad.ops.custom.loop_alarm import ALARM, has_loops, with_alarm

FAMILY = "custom "
"""The family of a kernel of the user's program is this and the name of the operation."""
BEGIN = "// The WGSL of the program begins below."
_WORKGROUP = 64
_NAME = re.compile(r"\$\{(\w+)\}")
_ELEMENT = re.compile(r"\bfn\s+element\s*\(")
_MAIN = re.compile(r"@compute\s*@workgroup_size\(([^)]*)\)\s*fn\s+main\s*\(")


def lower_custom(request: KernelRequest, op: str, text: str, inputs: Sequence[str]) -> Lowering:
    """Lower ``text`` to one dispatch.

    It defines ``fn element(i: u32) -> T``, the value of result number ``i``, or the whole entry
    point ``@compute @workgroup_size(n) fn main(...)``, which runs with at least one invocation for
    each element of the first result; ``${index}`` is its number, where ``id`` is the parameter
    with the builtin ``global_invocation_id``.

    Raises:
        KernelError: the text defines neither, or uses a name that does not exist.
    """
    specs = (*request.inputs, *request.outputs)
    results = result_names(len(request.outputs))
    named = dict(zip((*inputs, *results), specs, strict=True))
    bindings: list[Binding] = [
        *(
            input_binding(n, i, s)
            for i, (n, s) in enumerate(zip(inputs, request.inputs, strict=True))
        ),
        *(
            output_binding(n, i, s)
            for i, (n, s) in enumerate(zip(results, request.outputs, strict=True))
        ),
    ]
    items = request.outputs[0].size
    if not any(spec.size for spec in request.outputs):
        return Lowering(())
    limits = request.target.limits
    main = _MAIN.search(text)
    size = _workgroup_size(op, main[1]) if main else _WORKGROUP
    index = flat_index(items, size, limits)
    values = {**_sizes(named), **_numbers(request.attrs), "index": f"({index})"}
    user, entry = _filled(op, text, values), ""
    if _ELEMENT.search(user) and not main:
        if len(results) > 1:
            raise KernelError(
                f"the WGSL of {op!r} defines element(), but the operation has {len(results)} "
                "results.",
                hint="Define `@compute @workgroup_size(64) fn main(...)` and write each result.",
            )
        entry = _entry(items, index, request.outputs[0])
    elif not main:
        raise KernelError(
            f"the WGSL of {op!r} has no entry.",
            hint="Define `fn element(i: u32) -> f32`, or a whole "
            "`@compute @workgroup_size(64) fn main(...)`.",
        )
    if request.target.most_rounds is not None and has_loops(user):
        user = _with_alarm(op, user)
        bindings.append(Binding(ALARM, "alarm", 0, "atomic<u32>"))
        if len(bindings) > limits.max_storage_buffers_per_shader_stage:
            raise KernelError(
                f"the WGSL of {op!r} has loops, which llvmpipe may end early, and no buffer is "
                "left to find out.",
                hint="Use device='cpu', or join inputs with concat().",
            )
    call = KernelCall(
        family=FAMILY + op,
        params={"shapes": [list(spec.static_shape) for spec in specs]},
        code=f"{entry}{BEGIN}\n{user}\n",
        bindings=tuple(bindings),
        workgroups=grid(items, size, limits),
        mergeable=False,
    )
    return Lowering((call,))


def result_names(count: int) -> list[str]:
    """Return the names of the results in WGSL."""
    return ["result"] if count == 1 else [f"result{number}" for number in range(count)]


def _entry(items: int, index: str, result: TensorSpec) -> str:
    value = "u32(element(i))" if result.dtype == "bool" else "element(i)"
    return f"""@compute @workgroup_size({_WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
  let i = {index};
  if (i >= {items}u) {{ return; }}
  result[i] = {value};
}}
"""


def _with_alarm(op: str, text: str) -> str:
    try:
        return with_alarm(text)
    except (ValueError, IndexError, StopIteration) as error:
        raise KernelError(
            f"the loops in the WGSL of {op!r} cannot be watched, as llvmpipe needs: {error}.",
            hint="Write plain `for`, `while` or `loop` statements, or use device='cpu'.",
        ) from None


def _workgroup_size(op: str, text: str) -> int:
    number = text.strip().rstrip("u")
    if not number.isdecimal() or int(number) < 1:
        raise KernelError(
            f"the workgroup size ({text}) of the WGSL of {op!r} must be one number.",
            hint="Write @workgroup_size(64), and take the invocation's number from ${index}.",
        )
    return int(number)


def _sizes(named: Mapping[str, TensorSpec]) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, spec in named.items():
        values[f"{name}_size"] = str(spec.size)
        for axis, dim in enumerate(spec.static_shape):
            values[f"{name}_shape_{axis}"] = str(dim)
    return values


def _numbers(attrs: Mapping[str, Any]) -> dict[str, str]:
    return {name: _text(value) for name, value in attrs.items()}


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _filled(op: str, text: str, values: Mapping[str, str]) -> str:
    """Return ``text`` with each ``${name}`` replaced; others than in kernel files may be unused."""
    unknown = sorted(set(_NAME.findall(text)) - values.keys())
    if unknown:
        raise KernelError(
            f"the WGSL of {op!r} uses ${{{unknown[0]}}}, which does not exist.",
            hint=f"There are: {', '.join(values)}.",
        )
    return _NAME.sub(lambda match: values[match[1]], text)
