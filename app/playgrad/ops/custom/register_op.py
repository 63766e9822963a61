"""``register_op``: operations that a program defines by a formula, or by NumPy and WGSL."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from playgrad.errors import GraphError
from playgrad.graph.opdef import Array, OpDef, Sample, register_custom
from playgrad.graph.source import user_source
from playgrad.ops.core.build import add_node, as_tensors
from playgrad.ops.core.samples import floats
from playgrad.ops.custom.custom_rules import CustomRules
from playgrad.ops.custom.user_function import Bound, call
from playgrad.ops.elementwise.elementwise_op import elementwise_op
from playgrad.ops.expression.expr import Expr, Leaf

_Function = Callable[..., Any]
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def register_op(
    name: str,
    formula: _Function | None = None,
    *,
    reference: _Function | None = None,
    shape: _Function | None = None,
    gradient: _Function | None = None,
    wgsl: str | None = None,
    dtypes: Mapping[str, str | Sequence[str]] | None = None,
    result_dtype: str | Sequence[str] | None = None,
    samples: Sequence[Any] = (),
    second_derivative: bool = True,
) -> _Function:
    """Register an operation of your program, and return the function that adds it to a graph.

    Give ``formula`` for an elementwise operation: NumPy's values and the WGSL both come from it,
    and it is fused with its neighbours. Give ``reference``, and ``wgsl`` for GPUs, for any other.
    The parameters of that function are the inputs; parameters after ``*`` are attributes: numbers,
    bools, strings or lists of them. `check_op` checks the result. Registering a name again replaces
    the operation.

    Args:
        formula: an expression of the inputs, from arithmetic and the functions of ``pg.expr``.
        reference: from arrays to the resulting array, or a tuple of several. It specifies the
            result, and is what the cpu runs.
        shape: from the shapes of the inputs, and the attributes, to the shape of the result, or a
            list of shapes. Dimensions may be None, if they are unknown. Without it, the shape to
            which the inputs broadcast.
        gradient: from the gradient of the result, the result and the inputs, and the attributes, to
            the gradient of each input (None for none), built from tensors. Of several results, the
            first two arguments are tuples. Without it, gradients through the operation are errors.
        wgsl: the kernel: ``fn element(i: u32) -> f32`` returns element ``i`` of the result; or a
            whole ``fn main`` writes the results. It reads ``x[i]`` for an input ``x``, and the
            numbers ``${x_size}``, ``${x_shape_0}``, ``${result_shape_0}`` and ``${attribute}``.
            Without it, the operation runs on the cpu only.
        dtypes: the dtypes that an input takes, by its name; float32 and float64 for others.
        result_dtype: the dtype of the result, or of each; None for that of the first floating
            input, else of the first input.
        samples: uses to check: each a tuple of arrays, or a `Sample` with attributes. Where inputs
            broadcast together, there are some without.
        second_derivative: whether the gradient can be differentiated again. If not, trying to is an
            error.

    Raises:
        GraphError: an operation of the library has this name, or arguments do not fit
            together.
        DTypeError: there is no such dtype.
    """
    source = user_source()
    function = formula or reference
    if function is None or (formula is not None and (reference or shape or wgsl or result_dtype)):
        raise GraphError(
            f"{name!r} needs either a formula, or a reference with its shape and WGSL.",
            source=source,
            hint="Pass formula=, or reference= for an operation that is not elementwise.",
        )
    inputs, defaults = _parameters(name, function, source)
    rules = CustomRules(name, inputs, shape, gradient, dtypes or {}, result_dtype)
    rules.check(source)
    if formula is not None:
        op = _elementwise(name, formula, rules)
    else:
        assert reference is not None
        op = rules.structured(reference, wgsl)
    given = [one if isinstance(one, Sample) else Sample(tuple(one)) for one in samples]
    given = [replace(one, attrs={**defaults, **one.attrs}) for one in given]
    if shape is None and given:
        given += _broadcast_from(given[0])
    elif shape is None and not (dtypes or result_dtype):
        given = _broadcast_samples(len(inputs), defaults)
    op = register_custom(
        replace(
            op,
            blocks_gradient=False,
            samples=tuple(given),
            source=source,
            wgsl=wgsl,
            second_derivative=second_derivative,
            gradient=rules.gradient_rule(second_derivative) if gradient else None,
        )
    )
    return _constructor(op, inputs, defaults, dtypes or {})


def _parameters(
    name: str, function: _Function, source: tuple[str, int] | None
) -> tuple[list[str], dict[str, Any]]:
    """Return the names of the inputs, and the attributes with their defaults."""
    parameters = inspect.signature(function).parameters.values()
    inputs = [p.name for p in parameters if p.kind in _POSITIONAL]
    attributes = [p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
    if len(inputs) + len(attributes) != len(parameters) or not inputs:
        raise GraphError(
            f"{name!r} must have a fixed number of inputs, at least one.",
            source=source,
            hint="Name each: `def reference(x, y, *, scale=1.0)`.",
        )
    empty = inspect.Parameter.empty
    return inputs, {p.name: None if p.default is empty else p.default for p in attributes}


def _constructor(
    op: OpDef, inputs: Sequence[str], defaults: Mapping[str, Any], dtypes: Collection[str]
) -> _Function:
    """Return the function that adds a node of ``op``.

    Args:
        dtypes: the inputs whose dtypes are declared.
    """
    exact = [position for position, name in enumerate(inputs) if name in dtypes]

    def construct(*values: Any, name: str | None = None, **attrs: Any) -> Any:
        if len(values) != len(inputs):
            raise TypeError(f"{op.name}() takes {', '.join(inputs)}, got {len(values)} values")
        unknown = sorted(attrs.keys() - defaults.keys())
        if unknown:
            raise TypeError(f"{op.name}() has no attribute {unknown[0]!r}")
        merged = {**defaults, **attrs}
        for key, value in merged.items():
            if not _is_plain(value):
                raise GraphError(
                    f"the attribute {key!r} of {op.name!r} is {value!r:.60}.",
                    hint="Attributes are numbers, bools, strings, or lists of them; pass arrays as "
                    "inputs.",
                )
        node = add_node(op, as_tensors(*values, exact=exact), merged, name=name)
        return node.outputs[0] if len(node.outputs) == 1 else list(node.outputs)

    construct.__name__ = construct.__qualname__ = op.name
    construct.op = op  # type: ignore[attr-defined]
    return construct


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return isinstance(value, (bool, int, float, str))


def _elementwise(name: str, formula: _Function, rules: CustomRules) -> OpDef:
    leaves = [Leaf(number) for number in range(len(rules.inputs))]

    def build(attrs: Mapping[str, Any]) -> tuple[Expr, ...]:
        hint = "Use arithmetic, comparisons and the functions of pg.expr, such as pg.expr.exp."
        expr = call(f"the formula of {name!r}", GraphError, hint, Bound(formula, attrs), *leaves)
        if not isinstance(expr, Expr):
            raise GraphError(f"the formula of {name!r} returned {expr!r:.60}.", hint=hint)
        return (expr,)

    op = elementwise_op(name, build, None)
    return replace(op, infer=rules.checking_dtypes(op.infer))


def _broadcast_samples(arity: int, attrs: Mapping[str, Any]) -> list[Sample]:
    """Return samples of inputs that broadcast together: vectors, a column and a row, a number."""
    shapes: list[list[tuple[int, ...]]] = [[(37,)], [(3, 5)]]
    if arity > 1:
        rest = range(1, arity)
        shapes = [
            [(3, 5) for _ in range(arity)],
            [(1, 4), *((3, 1) for _ in rest)],
            [(2, 3), *(() for _ in rest)],
        ]
    return [
        Sample(tuple(_values(number, size) for number, size in enumerate(each)), dict(attrs))
        for each in shapes
    ]


def _broadcast_from(sample: Sample) -> list[Sample]:
    """Return ``sample`` with a row, or a number, as its last input, if it has several inputs."""
    *others, last = sample.inputs
    if not others or not last.ndim:
        return []
    return [replace(sample, inputs=(*others, last[:1] if last.shape[0] else last))]


def _values(number: int, size: tuple[int, ...]) -> Array:
    return floats(*size, seed=number)
