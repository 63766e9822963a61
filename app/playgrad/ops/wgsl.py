"""Renders expressions as WGSL, and the code around them that elementwise kernels share."""

from __future__ import annotations

import re
from collections.abc import Sequence

from playgrad.dtypes import dtype
from playgrad.errors import UnsupportedOpError
from playgrad.graph.spec import TensorSpec
from playgrad.ops.expr import (
    FUNCTIONS,
    WGSL_HELPERS,
    Call,
    Cast,
    Const,
    Expr,
    Leaf,
    argument_dtype,
    infer_dtype,
)


def literal(value: float | int | bool, name: str) -> str:
    """A number as WGSL writes it for element type ``name``."""
    if name == "bool":
        return "true" if value else "false"
    if name == "float32":
        if value != value:
            return "bitcast<f32>(pg_nan)"
        if value in (float("inf"), float("-inf")):
            return "bitcast<f32>(pg_inf)" if value > 0 else "bitcast<f32>(pg_minus_inf)"
        return f"f32({float(value)!r})"
    return f"{dtype(name).wgsl}({int(value)})"


def render(
    expr: Expr, leaves: Sequence[str], names: Sequence[str], expected: str | None = None
) -> str:
    """``expr`` as WGSL text; leaf i has the text ``leaves[i]`` and the dtype ``names[i]``."""
    if isinstance(expr, Leaf):
        return leaves[expr.index]
    if isinstance(expr, Const):
        return literal(expr.value, infer_dtype(expr, names, expected))
    if isinstance(expr, Cast):
        return _cast(render(expr.arg, leaves, names), infer_dtype(expr.arg, names), expr.to)
    assert isinstance(expr, Call)
    function = FUNCTIONS[expr.function]
    if function.result == "select":
        condition, *rest = expr.args
        common = argument_dtype(rest, names, expected)
        texts = [render(condition, leaves, names, "bool")]
    else:
        rest = list(expr.args)
        common = argument_dtype(rest, names, expected if function.result != "bool" else None)
        texts = []
    texts += [render(arg, leaves, names, common) for arg in rest]
    return function.wgsl(*texts)


def _cast(text: str, source: str, target: str) -> str:
    wgsl = dtype(target).wgsl
    if wgsl is None:
        raise UnsupportedOpError(f"no GPU has {target} values.", hint="Use float32.")
    if source == target:
        return text
    if target == "uint8":
        return f"(u32({text}) & 0xffu)"
    if target == "bool":
        return f"({text} != {literal(0, source)})"
    return f"{wgsl}({text})"


def helpers(code: str) -> str:
    """The declarations of ``WGSL_HELPERS`` that ``code`` needs, in the order of their table."""
    needed: set[str] = set()
    pending = [code]
    while pending:
        text = pending.pop()
        for name in WGSL_HELPERS.keys() - needed:
            if re.search(rf"\b{name}\b", text):
                needed.add(name)
                pending.append(WGSL_HELPERS[name])
    return "\n".join(text for name, text in WGSL_HELPERS.items() if name in needed)


def load(name: str, spec: TensorSpec, index: str) -> str:
    """The element of buffer ``name`` at ``index`` as a value of its dtype."""
    if spec.dtype == "uint8":
        return f"(({name}[({index}) >> 2u] >> ((({index}) & 3u) * 8u)) & 0xffu)"
    if spec.dtype == "bool":
        return f"({name}[{index}] != 0u)"
    return f"{name}[{index}]"


def stored(value: str, name: str) -> str:
    """``value`` of dtype ``name`` as a buffer element."""
    return f"u32({value})" if name == "bool" else value


def broadcast_index(index: str, source: tuple[int, ...], target: tuple[int, ...]) -> str:
    """Where the element of ``source`` lies that broadcasting puts at flat ``index`` of ``target``.

    Runs of dimensions that behave alike are treated as one, which leaves the common cases
    (same shape, scalar, row, column) with one operation or none.
    """
    padded = (1,) * (len(target) - len(source)) + source
    runs: list[tuple[int, bool]] = []  # size in target, whether source varies over it
    for size, own in zip(target, padded, strict=True):
        if size == 1:
            continue
        varies = own == size
        if runs and runs[-1][1] == varies:
            runs[-1] = (runs[-1][0] * size, varies)
        else:
            runs.append((size, varies))
    if not any(varies for _, varies in runs):
        return "0u"
    terms: list[str] = []
    inner = own_stride = 1
    for position, (size, varies) in reversed(list(enumerate(runs))):
        if varies:
            term = index if inner == 1 else f"({index} / {inner}u)"
            if position > 0:
                term = f"({term} % {size}u)"
            terms.append(term if own_stride == 1 else f"{term} * {own_stride}u")
            own_stride *= size
        inner *= size
    return terms[0] if len(terms) == 1 else f"({' + '.join(terms)})"
