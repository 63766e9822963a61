"""The task that a model is trained for, as the page shows it: its answers while it learns.

A view is computed from the variables as they are between two steps, when the page asks for one. It
runs a part of the graph that exists, and nothing that writes a variable or draws random numbers,
so the training takes the same course whether the page looks at it or not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from playgrad.data.excerpt import Excerpt
from playgrad.dtypes import dtype
from playgrad.inspection.forward import check_without_effect, run
from playgrad.inspection.outputs import Scale, classes_in, decisions, scale_of
from playgrad.inspection.pictures import image_size, pixels
from playgrad.inspection.writers import writer_of
from playgrad.page.restored_model import RestoredModel
from playgrad.page.text_view import text_view
from playgrad.page.unit_maps import hidden_layers, unit_maps
from playgrad.runtime.hooks import Request

Array = np.ndarray[Any, Any]
View = dict[str, Any]
Data = Callable[[], View]
"""Computes the data of a view, which the page keeps: only the first answer contains it."""
NOTHING: View = {"shows": "none", "version": 0, "seconds": 0.0}
UNKNOWN: View = {**NOTHING, "shows": "unknown"}
"""Of a model that was restored without its data."""

SIDE = 40
"""Cells of the grid along each axis of the plane; the answer takes its time from the training."""
MARGIN = 0.08
"""Of the plane around the points, as a fraction of their extent."""
MOST_CLASSES = 8
"""The page has that many colours."""
MOST_POINTS = 600
IMAGES = 24
MOST_ROWS = 500
MOST_TABLE_CLASSES = 12


def task_view(model: Any, request: Request) -> View:
    """Return the view of the model's task, with the data if the page does not have it yet."""
    began = time.perf_counter()
    view = UNKNOWN if isinstance(model, RestoredModel) else _view(model, request.get("sample"))
    data: Data | None = view.pop("data", None)
    if data is not None and request["known"] != view["version"]:
        view["data"] = data()
    return {"task": {**view, "seconds": time.perf_counter() - began}}


def _view(model: Any, sample: dict[str, Any] | None) -> View:
    writer = writer_of(model)
    if writer is not None:
        check_without_effect(model.outputs)
        return {"version": model.train_excerpt.number, **text_view(writer, sample)}
    shown = model.test_excerpt or model.train_excerpt
    if model.train_excerpt is None or shown is None or (scale := scale_of(model)) is None:
        return NOTHING
    for make in (_points, _images, _rows, _classes):
        if (view := make(model, scale)) is not None:
            return {"version": model.train_excerpt.number, **view}
    return NOTHING


def _points(model: Any, scale: Scale) -> View | None:
    """Return the outputs over the plane of two inputs, and the points of the data."""
    shape, train, test = model.input_shape, model.train_excerpt, model.test_excerpt
    classes = model.output_shape[1]
    if shape != (None, 2) or not dtype(model.input_dtype).floating or classes > MOST_CLASSES:
        return None
    extent = _extent([train, test])
    layers = hidden_layers(model, SIDE**2)
    outputs, *hidden = run(
        model, [model.outputs[0], *(layer.tensor for layer in layers)], grid(*extent)
    )
    return {
        "shows": "plane",
        "data": lambda: {
            "side": SIDE,
            "across": extent[0],
            "up": extent[1],
            "scale": scale,
            "classes": 0 if scale == "linear" else max(2, classes),
            "train": _targeted_points(train, scale),
            "test": None if test is None else _targeted_points(test, scale),
        },
        "outputs": _floats(outputs),
        "layers": [
            unit_maps(layer, values, SIDE) for layer, values in zip(layers, hidden, strict=True)
        ],
    }


def _extent(excerpts: Sequence[Excerpt | None]) -> tuple[list[float], list[float]]:
    """Return the range of both coordinates, with a margin."""
    x = np.concatenate([each.x for each in excerpts if each is not None])
    low, high = x.min(axis=0).astype(np.float64), x.max(axis=0).astype(np.float64)
    margin = MARGIN * np.where(high > low, high - low, 1)
    ranges = np.stack([low - margin, high + margin], axis=1).tolist()
    return ranges[0], ranges[1]


def grid(across: Sequence[float], up: Sequence[float]) -> Array:
    """Return the centres of the cells (SIDE², 2), row by row, from the top."""
    centres = (np.arange(SIDE) + 0.5) / SIDE
    x = across[0] + (across[1] - across[0]) * centres
    y = up[1] - (up[1] - up[0]) * centres
    return np.stack([np.tile(x, SIDE), np.repeat(y, SIDE)], axis=1).astype(np.float32)


def _targeted_points(excerpt: Excerpt, scale: Scale) -> View:
    rows = np.arange(min(len(excerpt.x), MOST_POINTS)) * len(excerpt.x)
    rows //= min(len(excerpt.x), MOST_POINTS)
    x, y = excerpt.x[rows], excerpt.y[rows]
    targets = y if scale == "linear" else classes_in(y, scale)
    return {"points": _floats(x), "targets": _floats(targets), "total": excerpt.total}


def _images(model: Any, scale: Scale) -> View | None:
    """Return images with their classes and the predicted ones."""
    if scale == "linear":
        return None
    excerpt = model.test_excerpt or model.train_excerpt
    size = image_size(excerpt.x.shape[1:])
    if size is None or size != image_size(model.input_shape[1:]):
        return None
    x, y = excerpt.x[:IMAGES], excerpt.y[:IMAGES]
    (outputs,) = run(model, [model.outputs[0]], x)
    labels, chances = decisions(outputs, scale)
    return {
        "shows": "images",
        "data": lambda: {
            "height": size[0],
            "width": size[1],
            "channels": size[2],
            "pixels": pixels(x, excerpt.x),
            "labels": classes_in(y, scale).tolist(),
            "tested": model.test_excerpt is not None,
            "total": excerpt.total,
        },
        "predicted": labels.tolist(),
        "chances": None if chances is None else [float(chance) for chance in chances],
    }


def _rows(model: Any, scale: Scale) -> View | None:
    """Return true and predicted numbers."""
    excerpt = model.test_excerpt or model.train_excerpt
    if scale != "linear" or model.inputs[0].shape[0] is not None:
        return None
    x, y = excerpt.x[:MOST_ROWS], excerpt.y[:MOST_ROWS].reshape(-1)
    (outputs,) = run(model, [model.outputs[0]], x)
    predicted = outputs[:, 0]
    truth = y.astype(np.float64)
    spread = float(((truth - truth.mean()) ** 2).sum())
    return {
        "shows": "rows",
        "data": lambda: {
            "truth": _floats(truth),
            "tested": model.test_excerpt is not None,
            "total": excerpt.total,
        },
        "predicted": _floats(predicted),
        "error": float(np.abs(predicted - truth).mean()),
        "explained": 1 - float(((predicted - truth) ** 2).sum()) / spread if spread else None,
    }


def _classes(model: Any, scale: Scale) -> View | None:
    """Return true and predicted classes of the rows of a table."""
    excerpt = model.test_excerpt or model.train_excerpt
    classes = max(2, model.output_shape[1])
    if scale == "linear" or excerpt.x.ndim != 2 or classes > MOST_TABLE_CLASSES:
        return None
    if model.inputs[0].shape[0] is not None:
        return None
    (outputs,) = run(model, [model.outputs[0]], excerpt.x)
    return {
        "shows": "classes",
        "data": lambda: {
            "labels": classes_in(excerpt.y, scale).tolist(),
            "classes": classes,
            "tested": model.test_excerpt is not None,
            "total": excerpt.total,
        },
        "predicted": decisions(outputs, scale)[0].tolist(),
    }


def _floats(values: Array) -> bytes:
    return np.ascontiguousarray(values, "<f4").tobytes()
