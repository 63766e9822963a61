"""Lowering of dot-product attention and its gradient, in WGSL unrolled over the elements of a row.

An array that a loop indexes stays in memory on software adapters; named variables are registers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from playgrad.ops.core.kernel import (
    Binding,
    KernelCall,
    KernelRequest,
    Lowering,
    input_binding,
    output_binding,
)
from playgrad.ops.core.loops import Loop
from playgrad.ops.lowering.item_kernel import item_kernel, strides_of
from playgrad.ops.lowering.register_tile import indented

LARGEST = 64
"""The most elements of a head for which the kernels are written; more would not fit registers."""
_TERMS = Binding("terms", "scratch", 0, "f32")


def lower_attention(request: KernelRequest) -> Lowering:
    """Lower (queries, keys, values[, mask]); attrs: ``scale``, ``is_causal``."""
    constants = _constants(request, mask=3)
    keys, values = constants["KEY_SIZE"], constants["VALUE_SIZE"]
    batch, to, heads, _ = request.inputs[0].static_shape
    call = _call(
        request,
        "attention.wgsl",
        batch * to * heads,
        (
            *_inputs(request, "queries", "keys", "values", "mask"),
            output_binding("result", 0, request.outputs[0]),
        ),
        (Loop(constants["FROM"]),),
        constants | {
            "load_query": _loads(2, "q", "queries", "at_query", keys),
            "sums": _zeros(2, "sum", values),
            "score": _dot(4, "score", "q", "keys", "at_key", keys),
            "shrink": indented(6, (f"sum{i} *= shrink;" for i in range(values))),
            "add": _sums(4, "sum", "weight", "values", "at_value", values),
            "results": indented(
                2, (f"result[at_result + {i}u] = sum{i} / total;" for i in range(values))
            ),
        },
    )  # fmt: skip
    return Lowering(call)


def lower_attention_gradient(request: KernelRequest) -> Lowering:
    """Lower (queries, keys, values, gradient[, mask]) to the gradients by the first three."""
    constants = _constants(request, mask=4)
    keys, values = constants["KEY_SIZE"], constants["VALUE_SIZE"]
    batch, to, heads, _ = request.inputs[0].static_shape
    inputs = _inputs(request, "queries", "keys", "values", "gradient", "mask")
    by_query, by_key, by_value = (
        output_binding(name, number, request.outputs[number])
        for number, name in enumerate(("by_query", "by_key", "by_value"))
    )
    first = _call(
        request,
        "attention_query_gradient.wgsl",
        batch * to * heads,
        (*inputs, _TERMS, by_query),
        (Loop(constants["FROM"]),) * 2,
        constants | {
            "load_query": _loads(2, "q", "queries", "at_query", keys),
            "load_gradient": _loads(2, "g", "gradient", "at_gradient", values),
            "score": _dot(4, "score", "q", "keys", "at_key", keys),
            "slope": _dot(4, "slope", "g", "values", "at_value", values),
            "sums": _zeros(2, "sum", keys),
            "add": _sums(4, "sum", "by_score", "keys", "at_key", keys),
            "results": _stores("by_query", "at_query", "sum", keys),
        },
    )  # fmt: skip
    second = _call(
        request,
        "attention_key_gradient.wgsl",
        batch * request.inputs[1].static_shape[1] * heads,
        (*inputs, _TERMS, by_key, by_value),
        (Loop(constants["TO"]),),
        constants | {
            "load_key": _loads(2, "k", "keys", "at_key", keys),
            "load_value": _loads(2, "v", "values", "at_value", values),
            "score": _dot(4, "score", "k", "queries", "at_query", keys),
            "slope": _dot(4, "slope", "v", "gradient", "at_gradient", values),
            "sums": _zeros(2, "k_sum", keys) + "\n" + _zeros(2, "v_sum", values),
            "add": _sums(4, "k_sum", "by_score", "queries", "at_query", keys)
            + "\n"
            + _sums(4, "v_sum", "weight", "gradient", "at_gradient", values),
            "results": _stores("by_key", "at_key", "k_sum", keys)
            + "\n"
            + _stores("by_value", "at_value", "v_sum", values),
        },
    )  # fmt: skip
    return Lowering((*first, *second), scratch=(max(8 * batch * to * heads, 4),))


def _constants(request: KernelRequest, mask: int) -> dict[str, Any]:
    _, to, heads, key_size = request.inputs[0].static_shape
    _, origin, _, value_size = request.inputs[2].static_shape
    hidden = "false"
    if len(request.inputs) > mask:
        shape = request.inputs[mask].static_shape
        names = ("batch", "head", "to", "origin")
        steps = zip(names, shape, strides_of(shape), strict=True)
        terms = [f"{name} * {stride}u" for name, size, stride in steps if size > 1]
        hidden = f"mask[{' + '.join(terms) or '0u'}] == 0u"
    return {
        "TO": to,
        "FROM": origin,
        "HEADS": heads,
        "KEY_SIZE": key_size,
        "VALUE_SIZE": value_size,
        "SCALE": repr(float(request.attrs["scale"])),
        "CAUSAL": bool(request.attrs["is_causal"]),
        "HIDDEN": hidden,
    }


def _inputs(request: KernelRequest, *names: str) -> tuple[Binding, ...]:
    return tuple(
        input_binding(name, number, spec)
        for number, (name, spec) in enumerate(zip(names, request.inputs, strict=False))
    )


def _call(
    request: KernelRequest,
    kernel: str,
    items: int,
    bindings: tuple[Binding, ...],
    loops: tuple[Loop, ...],
    constants: dict[str, Any],
) -> tuple[KernelCall, ...]:
    if not items:
        return ()  # sizes are divisors in WGSL
    params = {name.lower(): constants[name] for name in ("TO", "FROM", "HEADS", "SCALE", "CAUSAL")}
    sizes = constants["KEY_SIZE"] + constants["VALUE_SIZE"]
    iterations = max(constants["TO"], constants["FROM"]) * sizes
    call = item_kernel(request, kernel, items, bindings, params, loops, iterations, **constants)
    return (replace(call, results=constants["VALUE_SIZE"]),)


def _loads(indent: int, letter: str, source: str, at: str, size: int) -> str:
    return indented(indent, (f"let {letter}{i} = {source}[{at} + {i}u];" for i in range(size)))


def _zeros(indent: int, name: str, size: int) -> str:
    return indented(indent, (f"var {name}{i} = 0.0;" for i in range(size)))


def _dot(indent: int, total: str, letter: str, source: str, at: str, size: int) -> str:
    return indented(
        indent, (f"{total} += {letter}{i} * {source}[{at} + {i}u];" for i in range(size))
    )


def _sums(indent: int, total: str, factor: str, source: str, at: str, size: int) -> str:
    return indented(
        indent, (f"{total}{i} += {factor} * {source}[{at} + {i}u];" for i in range(size))
    )


def _stores(result: str, at: str, total: str, size: int) -> str:
    return indented(2, (f"{result}[{at} + {i}u] = {total}{i};" for i in range(size)))
