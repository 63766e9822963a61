"""A question, and a kind of devices, that somebody adds: one record each, and no other file."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUESTION = '''
"""The size of the model."""

from __future__ import annotations

from typing import TypedDict

from playgrad.page.question import question
from playgrad.page.shown_model import LiveModel


class SizeQuestion(TypedDict):
    least: int


class SizedWeight(TypedDict):
    name: str
    size: int


@question("size", "program")
def size(model: LiveModel, request: SizeQuestion) -> list[SizedWeight]:
    """Return the weights with at least so many numbers."""
    sizes = {name: spec.size for name, spec in model.weight_specs().items()}
    return [{"name": n, "size": s} for n, s in sizes.items() if s >= request["least"]]
'''
PROGRAM = """
import numpy as np, playgrad as pg
from playgrad import nn
model = pg.Sequential([nn.Dense(3), nn.Dense(2)])
model.compile(pg.optim.SGD(0.1), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(np.zeros((8, 4), "f4"), np.zeros(8, "i4"), verbose=0)
"""
ASK = f"""
import json
from tests.page.python_side import python_side
with python_side() as side:
    assert side.run({PROGRAM!r}) == "done"
    replies = [side.ask("size", least=least) for least in (8, "eight")]
print(json.dumps(replies))
"""
CALLER = """
// @ts-check
/** @import { Answers, Question } from "./python-messages.js" */
/** @type {<Q extends Question>(question: Q) => Promise<Answers[Q["kind"]]>} */
const ask = () => Promise.reject();
/** @returns {Promise<string[]>} */
export const large = async () => (await ask({ kind: "size", least: 8 })).map(({ name }) => name);
/** @returns {Promise<number[]>} */
export const wrong = async () => (await ask({ kind: "size", most: 8 })).map(({ name }) => name);
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the library and of what the page's engine is made of, with both additions."""
    tree = tmp_path_factory.mktemp("tree")
    for folder in ("app/playgrad", "static/engine", "static/js"):
        shutil.copytree(ROOT / folder, tree / folder)  # with what Python has compiled
    for file in ("tools/__init__.py", "tools/messages.py", "tests/page/python_side.py"):
        (tree / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tree / file)
    (tree / "app/playgrad/page/questions/size.py").write_text(QUESTION.lstrip(), encoding="utf-8")
    kinds = tree / "app/playgrad/devices/kinds.py"
    text = kinds.read_text(encoding="utf-8")
    record = 'NPU = dataclasses.replace(GPU, name="npu", title="NPU")\nKINDS = {'
    text = text.replace("KINDS = {", record).replace("(CPU, GPU, ", "(CPU, GPU, NPU, ")
    kinds.write_text(text.replace("import functools", "import dataclasses\nimport functools"))
    python(tree, "-m", "tools.messages")
    return tree


def python(tree: Path, *arguments: str) -> str:
    paths = os.pathsep.join([str(tree / "app"), str(tree)])
    environment = {**os.environ, "PYTHONPATH": paths}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, check=True
    ).stdout


def node(tree: Path, script: str) -> object:
    found = shutil.which("node")
    assert found, "these tests need Node.js 20 or newer"
    command = [found, "--input-type=module", "--eval", script]
    folder = tree / "static" / "engine"
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_a_question_is_one_function(tree: Path) -> None:
    reply, refused = json.loads(python(tree, "-c", ASK))
    assert reply["answer"] == [{"name": "dense_1/kernel", "size": 12}]
    assert "least: 'eight' is no count" in refused["error"]["message"]

    wrong = {**reply, "answer": [{"name": "dense_1/kernel", "size": "twelve"}]}
    checked = node(
        tree,
        f"""
        import {{ isWellFormed }} from "./message-checks.js";
        console.log(JSON.stringify({json.dumps([reply, refused, wrong])}.map(isWellFormed)));
        """,
    )
    assert checked == [True, True, False]

    caller = tree / "static/engine/caller.js"
    caller.write_text(CALLER, encoding="utf-8")
    compiler = ROOT / "node_modules" / ".bin" / "tsc"
    options = ["--ignoreConfig", "--allowJs", "--checkJs", "--noEmit", "--strict"]
    modules = [
        "--target",
        "es2022",
        "--lib",
        "es2022",
        "--module",
        "esnext",
        "--moduleResolution",
        "bundler",
    ]
    told = subprocess.run(
        [compiler, *options, *modules, "caller.js"],
        cwd=caller.parent, capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip
    wrong_line = 1 + CALLER.splitlines().index(next(x for x in CALLER.splitlines() if "most" in x))
    assert set(re.findall(r"^caller.js\((\d+),", told, re.MULTILINE)) == {str(wrong_line)}, told


def test_a_kind_of_devices_is_one_record(tree: Path) -> None:
    script = """
        import { CHOICES, kindOf } from "./kinds.js";
        console.log(JSON.stringify([CHOICES, kindOf("npu:1")]));
    """
    choices, kind = node(tree, script)  # type: ignore[misc]
    assert choices == ["auto", "gpu", "npu", "cpu"]
    assert kind["title"] == "NPU" and kind["runsPlans"] and not kind["onCores"]


def test_the_page_reads_no_kind_from_the_name_of_a_device() -> None:
    for folder in ("static/js", "static/engine"):
        for path in (ROOT / folder).rglob("*.js"):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"startsWith\(.(cpu|gpu)", text), path
