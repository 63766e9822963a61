"""Lowering of elementwise expressions, of one operation or several fused, to one kernel."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.dtypes import dtype
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
from playgrad.ops.core.loops import Loop
from playgrad.ops.elementwise.vector_kernel import suits_vectors, vector_call
from playgrad.ops.expression import wgsl
from playgrad.ops.expression.expr import Expr, to_json

WORKGROUP = 64


def lower_elementwise(request: KernelRequest, exprs: Sequence[Expr]) -> Lowering:
    """Lower ``exprs``, one for each output, to a kernel whose invocations compute one element each.

    Where elements of an output are packed, they compute all elements of a word. Inputs are
    broadcast. An input in the buffer of an output (``request.aliases``) is read through the
    output's binding before anything is written.
    """
    shape = request.outputs[0].static_shape
    params = {
        "expressions": [to_json(expr) for expr in exprs],
        "shape": list(shape),
        "input_shapes": [list(spec.static_shape) for spec in request.inputs],
    }
    if suits_vectors(request):
        return Lowering((vector_call(request, exprs, params),))
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
    values, stores, words = [], [], []
    together = max(dtype(spec.dtype).per_word for spec in request.outputs)
    for j, (expr, spec) in enumerate(zip(exprs, request.outputs, strict=True)):
        bindings.append(output_binding(f"out{j}", j, spec))
        leaves = [f"x{i}" for i in range(len(names))]
        values.append(f"  let y{j} = {wgsl.render(expr, leaves, names, spec.dtype)};")
        stored = wgsl.stored(f"y{j}", spec.dtype)
        per_word = dtype(spec.dtype).per_word
        if per_word == 1:
            stores.append(f"  out{j}[i] = {stored};")
            continue
        place = f"(i & {per_word - 1}u)"
        words.append(f"  var word{j} = 0u;\n")
        stores.append(
            f"  word{j} |= {stored} << ({place} * {32 // per_word}u);\n"
            f"  if ({place} == {per_word - 1}u || i + 1u == {items}u) {{\n"
            f"    out{j}[i / {per_word}u] = word{j};\n"
            f"    word{j} = 0u;\n"
            "  }"
        )
    body = "\n".join(loads + values + stores)
    limits = request.target.limits
    threads = -(-items // together)
    start = "\n".join(
        [
            wgsl.helpers(body),
            f"@compute @workgroup_size({WORKGROUP})",
            "fn main(@builtin(global_invocation_id) id: vec3<u32>) {",
            f"  let thread = {flat_index(threads, WORKGROUP, limits)};",
            f"  if (thread >= {threads}u) {{ return; }}",
        ]
    )
    if together > 1:
        first = f"{together}u * thread"
        rest = f"for (var i = {first}; i < min({first} + {together}u, {items}u); i++)"
        code = f"{start}\n{''.join(words)}  {rest} {{\n{body}\n  }}\n}}\n"
    else:
        code = f"{start}\n  let i = thread;\n{body}\n}}\n"
    call = KernelCall(
        "elementwise",
        params,
        code,
        tuple(bindings),
        grid(threads, WORKGROUP, limits),
        iterations=together,
        loops=(Loop(together),) if together > 1 else (),
    )
    return Lowering((call,))
