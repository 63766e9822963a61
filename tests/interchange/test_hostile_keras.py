"""Files of Keras made to cause harm: models in each other, many layers, many calls, odd texts."""

from __future__ import annotations

import copy
import io
import json
import math
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import CheckpointError, GraphError
from playgrad.interchange import bounds
from playgrad.interchange.keras.importing import graph, reading
from playgrad.interchange.keras.importing.model import model_from_keras
from tests.sweeps import budget, dice

Description = dict[str, Any]


class Files:
    """Makes files of models from descriptions; their layers have no weights."""

    def __init__(self, folder: Path) -> None:
        pg.Sequential([pg.Input((3,), name="x"), nn.Activation("relu")]).export(folder / "m.keras")
        with zipfile.ZipFile(folder / "m.keras") as archive:
            self._parts = {name: archive.read(name) for name in archive.namelist()}
        layers = json.loads(self._parts["config.json"])["config"]["layers"]
        self._input, self._layer = layers
        self._input["name"] = self._input["config"]["name"] = "x"

    def content(self, description: Description) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("model.weights.h5", self._parts["model.weights.h5"])
            archive.writestr("config.json", json.dumps(description))
        return file.getvalue()

    def layer(self, name: str, calls: int = 1, first: tuple[str, int] = ("x", 0)) -> Description:
        layer = copy.deepcopy(self._layer)
        layer["name"] = layer["config"]["name"] = name
        return called(layer, calls, first)

    def functional(
        self, name: str, layers: list[Description], output: tuple[str, int]
    ) -> Description:
        config = {"name": name, "layers": [self._input, *layers], "input_layers": [["x", 0, 0]]}
        return {
            "class_name": "Functional",
            "module": "keras",
            "name": name,
            "config": config | {"output_layers": [[*output, 0]]},
        }

    def chain(self, count: int) -> Description:
        """Return ``count`` layers, one after the other."""
        before = [("x", 0), *((f"a{i}", 0) for i in range(count))]
        layers = [self.layer(f"a{i}", first=before[i]) for i in range(count)]
        return self.functional("m", layers, before[-1])

    def nested(self, widths: list[int]) -> Description:
        """Return models in each other, each of which calls the one inside it several times."""
        model = self.functional("m", [self.layer("a", widths[0])], ("a", widths[0] - 1))
        for depth, width in enumerate(widths[1:]):
            inner = called(model, width)
            model = self.functional(f"m{depth}", [inner], (inner["name"], width))
        return model

    def side_by_side(self, widths: list[int]) -> Description:
        """Return models in each other, each of which has several."""
        model = self.layer("a")
        for depth, width in enumerate(widths):
            members = [{**model, "name": f"{depth}-{i}"} for i in range(width)]
            config = {"name": f"m{depth}", "layers": [self._input, *members]}
            model = {"class_name": "Sequential", "module": "keras", "config": config}
        return model


def called(layer: Description, calls: int, first: tuple[str, int] = ("x", 0)) -> Description:
    """Add calls to a layer, each with the result of the one before.

    Keras counts the calls of a functional model from 1.
    """
    number = 1 if layer["class_name"] == "Functional" else 0
    places = [first, *((layer["name"], i + number) for i in range(calls - 1))]
    nodes = [
        {
            "args": [{"class_name": "__keras_tensor__", "config": {"keras_history": [*place, 0]}}],
            "kwargs": {},
        }
        for place in places
    ]
    return layer | {"inbound_nodes": nodes}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return Files(tmp_path_factory.mktemp("keras"))


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the bounds to a hundredth, so that the tests are quick."""
    monkeypatch.setattr(reading, "MOST_NODES", bounds.MOST_NODES // 100)
    monkeypatch.setattr(reading, "MOST_CALLS", bounds.MOST_CALLS // 100)


def harmful(draw: random.Random, files: Files) -> tuple[Description, int]:
    """Return a description, and how often it calls layers."""
    match draw.randrange(4):
        case 0:
            count = draw.choice((1, 20, 90, 110, 400))
            return files.chain(count), count
        case 1:
            count = draw.choice((1, 50, 140, 200, 1000))
            return files.functional("m", [files.layer("a", count)], ("a", count - 1)), count
        case 2:
            widths = draw.choices((1, 2, 3, 8), k=draw.randrange(1, 9))
            return files.nested(widths), math.prod(widths)
        case _:
            widths = draw.choices((1, 2, 3), k=draw.randrange(1, 6))
            return files.side_by_side(widths), math.prod(widths)


def layers_of(description: Description) -> int:
    """Return the number of layers, models and inputs in a description."""
    layers = description["config"].get("layers", [])
    return len(layers) + sum(map(layers_of, layers))


@pytest.mark.usefixtures("few")
@pytest.mark.survival("Damaged Keras files")
def test_harmful_descriptions_are_read_or_refused(
    files: Files, record_property: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work is counted instead of the time: calls of layers."""
    draw, tried = dice("keras"), budget(60, night=1000)
    work = 0

    def counted(self: nn.Activation, *inputs: Any, **options: Any) -> Any:
        nonlocal work
        work += 1
        return call(self, *inputs, **options)

    call = nn.Activation.__call__
    monkeypatch.setattr(nn.Activation, "__call__", counted)
    read = 0
    for _ in range(tried):
        work = 0
        description, calls = harmful(draw, files)
        has_many = layers_of(description) > reading.MOST_NODES
        try:
            model = model_from_keras(files.content(description))
        except CheckpointError as error:
            assert has_many or calls > reading.MOST_CALLS // 20, error
            assert work <= reading.MOST_CALLS
        else:
            assert work == calls and not has_many
            read += 1
            model.close()
    assert 0 < read < tried
    record_property("tried", tried)


def test_calls_of_large_layers_are_limited_by_their_operations(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MOST_OPERATIONS", 30)
    content = files.content(files.functional("m", [files.layer("a", 200)], ("a", 199)))
    with pytest.raises(CheckpointError, match=r"too often, with more than .* or 30 operations"):
        model_from_keras(content)


def test_the_arguments_of_a_call_are_read_once(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often its model is called: there may be a million of them."""
    reads: list[str] = []
    read = graph.ModelReader._read_arguments

    def counted(self: Any, node: Any, name: str) -> Any:
        reads.append(name)
        return read(self, node, name)

    monkeypatch.setattr(graph.ModelReader, "_read_arguments", counted)
    model_from_keras(files.content(files.nested([1, 8, 8])))
    assert len(reads) == 1 + 8 + 8


HALF = "\ud800"


@pytest.mark.parametrize("place", ["layer", "model", "key", "value"])
def test_texts_that_are_not_unicode_are_refused(place: str, files: Files) -> None:
    layer = files.layer(HALF if place == "layer" else "a")
    description = files.functional(HALF if place == "model" else "m", [layer], (layer["name"], 0))
    if place in ("key", "value"):
        layer["config"][HALF if place == "key" else "activation"] = HALF
    with pytest.raises(CheckpointError, match="a text is not valid Unicode"):
        model_from_keras(files.content(description))


def test_names_that_are_not_unicode_are_refused_when_they_are_given() -> None:
    for name in (HALF, "a\udfff", f"{HALF} b"):
        with pytest.raises(GraphError, match="cannot name a layer"):
            nn.Dense(3, name=name)
        with pytest.raises(GraphError, match="cannot name an operation"):
            pg.Input((3,), name=name)
        with pytest.raises(GraphError, match="cannot name a model"):
            pg.Sequential([nn.Dense(3)], name=name)
    assert nn.Dense(3, name="😀").name == "😀"
