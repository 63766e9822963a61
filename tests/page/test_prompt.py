"""The prompt: what is typed shares the program's names, and never ends or disturbs its training."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from playgrad.page.name_completion import complete
from playgrad.page.prompt import LONGEST_VALUE
from tests.page.python_side import PythonSide, python_side

PROGRAM = """
import random
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)
model = pg.Sequential([nn.Dense(8), nn.BatchNormalization(), nn.Dropout(0.5), nn.Dense(2)])
model.compile(pg.optim.Adam(0.01), loss=nn.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(x, y, batch_size=8, epochs=3, verbose=0)
later = nn.Dense(3, name="later")(pg.constant(x[:1])).numpy()  # its weights are drawn now
drawn = random.random(), np.random.rand(), later.tolist()
print(history.losses.tolist(), drawn)
"""
SEEDED = "import random, numpy\nrandom.seed(1)\nnumpy.random.seed(1)\n" + PROGRAM
LOOKS = [
    "model.predict(x[:3]).shape",
    "model.evaluate(x, y, verbose=0)",
    "np.random.rand(), random.random()",
    "pg.random_uniform((2,)).numpy().shape",
    "nn.Dropout(0.5)(pg.constant(x)).numpy().shape",
    "with model.graph.as_default(): print(pg.random_uniform((2,)).numpy().shape)",
    "np.random.seed(3)",
    "1 / 0",
    "def broken(",
    "raise SystemExit",
    "raise KeyboardInterrupt",
    "model.named_weights().keys()",
]


class Prompting(PythonSide):
    """A page that sends the lines of a prompt while the program trains, a few after each chunk."""

    lines: Iterator[str] = iter(())

    def receive(self, event: dict[str, Any]) -> None:
        super().receive(event)
        for line in islice(self.lines, 3 if event["kind"] == "progress" else 0):
            self._ids += 1
            self.requests.append({"kind": "prompt", "code": line, "id": self._ids})


def outcomes(side: PythonSide) -> list[str]:
    return [reply.get("answer", "refused") for reply in side.of("reply")]


def errors(side: PythonSide) -> str:
    return "".join(event["text"] for event in side.of("stderr"))


def typed(side: PythonSide, code: str) -> str:
    """Return what the prompt prints."""
    before = len(side.events)
    reply = side.ask("prompt", code=code)
    assert reply["ok"], reply
    sys.modules["playgrad.page.sending"].send_output()  # of this side
    printed = [event for event in side.events[before:] if event["kind"] in ("stdout", "stderr")]
    return "".join(event["text"] for event in printed)


def losses(side: PythonSide) -> list[Any]:
    return [point for event in side.of("progress") for point in event["points"]]


def test_prompts_during_training_do_not_change_it() -> None:
    with python_side() as side:
        assert side.run(SEEDED) == "done"
        alone, printed = losses(side), side.output
    with python_side(Prompting) as side:
        side.lines = iter(LOOKS)
        assert side.run(SEEDED) == "done"
        assert losses(side) == alone
        assert side.output.endswith(printed)
        assert len(side.output) > len(printed)
        assert outcomes(side) == [
            *["done"] * 7, *["error"] * 3, "interrupted", "done"
        ]  # fmt: skip
        assert not side.of("error")


def test_training_within_training_is_refused_and_the_run_continues() -> None:
    with python_side() as side:
        side.run(SEEDED)
        alone = losses(side)
    with python_side(Prompting) as side:
        side.lines = iter(["model.fit(x, y)", "model.train_on_batch(x, y)"])
        assert side.run(SEEDED) == "done"
        assert outcomes(side) == ["error", "error"]
        assert errors(side).count("training cannot be started from the prompt") == 2
        assert losses(side) == alone


def test_a_sweep_is_refused() -> None:
    with python_side() as side:
        assert "sweep cannot be started from the prompt" in typed(
            side, "import playgrad as pg; pg.sweep(abs, grid={'x': [1]})"
        )


def test_the_prompt_shares_the_names_of_the_program() -> None:
    with python_side() as side:
        side.run("a = [1, 2]\nprint('ran')")
        assert typed(side, "a") == "[1, 2]\n"
        assert typed(side, "a.append(3)") == ""
        assert typed(side, "b = sum(a)\nfor i in range(2):\n    print(i)\nb * 2") == "0\n1\n12\n"
        assert typed(side, "None") == ""
        assert typed(side, "") == ""
        side.run("print('a' in globals())")
        assert side.output.endswith("False\n")


def test_a_change_during_training_takes_effect() -> None:
    with python_side(Prompting) as side:
        side.lines = iter(["model.optimizer.learning_rate", "seen = len(x)"])
        side.run(PROGRAM + "print(seen)")
        assert side.output.endswith("64\n")


def test_errors_are_printed_with_their_line() -> None:
    with python_side() as side:
        side.run("x = 1")
        assert typed(side, "1 / 0") == "ZeroDivisionError: division by zero\n"
        assert typed(side, "y = 2\nx.z").startswith(
            "AttributeError: 'int' object has no attribute 'z'"
        )
        assert typed(side, "y = 2\nx.z").endswith("(line 2)\n")
        assert "NameError: name 'nothing' is not defined" in typed(side, "nothing")
        assert typed(side, "x = = 1").startswith("SyntaxError: invalid syntax")
        assert not side.of("error")
        assert side.of("status")[-1]["state"] == "done"


def test_the_names_outlive_a_failed_run() -> None:
    with python_side() as side:
        assert side.run("x = 41\n1 / 0") == "error"
        assert typed(side, "x + 1") == "42\n"


def test_long_values_are_shortened() -> None:
    with python_side() as side:
        side.run("x = 'a' * 1_000_000")
        text = typed(side, "x")
        assert len(text) < LONGEST_VALUE + 200
        assert "980,002 characters left out" in text


def test_values_with_broken_representations_are_errors() -> None:
    with python_side() as side:
        side.run("class Odd:\n    def __repr__(self):\n        raise ValueError('no repr')")
        assert typed(side, "Odd()") == "ValueError: no repr\n"


def test_training_after_the_run_is_not_shown_as_the_run() -> None:
    with python_side() as side:
        side.run(PROGRAM)
        before = len(losses(side))
        states = len(side.of("status"))
        assert "History" in typed(side, "model.fit(x, y, epochs=1, verbose=0)")
        assert len(losses(side)) == before
        assert len(side.of("status")) == states


def labels(text: str, **namespace: Any) -> list[str]:
    return [found["label"] for found in complete(text, namespace)]


def test_names_are_completed() -> None:
    assert labels("mod", model=1, module=2, other=3) == ["model", "module"]
    assert labels("pri") == ["print"]
    assert "append" in labels("f(rows.app", rows=[])
    assert labels("_hid", _hidden=1) == ["_hidden"]
    assert labels("missing.") == labels("f().") == labels("'a'.") == []


def test_completion_runs_no_code_of_the_program() -> None:
    class Odd:
        def __init__(self) -> None:
            self.stored = "text"

        @property
        def computed(self) -> str:
            raise AssertionError("computed")

        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

        def __dir__(self) -> list[str]:
            raise AssertionError("listed")

    assert labels("odd.", odd=Odd()) == ["computed", "stored"]
    assert labels("odd.computed.", odd=Odd()) == []
    assert "upper" in labels("odd.stored.up", odd=Odd())


@pytest.mark.parametrize("text", ["import numpy as n", "np.", "x = np.ran"])
def test_modules_are_completed(text: str) -> None:
    import numpy as np

    names = labels(text, np=np)
    assert {"import numpy as n": "np", "np.": "random", "x = np.ran": "random"}[text] in names
