"""The characters that a model of text expects next, as the page asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.page.questions.next_tokens_view import MOST_TOKENS, TOP, next_tokens_view
from tests.page.answers import check_answer
from tests.page.python_side import python_side
from tests.page.test_text_view import (
    LENGTH,
    TEXT,
    attention,
    last_only,
    one_hot,
    recurrent,
    trained,
    with_softmax,
)

pytestmark = pytest.mark.usefixtures("new_graph")
Array = np.ndarray[Any, Any]


def ask(
    model: Any, text: str | None = None, sample: int = 0, temperature: float = 1
) -> dict[str, Any]:
    """Return the view of a model, which has the fields that the page knows."""
    request = {"text": text, "sample": sample, "temperature": temperature}
    view = check_answer("next_tokens", next_tokens_view(model, request))
    return view


@pytest.mark.parametrize("words", [False, True], ids=["characters", "words"])
@pytest.mark.parametrize("make", [attention, recurrent, with_softmax, last_only, one_hot])
def test_next_tokens_are_shown_for_a_sample_and_for_a_text(
    make: Callable[[int], pg.Model], words: bool
) -> None:
    vocabulary = pg.data.Vocabulary(TEXT, words=words)
    model = trained(make, vocabulary)
    codes = vocabulary.encode(TEXT * 2)
    gap = " " if words else ""
    for text, sample, temperature in ((None, 3, 1.0), ((TEXT * 2)[4:46], 0, 0.3)):
        view = ask(model, text, sample, temperature)
        expected_codes = codes[3 : 3 + LENGTH + 1] if text is None else vocabulary.encode(text)
        assert view["tokens"] == [vocabulary.tokens[code] for code in expected_codes]
        assert view["text"] == (gap.join(view["tokens"]) if text is None else text)
        assert view["sample"]["number"] == sample and view["unit"] == vocabulary.unit
        assert view["total"] == len(expected_codes)
        assert (view["least"], view["length"]) == (LENGTH if make is last_only else 1, LENGTH)
        seen = pg.inspect(model).next_tokens(expected_codes, TOP, temperature)
        assert [each["position"] for each in view["predictions"]] == seen.positions.tolist()
        for row, each in enumerate(view["predictions"]):
            top = [(vocabulary.tokens[k], seen.probabilities[row, k]) for k in seen.top[row]]
            assert [(e["token"], e["chance"]) for e in each["top"]] == top
            came = expected_codes[each["position"] + 1 :].tolist()
            if not came:
                assert each["came"] is None
                continue
            assert each["came"] == {
                "token": vocabulary.tokens[came[0]],
                "chance": seen.probabilities[row, came[0]],
                "rank": seen.ranks[row],
            }
        assert view["perplexity"] == pytest.approx(seen.perplexity)
        assert view["problem"] is None


def test_a_surprise_at_temperature_0_has_no_perplexity() -> None:
    vocabulary = pg.data.Vocabulary(TEXT)
    view = ask(trained(recurrent, vocabulary), "tttttt", temperature=0)
    assert view["perplexity"] is None
    assert {each["top"][0]["chance"] for each in view["predictions"]} == {1.0}


def test_long_texts_are_cut_and_one_token_has_nothing_to_compare() -> None:
    vocabulary = pg.data.Vocabulary(TEXT)
    model = trained(recurrent, vocabulary)
    view = ask(model, TEXT * 6)
    assert len(view["tokens"]) == len(view["predictions"]) == MOST_TOKENS
    assert view["total"] == 6 * len(TEXT)
    (only,) = ask(model, "t")["predictions"]
    assert only["came"] is None and len(only["top"]) == TOP


def test_a_text_that_does_not_fit_is_kept_with_the_reason() -> None:
    vocabulary = pg.data.Vocabulary(TEXT)
    model = trained(last_only, vocabulary)
    for text, words in (("", "empty"), ("Zoo", "the character 'Z'"), ("the", "the prompt has 3")):
        view = ask(model, text)
        assert words in view["problem"] and view["text"] == text
        assert view["tokens"] == view["predictions"] == []


def test_an_empty_view_gives_its_reason() -> None:
    x = np.random.default_rng(0).normal(size=(16, 4)).astype(np.float32)
    model = pg.Sequential([nn.Dense(2)])
    model.compile(pg.optim.Adam(0.01), "mse", device="cpu")
    model.fit(x, x[:, :2], batch_size=8, epochs=1, verbose=0)
    assert ask(model)["reason"] == "text"


PROGRAM = f"""
import playgrad as pg
from playgrad import nn
vocabulary = pg.data.Vocabulary({TEXT!r})
x, y = vocabulary.windows({TEXT!r}, {LENGTH})
model = pg.Sequential([pg.Input(({LENGTH},), dtype="int32"), nn.Embedding(len(vocabulary), 8),
                       nn.GRU(12, return_sequences=True), nn.Dense(len(vocabulary))])
loss = nn.SparseCategoricalCrossentropy(from_logits=True)
model.compile(pg.optim.Adam(0.02), loss, device="cpu")
model.fit(x, y, batch_size=16, epochs=3, verbose=0)
"""


def test_the_view_answers_in_training_at_earlier_steps_and_after_reload() -> None:
    fields = {"text": None, "sample": 2, "temperature": 1}
    with python_side() as side:
        assert side.run(PROGRAM) == "done"
        weights = side.ask("export", format="npz")["answer"]["sha256"]
        first = bytes(side.of("checkpoint")[0]["bytes"])
        now = side.ask("next_tokens", **fields)["answer"]
        then = side.ask("next_tokens", payload=first, **fields)["answer"]
        assert now["tokens"] == then["tokens"] == list(TEXT[2 : 2 + LENGTH + 1])
        assert now["perplexity"] < then["perplexity"]
        side.events.clear()
        assert side.run(PROGRAM, {"kind": "next_tokens", "id": 99, **fields}) == "done"
        (early,) = [event for event in side.of("reply") if event["id"] == 99]
        assert early["answer"]["perplexity"] > now["perplexity"]
        assert side.ask("export", format="npz")["answer"]["sha256"] == weights
        content = side.checkpoint
        side.requests += [{"kind": "reset"}]
        side.serve()
        side.ask("restore", payload=content)
        assert side.ask("next_tokens", **fields)["answer"]["reason"] == "restored"
