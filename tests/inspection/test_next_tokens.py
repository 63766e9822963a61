"""The next tokens: a softmax of the model's predictions, window by window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.graph.graph import reset_default_graph
from playgrad.inspection import next_tokens as module

Array = np.ndarray[Any, Any]
EXAMPLES = Path(__file__).parents[2] / "static" / "examples"
TEXT = "the cat sat on the mat, and the rat sat on the cat. "
LENGTH = 6


@pytest.fixture(autouse=True)
def new_graph() -> Iterator[None]:
    yield
    reset_default_graph()


def attention(tokens: int) -> pg.Model:
    codes = pg.Input((LENGTH,), dtype="int32")
    x = nn.Embedding(tokens, 8)(codes)
    x = nn.Add()([x, nn.PositionEmbedding(LENGTH)(x)])
    return pg.Model(codes, nn.Dense(tokens)(nn.TransformerDecoder(16, 2)(x)))


def of_layers(*layers: nn.Layer, shape: tuple[int, ...] = (LENGTH,)) -> pg.Model:
    return pg.Sequential([pg.Input(shape, dtype="float32" if shape[1:] else "int32"), *layers])


def recurrent(tokens: int) -> pg.Model:
    layer = nn.GRU(12, return_sequences=True)
    return of_layers(nn.Embedding(tokens, 8), layer, nn.Dense(tokens))


def with_softmax(tokens: int) -> pg.Model:
    layers = [nn.Embedding(tokens, 8), nn.SimpleRNN(12, return_sequences=True)]
    return of_layers(*layers, nn.Dense(tokens, activation="softmax"))


def last_only(tokens: int) -> pg.Model:
    return of_layers(nn.Embedding(tokens, 8), nn.LSTM(12), nn.Dense(tokens))


def one_hot(tokens: int) -> pg.Model:
    layer = nn.LSTM(12, return_sequences=True)
    return of_layers(layer, nn.Dense(tokens), shape=(LENGTH, tokens))


def sharpened(model: pg.Model) -> pg.Model:
    """Give a model that was not trained opinions."""
    random = np.random.default_rng(3)
    model.compile(loss="mse", device="cpu")
    weights = model.named_weights()
    model.set_weights(
        {k: 2 * random.standard_normal(v.shape, np.float32) for k, v in weights.items()}
    )
    return model


def by_hand(model: pg.Model, codes: Array, temperature: float, last_only: bool) -> Array:
    """Return the probabilities after each position, from a window for each."""
    inputs, lasts = [], []
    for end in range(LENGTH if last_only else 1, len(codes) + 1):
        seen = codes[max(end - LENGTH, 0) : end]
        inputs.append(np.pad(seen, (0, LENGTH - len(seen))))
        lasts.append(len(seen) - 1)
    x: Array = np.stack(inputs)
    if len(model.input_shape) == 3:
        x = np.eye(model.output_shape[-1] or 0, dtype=np.float32)[x]
    outputs = model.predict(x, verbose=0).astype(np.float64)
    if not last_only:
        outputs = outputs[np.arange(len(x)), lasts]
    if model.outputs[0].node.op.name == "softmax":
        outputs = np.log(outputs)
    powers = np.exp((outputs - outputs.max(axis=1, keepdims=True)) / temperature)
    chances: Array = powers / powers.sum(axis=1, keepdims=True)
    return chances


@pytest.mark.parametrize("words", [False, True], ids=["characters", "words"])
@pytest.mark.parametrize("make", [attention, recurrent, with_softmax, last_only, one_hot])
def test_probabilities_are_a_softmax_of_predictions(
    make: Callable[[int], pg.Model], words: bool
) -> None:
    vocabulary = pg.data.Vocabulary(TEXT, words=words)
    model = sharpened(make(len(vocabulary)))
    codes = vocabulary.encode(TEXT)
    before = model.named_weights()
    for text, temperature in ((codes, 1.0), (codes[:LENGTH], 0.4), (codes[: LENGTH + 1], 2.0)):
        seen = pg.inspect(model).next_tokens(text, 3, temperature)
        expected = by_hand(model, text, temperature, make is last_only)
        np.testing.assert_allclose(seen.probabilities, expected, rtol=2e-4, atol=1e-7)
        first = LENGTH - 1 if make is last_only else 0
        assert seen.positions.tolist() == list(range(first, len(text)))
        assert seen.actual.tolist() == [*text[first + 1 :].tolist(), -1]
        for row, chances in enumerate(seen.probabilities):
            assert (np.diff(chances[seen.top[row]]) <= 0).all()
            assert chances[seen.top[row][-1]] >= np.sort(chances)[-3]
            if (came := seen.actual[row]) >= 0:
                rank = 1 + (chances > chances[came]).sum()
                assert rank <= seen.ranks[row] <= rank - 1 + (chances == chances[came]).sum()
        assert seen.ranks[-1] == 0
        came = seen.probabilities[np.arange(len(expected) - 1), seen.actual[:-1]]
        assert seen.actual_probabilities.tolist() == came.tolist()
        if len(came):
            assert seen.perplexity == pytest.approx(np.exp(-np.log(came).mean()))
    after = model.named_weights()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_generate_chooses_by_these_probabilities() -> None:
    vocabulary = pg.data.Vocabulary(TEXT)
    model = sharpened(attention(len(vocabulary)))
    written = pg.generate(model, vocabulary.encode(TEXT[:3]), 12, temperature=0)
    seen = pg.inspect(model).next_tokens(written, temperature=0)
    assert (seen.ranks[2:-1] == 1).all()
    assert (seen.actual_probabilities[2:] == 1).all()
    assert (seen.probabilities.sum(axis=1) == 1).all()


def test_long_sequences_of_large_models_are_computed_in_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vocabulary = pg.data.Vocabulary(TEXT)
    model = sharpened(recurrent(len(vocabulary)))
    whole = pg.inspect(model).next_tokens(TEXT, vocabulary=vocabulary)
    monkeypatch.setattr(module, "MOST_SCORES", 3 * LENGTH * len(vocabulary))
    parts = pg.inspect(model).next_tokens(TEXT, vocabulary=vocabulary)
    # Sums of other batch sizes are rounded otherwise, which logits of +-30 make larger.
    np.testing.assert_allclose(parts.probabilities, whole.probabilities, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("example", ["character-transformer", "character-gru"])
def test_trained_examples_predict_their_rhyme(example: str) -> None:
    source = (EXAMPLES / f"{example}.py").read_text(encoding="utf-8")
    program: dict[str, Any] = {"__name__": "example"}
    source = source[: source.index('print(f"accuracy')]
    source = source.replace("model.compile(", "model.compile(device='cpu', ")
    exec(compile(source, example, "exec"), program)
    model, x, y, vocabulary = (program[name] for name in ("model", "x", "y", "vocabulary"))
    right = 0
    outputs = model.predict(x, verbose=0).astype(np.float64)
    for row in range(0, len(x), 20):
        seen = pg.inspect(model).next_tokens([*x[row], y[row, -1]])
        powers = np.exp(outputs[row] - outputs[row].max(axis=-1, keepdims=True))
        expected = powers / powers.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(seen.probabilities[:16], expected, rtol=1e-4, atol=1e-7)
        assert seen.actual[:16].tolist() == y[row].tolist()
        right += int((seen.ranks[8:16] == 1).sum())
    assert right > 0.9 * 8 * len(range(0, len(x), 20))
    text = str(pg.inspect(model).next_tokens(program["TEXT"][:17], 2, vocabulary=vocabulary))
    lines = text.splitlines()
    assert " ".join(lines[0].split()) == "position token next probability rank most probable"
    assert len(lines) == 2 + 17 and lines[2 + 15].split()[:2] == ["15", program["TEXT"][15]]


def test_a_silenced_network_expects_everything_alike() -> None:
    vocabulary = pg.data.Vocabulary(TEXT)
    model = recurrent(len(vocabulary))
    quiet = pg.inspect(model).silenced({"dense_1": range(len(vocabulary))})
    seen = quiet.next_tokens(TEXT[:9], vocabulary=vocabulary)
    np.testing.assert_allclose(seen.probabilities, 1 / len(vocabulary))
    assert seen.perplexity == pytest.approx(len(vocabulary))


def test_unsuitable_texts_and_models_are_refused() -> None:
    vocabulary = pg.data.Vocabulary(TEXT)
    look = pg.inspect(recurrent(len(vocabulary)))
    with pytest.raises(pg.DataError, match="does not have the character 'Z'"):
        look.next_tokens("Zoo", vocabulary=vocabulary)
    with pytest.raises(pg.DataError, match="a text needs the vocabulary of its tokens"):
        look.next_tokens("the")
    with pytest.raises(pg.DataError, match="is empty"):
        look.next_tokens([])
    with pytest.raises(pg.DataError, match=f"from 0 to {len(vocabulary) - 1}, but there is 99"):
        look.next_tokens([1, 99])
    with pytest.raises(pg.DataError, match="tokens are whole numbers, got float64"):
        look.next_tokens([0.5])
    with pytest.raises(pg.ShapeError, match="one sequence of whole numbers"):
        look.next_tokens([[1, 2]])
    with pytest.raises(pg.DataError, match="temperature must be at least 0, got -1"):
        look.next_tokens([1], temperature=-1)
    with pytest.raises(pg.DataError, match="top_k must be at least 1, got 0"):
        look.next_tokens([1], top_k=0)
    with pytest.raises(pg.ShapeError, match="but the vocabulary has 2"):
        look.next_tokens([1], vocabulary=pg.data.Vocabulary("ab"))
    with pytest.raises(pg.ShapeError, match="from the 6 before it, but the prompt has 2"):
        pg.inspect(last_only(5)).next_tokens([1, 2])
    x = pg.Input((4,))
    with pytest.raises(pg.ShapeError, match=r"next_tokens\(\) needs a model from"):
        pg.inspect(pg.Model(x, nn.Dense(3)(x))).next_tokens([1])
