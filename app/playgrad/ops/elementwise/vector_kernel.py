"""Elementwise kernels of large tensors for GPUs: an invocation computes vectors of four elements.

Memory is fast only if enough bytes are on their way at a time. So operands of the result's shape
are bound as vectors of four elements, and an invocation loads several of them before it computes.
Such a kernel cannot be merged with others, which a large one
does not need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from playgrad.devices.tuning import VECTORS
from playgrad.dtypes import dtype
from playgrad.graph.spec import TensorSpec
from playgrad.ops.core.kernel import (
    Binding,
    KernelCall,
    KernelRequest,
    element_type,
    grid,
    input_binding,
    output_binding,
)
from playgrad.ops.expression import wgsl
from playgrad.ops.expression.expr import Expr
from playgrad.ops.expression.expr import count as applications

LEAST_ITEMS = 1 << 20
"""Elements from which on a tensor is large: 4 MiB, which take a GPU about as long as a dispatch."""
WORKGROUP = 256
LOADS = 4
"""Vectors, 64 bytes, that an invocation has on their way at a time: of several operands, or of one
at several places."""
MANY_ITEMS = 1 << 22
"""Elements from which on there is work for all processors if an invocation has several vectors."""
MOST_APPLICATIONS = 64
"""Of functions in a kernel that computes several vectors: it has its text for each."""


def suits_vectors(request: KernelRequest) -> bool:
    """Return whether an elementwise kernel is to compute ``request`` by vectors."""
    target, limits = request.target, request.target.limits
    items = request.outputs[0].size
    bound = len(request.inputs) - len(request.aliases) + len(request.outputs)
    return (
        target.tuning.memory == VECTORS
        and items >= LEAST_ITEMS
        and items % 4 == 0
        and all(_is_word(spec) for spec in request.outputs)
        # A kernel with more bindings than a device allows runs as a group, which binds scalars.
        and bound <= limits.max_storage_buffers_per_shader_stage
        and limits.max_compute_invocations_per_workgroup >= WORKGROUP
    )


def vector_call(
    request: KernelRequest, exprs: Sequence[Expr], params: dict[str, object]
) -> KernelCall:
    """Return the dispatch that computes ``exprs``, one for each output."""
    shape = request.outputs[0].static_shape
    count = request.outputs[0].size // 4
    names = [spec.dtype for spec in request.inputs]
    bindings: list[Binding] = []
    parameters, arguments, vectors, loads = ["i: u32"], ["4u * place# + {}u"], [], []
    for i, spec in enumerate(request.inputs):
        buffer = f"out{request.aliases[i]}" if i in request.aliases else f"in{i}"
        is_vector = spec.static_shape == shape and _is_word(spec)
        if i not in request.aliases:
            binding = input_binding(buffer, i, spec, spec.static_shape == shape)
            bindings.append(_vector(binding) if is_vector else binding)
        if is_vector:
            parameters.append(f"word{i}: {element_type(spec)}")
            arguments.append(f"vector{i}_#[{{}}]")
            vectors.append(f"  let vector{i}_# = {buffer}[min(place#, {count - 1}u)];")
            value = f"(word{i} != 0u)" if spec.dtype == "bool" else f"word{i}"
        else:
            index = wgsl.broadcast_index("i", spec.static_shape, shape)
            value = wgsl.load(buffer, spec, index)
        loads.append(f"  let x{i} = {value};")
    leaves = [f"x{i}" for i in range(len(names))]
    values, members, stores = [], [], []
    for j, (expr, spec) in enumerate(zip(exprs, request.outputs, strict=True)):
        element = element_type(spec)
        bindings.append(_vector(output_binding(f"out{j}", j, spec)))
        values.append(f"  let y{j} = {wgsl.render(expr, leaves, names, spec.dtype)};")
        members.append(f"  y{j}: {element},")
        four = ", ".join(f"values{k}_#.y{j}" for k in range(4))
        stores.append(f"  out{j}[place#] = vec4<{element}>({four});")
    stored = (wgsl.stored(f"y{j}", spec.dtype) for j, spec in enumerate(request.outputs))
    calls = [
        f"  let values{k}_# = values_at({', '.join(text.format(k) for text in arguments)});"
        for k in range(4)
    ]
    body = "\n".join([*loads, *values, f"  return Values({', '.join(stored)});"])
    each = _vectors_each(len(vectors), count, sum(map(applications, exprs)))
    span = each * WORKGROUP
    workgroups = grid(-(-count // each), WORKGROUP, request.target.limits)
    lines = []
    for n in range(each):  # all loads come first
        lines.append(f"  let place{n} = first + {n * WORKGROUP}u;")
        lines += [text.replace("#", str(n)) for text in vectors]
    for n in range(each):
        texts = (text.replace("#", str(n)) for text in (*calls, *stores))
        lines += [f"  if (place{n} < {count}u) {{", *texts, "  }"]
    code = "\n".join(
        [
            wgsl.helpers(body),
            "struct Values {",
            *members,
            "}",
            f"fn values_at({', '.join(parameters)}) -> Values {{",
            body,
            "}",
            f"@compute @workgroup_size({WORKGROUP})",
            "fn main(",
            "  @builtin(workgroup_id) group: vec3<u32>,",
            "  @builtin(local_invocation_index) invocation: u32,",
            ") {",
            f"  let first = (group.y * {workgroups[0]}u + group.x) * {span}u + invocation;",
            *lines,
            "}\n",
        ]
    )
    return KernelCall(
        "elementwise_vectors",
        params,
        code,
        tuple(bindings),
        workgroups,
        iterations=4 * each,
    )


def _vectors_each(operands: int, count: int, size: int) -> int:
    """Return the vectors of each operand that an invocation loads: 1, 2 or 4.

    Args:
        operands: the number of operands that are vectors.
        count: vectors of the result.
        size: applications of functions to an element.
    """
    each = 1
    while (
        2 * each * max(operands, 1) <= LOADS
        and 4 * count >= MANY_ITEMS
        and 2 * each * size <= MOST_APPLICATIONS
    ):
        each *= 2
    return each


def _is_word(spec: TensorSpec) -> bool:
    return dtype(spec.dtype).per_word == 1


def _vector(binding: Binding) -> Binding:
    return replace(binding, element=f"vec4<{binding.element}>")
