"""Recurrent layers compared with PyTorch, and their masks, states and directions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import playgrad as pg
from playgrad import nn
from playgrad.nn.recurrent import RecurrentLayer
from tests.nn.small_models import GPU_BY_NIGHT
from tests.sweeps import slow

Array = np.ndarray[Any, Any]
UNITS = 4
X = np.random.default_rng(1).normal(size=(3, 5, 2)).astype(np.float32)
LENGTHS = (5, 2, 1)
MASK = np.arange(5) < np.array(LENGTHS)[:, None]
# The blocks of PyTorch's gates in the order of Keras, of which the layers' are.
GATES = {"lstm": [0, 1, 2, 3], "gru": [1, 0, 2], "simple_rnn": [0]}
THEIRS = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "simple_rnn": torch.nn.RNN}
OURS: dict[str, type[RecurrentLayer]] = {"lstm": nn.LSTM, "gru": nn.GRU, "simple_rnn": nn.SimpleRNN}


def theirs(kind: str, weights: dict[str, Array]) -> Any:
    """Return PyTorch's layer with our weights."""
    layer = THEIRS[kind](weights["kernel"].shape[0], UNITS, batch_first=True)

    def converted(columns: Array) -> torch.Tensor:
        blocks = np.split(columns, len(GATES[kind]), axis=-1)
        # i, f, g, o for the LSTM; z, r, n here and r, z, n there for the GRU.
        return torch.tensor(np.concatenate([blocks[i] for i in GATES[kind]], -1).T.copy())

    bias = weights["bias"] if kind == "gru" else np.stack([weights["bias"], 0 * weights["bias"]])
    with torch.no_grad():
        layer.weight_ih_l0.copy_(converted(weights["kernel"]))
        layer.weight_hh_l0.copy_(converted(weights["recurrent_kernel"]))
        layer.bias_ih_l0.copy_(converted(bias[0]))
        layer.bias_hh_l0.copy_(converted(bias[1]))
    return layer


def our_gradients(kind: str, layer: Any) -> dict[str, Array]:
    """Return PyTorch's gradients in the form of our weights."""

    def converted(rows: torch.Tensor) -> Array:
        blocks = np.split(rows.numpy().T, len(GATES[kind]), axis=-1)
        return np.concatenate([blocks[i] for i in GATES[kind]], -1)

    biases = converted(layer.bias_ih_l0.grad), converted(layer.bias_hh_l0.grad)
    return {
        "kernel": converted(layer.weight_ih_l0.grad),
        "recurrent_kernel": converted(layer.weight_hh_l0.grad),
        "bias": np.stack(biases) if kind == "gru" else biases[0],
    }


@pytest.mark.parametrize(
    ("kind", "device"),
    [
        *((kind, "cpu") for kind in OURS),
        pytest.param("lstm", "gpu", marks=pytest.mark.gpu),
        *slow(("gru", "gpu"), ("simple_rnn", "gpu")),
    ],
)
def test_values_and_gradients_match_pytorch(kind: str, device: str) -> None:
    start = np.random.default_rng(2).normal(size=(3, UNITS)).astype(np.float32)
    sequences = X if device == "cpu" else X[:, :2]  # a software adapter compiles each step
    with pg.Graph().as_default() as graph:
        x, state = pg.Input(sequences.shape[1:]), pg.Input((UNITS,))
        layer = OURS[kind](
            UNITS, bias_initializer="normal", return_sequences=True, return_state=True
        )
        count = layer.state_count
        y, *states = layer(x, initial_state=[state] * count)
        loss = pg.reduce_sum(pg.sin(y)) + pg.reduce_sum(states[-1] * 0.5)
        sources = [x, state, *layer.variables.values()]
        grads = pg.gradients(loss, sources)
    with pg.Session(graph, device) as session:
        weights = {name: session.value(v) for name, v in layer.variables.items()}
        results, grads = session.run([[y, *states], grads], {x: sequences, state: start})
    reference = theirs(kind, weights)
    inputs = torch.tensor(sequences, requires_grad=True)
    initial = torch.tensor(start, requires_grad=True)
    first = initial[None]
    expected, last = reference(inputs, (first, first) if kind == "lstm" else first)
    after = [s[0] for s in last] if kind == "lstm" else [last[0]]
    (torch.sin(expected).sum() + 0.5 * after[-1].sum()).backward()
    for actual, tensor in zip(results, [expected, *after], strict=True):
        np.testing.assert_allclose(actual, tensor.detach(), rtol=1e-4, atol=1e-5)
    by_weight = our_gradients(kind, reference)
    slopes = [inputs.grad, initial.grad, *(by_weight[name] for name in weights)]
    for actual, expected in zip(grads, slopes, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("device", GPU_BY_NIGHT)
def test_an_lstm_trains_like_in_pytorch(device: str) -> None:
    random = np.random.default_rng(3)
    x = random.normal(size=(40, 4, 6, 2)).astype(np.float32)
    y = np.sin(x.sum((2, 3)))[..., None].astype(np.float32)
    model = pg.Sequential([pg.Input((6, 2)), nn.LSTM(UNITS), nn.Dense(1)])
    model.compile(pg.optim.Adam(0.01), "mse", device=device)
    weights = model.named_weights()
    names = ("kernel", "recurrent_kernel", "bias")
    lstm = theirs("lstm", {name: weights[f"lstm_1/{name}"] for name in names})
    dense = torch.nn.Linear(UNITS, 1)  # type: ignore[no-untyped-call]
    with torch.no_grad():
        dense.weight.copy_(torch.tensor(weights["dense_1/kernel"].T.copy()))
        dense.bias.copy_(torch.tensor(weights["dense_1/bias"]))
    lstm.bias_hh_l0.requires_grad_(False)  # there are two biases, whose sum would move twice
    optimizer = torch.optim.Adam([*lstm.parameters(), *dense.parameters()], 0.01, eps=1e-7)
    for batch, targets in zip(x, y, strict=True):
        loss = ((dense(lstm(torch.tensor(batch))[0][:, -1]) - torch.tensor(targets)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ours = model.train_on_batch(batch, targets)
        np.testing.assert_allclose(ours, loss.item(), rtol=2e-3, atol=1e-5)


def results(build: Callable[[pg.Tensor], Any], x: Array = X, **feeds: Array) -> Any:
    """Return the values of ``build(input)`` on the cpu, and the values of its layers' weights."""
    with pg.Graph().as_default() as graph:
        source = pg.placeholder(x.dtype.name, (None, *x.shape[1:]))
        output = build(source)
    with pg.Session(graph, "cpu") as session:
        return session.run(output, {source: x})


@pytest.mark.parametrize("kind", OURS)
@pytest.mark.parametrize("zero", [False, True])
def test_masked_steps_carry_the_state(kind: str, zero: bool) -> None:
    layer = OURS[kind](UNITS, return_sequences=True, return_state=True, zero_output_for_mask=zero)

    def build(x: pg.Tensor) -> Any:
        plain = [layer(x)[0][b, : LENGTHS[b]] for b in range(3)]
        return plain, layer(x, mask=pg.constant(MASK))

    plain, (y, *states) = results(build)
    for row, length in enumerate(LENGTHS):
        np.testing.assert_allclose(y[row, :length], plain[row], rtol=1e-6)
        after = np.zeros(UNITS) if zero else plain[row][-1]
        np.testing.assert_allclose(y[row, length:], np.tile(after, (5 - length, 1)), rtol=1e-6)
        np.testing.assert_allclose(states[0][row], plain[row][-1], rtol=1e-6)


def test_masking_and_embeddings_mask_the_layers_after_them() -> None:
    padded = X * MASK[..., None]

    def build(x: pg.Tensor) -> Any:
        lstm = nn.LSTM(UNITS, return_sequences=True)
        last = nn.GRU(UNITS)
        masked = nn.Dropout(0.5)(nn.Masking()(x))
        one = [last(lstm(masked)), last(lstm(x, mask=pg.constant(MASK)), mask=pg.constant(MASK))]
        words = pg.cast(pg.constant(MASK * 3), "int32")
        vectors = nn.Embedding(4, 2, mask_zero=True)(words)
        two = nn.SimpleRNN(UNITS)
        return one, [two(vectors), two(vectors, mask=pg.constant(MASK))]

    for implicit, explicit in results(build, padded):
        np.testing.assert_allclose(implicit, explicit, rtol=1e-6)


def test_a_layer_that_drops_a_mask_warns() -> None:
    with pg.Graph().as_default():
        masked = nn.Masking()(pg.Input((5, 2)))
        with pytest.warns(RuntimeWarning, match="'flatten_1' got a sequence with a mask"):
            nn.Flatten()(masked)


def test_go_backwards_equals_a_reversed_input() -> None:
    def build(x: pg.Tensor) -> Any:
        back = nn.GRU(UNITS, return_sequences=True, go_backwards=True)
        ahead = nn.GRU(UNITS, return_sequences=True)
        outputs = [back(x)]
        ahead(x)
        for name, variable in ahead.variables.items():
            ahead.variables[name] = back.variables[name]
            assert variable.shape == back.variables[name].shape
        return [*outputs, ahead(pg.flip(x, 1))]

    np.testing.assert_allclose(*results(build), rtol=1e-6)


@pytest.mark.parametrize("mode", ["concat", "sum", "mul", "ave", None])
def test_bidirectional_merges_two_directions(mode: str | None) -> None:
    merged: dict[str | None, Callable[[Array, Array], Any]] = {
        "concat": lambda a, b: np.concatenate([a, b], -1),
        "sum": np.add,
        "mul": np.multiply,
        "ave": lambda a, b: (a + b) / 2,
        None: lambda a, b: [a, b],
    }

    def build(x: pg.Tensor) -> Any:
        both = nn.Bidirectional(nn.LSTM(UNITS, return_sequences=True, return_state=True), mode)
        ys = both(x)
        alone = nn.LSTM(UNITS, return_sequences=True)
        alone(x)
        single = []
        for part, source in (("forward", x), ("backward", pg.flip(x, 1))):
            for name in alone.variables:
                alone.variables[name] = both.variables[f"{part}/{name}"]
            single.append(alone(source))
        return ys, single

    ys, (ahead, back) = results(build)
    expected = merged[mode](ahead, back[:, ::-1])
    outputs = ys[:2] if mode is None else ys[0]
    np.testing.assert_allclose(outputs, expected, rtol=1e-6)
    states = ys[-4:]
    np.testing.assert_allclose(states[0], ahead[:, -1], rtol=1e-6)
    np.testing.assert_allclose(states[2], back[:, -1], rtol=1e-6)


@pytest.mark.parametrize("device", GPU_BY_NIGHT)
def test_stateful_layers_go_on_where_the_last_batch_ended(device: str) -> None:
    def model(stateful: bool, steps: int) -> pg.Sequential:
        made = pg.Sequential(
            [
                pg.Input((steps, 2), batch_size=3),
                nn.LSTM(UNITS, stateful=stateful, return_sequences=True),
                nn.Bidirectional(nn.GRU(2, stateful=stateful)),
            ]
        )
        made.compile("sgd", "mse", device=device)
        return made

    halves, plain = model(True, 2), model(False, 2)
    first = halves.predict(X[:, :2])
    np.testing.assert_allclose(first, plain.predict(X[:, :2]), rtol=1e-5)
    second = halves.predict(X[:, 2:4])
    assert not np.allclose(second, plain.predict(X[:, 2:4]))
    halves.reset_states()
    np.testing.assert_allclose(halves.predict(X[:, :2]), first, rtol=1e-5)
    np.testing.assert_allclose(halves.predict(X[:, 2:4]), second, rtol=1e-5)
    before = halves.named_weights()
    halves.train_on_batch(X[:, :2], np.zeros((3, 4), np.float32))
    after = halves.named_weights()
    assert all((before[name] != after[name]).any() for name in before)
    assert not halves.layers[0].variables["state_0"].trainable


def test_dropout_is_the_same_in_all_steps() -> None:
    ones = np.ones((2, 3, 50), np.float32)

    def build(x: pg.Tensor) -> Any:
        layer = nn.SimpleRNN(
            50,
            None,
            kernel_initializer="identity",
            recurrent_initializer="zeros",
            dropout=0.5,
            return_sequences=True,
        )
        forgets = nn.SimpleRNN(
            50, None, recurrent_initializer="identity", kernel_initializer="identity",
            recurrent_dropout=0.5, return_sequences=True,
        )  # fmt: skip
        return layer(x, training=True), layer(x), forgets(x, training=True)

    dropped, plain, forgotten = results(build, ones)
    assert set(np.unique(dropped)) == {0, 2}
    np.testing.assert_array_equal(dropped[:, :1].repeat(3, 1), dropped)
    assert (dropped[0] != dropped[1]).any()
    np.testing.assert_array_equal(plain, ones)
    # h = 1 + h * mask, where the mask is 0 or 2 and the same in all steps.
    assert {tuple(row) for row in forgotten.transpose(0, 2, 1).reshape(-1, 3)} == {
        (1, 1, 1),
        (1, 3, 7),
    }


def test_custom_activations_and_reset_before_match_formulas() -> None:
    def sigmoid(x: Array) -> Array:
        return 1 / (1 + np.exp(-x))

    def build(x: pg.Tensor) -> Any:
        gru = nn.GRU(UNITS, reset_after=False, bias_initializer="normal")
        lstm = nn.LSTM(UNITS, pg.tanh, "sigmoid")
        fused = nn.LSTM(UNITS)
        fused(x)
        y = lstm(x)
        fused.variables.update(lstm.variables)
        return gru(x), [*gru.variables.values()], y, fused(x)

    y, (kernel, recurrent, bias), composed, fused = results(build)
    h = np.zeros((3, UNITS))
    for t in range(5):
        z, r, n = np.split(X[:, t] @ kernel + bias, 3, axis=1)
        uz, ur, un = np.split(recurrent, 3, axis=1)
        update, reset = sigmoid(z + h @ uz), sigmoid(r + h @ ur)
        h = update * h + (1 - update) * np.tanh(n + (reset * h) @ un)
    np.testing.assert_allclose(y, h, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(composed, fused, rtol=1e-5, atol=1e-6)


def test_an_lstm_has_a_forget_bias_and_regularizers() -> None:
    model = pg.Sequential(
        [pg.Input((5, 2)), nn.LSTM(UNITS, recurrent_regularizer=nn.L2(0.5), unroll=True)]
    )
    model.compile("sgd", "mse", device="cpu")
    weights = model.named_weights()
    np.testing.assert_array_equal(weights["lstm_1/bias"].reshape(4, -1)[:, 0], [0, 1, 0, 0])
    product = weights["lstm_1/recurrent_kernel"] @ weights["lstm_1/recurrent_kernel"].T
    np.testing.assert_allclose(product, np.eye(UNITS), atol=1e-5)  # orthogonal
    y = model.predict(X)
    np.testing.assert_allclose(model.evaluate(X, y), 0.5 * UNITS, rtol=1e-5)


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: nn.LSTM(2, kernel_constraint="x"), pg.GraphError, "no constraint 'x'"),
        (lambda: nn.GRU(2, use_cudnn=True), pg.UnsupportedOpError, "use_cudnn=True"),
        (lambda: nn.LSTM(2, dropout=1.0), pg.ShapeError, "dropout must be below 1"),
        (lambda: nn.LSTM(2)(pg.Input((3,))), pg.ShapeError, r"\(batch, steps, features\)"),
        (lambda: nn.LSTM(2)(pg.Input((3, None))), pg.ShapeError, "needs to know dimension 2"),
        (lambda: nn.GRU(2, stateful=True)(pg.Input((3, 1))), pg.ShapeError, "batch_size="),
        (
            lambda: nn.LSTM(2)(pg.Input((3, 1)), initial_state=pg.Input((2,))),
            pg.GraphError,
            "takes 2 initial states, got 1",
        ),
        (
            lambda: nn.GRU(2)(pg.Input((3, 1)), initial_state=pg.Input((4,))),
            pg.ShapeError,
            r"must have the shape \(batch, 2\)",
        ),
        (
            lambda: nn.GRU(2)(pg.Input((3, 1)), mask=pg.Input((4,), dtype="bool")),
            pg.ShapeError,
            "must be bool of shape",
        ),
        (lambda: nn.Bidirectional(nn.Dense(2)), pg.GraphError, "takes LSTM, GRU or SimpleRNN"),
        (lambda: nn.Bidirectional(nn.GRU(2), "max"), pg.GraphError, "merge_mode must be one of"),
        (
            lambda: nn.Bidirectional(nn.GRU(2), backward_layer=nn.GRU(2)),
            pg.GraphError,
            "in the same direction",
        ),
        (lambda: nn.TimeDistributed(3), pg.GraphError, "takes a layer, got int"),
        (
            lambda: pg.Sequential([pg.Input((3, 1)), nn.LSTM(2, return_state=True)]),
            pg.GraphError,
            "has several results",
        ),
    ],
)
def test_invalid_arguments_are_refused(
    build: Callable[[], Any], error: type[pg.PlaygradError], words: str
) -> None:
    with pg.Graph().as_default(), pytest.raises(error, match=words):
        build()
