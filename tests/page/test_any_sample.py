"""Any sample of the data can be shown, by its number in the program's arrays."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.page.node_view import NodeViews
from playgrad.page.questions.layers_view import layers_view
from playgrad.page.questions.sample_views import sample_view, samples_view
from playgrad.runtime.options import Options, options_set
from tests.page.answers import check_answer

pytestmark = pytest.mark.usefixtures("new_graph")
Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(7)
X, X_TEST = (RNG.normal(size=(size, 6)) for size in (300, 4001))  # float64: fit makes copies
Y, Y_TEST = ((x[:, 0] > x[:, 1]).astype(np.int32) for x in (X, X_TEST))


@pytest.fixture(scope="module")
def keeping() -> Iterator[None]:
    with options_set(Options(keeps_data=True)):
        yield


def trained(**fit: Any) -> Any:
    model = pg.Sequential([nn.Dense(5, activation="tanh"), nn.Dense(2)])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.02), loss, metrics=["accuracy"], device="cpu")
    model.fit(X, Y, batch_size=50, epochs=1, verbose=0, **fit)
    return model


@pytest.mark.usefixtures("keeping")
@pytest.mark.parametrize("number", [0, 1, 3, 2718, 4000])
def test_views_show_the_sample_of_the_requested_number(number: int) -> None:
    model = trained(validation_data=(X_TEST, Y_TEST))
    sample = X_TEST[number : number + 1].astype(np.float32)
    question = {"layer": "dense_1", "sample": number, "pixels": None, "edits": [], "scaled": []}
    view = check_answer("inspect_layers", layers_view(model, question))
    assert (view["sample"]["number"], view["sample"]["count"]) == (number, 4001)
    assert np.array_equal(np.frombuffer(view["sample"]["values"], "<f4"), sample[0])
    assert view["sample"]["target"] == Y_TEST[number]
    hidden = pg.inspect(model).activations(sample)["dense_1"][0]
    assert np.allclose(np.frombuffer(view["result"]["values"], "<f4"), hidden, rtol=1e-5)

    one = check_answer("one_sample", sample_view(model, {"number": number}))
    assert one["sample"] == {"number": number, "count": 4001, "tested": True}
    assert np.array_equal(np.frombuffer(one["data"]["rows"]["values"], "<f4"), sample[0])
    assert np.frombuffer(one["data"]["numbers"], "<i4") == [number]
    scores = model.predict(sample)[0]
    loss = np.log(np.exp(scores).sum()) - scores[Y_TEST[number]]
    assert np.frombuffer(one["losses"], "<f4") == pytest.approx(loss, abs=1e-5)
    assert np.frombuffer(one["predicted"], "<f4") == scores.argmax()


@pytest.mark.usefixtures("keeping")
def test_the_excerpt_has_the_sample_numbers_of_the_data() -> None:
    model = trained(validation_data=(X_TEST, Y_TEST))
    data = samples_view(model, {"known": 0})["data"]
    numbers = np.frombuffer(data["numbers"], "<i4")
    rows = np.frombuffer(data["rows"]["values"], "<f4").reshape(1000, 6)
    assert np.array_equal(rows, X_TEST[numbers].astype(np.float32))


@pytest.mark.usefixtures("keeping")
def test_training_samples_are_shown_without_test_data() -> None:
    split = trained(validation_split=0.5)
    one = sample_view(split, {"number": 149})
    assert one["sample"] == {"number": 149, "count": 150, "tested": True}
    assert np.frombuffer(one["data"]["rows"]["values"], "<f4") == pytest.approx(X[299])
    one = sample_view(trained(), {"number": 299})
    assert one["sample"] == {"number": 299, "count": 300, "tested": False}
    assert np.frombuffer(one["data"]["rows"]["values"], "<f4") == pytest.approx(X[299])


@pytest.mark.usefixtures("keeping")
def test_a_node_has_a_value_for_a_test_sample() -> None:
    model, views = trained(validation_data=(X_TEST, Y_TEST)), NodeViews()
    question = {"output": 0, "part": "value"}
    for number in (0, 3333):
        sample = X_TEST[number : number + 1].astype(np.float32)
        hidden = pg.inspect(model).activations(sample)["dense_1"]
        node = question | {"name": "dense_1/tanh_1", "sample": {"test": number}}
        view = views.view(model, [], node)
        assert view["problem"] is None
        assert (view["samples"], view["test_samples"]) == (300, 4001)
        assert view["summary"]["statistics"]["max"] == pytest.approx(hidden.max(), rel=1e-5)
        assert view["summary"]["statistics"]["min"] == pytest.approx(hidden.min(), rel=1e-5)
        target = question | {"name": "train/y", "sample": {"test": number}}
        assert views.view(model, [], target)["summary"]["statistics"]["max"] == Y_TEST[number]
    beyond = question | {"name": "train/x", "sample": {"test": 4001}}
    assert views.view(model, [], beyond)["problem"]["code"] == "no_sample"
    views.clear()


@pytest.mark.gpu
@pytest.mark.parametrize("keeps", [True, False])
def test_a_model_keeps_its_data_only_if_the_host_asks_for_it(keeps: bool) -> None:
    x = X.astype(np.float32)
    held = weakref.ref(x)
    with options_set(Options(keeps_data=keeps)):
        model = pg.Sequential([nn.Dense(2)])
        model.compile("sgd", nn.SparseCategoricalCrossentropy(from_logits=True), device="gpu")
        model.fit(x, Y, epochs=1, verbose=0)
    del x
    gc.collect()
    assert (held() is not None) == keeps
    assert model.train_excerpt is not None and model.train_excerpt.count == 300
