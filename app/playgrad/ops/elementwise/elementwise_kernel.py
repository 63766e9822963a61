"""Lowering of elementwise expressions, of one operation or several fused, to one kernel."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.errors import UnsupportedOpError
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
from playgrad.ops.expression import wgsl
from playgrad.ops.expression.expr import Expr, to_json

WORKGROUP = 64


def lower_elementwise(request: KernelRequest, exprs: Sequence[Expr]) -> Lowering:
    """Lower ``exprs``, one for each output, to a kernel whose invocations compute one element each.

    Inputs are broadcast. An input in the buffer of an output (``request.aliases``) is read through
    the output's binding before anything is written.
    """
    shape = request.outputs[0].static_shape
    items = request.outputs[0].size
    names = [spec.dtype for spec in request.inputs]
    bindings: list[Binding] = []
    loads: list[str] = []
    for i, spec in enumerate(request.inputs):
        buffer = f"out{request.aliases[i]}" if i in request.aliases else f"in{i}"
        if i not in request.aliases:
            bindings.append(input_binding(buffer, i, spec, spec.static_shape == shape))
        index = wgsl.broadcast_index("i", spec.static_shape, shape)
        loads.append(f"  let x{i} = {wgsl.load(buffer, spec, index)};")
    values, stores = [], []
    for j, (expr, spec) in enumerate(zip(exprs, request.outputs, strict=True)):
        if spec.dtype == "uint8":
            raise UnsupportedOpError(
                "elementwise operations cannot write uint8 on a GPU.", hint="Cast to int32."
            )
        bindings.append(output_binding(f"out{j}", j, spec))
        leaves = [f"x{i}" for i in range(len(names))]
        values.append(f"  let y{j} = {wgsl.render(expr, leaves, names, spec.dtype)};")
        stores.append(f"  out{j}[i] = {wgsl.stored(f'y{j}', spec.dtype)};")
    body = "\n".join(loads + values + stores)
    limits = request.target.limits
    code = f"""{wgsl.helpers(body)}
@compute @workgroup_size({WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
  let i = {flat_index(items, WORKGROUP, limits)};
  if (i >= {items}u) {{ return; }}
{body}
}}
"""
    params = {
        "expressions": [to_json(expr) for expr in exprs],
        "shape": list(shape),
        "input_shapes": [list(spec.static_shape) for spec in request.inputs],
    }
    call = KernelCall(
        "elementwise", params, code, tuple(bindings), grid(items, WORKGROUP, limits), iterations=1
    )
    return Lowering((call,))
