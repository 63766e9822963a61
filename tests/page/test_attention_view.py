"""The weights of attention for one sample, as the page asks for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.page.questions.attention_view import MOST_HEADS, MOST_POSITIONS, attention_view
from tests.page.answers import check_answer
from tests.page.python_side import python_side

pytestmark = pytest.mark.usefixtures("new_graph")
Array = np.ndarray[Any, Any]
LOGITS = nn.SparseCategoricalCrossentropy(from_logits=True)
TEXT = "the cat sat on the mat. the dog sat on the log."
LENGTH, WIDTH = 8, 8


def ask(model: Any, sample: int = 0, layer: str = "") -> dict[str, Any]:
    """Return the view of a model, which has the fields that the page knows."""
    view = check_answer("attention", attention_view(model, {"sample": sample, "layer": layer}))
    return view


def maps(view: dict[str, Any]) -> Array:
    shape = view["heads"], view["queries"], view["keys"]
    return np.frombuffer(view["weights"], "<f4").reshape(shape)


def fitted(model: Any, x: Array, y: Array, loss: Any = LOGITS) -> Any:
    model.compile(pg.optim.Adam(0.01), loss, device="cpu")
    model.fit(x, y, batch_size=8, epochs=1, verbose=0)
    return model


def writer(tokens: int) -> pg.Sequential:
    blocks = [nn.TransformerDecoder(16, heads) for heads in (2, 4)]
    return pg.Sequential([nn.Embedding(tokens, WIDTH), *blocks, nn.Dense(tokens)])


def test_a_sample_is_shown_with_tokens_and_attention_weights() -> None:
    vocabulary = pg.data.Vocabulary(TEXT)
    x, y = vocabulary.windows(TEXT, LENGTH)
    model = fitted(writer(len(vocabulary)), x, y)
    expected = pg.inspect(model).attention(x)
    names = ["transformer_decoder_1", "transformer_decoder_2"]
    for name, heads in zip(names, (2, 4), strict=True):
        view = ask(model, 3, name)
        assert view["layer"] == name and view["heads"] == heads
        assert [(each["name"], each["heads"]) for each in view["layers"]] == [
            (names[0], 2),
            (names[1], 4),
        ]
        np.testing.assert_allclose(maps(view), expected[name][3], rtol=1e-5, atol=1e-7)
        assert (maps(view) * ~np.tri(LENGTH, dtype=bool) == 0).all()
        assert view["query_tokens"] == view["key_tokens"] == list(TEXT[3 : 3 + LENGTH])
        assert view["sample"] == {"number": 3, "count": len(x), "tested": False}
    assert ask(model, 3, "of another run")["layer"] == names[0]
    assert ask(model, len(x) + 2)["sample"]["number"] == 2


def test_words_and_one_hot_tokens_are_decoded() -> None:
    words = pg.data.Vocabulary(TEXT, words=True)
    x, y = words.windows(TEXT, 4)
    model = fitted(writer(len(words)), x, y)
    assert ask(model, 1)["key_tokens"] == TEXT.split()[1:5]
    one_hot = np.eye(len(words), dtype=np.float32)[x]
    layers = [nn.Dense(WIDTH), nn.MultiHeadAttention(2, causal=True), nn.Dense(len(words))]
    model = fitted(pg.Sequential(layers), one_hot, y)
    assert ask(model, 1)["query_tokens"] == TEXT.split()[1:5]


def test_positions_without_tokens_have_no_words() -> None:
    images = np.random.default_rng(0).normal(size=(20, 6, 4)).astype(np.float32)
    model = fitted(
        pg.Sequential([nn.TransformerEncoder(8, 2), nn.GlobalAveragePooling1D(), nn.Dense(2)]),
        images,
        (images[:, 0, 0] > 0).astype(np.int32),
    )
    view = ask(model)
    assert (view["query_tokens"], view["key_tokens"]) == (None, None)
    assert np.allclose(maps(view).sum(axis=-1), 1, atol=1e-6)


def test_large_attention_maps_are_truncated() -> None:
    heads, length = MOST_HEADS + 2, MOST_POSITIONS + 9
    x = np.random.default_rng(0).normal(size=(4, length, heads)).astype(np.float32)
    model = fitted(
        pg.Sequential([nn.MultiHeadAttention(heads), nn.GlobalAveragePooling1D(), nn.Dense(2)]),
        x,
        np.array([0, 1, 0, 1], np.int32),
    )
    view = ask(model, 1)
    assert view["total"] == {"heads": heads, "queries": length, "keys": length}
    (expected,) = pg.inspect(model).attention(x[1:2]).values()
    shown = expected[0, :MOST_HEADS, :MOST_POSITIONS, :MOST_POSITIONS]
    np.testing.assert_allclose(maps(view), shown, rtol=1e-5, atol=1e-7)


def test_an_empty_view_gives_its_reason() -> None:
    x = np.random.default_rng(0).normal(size=(16, 5, 4)).astype(np.float32)
    plain = fitted(pg.Sequential([nn.Flatten(), nn.Dense(2)]), x, (x[:, 0, 0] > 0).astype(np.int32))
    assert ask(plain)["reason"] == "attention"
    own, other = pg.Input((5, 4)), pg.Input((5, 4))
    two = pg.Model([own, other], nn.TransformerDecoder(8, 2)(own, other))
    assert ask(fitted(two, [x, x], x, "mse"))["reason"] == "data"


PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad import nn
x = np.random.default_rng(0).normal(size=(64, 5, 4)).astype(np.float32)
model = pg.Sequential([nn.MultiHeadAttention(2, dropout=0.1), nn.Flatten(), nn.Dense(1)])
model.compile(pg.optim.Adam(0.01), "mse", device="cpu")
model.fit(x, x[:, 0, :1], batch_size=16, epochs=3, verbose=0)
"""


def test_the_view_answers_in_training_at_earlier_steps_and_after_reload() -> None:
    fields = {"sample": 2, "layer": ""}
    with python_side() as side:
        assert side.run(PROGRAM) == "done"
        weights = side.ask("export", format="npz")["answer"]["sha256"]
        first = bytes(side.of("checkpoint")[0]["bytes"])
        now = side.ask("attention", **fields)["answer"]
        then = side.ask("attention", payload=first, **fields)["answer"]
        assert now["shows"] == then["shows"] == "maps" and now["weights"] != then["weights"]
        side.events.clear()
        assert side.run(PROGRAM, {"kind": "attention", "id": 99, **fields}) == "done"
        (early,) = [event for event in side.of("reply") if event["id"] == 99]
        assert early["answer"]["weights"] != now["weights"]
        assert side.ask("export", format="npz")["answer"]["sha256"] == weights
        content = side.checkpoint
        side.requests += [{"kind": "reset"}]
        side.serve()
        side.ask("restore", payload=content)
        assert side.ask("attention", **fields)["answer"]["reason"] == "restored"
