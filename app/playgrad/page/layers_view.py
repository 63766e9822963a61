"""The layers of the trained model as the page shows them: weights, results, scaled units.

Everything is computed from the variables as they are between two steps, and changes none of them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from playgrad.data.excerpt import Excerpt
from playgrad.dtypes import dtype
from playgrad.errors import GraphError
from playgrad.inspection.activations import Factors, check_factors, compute, results
from playgrad.inspection.compare import relative_change
from playgrad.inspection.inspect import scores
from playgrad.inspection.pictures import image_size
from playgrad.inspection.weights import picture, spread, statistics
from playgrad.nn.layer import Layer
from playgrad.page.excerpt_sample import sample_number
from playgrad.page.faults import FILE
from playgrad.page.inspected_sample import (
    decision_of,
    drawn_sample,
    edited_sample,
    outputs_of,
    sample_view,
    target_of,
)
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
"""Samples by which scaled units are judged."""


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
    tensors = results(model)
    if not tensors:
        raise GraphError("the model has no layers.")
    chosen = request["layer"] if request["layer"] in tensors else _first(tensors)
    view = {
        "lines": [_line(name, each) for name, (each, _) in tensors.items()],
        "layer": chosen,
        "weights": _weights(model, tensors[chosen][0], chosen),
    }
    excerpt = model.test_excerpt or model.train_excerpt
    if excerpt is None:
        view |= {"result": None, "sample": None, "scaled": [], "effect": None, "travel": None}
    else:
        view |= _for_sample(model, excerpt, chosen, tensors, request)
    return {"layers": {**view, "seconds": time.perf_counter() - began}}


def _for_sample(
    model: Any, excerpt: Excerpt, chosen: str, tensors: dict[str, Any], request: Request
) -> View:
    """Return the result of a layer for a sample, and what becomes of it."""
    scaled = [each for each in request["scaled"] if each["layer"] in tensors]
    factors = check_factors(model, _factors(scaled))
    about = sample_number(model, excerpt, int(request["sample"]))
    original, target = excerpt.sample(about["number"])
    drawn = request["pixels"] is not None
    if drawn:
        original = drawn_sample(model, request["pixels"])
    x = edited_sample(original, request["edits"])
    is_changed = bool(request["edits"] or factors)
    names = list(tensors) if is_changed else [chosen]
    fetches = [*(tensors[name][1] for name in names), model.outputs[0]]
    *before, output_before = compute(model, fetches, [original], {})
    *after, output = (
        compute(model, fetches, [x], factors) if is_changed else (*before, output_before)
    )
    at = names.index(chosen)
    has_targets = model.is_compiled and target.size > 0
    return {
        "result": _result(after[at][0], before[at][0]),
        "sample": {
            **about,
            "number": None if drawn else about["number"],
            **sample_view(model, original, excerpt.x),
            "target": None if drawn else target_of(model, target[0]),
            "outputs": outputs_of(model, output),
            "outputs_before": outputs_of(model, output_before),
            "decision": decision_of(model, output),
            "decision_before": decision_of(model, output_before),
        },
        "scaled": scaled,
        "effect": _effect(model, excerpt, factors) if factors and has_targets else None,
        "travel": _travel([None, *names], [original, *before], [x, *after]) if is_changed else None,
    }


def _travel(
    names: Sequence[str | None], before: Sequence[Array], after: Sequence[Array]
) -> list[View]:
    """Return the relative change of the input and of each layer's result.

    Args:
        names: None for the input.
    """
    ratios = [relative_change(*pair) for pair in zip(before, after, strict=True)]
    return [
        {"name": name, "ratio": ratio if np.isfinite(ratio) else None}
        for name, ratio in zip(names, ratios, strict=True)
    ]


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


def _weights(model: Any, layer: Layer, name: str) -> list[View]:
    variables = layer.variables
    values = dict(zip(variables, model.session.values(list(variables.values())), strict=True))
    size = image_size(model.inputs[0].shape[1:])
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
        whole: the same without edits and with all units as they are.
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


def _factors(scaled: Sequence[View]) -> dict[str, dict[int, float]]:
    factors: dict[str, dict[int, float]] = {}
    for each in scaled:
        factors.setdefault(each["layer"], {})[each["unit"]] = each["factor"]
    return factors


def _effect(model: Any, excerpt: Any, factors: Factors) -> View:
    """Return the scores of a part of the excerpt with all units as they are, and scaled."""
    rows = spread(len(excerpt.x), MOST_JUDGED)
    x, y = excerpt.x[rows], excerpt.y[rows]
    judged = [
        scores(model, [y], compute(model, model.outputs, [x], each)) for each in ({}, factors)
    ]
    return {"samples": len(rows), "before": judged[0], "after": judged[1]}


def _bytes(values: Array) -> bytes:
    return np.ascontiguousarray(values, "<f4").tobytes()
