"""Text that a model writes while it learns: it is what `generate` returns, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.graph.graph import reset_default_graph
from playgrad.page.questions.task_view import task_view
from playgrad.runtime.hooks import Hooks, Request, set_hooks
from tests.page.answers import check_answer

pytestmark = pytest.mark.usefixtures("new_graph")
LOGITS = nn.SparseCategoricalCrossentropy(from_logits=True)
TEXT = "the cat sat on the mat, and the rat sat on the cat. "
LENGTH = 6
PATIENT = {"prompt": None, "temperature": 0.8, "seed": 3, "seconds": 1e9}


def view_of(model: Any, known: int = 0, **sample: Any) -> dict[str, Any]:
    """Return a view, which has the fields that the page knows."""
    asked = {"known": known, "sample": PATIENT | sample}
    view = check_answer("task_view", task_view(model, asked))
    return view


def attention(tokens: int) -> pg.Model:
    codes = pg.Input((LENGTH,), dtype="int32")
    x = nn.Embedding(tokens, 8)(codes)
    x = nn.Add()([x, nn.PositionEmbedding(LENGTH)(x)])
    return pg.Model(codes, nn.Dense(tokens)(nn.TransformerDecoder(16, 2)(x)))


def recurrent(tokens: int) -> pg.Model:
    layers = [nn.Embedding(tokens, 8), nn.GRU(12, return_sequences=True), nn.Dense(tokens)]
    return pg.Sequential([pg.Input((LENGTH,), dtype="int32"), *layers])


def with_softmax(tokens: int) -> pg.Model:
    layers = [nn.Embedding(tokens, 8), nn.GRU(12, return_sequences=True)]
    output = nn.Dense(tokens, activation="softmax")
    return pg.Sequential([pg.Input((LENGTH,), dtype="int32"), *layers, output])


def last_only(tokens: int) -> pg.Model:
    layers = [nn.Embedding(tokens, 8), nn.GRU(12), nn.Dense(tokens)]
    return pg.Sequential([pg.Input((LENGTH,), dtype="int32"), *layers])


def one_hot(tokens: int) -> pg.Model:
    layers = [nn.LSTM(12, return_sequences=True), nn.Dense(tokens)]
    return pg.Sequential([pg.Input((LENGTH, tokens)), *layers])


def trained(
    make: Callable[[int], pg.Model], vocabulary: pg.data.Vocabulary, hooks: Hooks | None = None
) -> pg.Model:
    x, y = vocabulary.windows(TEXT * 2, LENGTH)
    if make is last_only:
        y = y[:, -1]
    if make is one_hot:
        x = np.eye(len(vocabulary), dtype=np.float32)[x]
    model = make(len(vocabulary))
    loss = nn.SparseCategoricalCrossentropy() if make is with_softmax else LOGITS
    model.compile(pg.optim.Adam(0.02), loss, device="cpu")
    before = set_hooks(hooks or Hooks())
    try:
        model.fit(x, y, batch_size=16, epochs=4, verbose=0)
    finally:
        set_hooks(before)
    return model


@pytest.mark.parametrize("make", [attention, recurrent, with_softmax, last_only, one_hot])
def test_the_text_matches_generate(make: Callable[[int], pg.Model]) -> None:
    vocabulary = pg.data.Vocabulary(TEXT)
    model = trained(make, vocabulary)
    view = view_of(model)
    assert (view["shows"], view["problem"], view["prompt"]) == ("text", None, TEXT[:LENGTH])
    assert view["data"]["least"] == (LENGTH if make is last_only else 1)
    for prompt, temperature, seed in (("the cat", 0.8, 3), ("the cat sat", 0.0, 0)):
        view = view_of(model, prompt=prompt, temperature=temperature, seed=seed)
        codes = pg.generate(model, vocabulary.encode(prompt), 200, temperature, seed=seed)
        assert prompt + view["predicted"] == vocabulary.decode(codes)
        assert len(view["predicted"]) == 200


def test_the_expected_tokens_have_the_probabilities_of_predict() -> None:
    vocabulary = pg.data.Vocabulary(TEXT)
    for make in (recurrent, with_softmax):
        model = trained(make, vocabulary)
        outputs = model.predict(vocabulary.encode("the ca")[None])[0, -1].astype(np.float64)
        powers = np.exp(outputs - outputs.max())
        chances = outputs if make is with_softmax else powers / powers.sum()
        expected = view_of(model, prompt="the ca")["expected"]
        assert len(expected) == 6
        for each in expected:
            number = vocabulary.tokens.index(each["token"])
            assert each["chance"] == pytest.approx(chances[number], abs=1e-5)
        assert expected[0]["chance"] == pytest.approx(chances.max(), abs=1e-5)


def test_generation_stops_when_its_time_is_over() -> None:
    vocabulary = pg.data.Vocabulary(TEXT)
    model = trained(recurrent, vocabulary)
    short = view_of(model, seconds=0.0)["predicted"]
    assert len(short) == 1
    assert view_of(model)["predicted"].startswith(short)


@pytest.mark.parametrize(
    ("make", "prompt", "words"),
    [
        (recurrent, "Über", "The vocabulary does not have the characters 'b', 'Ü'"),
        (recurrent, "", "The prompt is empty. Give at least one token"),
        (last_only, "the", "6 before it, but the prompt has 3. Give at least 6"),
    ],
)
def test_an_unsuitable_prompt_is_explained(
    make: Callable[[int], pg.Model], prompt: str, words: str
) -> None:
    vocabulary = pg.data.Vocabulary(TEXT)
    view = view_of(trained(make, vocabulary), prompt=prompt)
    assert words in view["problem"]
    assert (view["prompt"], view["predicted"], view["expected"]) == (prompt, "", [])


def test_word_vocabularies_are_written_in_words() -> None:
    text = "a rose is a rose is a rose is a flower " * 4
    vocabulary = pg.data.Vocabulary(text, words=True)
    x, y = vocabulary.windows(text, LENGTH)
    model = recurrent(len(vocabulary))
    model.compile("adam", LOGITS, device="cpu")
    model.fit(x, y, verbose=0)
    view = view_of(model, prompt="a rose")
    codes = pg.generate(model, vocabulary.encode("a rose"), 50, 0.8, seed=3)
    assert view["prompt"] + view["predicted"] == vocabulary.decode(codes)


class Asking(Hooks):
    """Hooks that read the text after each chunk of steps."""

    def __init__(self) -> None:
        self.model: Any = None
        self.texts: list[str] = []

    def fitting(self, model: Any) -> None:
        self.model = model

    def poll(self) -> list[Request]:
        sample = PATIENT | {"temperature": 0}
        self.texts.append(task_view(self.model, {"known": 0, "sample": sample})["predicted"])
        return []


@pytest.mark.parametrize("make", [attention, recurrent])
def test_training_takes_the_same_course_while_the_model_writes(
    make: Callable[[int], pg.Model],
) -> None:
    vocabulary = pg.data.Vocabulary(TEXT)
    asking = Asking()
    weights = []
    for hooks in (Hooks(), asking):
        reset_default_graph()
        weights.append(trained(make, vocabulary, hooks).named_weights())
    assert len(set(asking.texts)) > 1
    for name, array in weights[0].items():
        assert np.array_equal(array, weights[1][name]), name


def test_text_needs_a_living_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    # Those of other tests may still be in memory.
    monkeypatch.setattr("playgrad.data.vocabulary._live", [])
    vocabulary = pg.data.Vocabulary(TEXT)
    model = trained(recurrent, vocabulary)
    del vocabulary
    assert view_of(model)["shows"] == "none"
    another = pg.data.Vocabulary("ab")
    assert view_of(model)["shows"] == "none"
    same = pg.data.Vocabulary(TEXT)
    assert view_of(model)["shows"] == "text" and len(another) < len(same)


def test_targets_other_than_next_tokens_show_no_text() -> None:
    vocabulary = pg.data.Vocabulary(TEXT)
    x, _ = vocabulary.windows(TEXT, LENGTH)
    model = recurrent(len(vocabulary))
    model.compile("adam", LOGITS, device="cpu")
    model.fit(x, x, verbose=0)  # to copy its input
    assert view_of(model)["shows"] == "none"
