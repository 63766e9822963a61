"""Views of single samples for the page: how the model judges them, and where its layers put them.

They are of the excerpt that the model keeps of its test data, or of its training data; a sample
alone can be any of the data. All are computed without an effect on the training, between two steps.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from playgrad.data.excerpt import Excerpt
from playgrad.errors import DataError
from playgrad.inspection.outputs import scale_of
from playgrad.inspection.pictures import image_size, pixels
from playgrad.inspection.projection import layer_values, project_values, projectable_layers
from playgrad.inspection.samples import Predictions, judge
from playgrad.inspection.tokens import vocabulary_of
from playgrad.page.excerpt_sample import is_tested, sample_number, why_no_sample
from playgrad.page.restored_model import RestoredModel
from playgrad.runtime.hooks import Request

Array = np.ndarray[Any, Any]
View = dict[str, Any]
MOST_COLUMNS = 12
LONGEST_TEXT = 200
"""Tokens of a sample that are shown."""
MOST_PROJECTED, FEWEST_PROJECTED = 500, 50
MOST_PROJECTED_VALUES = 1 << 21
"""Of all projected samples together; fewer samples of a large layer are projected."""
MOST_DIMENSIONS = 50
"""Of the principal components that the page lays out in a plane itself."""


def samples_view(model: Any, request: Request) -> View:
    """Return the predictions and losses of the samples, with the samples if they are unknown."""
    began = time.perf_counter()
    known = request["known"]
    view = _refusal(model)
    if view is None:
        shown = _shown(model)
        judged = judge(model, shown.x, shown.y)
        view = {"shows": "samples", **_judged(judged), **_data(model, shown, judged, known)}
    return {"samples": {**view, "seconds": time.perf_counter() - began}}


def sample_view(model: Any, request: Request) -> View:
    """Return a sample of the data by its ``number``, with its prediction and its loss."""
    began = time.perf_counter()
    view = _refusal(model)
    if view is None:
        shown = _shown(model)
        about = sample_number(model, shown, int(request["number"]))
        one = shown.single(about["number"])
        judged = judge(model, one.x, one.y)
        data = _data(model, one, judged, 0, shown.x)["data"]
        data["numbers"] = _numbers(np.array([about["number"]]))
        view = {"shows": "sample", "sample": about, **_judged(judged), "data": data}
    return {"one_sample": {**view, "seconds": time.perf_counter() - began}}


def projection_view(model: Any, request: Request) -> View:
    """Return samples by the principal components of a layer, as many as the request says.

    The layer is that of the name in the request, or the last hidden one.
    """
    began = time.perf_counter()
    known, name, dimensions = request["known"], request["layer"], int(request["dimensions"])
    view = _refusal(model)
    if view is None:
        view = _projection(model, name, min(max(dimensions, 2), MOST_DIMENSIONS), known)
    return {"projection": {**view, "seconds": time.perf_counter() - began}}


def _refusal(model: Any) -> View | None:
    """Return why there is nothing to show."""
    reason = None
    if isinstance(model, RestoredModel):
        reason = "restored"
    elif _shown(model) is None or len(model.outputs) != 1:
        reason = why_no_sample(model)
    elif not model.is_compiled:
        reason = "loss"
    elif not _shown(model).y.size:
        reason = "targets"
    elif scale_of(model) is None:
        reason = "outputs"
    return None if reason is None else {"shows": "none", "reason": reason}


def _shown(model: Any) -> Any:
    """Return the excerpt that is looked at, or None."""
    return model.test_excerpt or model.train_excerpt


def _judged(judged: Predictions) -> View:
    chances = judged.chances
    return {
        "predicted": _floats(judged.predicted),
        "chances": None if chances is None else _floats(chances),
        "losses": _floats(judged.losses),
    }


def _data(
    model: Any, shown: Excerpt, judged: Predictions, known: int, all_x: Array | None = None
) -> View:
    """Return the version of the samples, and what they are unless the page knows them.

    Args:
        all_x: inputs over whose range pictures go from black to white; None for those shown.
    """
    if known == shown.number:
        return {"version": shown.number}
    size = image_size(shown.x.shape[1:])
    texts = None if size else _texts(model, shown.x)
    pictures = rows = None
    if size is not None:
        height, width, channels = size
        drawn = pixels(shown.x, shown.x if all_x is None else all_x)
        pictures = {"height": height, "width": width, "channels": channels, "pixels": drawn}
    elif texts is None:
        flat = shown.x.reshape(len(shown.x), -1)
        columns = flat[:, :MOST_COLUMNS]
        rows = {"columns": columns.shape[1], "all": flat.shape[1], "values": _floats(columns)}
    data = {
        "tested": is_tested(model),
        "total": shown.total,
        "classes": judged.classes,
        "numbers": _numbers(shown.rows),
        "truth": _floats(judged.truth),
        "pictures": pictures,
        "rows": rows,
        "texts": texts,
    }
    return {"version": shown.number, "data": data}


def _texts(model: Any, x: Array) -> list[str] | None:
    """Return samples that are sequences of tokens as texts, if the program has a vocabulary of
    which the network embeds as many tokens.
    """
    vocabulary = vocabulary_of(model, x) if x.ndim == 2 else None
    if vocabulary is None:
        return None
    try:
        return [vocabulary.decode(codes[:LONGEST_TEXT]) for codes in x]
    except DataError:  # numbers of another kind
        return None


def _projection(model: Any, name: str, dimensions: int, known: int) -> View:
    shown = _shown(model)
    layers = projectable_layers(model)
    if not layers:
        return {"shows": "none", "reason": "layers"}
    *before, last = layers
    # The layer before the output is where classes are best told apart.
    usual = before[-1] if before else last
    layer = next((each for each in layers if each.name == name), usual)
    most = MOST_PROJECTED_VALUES // layer.size
    count = min(len(shown.x), MOST_PROJECTED, max(FEWEST_PROJECTED, most))
    chosen = np.arange(count) * len(shown.x) // count
    judged = judge(model, shown.x, shown.y)
    view: View = {
        "shows": "points",
        "layer": layer.name,
        "layers": [{"name": each.name, "size": each.size} for each in layers],
        "projected": count,
    }
    values = layer_values(model, layer, shown.x[chosen])
    try:
        projection = project_values(values, dimensions)
    except DataError:  # too few have finite values
        rows = chosen[np.isfinite(values).all(axis=1)]
        points = np.zeros((len(rows), 2))
        view |= {
            "rows": _floats(rows),
            "dimensions": 2,
            "points": _floats(points),
            "explained": [0.0, 0.0],
        }
    else:
        view |= {
            "rows": _floats(chosen[projection.rows]),
            "dimensions": projection.points.shape[1],
            "points": _floats(projection.points),
            "explained": list(projection.explained),
        }
    return view | _judged(judged) | _data(model, shown, judged, known)


def _floats(values: Array) -> bytes:
    return np.ascontiguousarray(values, "<f4").tobytes()


def _numbers(values: Array) -> bytes:
    return np.ascontiguousarray(values, "<i4").tobytes()
