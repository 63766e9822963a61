"""Errors of real runs in Blocks: the card, the sentence, and a mend with which the program runs."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.page.faults import FILE, describe

SIDE = Path(__file__).parent / "programs" / "mends_side.mjs"
SPARSE = "nn.SparseCategoricalCrossentropy(from_logits=True)"
ROWS = "x = np.linspace(-1, 1, 24).reshape(12, 2).astype('float32')"
IMAGES = "x = np.linspace(0, 1, 12 * 16).reshape(12, 4, 4).astype('float32')"
IDS = "x = np.arange(36).reshape(12, 3) % 9"
CLASSES = "y = np.arange(12) % 3"


def program(
    layers: str, loss: str, x: str = ROWS, y: str = CLASSES, optimizer: str = "Adam", fit: str = ""
) -> str:
    return f"""import numpy as np
import playgrad as pg
from playgrad import nn

{x}
{y}
model = pg.Sequential(
    [
        {layers},
    ]
)
model.compile(optimizer=pg.optim.{optimizer}(0.01), loss={loss})
model.fit(x, y{fit}, verbose=0)
"""


ENDED = {
    "too few outputs": (program("nn.Dense(2)", SPARSE), "block-0-0", "2 outputs, the data has 3"),
    "one-hot targets": (
        program("nn.Dense(4)", SPARSE, y="y = np.eye(3)[np.arange(12) % 3]"),
        "training-0",
        "one-hot",
    ),
    "class numbers": (
        program('nn.Dense(3, activation="softmax")', '"categorical_crossentropy"'),
        "training-0",
        "class numbers",
    ),
    "classes for a loss of numbers": (
        program("nn.Dense(3)", '"mse"'),
        "block-0-0",
        "3 outputs, but each sample has 1 target",
    ),
    "three classes for yes or no": (
        program("nn.Dense(1)", "nn.BinaryCrossentropy(from_logits=True)"),
        "training-0",
        "yes or no",
    ),
    "numbers for classes": (
        program("nn.Dense(3)", SPARSE, y="y = np.linspace(0, 1, 12)"),
        "training-0",
        "numbers to predict",
    ),
    "other targets": (
        program("nn.Dense(3)", '"mse"', y="y = np.ones((12, 2))"),
        "block-0-0",
        "2 targets",
    ),
    "images without Flatten": (
        program("nn.Dense(8),\n        nn.Dense(3)", SPARSE, x=IMAGES),
        "block-0-0",
        "one row",
    ),
    "grey images for a convolution": (
        program("nn.Conv2D(2, 3),\n        nn.Flatten(),\n        nn.Dense(3)", SPARSE, x=IMAGES),
        "block-0-0",
        "Its input is 4 × 4",
    ),
    "another input": (
        program("pg.Input((3,)),\n        nn.Dense(3)", SPARSE),
        "block-0-0",
        "samples of 2, but the input is 3",
    ),
    "words that the embedding lacks": (
        program("nn.Embedding(5, 4),\n        nn.Flatten(),\n        nn.Dense(3)", SPARSE, x=IDS),
        "block-0-0",
        "0 to 4, but the data has 8",
    ),
    "no batch": (
        program("nn.Dense(3)", SPARSE, fit=", batch_size=0"),
        "training-0",
        "Batch size must be",
    ),
    "a rate that is too large": (
        program("nn.Dense(1)", '"mse"', y="y = 3e3 * x[:, 0]", optimizer="SGD", fit=", epochs=40")
        .replace("(0.01)", "(9.0)"),
        "training-0",
        "learning rate, 9, is too large",
    ),
    "a layer that nothing mends": (
        program('nn.Dense(2, kernel_initializer="unknown"),\n        nn.Dense(3)', SPARSE),
        "block-0-0",
        "The run ended here: there is no initializer 'unknown'.",
    ),
}  # fmt: skip
UNMENDED = {"a layer that nothing mends"}


def execute(text: str) -> dict[str, Any] | None:
    """Return the description of the error with which a program ends."""
    pg.reset_default_graph(seed=0)
    try:
        with np.errstate(all="ignore"):
            exec(compile(text, FILE, "exec"), {"__name__": "__main__"})
    except Exception as error:
        return describe(error)
    return None


@pytest.fixture(scope="module")
def answers() -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """For each program the error, and what Blocks says of it."""
    node = shutil.which("node")
    assert node, "these tests need Node.js 20 or newer"
    errors = {name: execute(text) for name, (text, *_) in ENDED.items()}
    assert [name for name, error in errors.items() if error is None] == []
    asked = [{"text": ENDED[name][0], "error": error} for name, error in errors.items()]
    result = subprocess.run(
        [node, SIDE], input=json.dumps(asked), capture_output=True, text=True, check=True
    )
    said = json.loads(result.stdout)
    return {name: (errors[name] or {}, said[i]) for i, name in enumerate(errors)}


@pytest.mark.parametrize("name", ENDED)
def test_the_card_of_an_error_is_marked_and_its_mend_makes_the_program_run(
    answers: dict[str, Any], new_graph: None, name: str
) -> None:
    _, card, words = ENDED[name]
    error, problem = answers[name]
    assert problem, error
    assert problem["card"] == card, (problem, error)
    assert words in problem["words"]
    assert (problem["mended"] == []) == (name in UNMENDED)
    for text in problem["mended"]:
        assert execute(text) is None, text
