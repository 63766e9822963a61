"""einsum compared with NumPy: values, gradients, unknown sizes, a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import playgrad as pg
from playgrad.contract.interpreter import evaluate, value
from playgrad.errors import DTypeError, ShapeError
from tests.sweeps import slow

CASES: list[tuple[str, list[tuple[int, ...]]]] = [
    ("ij,jk->ik", [(3, 4), (4, 5)]),
    ("ij,kj", [(3, 4), (5, 4)]),
    ("ji,jk->ki", [(4, 3), (4, 5)]),
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
    ("bij,jk->bik", [(2, 3, 4), (4, 5)]),
    ("bqhd,bkhd->bhqk", [(2, 3, 4, 5), (2, 6, 4, 5)]),
    ("bhqk,bkhd->bqhd", [(2, 4, 3, 6), (2, 6, 4, 5)]),
    ("abc,cd,de->abe", [(2, 3, 4), (4, 5), (5, 6)]),
    ("ijkl,klm->mij", [(2, 3, 4, 5), (4, 5, 6)]),
    ("ij,j->i", [(3, 4), (4,)]),
    ("i,ij", [(3,), (3, 4)]),
    ("i,i", [(4,), (4,)]),
    ("bi,bi->b", [(3, 4), (3, 4)]),
    ("i,j->ji", [(3,), (4,)]),
    ("ij,j->ij", [(3, 4), (4,)]),
    ("ij->ji", [(3, 4)]),
    ("ba", [(3, 4)]),
    ("ij->", [(3, 4)]),
    ("ii", [(4, 4)]),
    ("aibi->ba", [(2, 4, 3, 4)]),
    ("iij,jk->ik", [(4, 4, 3), (3, 2)]),
    ("...ij,...jk->...ik", [(2, 3, 4, 5), (3, 5, 6)]),
    ("...i,i", [(2, 3, 4), (4,)]),
    ("i...,...->...i", [(2, 3, 4), (3, 1)]),
    ("bij,bjk->bik", [(1, 3, 4), (2, 4, 5)]),
    ("ij,kl->", [(3, 4), (2, 5)]),
    (" ij , jk -> ik ", [(3, 0), (0, 5)]),
    ("ij,jk->ik", [(0, 4), (4, 5)]),
    (",i->i", [(), (3,)]),
]
each = pytest.mark.parametrize(("subscripts", "shapes"), CASES, ids=str)


def arrays(shapes: list[tuple[int, ...]]) -> list[Any]:
    return [np.random.default_rng(i).uniform(-1, 1, shape) for i, shape in enumerate(shapes)]


@each
def test_values_and_gradients_match_numpy_and_pytorch(
    subscripts: str, shapes: list[tuple[int, ...]]
) -> None:
    operands = arrays(shapes)
    inputs = [pg.placeholder("float64", shape) for shape in shapes]
    y = pg.einsum(subscripts, *inputs)
    expected = np.einsum(subscripts, *operands)
    assert y.shape == expected.shape
    total = pg.reduce_sum(y * y)
    grads = pg.gradients(total, inputs)
    actual = evaluate([y, *grads], dict(zip(inputs, operands, strict=True)))
    np.testing.assert_allclose(actual[0], expected, atol=1e-12)
    tensors = [torch.tensor(operand, requires_grad=True) for operand in operands]
    (torch.einsum(subscripts, *tensors) ** 2).sum().backward()
    for grad, tensor in zip(actual[1:], tensors, strict=True):
        np.testing.assert_allclose(grad, tensor.grad, atol=1e-12)


@pytest.mark.gpu
@pytest.mark.parametrize("every", [4, *slow(1)])
def test_values_and_gradients_on_a_gpu_match_the_cpu(every: int) -> None:
    feeds, results, grads = {}, [], []
    cases = CASES[::every]
    for subscripts, shapes in cases:
        inputs = [pg.placeholder("float32", shape) for shape in shapes]
        feeds |= dict(zip(inputs, (a.astype(np.float32) for a in arrays(shapes)), strict=True))
        results.append(pg.einsum(subscripts, *inputs))
        grads.append(pg.gradients(pg.reduce_sum(results[-1]), inputs))
    with pg.Session(device="gpu:0") as session:
        values, slopes = session.run([results, grads], feeds)
    for (subscripts, _), actual, tensor in zip(cases, values, results, strict=True):
        expected = value(tensor, feeds)
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5, err_msg=subscripts)
    for (subscripts, _), actual, tensors in zip(cases, slopes, grads, strict=True):
        for one, grad in zip(actual, tensors, strict=True):
            expected = value(grad, feeds)
            np.testing.assert_allclose(one, expected, rtol=1e-4, atol=1e-5, err_msg=subscripts)


def test_sizes_may_be_unknown() -> None:
    q = pg.placeholder("float64", [None, None, 4, 5])
    scores = pg.einsum("bqhd,bkhd->bhqk", q, q)
    assert scores.shape == (None, 4, None, None)
    (x,) = arrays([(2, 3, 4, 5)])
    expected = np.einsum("bqhd,bkhd->bhqk", x, x)
    np.testing.assert_allclose(value(scores, {q: x}), expected, atol=1e-12)
    with pytest.raises(ShapeError, match="at most one size may be unknown"):
        pg.einsum("bqhd,dk->bqhk", q, pg.zeros([5, 2], "float64"))


def test_integers_are_multiplied_but_not_as_matrices() -> None:
    np.testing.assert_array_equal(value(pg.einsum("i,i->", [1, 2, 3], [4, 5, 6])), 32)
    with pytest.raises(DTypeError, match="not int32"):
        pg.einsum("ij,jk", [[1]], [[2]])


@pytest.mark.parametrize(
    ("subscripts", "shapes", "words"),
    [
        ("ij,jk->ik", [(2, 3), (4, 5)], "sizes 3 and 4 of 'j' in 'ij,jk->ik' differ"),
        ("ij,jk->il", [(2, 3), (3, 5)], "must occur in an operand"),
        ("ij->ii", [(2, 3)], "in the result once"),
        ("ij", [(2, 3, 4)], r"'ij' in 'ij' does not fit the shape \(2, 3, 4\)"),
        ("ij,jk", [(2, 3)], "does not fit 1 operands"),
        ("i1->i", [(2, 3)], "must be letters"),
        ("i->j->i", [(2,)], "must be letters"),
        ("ii", [(2, 3)], "need one known size"),
    ],
)
def test_wrong_subscripts_are_refused(
    subscripts: str, shapes: list[tuple[int, ...]], words: str
) -> None:
    with pytest.raises(ShapeError, match=words):
        pg.einsum(subscripts, *arrays(shapes))
