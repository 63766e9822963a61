"""A layer, an optimizer and a data set are each added in a few files, and are then everywhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
NEW = ""
"""In the place of the line before an addition: the file is a new one."""

LAYER = '''\
"""Half of what comes in."""

from __future__ import annotations

from playgrad.graph.tensor import Tensor
from playgrad.nn import cards
from playgrad.nn.layer import Layer
from playgrad.records import LayerRecord


class Damping(Layer):
    """Inputs times a number.

    Args:
        factor: the number.
    """

    kind = "damping"
    record = LayerRecord(
        about="Makes all numbers smaller.",
        menu=("normalization", 9),
        example="0.5",
        fields=(cards.number("factor", "factor", most=1),),
        rule="same",
        keras="Damping",
        from_torch={"Damper": ("strength>factor",)},
    )

    def __init__(self, factor: float, name: str | None = None) -> None:
        super().__init__(name)
        self.factor = self.number("factor", factor, most=1.0)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return inputs[0] * self.factor
'''
OPTIMIZER = '''\
"""Slow descent."""

from __future__ import annotations

from typing import Unpack

from playgrad.optim.optimizer import OptimizerOptions
from playgrad.optim.schedules import Schedule
from playgrad.optim.sgd import SGD
from playgrad.records import OptimizerRecord


class Snail(SGD):
    """SGD by small steps.

    Args:
        learning_rate: a number, or a learning-rate schedule.
        options: those of every `Optimizer`.
    """

    kind = "snail"
    record = OptimizerRecord(
        about="Takes its time.",
        place=9,
        usual_rates=(1e-5, 1e-3),
        from_torch="-params lr>learning_rate",
    )

    def __init__(
        self, learning_rate: float | Schedule = 1e-4, **options: Unpack[OptimizerOptions]
    ) -> None:
        super().__init__(learning_rate, **options)
'''
DATA_SET = '''\
"""Points on two lines."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.data.data_sets import data_set
from playgrad.records import DataSetRecord, LabelledSamples, SuitedSettings


@data_set(
    DataSetRecord(
        samples=LabelledSamples(
            "points",
            (2,),
            "float32",
            2,
            title="Two lines",
            names=r"\\blines?\\b",
            noun="two lines",
            about="Points on two lines, and their classes 0 and 1.",
            suited=SuitedSettings("SGD", "0.1", "10", "3"),
        ),
    )
)
def lines(samples: int = 500) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return points on two lines.

    Args:
        samples: the number of points.
    """
    labels = np.arange(samples) % 2
    x = np.stack([np.linspace(-1, 1, samples), labels], axis=1)
    return x.astype(np.float32), labels.astype(np.int32)
'''
CHINESE = "static/js/messages/zh-hans.js"
Addition = dict[str, tuple[str, str]]
"""By the file, the lines before what is added to it, and what is added."""
ADDITIONS: dict[str, Addition] = {
    "layer": {
        "app/playgrad/nn/damping.py": (NEW, LAYER),
        "app/playgrad/nn/__init__.py": (
            "from playgrad.nn.ctc import CTC\n",
            "from playgrad.nn.damping import Damping\n",
        ),
        CHINESE: (
            '      normalization: "归一化与噪声",\n    },\n    about: {\n',
            '      Damping: "把所有数缩小。",\n',
        ),
        "docs/reference/layers.md": (".. autoclass:: Rescaling\n", ".. autoclass:: Damping\n"),
    },
    "optimizer": {
        "app/playgrad/optim/snail.py": (NEW, OPTIMIZER),
        "app/playgrad/optim/__init__.py": (
            "from playgrad.optim.sgd import SGD, Momentum\n",
            "from playgrad.optim.snail import Snail\n",
        ),
        CHINESE: ("      values: {\n", '        Snail: "慢慢来。",\n'),
    },
    "data set": {
        "app/playgrad/data/lines.py": (NEW, DATA_SET),
        "app/playgrad/data/__init__.py": (
            "from playgrad.data.input_description import InputDescription\n",
            "from playgrad.data.lines import lines\n",
        ),
        CHINESE: ("      sets: {\n", '        lines: "两条线",\n'),
    },
}
MOST = {"layer": 4, "optimizer": 3, "data set": 3}

IN_PYTHON = """
import json, runpy
from pathlib import Path

import playgrad as pg
from playgrad.doctor.checks import usual_rates
from playgrad.doctor.program_text import OPTIMIZERS
from playgrad.interchange.keras.importing.layers import read_layer
from playgrad.interchange.keras.layers import keras_layer
from playgrad.server.names import names_content
from tools import records

records.main()
layer = pg.nn.Damping.from_config(pg.nn.Damping(0.25, name="a").get_config())
again = read_layer(keras_layer(layer.kind, "a", layer.get_config(), 2))
x, y = pg.data.load("lines", samples=20)
model = pg.Sequential([pg.Input(x.shape[1:]), again, pg.nn.Dense(2)])
model.compile("snail", "sparse_categorical_crossentropy")
losses = model.fit(x, y, epochs=2, verbose=0).history["loss"]
configuration = runpy.run_path("docs/conf.py")
reference = []
for page in sorted(Path("docs/reference").glob("*.md")):
    source = [page.read_text(encoding="utf-8")]
    configuration["list_recorded"](None, page.stem, source)
    reference += source
print(json.dumps({
    "again": [type(again).__name__, again.factor],
    "falls": losses[1] < losses[0],
    "names": json.loads(names_content().plain),
    "doctor": OPTIMIZERS["Snail"],
    "available": pg.data.available()["lines"],
    "reference": "".join(reference),
}))
"""
IN_NODE = """
const at = (path) => import(`${process.cwd()}/static/js/${path}`);
const { GROUPS, OPTIMIZERS, entryOf } = await at("blocks/catalogue.js");
const { setData } = await at("blocks/data-change.js");
const { applyChanges } = await at("blocks/lists.js");
const { readProgram } = await at("blocks/reader.js");
const { inferShapes } = await at("blocks/shapes.js");
const { parametersOf } = await at("blocks/signatures.js");
const { SETS } = await at("blocks/data.js");
const { OF_LIBRARY } = await at("own-data/data-names.js");
const { en } = await at("messages/en.js");
const { zhHans } = await at("messages/zh-hans.js");

const program = readProgram(`import playgrad as pg
# Two half moons.
x, y = pg.data.moons()
model = pg.Sequential([pg.Input((2,)), pg.nn.Damping(0.5), pg.nn.Dense(2)])
model.compile(pg.optim.Snail(0.1), "sparse_categorical_crossentropy")
model.fit(x, y)
`);
const { changes } = setData(program, program.data[0], "lines");
const texts = ({ layers, blocks }) =>
  [layers.about.Damping, blocks.terms.values.Snail, blocks.data.sets.lines];
console.log(JSON.stringify({
  menu: GROUPS.find(({ name }) => name === "normalization").entries.at(-1).kind,
  entry: entryOf("Damping"),
  optimizers: OPTIMIZERS,
  optimizer: program.trainings[0].optimizer.kind,
  parameters: ["nn.Damping", "optim.Snail", "data.lines"].map(
    (name) => parametersOf(name).map((each) => each.name)),
  shapes: [...inferShapes(program).values()].map(({ shape, parameters }) => [shape, parameters]),
  sets: Object.keys(SETS),
  ofLibrary: OF_LIBRARY,
  switched: applyChanges(program.text, changes),
  english: texts(en),
  chinese: texts(zhHans),
}));
"""


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources with one more layer, optimizer and data set."""
    root = tmp_path_factory.mktemp("copy")
    without = shutil.ignore_patterns("*.egg-info", "bundled", "vendor")
    for folder in ("app", "docs", "kernels", "static", "tools"):
        shutil.copytree(ROOT / folder, root / folder, ignore=without)
    (root / "static" / "vendor").symlink_to(ROOT / "static" / "vendor")
    for addition in ADDITIONS.values():
        for name, (line, added) in addition.items():
            file = root / name
            text = file.read_text(encoding="utf-8") if line else ""
            assert text.count(line) == 1 or not line, f"{line!r} in {name}"
            file.write_text(text.replace(line, line + added) if line else added, encoding="utf-8")
    return root


def answer(command: list[str], root: Path) -> Any:
    environment = {**os.environ, "PYTHONPATH": f"{root / 'app'}{os.pathsep}{root}"}
    result = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def in_python(copied: Path) -> Any:
    return answer([sys.executable, "-c", IN_PYTHON], copied)


@pytest.fixture(scope="module")
def in_node(copied: Path, in_python: Any) -> Any:
    node = shutil.which("node")
    assert node, "these tests need Node.js 20 or newer"
    return answer([node, "--input-type=module", "-e", IN_NODE], copied)


@pytest.mark.parametrize("what", ADDITIONS)
def test_few_files_are_touched(what: str) -> None:
    assert len(ADDITIONS[what]) <= MOST[what]


def test_the_library_has_them(in_python: Any) -> None:
    assert in_python["again"] == ["Damping", 0.25], "written for Keras, and read again"
    assert in_python["falls"]
    assert in_python["doctor"] == "snail"
    assert in_python["available"] == "points on two lines."


def test_the_editor_and_the_reference_have_them(in_python: Any) -> None:
    names, bridge = in_python["names"]["names"], in_python["names"]["bridge"]
    assert names["nn.Damping"]["p"][0] == ["factor", None, "float", "the number."]
    assert names["optim.Snail"]["b"] == ["optim.SGD", "optim.Optimizer"]
    assert names["data.lines"]["d"] == "Return points on two lines."
    rules = bridge["rules"]
    assert rules["torch.nn.Damper"] == {"to": "nn.Damping", "args": "strength>factor"}
    assert rules["torch.optim.Snail"]["to"] == "optim.Snail"
    for line in ("autoclass:: Damping", "autoclass:: Snail", "autofunction:: lines"):
        assert f".. {line}\n" in in_python["reference"]


def test_blocks_has_them(in_node: Any) -> None:
    assert in_node["menu"] == "Damping"
    assert [field["parameter"] for field in in_node["entry"]["fields"]] == ["factor"]
    assert (in_node["optimizers"][-1], in_node["optimizer"]) == ("Snail", "Snail")
    layer, optimizer, data_set = in_node["parameters"]
    assert (layer, data_set) == (["factor", "name"], ["samples"])
    assert optimizer[:3] == ["learning_rate", "weight_decay", "clipnorm"]
    assert in_node["shapes"] == [[[2], 0], [[2], 0], [[2], 6]]
    assert in_node["sets"][-1] == "lines"
    assert "lines" in in_node["ofLibrary"]
    assert "# Points on two lines, and their classes 0 and 1.\nx, y = pg.data.lines" in (
        in_node["switched"].replace("(x, y), (x_test, y_test)", "x, y")
    )


def test_the_page_speaks_of_them_in_each_language(in_node: Any) -> None:
    assert in_node["english"] == ["Makes all numbers smaller.", "Takes its time.", "Two lines"]
    assert in_node["chinese"] == ["把所有数缩小。", "慢慢来。", "两条线"]
