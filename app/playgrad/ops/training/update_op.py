"""The updates of optimizers as operations: variables changed in place, each in one kernel.

Each takes two optional scalars. ``decay`` is the fraction of the variable that decoupled weight
decay (Loshchilov and Hutter 2019) takes off before the update. While ``gate``, a bool, is false,
the variables keep their values, so that a step whose loss is not finite changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError
from playgrad.graph.opdef import Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import as_tensor
from playgrad.ops.core.samples import floats
from playgrad.ops.elementwise.elementwise_op import elementwise_op
from playgrad.ops.expression import expr as e
from playgrad.ops.state import checked_update, register_value_of

Formula = Callable[..., tuple[e.Expr, ...]]


def add_update(
    op: OpDef,
    variables: Sequence[Tensor],
    values: Sequence[Any],
    attrs: Attrs,
    gate: Tensor | None,
    decay: Any,
    name: str | None,
) -> tuple[Tensor, ...]:
    """Add a node of an update; return the new values of ``variables``.

    Args:
        values: the gradient and the scalars of the formula.
        gate, decay: the optional scalars; None leaves them out.
    """
    first = variables[0]
    given = [*values] if decay is None else [*values, decay]
    inputs = [*variables, *(as_tensor(value, first.graph, first.dtype) for value in given)]
    if gate is not None:
        inputs.append(gate)
    attrs = {
        **attrs,
        "variables": [variable.node.name for variable in variables],
        "decayed": decay is not None,
        "gated": gate is not None,
    }
    node = first.graph.add(op, inputs, attrs, name=name, phase="update", device=first.node.device)
    return node.outputs


def update_op(
    name: str, states: int, factors: int, formula: Formula, samples: Sequence[Sample]
) -> OpDef:
    """Register an update of ``states`` variables by a gradient and ``factors`` scalars.

    Args:
        formula: a function from attributes, states, gradient and factors to the new states.
    """
    values = states + 1 + factors

    def build(attrs: Attrs) -> tuple[e.Expr, ...]:
        leaves = [e.Leaf(i) for i in range(values)]
        used: list[e.Expr] = [*leaves]
        if attrs["decayed"]:
            used[0] = leaves[0] - e.Leaf(values) * leaves[0]
        new = formula(attrs, *used)
        if not attrs["gated"]:
            return new
        gate = e.Leaf(values + attrs["decayed"])
        return tuple(e.where(gate, value, old) for value, old in zip(new, leaves, strict=False))

    op = checked_update(elementwise_op(name, build, None, writes=True))
    plain = samples[0]
    old, scalars = plain.inputs[:states], plain.inputs[states + 1 :]
    invalid = (
        InvalidSample(
            (*old, floats(3, 5), *scalars),
            plain.attrs,
            ShapeError,
            "do not broadcast",
        ),
        InvalidSample(
            (*old, floats(2, 3, 4), *scalars),
            plain.attrs,
            ShapeError,
            "does not fit the variable of shape (3, 4)",
        ),
        InvalidSample(
            (*old, np.ones((3, 4), np.int32), *scalars),
            plain.attrs,
            DTypeError,
            "element types differ",
        ),
    )
    op = register(replace(op, samples=tuple(samples), invalid=invalid))
    register_value_of(op)
    return op


def update_samples(states: int, factors: int = 1, **attrs: Any) -> tuple[Sample, ...]:
    """Return samples with and without weight decay, and with an open and a closed gate."""
    old = tuple(floats(3, 4, seed=i, low=0.1) for i in range(states))
    scalars = [np.asarray(value, np.float32) for value in (0.05, 1e-7)[:factors]]
    values = (*old, floats(3, 4, seed=9), *scalars)
    decayed = (*values, np.asarray(0.01, np.float32))
    attrs["variables"] = [f"state_{i}" for i in range(states)]
    return tuple(
        Sample(inputs, {**attrs, "decayed": decays, "gated": gated}, differentiable=())
        for inputs, decays, gated in (
            (values, False, False),
            ((*values, np.asarray(True)), False, True),
            ((*values, np.asarray(False)), False, True),
            (decayed, True, False),
            ((*decayed, np.asarray(True)), True, True),
        )
    )
