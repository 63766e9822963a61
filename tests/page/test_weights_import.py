"""Weights with other names: the page gets a table, and sends the file again with its choices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch

from playgrad.io import decode
from tests.page.answers import check_answer
from tests.page.python_side import PythonSide, python_side

PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.random.default_rng(0).normal(size=(64, 6, 6, 1)).astype(np.float32)
model = pg.Sequential([nn.Conv2D(2, 3, activation="relu"), nn.Flatten(), nn.Dense(4), nn.Dense(4)])
model.compile("adam", nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, (x[:, 0, 0, 0] > 0).astype(np.int32), batch_size=16, epochs=1, verbose=0)
"""


@pytest.fixture
def side() -> Iterator[PythonSide]:
    with python_side() as side:
        assert side.run(PROGRAM) == "done"
        yield side


@pytest.fixture
def net() -> torch.nn.Sequential:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 2, 3), torch.nn.Linear(32, 4), torch.nn.Linear(4, 4)
    )


def load(side: PythonSide, net: torch.nn.Module, **fields: Any) -> Any:
    content = safetensors.torch.save(net.state_dict())
    return side.ask("import", name="net.safetensors", payload=content, **fields)


def weights(side: PythonSide) -> dict[str, Any]:
    return decode(side.ask("export")["answer"]["bytes"])


@pytest.mark.parametrize("is_restored", [False, True])
def test_the_shown_matching_is_loaded(
    side: PythonSide, net: torch.nn.Sequential, is_restored: bool
) -> None:
    if is_restored:
        content = side.checkpoint
        side.requests.append({"kind": "reset"})
        assert side.ask("restore", payload=content)["ok"]
    before = weights(side)
    side.events.clear()
    answer = load(side, net)
    assert answer["ok"]
    assert not side.of("checkpoint")
    matching = check_answer("import", answer["answer"])["matching"]
    assert matching["layout"] == "pytorch"
    chosen = {row["slot"]: row["tensor"] for row in matching["rows"]}
    assert list(chosen.values()) == [f"{i}.{part}" for i in range(3) for part in ("weight", "bias")]
    for name, array in weights(side).items():
        np.testing.assert_array_equal(array, before[name])
    assert load(side, net, matching=chosen)["answer"]["names"] == sorted(before)
    assert side.of("checkpoint")
    loaded, state = weights(side), {n: a.numpy() for n, a in net.state_dict().items()}
    np.testing.assert_array_equal(
        loaded["conv2d_1/kernel"], state["0.weight"].transpose(2, 3, 1, 0)
    )
    rows = state["1.weight"].reshape(4, 2, 4, 4).transpose(2, 3, 1, 0).reshape(32, 4)
    np.testing.assert_array_equal(loaded["dense_1/kernel"], rows)
    np.testing.assert_array_equal(loaded["dense_2/kernel"], state["2.weight"].T)


def test_a_choice_that_does_not_fit_changes_nothing(
    side: PythonSide, net: torch.nn.Sequential
) -> None:
    before = weights(side)
    chosen = {row["slot"]: row["tensor"] for row in load(side, net)["answer"]["matching"]["rows"]}
    wrong = [
        ({**chosen, "dense_2.weight": "1.weight"}, "'1.weight' has shape"),
        ({**chosen, "dense_2.weight": "9.weight"}, "the file has no tensor '9.weight'"),
        ({**chosen, "dense_2.weight": ""}, "the file has no tensor ''"),
        ({}, "6 of 6 tensors are missing"),
    ]
    for choice, words in wrong:
        error = load(side, net, matching=choice)["error"]
        assert error["message"].startswith("net.safetensors: ")
        assert words in error["message"]
    for name, array in weights(side).items():
        np.testing.assert_array_equal(array, before[name])


def test_a_file_without_suitable_tensors_is_refused(side: PythonSide) -> None:
    error = load(side, torch.nn.Linear(7, 9))["error"]
    assert "the weights do not belong to this model" in error["message"]
