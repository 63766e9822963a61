"""Copies of networks whose weights are changed: pruned, clustered, rounded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from playgrad.compression.compressed_model import CompressedModel, Origin, original_of
from playgrad.compression.quantization_aware import expect_floats
from playgrad.compression.report import Note
from playgrad.compression.rewriting import Rewrite, draft_of
from playgrad.errors import DataError
from playgrad.models.model import Model
from playgrad.ops.state import Variable

Array = np.ndarray[Any, Any]
Copies: TypeAlias = Mapping[Variable, Variable]


def kernels_of(model: Model) -> list[Variable]:
    """Return the weights that are worth making smaller: those with two or more dimensions that
    training changes. Biases and scales are few, and matter much.

    Raises:
        GraphError: the model is not built, or computes in integers.
    """
    expect_floats(model)
    return [variable for variable in model.trainable_variables if len(variable.shape) >= 2]


def values_of(model: Model, variables: list[Variable]) -> list[Array]:
    """Return the values of ``variables``.

    Raises:
        DataError: one of them is NaN or infinite.
    """
    values = model.session.values(variables) if variables else []
    for variable, value in zip(variables, values, strict=True):
        if not np.isfinite(value).all():
            raise DataError(
                f"the weights '{variable.variable_name}' are NaN or infinite in "
                f"{np.count_nonzero(~np.isfinite(value)):,} of {value.size:,} places.",
                hint="The training failed: start from weights of before.",
            )
    return values


def origin_of(model: Model, notes: Mapping[str, Note] | None = None) -> Origin:
    """Return the origin of a copy of ``model`` whose files are packed.

    Args:
        notes: the forms of layers that do not follow from their weights.
    """
    excerpt = model.train_excerpt
    seen: Any = model.origin.samples if isinstance(model, CompressedModel) else []
    if excerpt is not None:
        seen = excerpt.x
    return Origin(
        original_of(model),
        notes or {},
        samples=[seen] if isinstance(seen, np.ndarray) else list(seen),
        has_forms=True,
    )


def reduced(model: Model, changed: Mapping[Variable, Array]) -> tuple[CompressedModel, Copies]:
    """Return a copy of ``model`` with other values of some of its variables.

    What an earlier step keeps, such as zeros, is kept by the copy.

    Returns:
        The copy, and the variable of it for each variable of ``model``.
    """
    rewrite = Rewrite(draft_of(model))
    draft = rewrite.draft()
    small = CompressedModel.from_structure(draft.structure, origin_of(model))
    small.take_callbacks(model)
    copies: Any = rewrite.variables
    values = dict(draft.values) | {copies[v]: array for v, array in changed.items()}
    small.session.assign(values)
    return small, copies
