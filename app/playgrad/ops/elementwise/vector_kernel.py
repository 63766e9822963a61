"""Elementwise kernels of large tensors for GPUs: an invocation computes four elements.

Memory is fast only if enough bytes are on their way at a time. So operands of the result's shape
are bound as vectors of four elements. Such a kernel cannot be merged with others, which a large one
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
    flat_index,
    grid,
    input_binding,
    output_binding,
)
from playgrad.ops.expression import wgsl
from playgrad.ops.expression.expr import Expr

LEAST_ITEMS = 1 << 20
"""Elements from which on a tensor is large: 4 MiB, which take a GPU about as long as a dispatch."""
WORKGROUP = 256


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
    threads = request.outputs[0].size // 4
    names = [spec.dtype for spec in request.inputs]
    bindings: list[Binding] = []
    parameters, arguments, vectors, loads = ["i: u32"], ["4u * thread + {}u"], [], []
    for i, spec in enumerate(request.inputs):
        buffer = f"out{request.aliases[i]}" if i in request.aliases else f"in{i}"
        is_vector = spec.static_shape == shape and _is_word(spec)
        if i not in request.aliases:
            binding = input_binding(buffer, i, spec, spec.static_shape == shape)
            bindings.append(_vector(binding) if is_vector else binding)
        if is_vector:
            parameters.append(f"word{i}: {element_type(spec)}")
            arguments.append(f"vector{i}[{{}}]")
            vectors.append(f"  let vector{i} = {buffer}[thread];")
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
        four = ", ".join(f"values{k}.y{j}" for k in range(4))
        stores.append(f"  out{j}[thread] = vec4<{element}>({four});")
    stored = (wgsl.stored(f"y{j}", spec.dtype) for j, spec in enumerate(request.outputs))
    calls = (
        f"  let values{k} = values_at({', '.join(text.format(k) for text in arguments)});"
        for k in range(4)
    )
    body = "\n".join([*loads, *values, f"  return Values({', '.join(stored)});"])
    limits = request.target.limits
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
            "fn main(@builtin(global_invocation_id) id: vec3<u32>) {",
            f"  let thread = {flat_index(threads, WORKGROUP, limits)};",
            f"  if (thread >= {threads}u) {{ return; }}",
            *vectors,
            *calls,
            *stores,
            "}\n",
        ]
    )
    return KernelCall(
        "elementwise_vectors",
        params,
        code,
        tuple(bindings),
        grid(threads, WORKGROUP, limits),
        iterations=4,
    )


def _is_word(spec: TensorSpec) -> bool:
    return dtype(spec.dtype).per_word == 1


def _vector(binding: Binding) -> Binding:
    return replace(binding, element=f"vec4<{binding.element}>")
