"""The bridge: lines for Keras run, or are fixed, or are told what is nearest; in both languages."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import playgrad as pg
from playgrad.bridge import advice
from playgrad.bridge.table import RULES, TABLE
from playgrad.data import source
from playgrad.page.faults import describe
from playgrad.runtime.options import Options, options_set
from playgrad.server.names import names_content
from tests.page.keras_lines import KERAS, LINES, PYTORCH, TENSORFLOW, program

HERE = Path(__file__).parent
ENOUGH = 60


@dataclass
class Translated:
    """A program after the bridge: its messages, and the fixed text."""

    messages: list[str]
    fixed: str
    left: list[str]


def translated(programs: list[str], packages: bool = True) -> list[Translated]:
    """Translate programs for a page with or without matplotlib, pandas and Pillow."""
    node = shutil.which("node")
    assert node, "these tests need Node.js 20 or newer"
    given = json.dumps({"file": json.loads(names_content(packages).plain), "programs": programs})
    result = subprocess.run(
        [node, str(HERE / "programs" / "translate.mjs")],
        input=given,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert result.returncode == 0, result.stderr
    return [
        Translated(
            [each["message"] for each in answer["before"]],
            answer["fixed"],
            [each["message"] for each in answer["after"]],
        )
        for answer in json.loads(result.stdout)
    ]


@pytest.fixture(autouse=True)
def digits_for_clothes() -> Iterator[None]:
    """Fashion-MNIST, which is not fetched for this, has the form of MNIST."""
    before = source.set_source(
        lambda name: source.read_from_files(name.replace("fashion_mnist", "mnist"))
    )
    yield
    source.set_source(before)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Exception | None]:
    """Runs a program on the CPU, and returns its error."""
    monkeypatch.setenv("PLAYGRAD_DEVICE", "cpu")
    absent = ("keras", "tensorflow", "torch")  # as in the page
    for name in (*absent, *sys.modules):
        if name.partition(".")[0] in absent:
            monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.chdir(tmp_path)

    def run_one(code: str) -> Exception | None:
        try:
            pg.reset_default_graph()
            with options_set(Options(verbose=0)):
                exec(compile(code, "main.py", "exec"), {})
        except Exception as error:
            return error
        return None

    return run_one


def test_lines_of_a_keras_user_run_or_are_fixed_or_explained(
    run: Callable[[str], Exception | None],
) -> None:
    assert len(LINES) == len(set(LINES)) == 74
    programs = [program(line) for line in LINES]
    counts = {"runs": 0, "fixed": 0, "told": 0}
    wrong = []
    for line, code, bridge in zip(LINES, programs, translated(programs), strict=True):
        error = run(code)
        if error is None:
            outcome = "runs"
            if bridge.messages:
                wrong.append(f"{line}: runs, but {bridge.messages}")
        elif not bridge.left:
            outcome = "fixed"
            again = run(bridge.fixed)
            if bridge.fixed == code or again is not None:
                wrong.append(f"{line}: {error!r}; then {again!r} in\n{bridge.fixed}")
        else:
            outcome = "told"
            if not all(
                "not in playgrad" in text or "not an argument" in text for text in bridge.left
            ):
                wrong.append(f"{line}: {bridge.left}")
            if not all(re.search(r"\. \w.*|: \w.*", text) for text in bridge.left):
                wrong.append(f"{line}: no nearest way in {bridge.left}")
        is_others = error is not None and not isinstance(error, pg.PlaygradError)
        if error is not None and is_others and advice(error) is None:
            wrong.append(f"{line}: Python has no advice for {error!r}")
        counts[outcome] += 1
        print(f"{outcome:5} {line}")
    print(counts)
    assert not wrong, "\n".join(wrong)
    assert counts["runs"] + counts["fixed"] >= ENOUGH


def test_programs_for_playgrad_are_left_alone() -> None:
    root = HERE.parents[1]
    programs = {
        path.name: path.read_text(encoding="utf-8")
        for path in sorted((root / "static" / "examples").glob("*.py"))
    }
    for guide in sorted((root / "docs").glob("*.md")):
        for number, block in enumerate(
            re.findall(r"```python\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)
        ):
            programs[f"{guide.name} {number}"] = block
    assert len(programs) > 20
    for name, bridge in zip(programs, translated(list(programs.values())), strict=True):
        assert not bridge.messages, name


@pytest.mark.parametrize("code", [KERAS, TENSORFLOW, PYTORCH], ids=["keras", "tensorflow", "torch"])
def test_whole_programs_are_translated(code: str, run: Callable[[str], Exception | None]) -> None:
    assert run(code) is not None
    (bridge,) = translated([code])
    assert not bridge.left
    assert run(bridge.fixed) is None, bridge.fixed
    assert not re.search(r"\b(tensorflow|keras|torch|tf)\b", bridge.fixed)


def test_errors_give_the_advice_of_the_editor(run: Callable[[str], Exception | None]) -> None:
    def said(code: str) -> str:
        error = run(f"import playgrad as pg\nfrom playgrad import nn\n{code}\n")
        assert error is not None
        return describe(error)["message"]

    start = "model = pg.Sequential([nn.Dense(2)]); "
    assert said("pg.nn.Linear(3, 4)").endswith("In playgrad it is nn.Dense.")
    assert said("pg.layers.Dense(3)").endswith("In playgrad these names are in nn.")
    assert "In playgrad it is model.predict(x)" in said(f"{start}model.predict_on_batch([1])")
    assert said("from playgrad import callbacks").endswith("In playgrad these names are in nn.")
    assert said("tf.matmul(1, 2)").startswith("name 'tf' is not defined. TensorFlow is not")
    assert said("nn.Dense(3, input_shape=(4,))").endswith(
        "Leave input_shape out: the shape comes from the data, "
        "or from pg.Input(shape) as the first item."
    )
    assert said("pg.optim.Adam(lr=0.1)").endswith("In playgrad it is learning_rate.")
    assert said("pg.argmax([[1.0]], dim=1)").endswith("In playgrad it is axis.")
    assert "laygrad it" not in said("pg.relu([1.0], dim=1)"), "relu has no axis"
    assert "Leave" not in said("nn.Dense(3, requires_grad=True)"), "it is about functions"
    assert "there are pg.data.mnist() and fashion_mnist()" in said("pg.data.cifar10()")
    assert "laygrad it" not in said("nn.Denss"), "what is misspelt is left to Python"
    assert said("1 / 0") == "division by zero"


def _here(path: str) -> object:
    """Return the object of playgrad under a path of the table; None if there is none."""
    item: object = pg
    for part in path.split("."):
        item = getattr(item, part, None)
    return item


def test_translation_rules_cover_only_names_missing_in_playgrad() -> None:
    """A name or an argument that has been added since needs no advice any more."""
    others = ("keras.", "tensorflow.", "torch.", "*")
    names = [path for path in RULES if not path.startswith(others)]
    assert [path for path in names if _here(path) is not None] == []
    for place, rules in TABLE["arguments"].items():
        if place == "*":  # functions that take such an argument are left alone
            continue
        target = _here(place)
        assert callable(target), place
        if not isinstance(target, type):  # classes stand for their subclasses, which differ
            assert not set(rules) & set(inspect.signature(target).parameters), place
