"""The task that a model is trained for, as the page shows it: its answers while it learns.

A view is computed from the variables as they are between two steps, when the page asks for one. It
runs a part of the graph that exists, and nothing that writes a variable or draws random numbers,
so the training takes the same course whether the page shows it or not.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import numpy as np

from playgrad.data.excerpt import Excerpt
from playgrad.dtypes import dtype
from playgrad.inspection.forward import check_without_effect, run
from playgrad.inspection.outputs import Scale, classes_in, decisions, scale_of
from playgrad.inspection.pictures import image_size, pixels
from playgrad.inspection.writers import writer_of
from playgrad.page.drawn_graph import NodeTask, node_view
from playgrad.page.question import question
from playgrad.page.restored_model import RestoredModel
from playgrad.page.shown_model import LiveModel
from playgrad.page.text_view import SampleForm, TextTask, text_view
from playgrad.page.unit_maps import UnitMaps, hidden_layers, unit_maps

Array = np.ndarray[Any, Any]

SIDE = 40
"""Cells of the grid along each axis of the plane; the answer takes its time from the training."""
MARGIN = 0.08
"""The margin of the plane around the points, as a fraction of their extent."""
MOST_CLASSES = 8
"""The page has that many colours."""
MOST_POINTS = 600
IMAGES = 24
MOST_ROWS = 500
MOST_TABLE_CLASSES = 12


class TaskQuestion(TypedDict):
    """`known`: the version of the data that the page has; `sample`: of the text that the model
    writes, if its data is text."""

    known: int
    sample: NotRequired[SampleForm]


class NoTask(TypedDict):
    """`unknown`: the model was restored, without its data."""

    shows: Literal["none", "unknown"]
    version: int
    seconds: float


class TargetedPoints(TypedDict):
    """(points, 2) and their classes or numbers, as float32; `total`: how many the data set has."""

    points: bytes
    targets: bytes
    total: int


class PlaneData(TypedDict):
    """`across`, `up`: from and to; `classes`: 0 for numbers."""

    side: int
    across: tuple[float, float]
    up: tuple[float, float]
    scale: Annotated[Scale, "Scale"]
    classes: int
    train: TargetedPoints
    test: TargetedPoints | None


class PlaneTask(TypedDict):
    """`outputs` (cells, outputs): over a grid of side × side cells, row by row from the top."""

    shows: Literal["plane"]
    version: int
    seconds: float
    data: NotRequired[PlaneData]
    outputs: bytes
    layers: list[UnitMaps]


class PictureData(TypedDict):
    """`tested`: not trained with."""

    height: int
    width: int
    channels: Literal[1, 3]
    pixels: bytes
    labels: list[float]
    tested: bool
    total: int


class PictureTask(TypedDict):
    """The class predicted for each image, −1 for outputs that are NaN, and its probability."""

    shows: Literal["images"]
    version: int
    seconds: float
    data: NotRequired[PictureData]
    predicted: list[float]
    chances: list[float] | None


class ClassData(TypedDict):
    labels: list[float]
    classes: int
    tested: bool
    total: int


class ClassTask(TypedDict):
    """The class predicted for each row of a table, or −1."""

    shows: Literal["classes"]
    version: int
    seconds: float
    data: NotRequired[ClassData]
    predicted: list[float]


class RowData(TypedDict):
    truth: bytes
    tested: bool
    total: int


class RowTask(TypedDict):
    """`error`: the mean absolute error of the rows that are shown; `explained`: the explained part
    of their variance."""

    shows: Literal["rows"]
    version: int
    seconds: float
    data: NotRequired[RowData]
    predicted: bytes
    error: float
    explained: float | None


TaskView = Annotated[
    NoTask | PlaneTask | PictureTask | ClassTask | RowTask | NodeTask | TextTask, "TaskView"
]
"""`data` is left out if the page has it."""


@question("task_view", "answering", at_checkpoint=True)
def task_view(model: LiveModel | RestoredModel, request: TaskQuestion) -> TaskView:
    """Return the view of the model's task, with the data if the page does not have it yet."""
    began = time.perf_counter()
    view = _view(model, request["known"], request.get("sample"))
    view["seconds"] = time.perf_counter() - began
    return view


def _view(model: LiveModel | RestoredModel, known: int, sample: SampleForm | None) -> TaskView:
    if isinstance(model, RestoredModel):
        return {"shows": "unknown", "version": 0, "seconds": 0.0}
    train, shown = model.train_excerpt, model.test_excerpt or model.train_excerpt
    if train is not None and shown is not None:
        asked = _Asked(model, train, shown, known != train.number)
        writer = writer_of(model)
        if writer is not None:
            check_without_effect(model.outputs)
            return text_view(writer, sample, asked.number, asked.needs_data)
        scale = scale_of(model)
        for make in (_points, _images, _rows, _classes):
            if scale is not None and (view := make(asked, scale)) is not None:
                return view
    graph = model.graph_excerpt
    if graph is not None and (nodes := node_view(model, graph, known != graph.number)) is not None:
        return nodes
    return {"shows": "none", "version": 0, "seconds": 0.0}


@dataclass(frozen=True)
class _Asked:
    """A model with its training data and the data that is shown.

    Attributes:
        needs_data: whether the page does not have the data yet.
    """

    model: LiveModel
    train: Excerpt
    shown: Excerpt
    needs_data: bool

    @property
    def number(self) -> int:
        return self.train.number

    @property
    def tested(self) -> bool:
        return self.model.test_excerpt is not None

    def outputs(self, x: Array) -> Array:
        return run(self.model, [self.model.outputs[0]], x)[0]


def _points(asked: _Asked, scale: Scale) -> PlaneTask | None:
    """Return the outputs over the plane of two inputs, and the points of the data."""
    model, train, test = asked.model, asked.train, asked.model.test_excerpt
    shape, classes = model.input_shape, model.output_shape[1] or 0
    if shape != (None, 2) or not dtype(model.input_dtype).floating or classes > MOST_CLASSES:
        return None
    across, up = _extent([train, test])
    layers = hidden_layers(model, SIDE**2)
    fetches = [model.outputs[0], *(layer.tensor for layer in layers)]
    outputs, *hidden = run(model, fetches, grid(across, up))
    view: PlaneTask = {
        "shows": "plane",
        "version": asked.number,
        "seconds": 0.0,
        "outputs": _floats(outputs),
        "layers": [
            unit_maps(layer, values, SIDE) for layer, values in zip(layers, hidden, strict=True)
        ],
    }
    if asked.needs_data:
        view["data"] = {
            "side": SIDE,
            "across": across,
            "up": up,
            "scale": scale,
            "classes": 0 if scale == "linear" else max(2, classes),
            "train": _targeted_points(train, scale),
            "test": None if test is None else _targeted_points(test, scale),
        }
    return view


def _extent(
    excerpts: Sequence[Excerpt | None],
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the range of both coordinates, with a margin."""
    x = np.concatenate([each.x for each in excerpts if each is not None])
    low, high = x.min(axis=0).astype(np.float64), x.max(axis=0).astype(np.float64)
    margin = MARGIN * np.where(high > low, high - low, 1)
    (left, bottom), (right, top) = (low - margin).tolist(), (high + margin).tolist()
    return (left, right), (bottom, top)


def grid(across: Sequence[float], up: Sequence[float]) -> Array:
    """Return the centres of the cells (SIDE², 2), row by row, from the top."""
    centres = (np.arange(SIDE) + 0.5) / SIDE
    x = across[0] + (across[1] - across[0]) * centres
    y = up[1] - (up[1] - up[0]) * centres
    return np.stack([np.tile(x, SIDE), np.repeat(y, SIDE)], axis=1).astype(np.float32)


def _targeted_points(excerpt: Excerpt, scale: Scale) -> TargetedPoints:
    rows = np.arange(min(len(excerpt.x), MOST_POINTS)) * len(excerpt.x)
    rows //= min(len(excerpt.x), MOST_POINTS)
    x, y = excerpt.x[rows], excerpt.y[rows]
    targets = y if scale == "linear" else classes_in(y, scale)
    return {"points": _floats(x), "targets": _floats(targets), "total": excerpt.total}


def _images(asked: _Asked, scale: Scale) -> PictureTask | None:
    """Return images with their classes and the predicted ones."""
    excerpt = asked.shown
    size = image_size(excerpt.x.shape[1:])
    if scale == "linear" or size is None or size != image_size(asked.model.input_shape[1:]):
        return None
    x, y = excerpt.x[:IMAGES], excerpt.y[:IMAGES]
    labels, chances = decisions(asked.outputs(x), scale)
    view: PictureTask = {
        "shows": "images",
        "version": asked.number,
        "seconds": 0.0,
        "predicted": labels.tolist(),
        "chances": None if chances is None else [float(chance) for chance in chances],
    }
    if asked.needs_data:
        view["data"] = {
            "height": size[0],
            "width": size[1],
            "channels": size[2],
            "pixels": pixels(x, excerpt.x),
            "labels": classes_in(y, scale).tolist(),
            "tested": asked.tested,
            "total": excerpt.total,
        }
    return view


def _rows(asked: _Asked, scale: Scale) -> RowTask | None:
    """Return true and predicted numbers."""
    excerpt = asked.shown
    if scale != "linear" or asked.model.inputs[0].shape[0] is not None:
        return None
    truth = excerpt.y[:MOST_ROWS].reshape(-1).astype(np.float64)
    predicted = asked.outputs(excerpt.x[:MOST_ROWS])[:, 0]
    spread = float(((truth - truth.mean()) ** 2).sum())
    view: RowTask = {
        "shows": "rows",
        "version": asked.number,
        "seconds": 0.0,
        "predicted": _floats(predicted),
        "error": float(np.abs(predicted - truth).mean()),
        "explained": 1 - float(((predicted - truth) ** 2).sum()) / spread if spread else None,
    }
    if asked.needs_data:
        view["data"] = {"truth": _floats(truth), "tested": asked.tested, "total": excerpt.total}
    return view


def _classes(asked: _Asked, scale: Scale) -> ClassTask | None:
    """Return true and predicted classes of the rows of a table."""
    excerpt = asked.shown
    classes = max(2, asked.model.output_shape[1] or 0)
    if scale == "linear" or excerpt.x.ndim != 2 or classes > MOST_TABLE_CLASSES:
        return None
    if asked.model.inputs[0].shape[0] is not None:
        return None
    view: ClassTask = {
        "shows": "classes",
        "version": asked.number,
        "seconds": 0.0,
        "predicted": decisions(asked.outputs(excerpt.x), scale)[0].tolist(),
    }
    if asked.needs_data:
        view["data"] = {
            "labels": classes_in(excerpt.y, scale).tolist(),
            "classes": classes,
            "tested": asked.tested,
            "total": excerpt.total,
        }
    return view


def _floats(values: Array) -> bytes:
    return np.ascontiguousarray(values, "<f4").tobytes()
