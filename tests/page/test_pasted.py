"""Programs in the manner of well-known tutorials train after one click, or end in a list.

The programs are in ``pasted/``, as people paste them. What playgrad has is rewritten; for the rest
there is a line with the nearest way.
"""

from __future__ import annotations

import re
import sys
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.runtime.options import Options, options_set
from tests.page.test_bridge import Translated, translated
from tests.sweeps import dice, sweep

PROGRAMS = {
    path.name.partition(".")[0]: path.read_text(encoding="utf-8")
    for path in sorted((Path(__file__).parent / "pasted").glob("*.py.txt"))
}

LISTED = {
    "keras-imdb-lstm": ["imdb.load_data.*pg.data.read_csv"],
    "keras-regression-housing": ["StandardScaler.*nn.Normalization"],
    "keras-transfer-learning": ["Xception.*Pretrained models are not here"],
    "tf-hub-transfer": ["hub.KerasLayer.*cannot be downloaded", "tfds.load.*pg.data"],
    "tf-image-directory": ["get_file.*downloads nothing"],
    "tf-mobilenet-cifar": [
        "MobileNetV2.*Pretrained models are not here",
        "cifar10.*pg.data.shapes",
    ],
    "torch-embedding-ngram": ["reshape.*The first dimension is the batch"],
    "torch-blitz-cifar": ["CIFAR10.*pg.data.shapes"],
    "torch-huggingface": ["from_pretrained.*cannot be downloaded"],
    "torch-reinforce": ["gym.make.*write the environment", "Categorical"],
    "torch-transfer-resnet": ["resnet18.*cannot be downloaded", "ImageFolder"],
    "torch-transformer-lm": ["TransformerEncoderLayer.*nn.TransformerEncoder"],
}
"""What is said of programs that have something for which there is no equivalent."""

WITHOUT_PACKAGES = {"keras-regression-housing": ["read_csv.*pg.data.read_csv"]}
"""What is said besides where the page has no matplotlib, pandas and Pillow."""

WARNED = {"keras-train-step": "metrics that it does not update, which are 0: loss, mae"}
"""Warnings of programs that train, but not as their author thinks: Keras' logs are 0, too."""

TRAINED = sorted(set(PROGRAMS) - set(LISTED))
ENOUGH = 48
OFTEN = dice("pasted programs").sample(TRAINED, 4)


@cache
def answers(packages: bool) -> dict[str, Translated]:
    programs = list(PROGRAMS.values())
    return dict(zip(PROGRAMS, translated(programs, packages), strict=True))


def few_images() -> Any:
    """MNIST in its form, but small: programs of tutorials take all of it."""
    numbers = np.random.default_rng(0)

    def part(count: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        images = numbers.integers(0, 256, (count, 28, 28)).astype("uint8")
        return images, numbers.integers(0, 10, count).astype("int32")

    return part(256), part(64)


def test_there_are_many_programs_of_each_library() -> None:
    assert len(PROGRAMS) == 60
    assert len(TRAINED) >= ENOUGH
    for library in ("keras", "tf", "torch"):
        assert sum(name.startswith(f"{library}-") for name in PROGRAMS) >= 15


@pytest.mark.parametrize("packages", [True, False], ids=["packages", "no-packages"])
def test_what_remains_is_listed_with_the_nearest_way(packages: bool) -> None:
    wrong = []
    for name, answer in answers(packages).items():
        left = [text.replace("`", "") for text in answer.left]
        if name not in LISTED:
            if left:
                wrong.append(f"{name}: {left}")
            continue
        for pattern in [*LISTED[name], *([] if packages else WITHOUT_PACKAGES.get(name, []))]:
            if not any(re.search(pattern, text) for text in left):
                wrong.append(f"{name}: {pattern!r} is not in {left}")
        ways = [text for text in left if re.search(r"(playgrad|here)\.$", text)]
        if ways:
            wrong.append(f"{name}: without a nearest way: {ways}")
    assert not wrong, "\n".join(wrong)


def test_lines_of_packages_that_the_page_has_are_kept() -> None:
    kept = 0
    for name, program in PROGRAMS.items():
        lines = re.findall(
            r"^ *(?:import (?:matplotlib|pandas)|plt\.|pd\.).*", program, re.MULTILINE
        )
        fixed = answers(packages=True)[name].fixed.splitlines()
        assert [line for line in lines if line not in fixed] == [], name
        kept += len(lines)
    assert kept >= 30


@pytest.mark.parametrize("name", sweep(TRAINED, OFTEN))
def test_program_trains_after_one_click(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a page without packages: this Python has none, and tests/browser runs one that has."""
    monkeypatch.setenv("PLAYGRAD_DEVICE", "cpu")
    monkeypatch.setattr(pg.data, "mnist", few_images)
    monkeypatch.setattr(pg.data, "fashion_mnist", few_images)
    for package in ("keras", "tensorflow", "torch", "torchvision", "matplotlib", "pandas"):
        monkeypatch.setitem(sys.modules, package, None)  # as in the page
    monkeypatch.chdir(tmp_path)
    pg.reset_default_graph()
    namespace: dict[str, Any] = {"__name__": "__main__"}
    warned = pytest.warns(RuntimeWarning, match=WARNED[name]) if name in WARNED else nullcontext()
    with options_set(Options(verbose=0)), warned:
        exec(compile(answers(packages=False)[name].fixed, "main.py", "exec"), namespace)
    session = next((each for each in namespace.values() if isinstance(each, pg.Session)), None)
    learned = [has_learned(each, session) for each in variables_of(namespace)]
    assert any(learned), "no variable has changed"


def variables_of(namespace: dict[str, Any]) -> list[pg.Variable]:
    """Return the trainable variables that a program can reach by its names."""
    found: dict[int, pg.Variable] = {}
    for value in [*namespace.values()]:
        for each in [value, *getattr(value, "__dict__", {}).values()]:
            if isinstance(each, pg.Variable):
                found[id(each)] = each
        if isinstance(value, pg.Model) and value.built:
            found |= {id(each): each for each in value.trainable_variables}
    return list(found.values())


def has_learned(variable: pg.Variable, session: pg.Session | None) -> bool:
    """Return whether a variable has another value than at first, in the program's session."""
    value = variable.numpy() if session is None else session.value(variable)
    return not np.array_equal(value, variable.initial_value.numpy())
