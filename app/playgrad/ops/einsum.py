"""``einsum``: sums of products by Einstein's convention, made of transposes and matrix products."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.merge import merge_axes
from playgrad.ops.arrays.shape import expand_dims, identity, reshape, squeeze
from playgrad.ops.arrays.strided_slice import strided_slice
from playgrad.ops.arrays.transpose import transpose
from playgrad.ops.core.build import as_tensors
from playgrad.ops.elementwise.definitions import mul
from playgrad.ops.products.matmul import matmul
from playgrad.ops.reductions.reduce import reduce_sum

_TERM = re.compile(r"[A-Za-z]*(?:\.\.\.[A-Za-z]*)?")


@dataclass(frozen=True)
class _Term:
    """A tensor with a label for each axis: a letter, or a number where ``...`` stands."""

    tensor: Tensor
    labels: tuple[str, ...]


def einsum(subscripts: str, *operands: Any, name: str | None = None) -> Tensor:
    """Return the sum of products that ``subscripts`` describe, as ``numpy.einsum`` does.

    ``einsum("bij,bjk->bik", a, b)`` is ``a @ b``. Two operands become one matrix product, with
    copies only where the axes of an operand are in another order; more are multiplied from left to
    right, so put the operands with the smallest products first.

    Args:
        subscripts: a letter for each axis of each operand, with commas between them, and after
            ``->`` the letters of the result. Axes that are missing there are summed. Without ``->``
            the result has the letters that occur once, in alphabetical order. ``...`` stands for
            any further axes, which are broadcast. A letter twice in an operand takes the diagonal.
        operands: tensors of one dtype. Matrix products need floats; products without a sum, and
            sums over all axes that two operands share, any number.

    Returns:
        A tensor of the dtype of the operands.

    Raises:
        ShapeError: ``subscripts`` are malformed or do not fit the operands, two sizes of a letter
            differ, or a result that a matrix product has to be divided into has several axes of
            unknown size.
        DTypeError: the element types differ, or a matrix product does not take them.
    """
    tensors = as_tensors(*operands)
    labels, output = _parse(subscripts, tensors)
    terms = [_diagonal(_Term(*pair), subscripts) for pair in zip(tensors, labels, strict=True)]
    sizes = _sizes(terms, subscripts)
    terms = [_without_broadcast(term, sizes) for term in terms]
    total = terms[0]
    for number, term in enumerate(terms[1:], 2):
        later = {label for other in terms[number:] for label in other.labels}
        total = _product(total, term, later | set(output), sizes, subscripts)
    total = _summed(total, output)
    result = _ordered(total, output).tensor
    return identity(result, name=name) if name is not None or result in set(tensors) else result


def _parse(
    subscripts: str, tensors: Sequence[Tensor]
) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """Return the labels of each operand and of the result."""
    before, arrow, after = subscripts.replace(" ", "").partition("->")
    texts = before.split(",")
    if not all(_TERM.fullmatch(text) for text in [*texts, after]):
        raise ShapeError(
            f"einsum: {subscripts!r:.60} must be letters and '...', with commas between the "
            "operands and '->' before the result."
        )
    if len(texts) != len(tensors):
        raise ShapeError(f"einsum: {subscripts!r:.60} does not fit {len(tensors)} operands.")
    labels = [_labels(text, x, subscripts) for text, x in zip(texts, tensors, strict=True)]
    every = [label for term in labels for label in term]
    dots = tuple(sorted({label for label in every if label.isdigit()}, key=int, reverse=True))
    if not arrow:
        once = sorted(label for label in every if not label.isdigit() and every.count(label) == 1)
        return labels, (*dots, *once)
    first, ellipsis, last = after.partition("...")
    output = (*first, *(dots if ellipsis else ()), *last)
    if len(set(output)) < len(output) or not set(output) <= set(every):
        raise ShapeError(
            f"einsum: each letter of the result of {subscripts!r:.60} must occur in an operand, "
            "and in the result once."
        )
    return labels, output


def _labels(text: str, x: Tensor, subscripts: str) -> tuple[str, ...]:
    """Return a label for each axis of ``x``; labels of ``...`` count from its last one."""
    first, dots, last = text.partition("...")
    missing = x.spec.rank - len(first) - len(last)
    if missing < 0 or (missing and not dots):
        raise ShapeError(
            f"einsum: {text!r} in {subscripts!r:.60} does not fit the shape {shape_text(x.shape)}."
        )
    return (*first, *(str(i) for i in reversed(range(missing))), *last)


def _diagonal(term: _Term, subscripts: str) -> _Term:
    """Return ``term`` with the diagonal in place of the axes that have the same label."""
    for label in dict.fromkeys(term.labels):
        while term.labels.count(label) > 1:
            first = term.labels.index(label)
            second = term.labels.index(label, first + 1)
            size = term.tensor.shape[first]
            if size is None or term.tensor.shape[second] != size:
                raise ShapeError(
                    f"einsum: the axes {label!r} in {subscripts!r:.60} need one known size, got "
                    f"the shape {shape_text(term.tensor.shape)}."
                )
            rest = [i for i in range(len(term.labels)) if i not in (first, second)]
            flat = merge_axes(transpose(term.tensor, [*rest, first, second]), len(rest))
            slices = [*[[None, None, 1]] * len(rest), [None, None, size + 1]]
            labels = (*(term.labels[i] for i in rest), label)
            term = _Term(strided_slice(flat, slices), labels)
    return term


def _sizes(terms: Sequence[_Term], subscripts: str) -> dict[str, int | None]:
    """Return the size of each label; 1 is broadcast, and None is unknown."""
    sizes: dict[str, int | None] = {}
    for term in terms:
        for label, size in zip(term.labels, term.tensor.shape, strict=True):
            known = sizes.setdefault(label, size)
            if None not in (known, size) and 1 not in (known, size) and known != size:
                raise ShapeError(
                    f"einsum: the sizes {known} and {size} of {label!r} in {subscripts!r:.60} "
                    "differ."
                )
            if known == 1 or (known is None and size not in (None, 1)):
                sizes[label] = size
    return sizes


def _without_broadcast(term: _Term, sizes: dict[str, int | None]) -> _Term:
    """Return ``term`` without axes of size 1 that another operand has in full."""
    axes = [
        axis
        for axis, (label, size) in enumerate(zip(term.labels, term.tensor.shape, strict=True))
        if size == 1 and sizes[label] != 1
    ]
    if not axes:
        return term
    labels = tuple(label for axis, label in enumerate(term.labels) if axis not in axes)
    return _Term(squeeze(term.tensor, axes), labels)


def _summed(term: _Term, keep: Container[str]) -> _Term:
    """Return ``term`` summed over the axes whose labels are not in ``keep``."""
    axes = [axis for axis, label in enumerate(term.labels) if label not in keep]
    if not axes:
        return term
    labels = tuple(label for label in term.labels if label in keep)
    return _Term(reduce_sum(term.tensor, axes), labels)


def _ordered(term: _Term, labels: Sequence[str]) -> _Term:
    if term.labels == tuple(labels):
        return term
    perm = [term.labels.index(label) for label in labels]
    return _Term(transpose(term.tensor, perm), tuple(labels))


def _product(
    a: _Term, b: _Term, keep: set[str], sizes: dict[str, int | None], subscripts: str
) -> _Term:
    """Return the product of two terms, summed over what both have and ``keep`` does not."""
    a, b = _summed(a, keep | set(b.labels)), _summed(b, keep | set(a.labels))
    shared = [label for label in a.labels if label in b.labels]
    inner = [label for label in shared if label not in keep]
    batch = [label for label in shared if label in keep]
    rows = [label for label in a.labels if label not in shared]
    columns = [label for label in b.labels if label not in shared]
    if not inner or not (rows or columns):
        return _summed(_outer(a, b, shared, columns), keep)
    left, transpose_a = _matrices(a, batch, rows, inner)
    right, transpose_b = _matrices(b, batch, inner, columns)
    result = matmul(left, right, transpose_a, transpose_b)
    labels = (*batch, *rows, *columns)
    if len(rows) == len(columns) == 1:
        return _Term(result, labels)
    if len(rows) <= 1 and len(columns) <= 1:
        return _Term(squeeze(result, len(batch) + (1 if rows else 0)), labels)
    shape = [sizes[label] for label in labels]
    if shape.count(None) > 1:
        raise ShapeError(
            f"einsum: the product for {subscripts!r:.60} has the shape "
            f"{shape_text(tuple(shape))}; at most one size may be unknown."
        )
    return _Term(reshape(result, shape), labels)


def _outer(a: _Term, b: _Term, shared: Sequence[str], columns: Sequence[str]) -> _Term:
    """Return the product without a sum, with the axes of ``a`` and then ``columns``."""
    left, right = a.tensor, _ordered(b, [*shared, *columns]).tensor
    if columns:
        left = expand_dims(left, [len(a.labels) + i for i in range(len(columns))])
    rows = [axis for axis, label in enumerate(a.labels) if label not in shared]
    if rows:
        right = expand_dims(right, rows)
    return _Term(mul(left, right), (*a.labels, *columns))


def _matrices(
    term: _Term, batch: Sequence[str], rows: Sequence[str], columns: Sequence[str]
) -> tuple[Tensor, bool]:
    """Return ``term`` as a stack of matrices, and whether they are transposed."""
    flipped = term.labels == (*batch, *columns, *rows) and term.labels != (*batch, *rows, *columns)
    first, second = (columns, rows) if flipped else (rows, columns)
    tensor = _ordered(term, [*batch, *first, *second]).tensor
    tensor = _as_one(tensor, len(batch) + len(first), len(second))
    return _as_one(tensor, len(batch), len(first)), flipped


def _as_one(x: Tensor, axis: int, count: int) -> Tensor:
    """Return ``x`` with the ``count`` axes from ``axis`` as one."""
    if count == 0:
        return expand_dims(x, axis)
    for _ in range(count - 1):
        x = merge_axes(x, axis)
    return x
