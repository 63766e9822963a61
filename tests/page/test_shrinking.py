"""Smaller versions of the trained model, as the page asks for them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.page.answers import check_answer
from tests.page.python_side import PythonSide, python_side

PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.random.default_rng(0).uniform(-1, 1, size=(600, 2)).astype(np.float32)
y = (x[:, 0] * x[:, 1] > 0).astype(np.int32)
hidden = [nn.Dense(24, activation="relu") for _ in range(2)]
model = pg.Sequential([*hidden, nn.Dense(2)])
model.compile(
    optimizer=pg.optim.Adam(0.02),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x[:400], y[:400], batch_size=32, epochs=12, validation_data=(x[400:], y[400:]), verbose=0)
"""
SHRUNK: list[Any] = []
NUMBERS = """
import numpy as np
import playgrad as pg

x = np.random.default_rng(0).normal(size=(64, 3)).astype(np.float32)
model = pg.Sequential([pg.nn.Dense(8, activation="tanh"), pg.nn.Dense(1)])
model.compile(optimizer=pg.optim.Adam(0.02), loss="mse")
model.fit(x, x[:, :1] * 2, batch_size=16, epochs=4, verbose=0)
"""


def answer(side: PythonSide, kind: str, **fields: Any) -> Any:
    reply = side.ask(kind, **fields)
    assert reply["ok"], reply
    return check_answer(kind, reply["answer"])


def problem(side: PythonSide, kind: str, **fields: Any) -> str:
    reply = side.ask(kind, **fields)
    assert not reply["ok"]
    return str(reply["error"]["message"])


def shrink(side: PythonSide) -> dict[str, Any]:
    """Make all versions; return them by name."""
    begun = answer(side, "shrink_begin")
    points, pending = {}, begun["versions"]
    while pending:
        progress = answer(side, "shrink_next", seconds=60)
        assert progress["failure"] is None
        points[progress["point"]["name"]] = progress["point"]
        pending = progress["pending"]
    assert list(points) == begun["versions"]
    return points


@pytest.fixture(scope="module")
def side() -> Iterator[PythonSide]:
    with python_side() as side:
        yield side


@pytest.fixture
def shrunk(side: PythonSide) -> tuple[PythonSide, dict[str, Any]]:
    """All versions of the network of `PROGRAM`, which are made once."""
    if not SHRUNK or side.module.controller.shrinking is not SHRUNK[0]:
        assert side.run(PROGRAM) == "done"
        side.events.clear()
        points = shrink(side)
        assert {event["kind"] for event in side.events} == {"reply"}, "nothing of a run is sent"
        SHRUNK[:] = [side.module.controller.shrinking, points]
    return side, SHRUNK[1]


def test_versions_are_smaller_and_measured_on_the_test_data(
    shrunk: tuple[PythonSide, dict[str, Any]],
) -> None:
    _, points = shrunk
    original = points["original"]
    assert original["metric"] == "accuracy" and original["samples"] == 200
    assert original["value"] > 0.9
    for name, point in points.items():
        if name != "original":
            assert point["raw"] < original["raw"] and point["gzip"] < original["gzip"]
    assert points["int8"]["value"] == pytest.approx(original["value"], abs=0.03)


def test_a_report_adds_up(shrunk: tuple[PythonSide, dict[str, Any]]) -> None:
    side, points = shrunk
    report = answer(side, "shrink_report", name="int8")
    for part in ("raw", "gzip"):
        assert sum(layer["after"][part] for layer in report["layers"]) == report["after"][part]
    assert report["after"]["gzip"] == points["int8"]["gzip"]
    assert report["before"]["gzip"] == points["original"]["gzip"]
    assert report["before"]["multiply_adds"] == 2 * 24 + 24 * 24 + 24 * 2
    assert report["before"]["seconds"] > 0 and report["after"]["seconds"] > 0
    ratios = {each["name"]: each["signal_to_noise"] for each in report["layers"]}
    assert ratios["dense_1"] > 20
    assert problem(side, "shrink_report", name="int3").startswith("there is no smaller network")


def test_the_chosen_version_answers_in_place_of_the_model(
    shrunk: tuple[PythonSide, dict[str, Any]],
) -> None:
    side, _ = shrunk
    x = [[0.3, -0.4], [0.8, 0.1]]

    def outputs() -> Any:
        return np.frombuffer(answer(side, "outputs", x=x), "<f4")

    exact, plane = outputs(), answer(side, "task_view", known=0)
    answer(side, "shrink_choose", name="int4")
    coarse, coarse_plane = outputs(), answer(side, "task_view", known=plane["version"])
    assert np.abs(coarse - exact).max() > 1e-3
    assert coarse_plane["shows"] == "plane" and "data" not in coarse_plane
    assert coarse_plane["outputs"] != plane["outputs"]
    answer(side, "shrink_choose", name=None)
    np.testing.assert_array_equal(outputs(), exact)
    assert "there is no smaller network 'none'" in problem(side, "shrink_choose", name="none")


def test_a_version_is_exported_in_each_format_of_its_report(
    shrunk: tuple[PythonSide, dict[str, Any]],
) -> None:
    side, points = shrunk
    starts = {"npz": b"PK", "c": b"PK", "onnx": b"\x08"}
    for name in points:
        formats = answer(side, "shrink_report", name=name)["formats"] if name != "original" else []
        for each in formats:
            file = answer(side, "shrink_export", name=name, format=each)
            content = bytes(file["bytes"])
            assert file["filename"].startswith(f"model-{name}.")
            assert file["sha256"] == hashlib.sha256(content).hexdigest()
            assert content.startswith(starts.get(each, b"")), each
            if each == "tflite":
                assert content[4:8] == b"TFL3"
    whole = answer(side, "export", format="safetensors")
    packed = answer(side, "shrink_export", name="sparsity-95", format="safetensors")
    assert len(packed["bytes"]) < len(whole["bytes"]) - 1000, "only weights other than 0 are stored"


def test_fine_tuning_wins_accuracy_back_and_keeps_what_was_saved(
    shrunk: tuple[PythonSide, dict[str, Any]],
) -> None:
    side, points = shrunk
    for name, part in (("sparsity-90", 0.9), ("clusters-4", None)):
        answer(side, "shrink_tune", name=name)
        for _ in range(3):
            answer(side, "shrink_next", seconds=0)  # a step each
        assert 0 < answer(side, "shrink_next", seconds=0)["tuned"] < 1
        tuned = answer(side, "shrink_next", seconds=60)["point"]
        assert tuned["epochs"] == 1 and tuned["untuned"] == points[name]["value"]
        assert tuned["value"] > tuned["untuned"]
        kernel = side.module.controller.shrinking.version(name).model.layers[1].kernel
        weights = kernel.numpy()
        if part is None:
            assert len(np.unique(weights)) <= 4
        else:
            assert np.mean(weights == 0) > part - 0.1
    assert "cannot be trained" in problem(side, "shrink_tune", name="int8")


def test_shared_values_of_a_network_that_sgd_trains_are_fine_tuned(side: PythonSide) -> None:
    """The gradient of a shared value is a sum: the rate of SGD for single weights would ruin it."""
    program = PROGRAM.replace("Adam(0.02)", "SGD(0.1, momentum=0.9)").replace(
        "Dense(24", "Dense(128"
    )
    assert side.run(program) == "done"
    points = shrink(side)
    assert points["original"]["value"] > 0.9
    for name in ("clusters-4", "clusters-64"):
        answer(side, "shrink_tune", name=name)
        tuned = answer(side, "shrink_next", seconds=60)["point"]
        assert tuned["value"] > points[name]["value"] - 0.03


def test_fine_tuning_that_is_left_changes_nothing(
    shrunk: tuple[PythonSide, dict[str, Any]],
) -> None:
    side, _ = shrunk
    answer(side, "shrink_choose", name="sparsity-50")
    before = bytes(answer(side, "outputs", x=[[0.3, -0.4]]))
    answer(side, "shrink_tune", name="sparsity-50")
    for _ in range(3):
        answer(side, "shrink_next", seconds=0)
    assert bytes(answer(side, "outputs", x=[[0.3, -0.4]])) != before
    answer(side, "shrink_tune", name=None)
    assert bytes(answer(side, "outputs", x=[[0.3, -0.4]])) == before
    assert answer(side, "shrink_next", seconds=60)["point"] is None
    answer(side, "shrink_choose", name=None)


def test_without_test_data_the_training_data_is_compared_and_said_to_be(side: PythonSide) -> None:
    side.run(NUMBERS)
    begun = answer(side, "shrink_begin")
    assert not begun["tested"] and begun["total"] == 64
    point = answer(side, "shrink_next", seconds=60)["point"]
    assert point["metric"] == "loss" and point["value"] > 0


def test_work_is_left_between_its_parts(side: PythonSide) -> None:
    side.run(NUMBERS)
    versions = answer(side, "shrink_begin")["versions"]
    first = answer(side, "shrink_next", seconds=0)
    assert first["point"] is None and first["pending"] == versions
    assert answer(side, "outputs", x=[[0.0, 0.0, 0.0]])
    assert answer(side, "shrink_next", seconds=60)["point"]["name"] == "original"


def test_versions_are_forgotten_with_the_model(side: PythonSide) -> None:
    side.run("x = 1")
    assert "no trained model" in problem(side, "shrink_begin")
    assert "no smaller networks" in problem(side, "shrink_next", seconds=1)
    side.run(NUMBERS)
    shrink(side)
    answer(side, "shrink_choose", name="int8")
    weights = bytes(answer(side, "export", format="safetensors")["bytes"])
    assert answer(side, "outputs", x=[[0.0, 0.0, 0.0]])
    side.ask("import", name="weights.safetensors", payload=weights)
    assert "no smaller networks" in problem(side, "shrink_report", name="int8")
    side.run("x = 1")
    assert "no trained model" in problem(side, "shrink_begin")
