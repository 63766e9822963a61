"""References, gradients and optimizer updates compared with PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as torch_nn

from playgrad.contract.interpreter import evaluate
from playgrad.graph.autodiff import gradients
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Tensor
from playgrad.ops import (
    Variable,
    apply_adam,
    apply_momentum,
    apply_sgd,
    avg_pool2d,
    constant,
    conv2d,
    dot_product_attention,
    gather,
    gather_nd,
    layer_normalization,
    log_softmax,
    matmul,
    max_pool2d,
    mul,
    pad,
    placeholder,
    reduce_sum,
    repeat,
    roll,
    scatter_add,
    softmax,
    softmax_cross_entropy,
    sort,
    sparse_softmax_cross_entropy,
    stack,
    take_along_axis,
    tile,
    top_k,
    tril,
    triu,
)

Array = np.ndarray[Any, Any]


def uniform(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).uniform(-1.0, 1.0, shape)


def compare(
    ours: Callable[..., Tensor], theirs: Callable[..., torch.Tensor], *arrays: Array
) -> None:
    """Compare the values and gradients of the two functions, with the same weights."""
    with Graph().as_default():
        inputs = [placeholder("float64", array.shape) for array in arrays]
        y = ours(*inputs)
        weights = uniform(*y.spec.static_shape, seed=9)
        grads = gradients(reduce_sum(mul(y, constant(weights, "float64"))), inputs)
    assert all(grad is not None for grad in grads)
    fetches = [y, *(grad for grad in grads if grad is not None)]
    actual = evaluate(fetches, dict(zip(inputs, arrays, strict=True)))
    tensors = [torch.tensor(array, requires_grad=True) for array in arrays]
    result = theirs(*tensors)
    (result * torch.tensor(weights)).sum().backward()
    expected = [result.detach().numpy(), *(t.grad.numpy() for t in tensors if t.grad is not None)]
    for a, b in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


ROWS = np.array([[3, 0, 3], [1, 1, 2]])
ALONG = np.arange(24).reshape(3, 4, 2) * 5 % 6
PLACES = np.array([[0, 1], [2, 3], [2, 3]])


def reflected(x: torch.Tensor, mode: str) -> torch.Tensor:
    return torch_nn.pad(x, (2, 1, 1, 3), mode=mode)  # the last dimension comes first


def channels_first(x: torch.Tensor) -> torch.Tensor:
    return x.permute(0, 3, 1, 2)


def channels_last(x: torch.Tensor) -> torch.Tensor:
    return x.permute(0, 2, 3, 1)


@pytest.mark.parametrize("strides", [(1, 1), (2, 1), (2, 3)])
@pytest.mark.parametrize("padding", ["valid", ((1, 1), (2, 2)), "same"])
def test_conv2d_matches_pytorch(strides: tuple[int, int], padding: Any) -> None:
    def theirs(x: torch.Tensor, filters: torch.Tensor) -> torch.Tensor:
        x = channels_first(x)
        sides = (0, 0)
        if padding == "same":
            pads = []  # the last dimension comes first
            for dim, size, stride in zip((8, 7), (3, 2), strides, strict=True):
                total = max((-(-dim // stride) - 1) * stride + size - dim, 0)
                pads = [total // 2, total - total // 2, *pads]
            x = torch_nn.pad(x, pads)
        elif padding != "valid":
            sides = (1, 2)
        return channels_last(
            torch_nn.conv2d(x, filters.permute(3, 2, 0, 1), stride=strides, padding=sides)
        )

    compare(
        lambda x, filters: conv2d(x, filters, strides, padding),
        theirs,
        uniform(2, 8, 7, 3),
        uniform(3, 2, 3, 4, seed=1),
    )


@pytest.mark.parametrize(
    ("size", "strides", "padding"),
    [((2, 2), None, 0), ((3, 2), (2, 1), 0), ((3, 3), (2, 2), 1), ((2, 2), (1, 1), 1)],
)
def test_pooling_matches_pytorch(size: tuple[int, int], strides: Any, padding: int) -> None:
    sides = ((padding, padding), (padding, padding))
    image = uniform(2, 7, 6, 3)
    compare(
        lambda x: max_pool2d(x, size, strides, sides),
        lambda x: channels_last(torch_nn.max_pool2d(channels_first(x), size, strides, padding)),
        image,
    )
    compare(
        lambda x: avg_pool2d(x, size, strides, sides),
        lambda x: channels_last(
            torch_nn.avg_pool2d(channels_first(x), size, strides, padding, count_include_pad=False)
        ),
        image,
    )


def test_matmul_matches_pytorch() -> None:
    compare(
        lambda a, b: matmul(a, b, transpose_b=True),
        lambda a, b: a @ b.transpose(-1, -2),
        uniform(3, 4, 5),
        uniform(3, 6, 5, seed=1),
    )


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda x: tile(x, [2, 1, 3]), lambda x: torch.tile(x, (2, 1, 3))),
        (lambda x: repeat(x, 3, 1), lambda x: torch.repeat_interleave(x, 3, 1)),
        (lambda x: stack([x, x], 1), lambda x: torch.stack([x, x], 1)),
        (lambda x: roll(x, [1, -2], [0, 2]), lambda x: torch.roll(x, [1, -2], [0, 2])),
        (lambda x: x[1:, ::-2, -9:5:2], lambda x: x[1:].flip(1)[:, ::2, :5:2]),
        (lambda x: gather(x, ROWS, 1), lambda x: x[:, torch.tensor(ROWS)]),
        (lambda x: gather_nd(x, PLACES), lambda x: x[[0, 2, 2], [1, 3, 3]]),
        (
            lambda x: take_along_axis(x, ALONG, 2),
            lambda x: torch.gather(x, 2, torch.tensor(ALONG)),
        ),
        (lambda x: pad(x, [[0, 0], [1, 3], [2, 1]], "reflect"), lambda x: reflected(x, "reflect")),
        (lambda x: pad(x, [[0, 0], [1, 3], [2, 1]], "edge"), lambda x: reflected(x, "replicate")),
        (lambda x: sort(x, 1, descending=True), lambda x: torch.sort(x, 1, descending=True)[0]),
        (lambda x: top_k(x, 3)[0], lambda x: torch.topk(x, 3)[0]),
        (lambda x: triu(x, 1), lambda x: torch.triu(x, 1)),
        (lambda x: tril(x, -1), lambda x: torch.tril(x, -1)),
    ],
)
def test_array_operations_match_pytorch(ours: Any, theirs: Any) -> None:
    compare(ours, theirs, uniform(3, 4, 6))


def test_scatter_add_matches_pytorch() -> None:
    compare(
        lambda x, updates: scatter_add(x, [3, 0, 3], updates, 1),
        lambda x, updates: torch.index_add(x, 1, torch.tensor([3, 0, 3]), updates),
        uniform(3, 4, 6),
        uniform(3, 3, 6, seed=1),
    )


def test_softmax_and_cross_entropy_match_pytorch() -> None:
    logits, labels = uniform(5, 7), np.array([0, 6, 3, 3, 1])
    compare(softmax, lambda x: torch.softmax(x, -1), logits)
    compare(log_softmax, lambda x: torch.log_softmax(x, -1), logits)
    compare(
        lambda x: sparse_softmax_cross_entropy(x, constant(labels, "int32")),
        lambda x: torch_nn.cross_entropy(x, torch.tensor(labels), reduction="none"),
        logits,
    )
    compare(
        softmax_cross_entropy,
        lambda x, p: torch_nn.cross_entropy(x, p, reduction="none"),
        logits,
        np.abs(uniform(5, 7, seed=2)),
    )


def steps(
    build: Callable[[Tensor, Tensor, list[Variable]], tuple[Tensor, ...]], states: int
) -> list[Array]:
    """Return the weights after each of six updates by fixed gradients, by the references."""
    with Graph().as_default():
        variable = Variable(uniform(4, 3), dtype="float64", name="w")
        slots = [Variable(np.zeros((4, 3)), dtype="float64") for _ in range(states)]
        grad = placeholder("float64", [4, 3])
        outputs = build(variable, grad, slots)
    values = [uniform(4, 3), *(np.zeros((4, 3)) for _ in slots)]
    history = []
    for step in range(6):
        known = dict(zip([variable, *slots], values, strict=True))
        values = evaluate(list(outputs), {**known, grad: uniform(4, 3, seed=step)})
        history.append(values[0])
    return history


def torch_steps(make: Callable[[list[torch.Tensor]], torch.optim.Optimizer]) -> list[Array]:
    weight = torch.tensor(uniform(4, 3), requires_grad=True)
    optimizer = make([weight])
    history = []
    for step in range(6):
        weight.grad = torch.tensor(uniform(4, 3, seed=step))
        optimizer.step()
        history.append(weight.detach().numpy().copy())
    return history


def test_sgd_matches_pytorch() -> None:
    ours = steps(lambda w, g, slots: (apply_sgd(w, g, 0.1),), 0)
    np.testing.assert_allclose(ours, torch_steps(lambda p: torch.optim.SGD(p, 0.1)), rtol=1e-12)


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum_matches_pytorch(nesterov: bool) -> None:
    ours = steps(lambda w, g, slots: apply_momentum(w, slots[0], g, 0.1, 0.9, nesterov), 1)
    theirs = torch_steps(lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=nesterov))
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_adam_matches_pytorch() -> None:
    corrections = [np.sqrt(1 - 0.999**t) for t in range(1, 7)]
    rates = [0.1 * c / (1 - 0.9**t) for t, c in enumerate(corrections, 1)]
    values = [uniform(4, 3), np.zeros((4, 3)), np.zeros((4, 3))]
    with Graph().as_default():
        names = ("w", "m", "v")
        variables = [
            Variable(value, name=name, dtype="float64")
            for name, value in zip(names, values, strict=True)
        ]
        grad = placeholder("float64", [4, 3])
        rate, epsilon = placeholder("float64", []), placeholder("float64", [])
        outputs = apply_adam(*variables, grad, rate, epsilon, 0.9, 0.999)
    history = []
    for step in range(6):
        known = dict(zip(variables, values, strict=True))
        known |= {grad: uniform(4, 3, seed=step), rate: np.asarray(rates[step])}
        known |= {epsilon: np.asarray(0.05 * corrections[step])}
        values = evaluate(list(outputs), known)
        history.append(values[0])
    theirs = torch_steps(lambda p: torch.optim.Adam(p, 0.1, eps=0.05))
    np.testing.assert_allclose(history, theirs, rtol=1e-10)


@pytest.mark.parametrize("flash", [None, False])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_dot_product_attention_matches_pytorch(
    causal: bool, masked: bool, flash: bool | None
) -> None:
    mask = np.random.default_rng(4).random((2, 1, 5, 6)) < 0.6
    mask[..., 0] = True  # PyTorch has NaN for a query that sees nothing
    seen = mask & np.tri(5, 6, dtype=bool) if causal else mask

    def theirs(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        heads = (x.transpose(1, 2) for x in (query, key, value))
        result = torch_nn.scaled_dot_product_attention(
            *heads,
            attn_mask=torch.tensor(seen) if masked else None,
            is_causal=causal and not masked,
        )
        return result.transpose(1, 2)

    compare(
        lambda *inputs: dot_product_attention(
            *inputs, mask if masked else None, is_causal=causal, flash_attention=flash
        ),
        theirs,
        uniform(2, 5, 3, 4),
        uniform(2, 6, 3, 4, seed=1),
        uniform(2, 6, 3, 2, seed=2),
    )


def test_layer_normalization_matches_pytorch() -> None:
    compare(
        lambda x, gamma, beta: layer_normalization(x, gamma, beta, epsilon=1e-5),
        lambda x, gamma, beta: torch_nn.layer_norm(x, (6,), gamma, beta, 1e-5),
        uniform(2, 4, 6),
        uniform(6, seed=1),
        uniform(6, seed=2),
    )
