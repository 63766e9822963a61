"""The layers of the trained model as the page shows them: weights, results, silenced units.

Everything is computed from the variables as they are between two steps, and changes none of them.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import numpy as np

from playgrad.dtypes import dtype
from playgrad.errors import GraphError
from playgrad.inspection.activations import check_units, compute, results
from playgrad.inspection.inspect import scores
from playgrad.inspection.outputs import decisions, scale_of, softmax
from playgrad.inspection.pictures import image_size
from playgrad.inspection.weights import picture, spread, statistics
from playgrad.nn.layer import Layer
from playgrad.page.faults import FILE
from playgrad.page.restored_model import RestoredModel
from playgrad.runtime.hooks import Request

Array = np.ndarray[Any, Any]
View = dict[str, Any]
MOST_MAPS = 64
MOST_SIDE = 64
"""Rows and columns of a map that are shown."""
MOST_UNITS = 256
"""Of a layer without maps."""
MOST_JUDGED = 500
"""Samples by which silenced units are judged."""
MOST_OUTPUTS = 20


def layers_view(model: Any, request: Request) -> View:
    """Return the layers of the model, and the weights and results of one of them.

    Raises:
        GraphError: the model cannot be looked at.
    """
    began = time.perf_counter()
    if isinstance(model, RestoredModel):
        raise GraphError(
            "the model was restored without its program, which has its layers.",
            hint="Press Resume or Run.",
        )
    excerpt = model.test_excerpt or model.train_excerpt
    if excerpt is None:
        raise GraphError("only networks with one input and one output are shown here.")
    view = _view(model, excerpt, request)
    return {"layers": {**view, "seconds": time.perf_counter() - began}}


def _view(model: Any, excerpt: Any, request: Request) -> View:
    tensors = results(model)
    chosen = request["layer"] if request["layer"] in tensors else _first(tensors)
    layer, tensor = tensors[chosen]
    known = {name: units for name, units in request["silenced"].items() if name in tensors}
    silenced = check_units(model, known)
    number = int(request["sample"]) % len(excerpt.x)
    x = _sample(model, excerpt, number, request["pixels"])
    fetches = [tensor, model.outputs[0]]
    value, output = compute(model, fetches, [x], silenced)
    whole, before = compute(model, fetches, [x], {}) if silenced else (value, output)
    drawn = request["pixels"] is not None
    return {
        "lines": [_line(name, each) for name, (each, _) in tensors.items()],
        "layer": chosen,
        "weights": _weights(model, layer, chosen),
        "result": _result(value[0], whole[0]),
        "sample": {
            "number": None if drawn else number,
            "count": len(excerpt.x),
            "tested": model.test_excerpt is not None,
            "picture": _picture(x, excerpt.x),
            "target": None if drawn else _target(model, excerpt.y[number]),
            "outputs": _outputs(model, output),
            "outputs_before": _outputs(model, before),
            "decision": _decision(model, output),
            "decision_before": _decision(model, before),
        },
        "silenced": silenced,
        "effect": _effect(model, excerpt, silenced) if silenced else None,
    }


def _first(tensors: dict[str, Any]) -> str:
    return next(
        (name for name, (layer, _) in tensors.items() if layer.variables), next(iter(tensors))
    )


def _line(name: str, layer: Layer) -> View:
    source = layer.source
    return {
        "name": name,
        "type": type(layer).__name__,
        "shape": list((layer.output_shape or ())[1:]),
        "parameters": sum(int(np.prod(v.spec.static_shape)) for v in layer.variables.values()),
        "line": source[1] if source is not None and source[0] == FILE else None,
    }


def _sample(model: Any, excerpt: Any, number: int, pixels: list[float] | None) -> Array:
    if pixels is None:
        rows: Array = excerpt.x[number : number + 1]
        return rows
    shape = model.input_shape[1:]
    if len(pixels) != int(np.prod(shape)):
        raise GraphError(
            f"a drawing has {len(pixels)} pixels, but the model takes inputs of shape {shape}."
        )
    kind = dtype(model.input_dtype)
    values = np.asarray(pixels, np.float32) * model.input_maximum
    return (values if kind.floating else np.round(values)).astype(kind.numpy).reshape(1, *shape)


def _weights(model: Any, layer: Layer, name: str) -> list[View]:
    variables = layer.variables
    values = dict(zip(variables, model.session.values(list(variables.values())), strict=True))
    size = image_size(model.input_shape[1:])
    image = size[:2] if size is not None and size[2] == 1 and _is_first(model, layer) else None
    views = []
    for weight, value in layer.joined({k: np.asarray(v) for k, v in values.items()}).items():
        shown = picture(value, image) if dtype(value.dtype.name).floating else None
        if shown is None:
            continue
        rows, columns, height, width = shown.values.shape
        views.append(
            {
                **asdict(statistics(weight, value)),
                "shape": list(value.shape),
                "layout": shown.layout,
                "rows": rows,
                "columns": columns,
                "height": height,
                "width": width,
                "values": _bytes(shown.values),
                "units": shown.units,
                "total_units": shown.total_units,
                "inputs": shown.inputs,
                "total_inputs": shown.total_inputs,
                "norms": shown.norms,
            }
        )
    return views


def _is_first(model: Any, layer: Layer) -> bool:
    """Return whether no layer before ``layer`` has weights, so that it sees the pixels."""
    return next((each for each in model.layers if each.variables), None) is layer


def _result(value: Array, whole: Array) -> View:
    """Return the result of a layer for one sample as maps of its units.

    Args:
        whole: the same without silenced units.
    """
    maps, units = _maps(value)
    return {
        "shape": list(value.shape),
        "units": units,
        "total_units": value.shape[-1] if value.ndim else 1,
        "height": maps.shape[1],
        "width": maps.shape[2],
        "values": _bytes(maps),
        "change": _bytes(maps - _maps(whole)[0]),
    }


def _maps(value: Array) -> tuple[Array, list[int]]:
    """Return one map (height, width) for each unit that is shown, and the numbers of the units."""
    value = np.atleast_1d(value).astype(np.float32)
    total = value.shape[-1]
    if value.ndim == 1:
        units = spread(total, MOST_UNITS)
        return value[units].reshape(-1, 1, 1), units.tolist()
    units = spread(total, MOST_MAPS)
    places = value.reshape(len(value), -1, total)
    rows, columns = spread(places.shape[0], MOST_SIDE), spread(places.shape[1], MOST_SIDE)
    return np.moveaxis(places[np.ix_(rows, columns, units)], -1, 0), units.tolist()


def _picture(x: Array, all_x: Array) -> View | None:
    """Return a sample as a picture, black to white over the range of the data."""
    size = image_size(x.shape[1:])
    if size is None:
        return None
    low, high = min(0.0, float(all_x.min())), float(all_x.max())
    scaled = np.clip((x.astype(np.float32) - low) / max(high - low, 1e-9), 0, 1)
    pixels = np.round(255 * scaled).astype(np.uint8).tobytes()
    return {"height": size[0], "width": size[1], "channels": size[2], "pixels": pixels}


def _target(model: Any, y: Array) -> float | None:
    if np.ndim(y) and np.size(y) > 1:
        return float(np.argmax(y)) if scale_of(model) not in (None, "linear") else None
    return float(np.reshape(y, -1)[0])


def _decision(model: Any, output: Array) -> float | None:
    scale = scale_of(model)
    if scale is None:
        return None
    return float(output[0, 0] if scale == "linear" else decisions(output, scale)[0][0])


def _outputs(model: Any, output: Array) -> list[float]:
    """Return the outputs for one sample: probabilities if the loss turns scores into them."""
    values = output[0].reshape(-1)[:MOST_OUTPUTS]
    scale = scale_of(model)
    if scale == "softmax" and output.shape[-1] <= MOST_OUTPUTS:
        values = softmax(values)
    elif scale == "sigmoid":
        values = 1 / (1 + np.exp(-np.clip(values, -80, 80)))
    return [float(value) for value in values]


def _effect(model: Any, excerpt: Any, silenced: dict[str, list[int]]) -> View:
    """Return the scores of a part of the excerpt with all units, and without those silenced."""
    rows = spread(len(excerpt.x), MOST_JUDGED)
    x, y = excerpt.x[rows], excerpt.y[rows]
    judged = [
        scores(model, [y], compute(model, model.outputs, [x], units)) for units in ({}, silenced)
    ]
    return {"samples": len(rows), "before": judged[0], "after": judged[1]}


def _bytes(values: Array) -> bytes:
    return np.ascontiguousarray(values, "<f4").tobytes()
