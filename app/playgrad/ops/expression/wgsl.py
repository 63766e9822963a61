"""Expressions as WGSL, with the loads, stores and indices around them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from playgrad.dtypes import dtype
from playgrad.errors import UnsupportedOpError
from playgrad.graph.spec import TensorSpec
from playgrad.ops.expression.expr import Call, Cast, Const, Expr, Leaf, infer_dtype, is_weak
from playgrad.ops.expression.functions import FUNCTIONS
from playgrad.ops.expression.helpers import WGSL_HELPERS

_LARGEST = float(np.finfo(np.float32).max)
_HELPER = re.compile(r"\bpg_\w+")


def literal(value: float | int | bool, name: str) -> str:
    """Return a number as a WGSL literal of dtype ``name``."""
    if name == "bool":
        return "true" if value else "false"
    if dtype(name).computed == "float32":
        if value != value:
            return "bitcast<f32>(pg_nan)"
        if abs(value) > _LARGEST:
            return "bitcast<f32>(pg_inf)" if value > 0 else "bitcast<f32>(pg_minus_inf)"
        return f"f32({float(value)!r})"
    return f"{dtype(name).wgsl}({int(value)})"


def render(
    expr: Expr, leaves: Sequence[str], names: Sequence[str], expected: str | None = None
) -> str:
    """Return ``expr`` as WGSL; leaf i has the text ``leaves[i]`` and the dtype ``names[i]``."""
    return _rendered(expr, leaves, names, expected)[0]


def _rendered(
    expr: Expr, leaves: Sequence[str], names: Sequence[str], expected: str | None
) -> tuple[str, str]:
    """Return text and dtype of ``expr``, whose dtypes were checked before."""
    if isinstance(expr, Leaf):
        return leaves[expr.index], names[expr.index]
    if isinstance(expr, Const):
        kind = infer_dtype(expr, names, expected)
        return literal(expr.value, kind), kind
    if isinstance(expr, Cast):
        return _cast(*_rendered(expr.arg, leaves, names, None), expr.to), expr.to
    assert isinstance(expr, Call)
    function = FUNCTIONS[expr.function]
    args = expr.args
    texts: list[str] = []
    if function.result == "select":
        texts.append(_rendered(args[0], leaves, names, "bool")[0])
        args = args[1:]
    elif function.result == "bool":
        expected = None
    # Constants without a dtype follow the other arguments.
    typed = [None if is_weak(arg) else _rendered(arg, leaves, names, expected) for arg in args]
    kinds = (each[1] for each in typed if each is not None)
    common = next(kinds, None) or expected or infer_dtype(args[0], names)
    for arg, each in zip(args, typed, strict=True):
        texts.append((each or _rendered(arg, leaves, names, common))[0])
    text = function.variants.get(dtype(common).computed, function.wgsl)(*texts)
    if function.result == "bool":
        return text, "bool"
    return (_wrapped(text, common) if function.result == "same" else text), common


def _wrapped(text: str, name: str) -> str:
    """Return an integer, held in 32 bits, wrapped as one of dtype ``name``, which may have 8."""
    if name == "uint8":
        return f"({text} & 0xffu)"
    return f"(({text} << 24u) >> 24u)" if name == "int8" else text


def _cast(text: str, source: str, target: str) -> str:
    wgsl = dtype(target).wgsl
    if wgsl is None:
        raise UnsupportedOpError(f"GPUs have no {target} values.", hint="Use float32.")
    if target == "float16":  # rounds, also what is a float16 but was computed in 32 bits
        return f"pg_from_half(pg_to_half(f32({text})))"
    if source == target:
        return text
    if target == "bool" and dtype(source).wgsl == "f32":  # by the bits, as NaN is true
        return f"((bitcast<u32>({text}) & 0x7fffffffu) != 0u)"
    if target == "bool":
        return f"({text} != {literal(0, source)})"
    return _wrapped(f"{wgsl}({text})", target)


def helpers(code: str) -> str:
    """Return the declarations of ``WGSL_HELPERS`` that ``code`` needs, in the table's order."""
    needed: set[str] = set()
    pending = [code]
    while pending:
        text = pending.pop()
        for name in WGSL_HELPERS.keys() & set(_HELPER.findall(text)) - needed:
            needed.add(name)
            pending.append(WGSL_HELPERS[name])
    return "\n".join(text for name, text in WGSL_HELPERS.items() if name in needed)


def load(name: str, spec: TensorSpec, index: str) -> str:
    """Return WGSL for the element of buffer ``name`` at ``index``, as a value of its dtype."""
    if spec.dtype == "uint8":
        return f"(({name}[({index}) >> 2u] >> ((({index}) & 3u) * 8u)) & 0xffu)"
    if spec.dtype == "int8":
        return f"(bitcast<i32>({name}[({index}) >> 2u] << (24u - (({index}) & 3u) * 8u)) >> 24u)"
    if spec.dtype == "float16":
        return f"pg_from_half({name}[({index}) >> 1u] >> ((({index}) & 1u) * 16u))"
    if spec.dtype == "bool":
        return f"({name}[{index}] != 0u)"
    return f"{name}[{index}]"


def stored(value: str, name: str) -> str:
    """Return WGSL for ``value`` of dtype ``name`` as a buffer stores it: the low bits of a word, if
    elements are packed."""
    if name == "float16":
        return f"pg_to_half({value})"
    if name == "int8":
        return f"(bitcast<u32>({value}) & 0xffu)"
    return f"u32({value})" if name == "bool" else value


def broadcast_index(index: str, source: tuple[int, ...], target: tuple[int, ...]) -> str:
    """Return WGSL for the index in ``source`` that broadcasting puts at ``index`` of ``target``.

    Adjacent dimensions that are all broadcast, or all not, are treated as one, so that the common
    cases (same shape, scalar, row, column) need at most one operation.
    """
    padded = (1,) * (len(target) - len(source)) + source
    runs: list[tuple[int, bool]] = []  # size in target, whether source varies over it
    for size, source_size in zip(target, padded, strict=True):
        if size <= 1:  # a division by 0 does not compile, even where nothing is computed
            continue
        varies = source_size == size
        if runs and runs[-1][1] == varies:
            runs[-1] = (runs[-1][0] * size, varies)
        else:
            runs.append((size, varies))
    if not any(varies for _, varies in runs):
        return "0u"
    terms: list[str] = []
    inner = stride = 1
    for position, (size, varies) in reversed(list(enumerate(runs))):
        if varies:
            term = index if inner == 1 else f"({index} / {inner}u)"
            if position > 0:
                term = f"({term} % {size}u)"
            terms.append(term if stride == 1 else f"{term} * {stride}u")
            stride *= size
        inner *= size
    return terms[0] if len(terms) == 1 else f"({' + '.join(terms)})"
