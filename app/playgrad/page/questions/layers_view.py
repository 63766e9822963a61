"""The layers of the trained model as the page shows them: weights, results, scaled units.

Everything is computed from the variables as they are between two steps, and changes none of them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Literal, TypedDict, cast

import numpy as np

from playgrad.data.excerpt import Excerpt
from playgrad.dtypes import dtype
from playgrad.errors import GraphError
from playgrad.inspection.activations import Factors, check_factors, compute, results
from playgrad.inspection.compare import relative_change
from playgrad.inspection.inspect import scores
from playgrad.inspection.pictures import image_size
from playgrad.inspection.weights import picture, spread, statistics
from playgrad.models.trainable import TrainableNetwork
from playgrad.nn.layer import Layer
from playgrad.page.excerpt_sample import sample_number
from playgrad.page.faults import FILE
from playgrad.page.inspected_sample import (
    SampleValues,
    ValueEdit,
    decision_of,
    drawn_sample,
    edited_sample,
    outputs_of,
    sample_values,
    target_of,
)
from playgrad.page.question import question
from playgrad.page.restored_model import RestoredModel
from playgrad.page.shown_model import LiveModel

Array = np.ndarray[Any, Any]
MOST_MAPS = 64
MOST_SIDE = 64
"""Rows and columns of a map that are shown."""
MOST_UNITS = 256
"""The limit of a layer without maps."""
MOST_JUDGED = 500
"""Samples by which scaled units are judged."""


class UnitEdit(TypedDict):
    """A unit that gives a multiple of its value."""

    layer: str
    unit: int
    factor: float


class LayersQuestion(TypedDict):
    """`layer`: null for the first with weights; `pixels`: a drawing in place of the sample of that
    number; `edits`: to the sample or the drawing."""

    layer: str | None
    sample: int
    pixels: list[float] | None
    edits: list[ValueEdit]
    scaled: list[UnitEdit]


class LayerLine(TypedDict):
    """`shape`: of the result for a sample; `line`: of the program."""

    name: str
    type: str
    shape: list[int | None]
    parameters: int
    line: int | None


class WeightView(TypedDict):
    """As `WeightStatistics` and `WeightPicture` in `app/playgrad/inspection/weights.py`."""

    name: str
    shape: list[int]
    mean: float
    deviation: float
    smallest: float
    largest: float
    norm: float
    zeros: float
    layout: Literal["filters", "matrix"]
    rows: int
    columns: int
    height: int
    width: int
    values: bytes
    units: list[int]
    total_units: int
    inputs: int
    total_inputs: int
    norms: list[float]


class LayerResult(TypedDict):
    """(units, height, width) float32; `units`: the numbers of the shown units; `change`: by edits
    and scaled units."""

    shape: list[int]
    units: list[int]
    total_units: int
    height: int
    width: int
    values: bytes
    change: bytes


class InspectedSample(SampleValues):
    """`number`: null for a drawing; `tested`: see `SampleNumber`; `outputs`: probabilities if there
    are any; `before`: without edits, with all units as they are."""

    number: int | None
    count: int
    tested: bool | None
    target: float | None
    outputs: list[float]
    outputs_before: list[float]
    decision: float | None
    decision_before: float | None


class UnitsEffect(TypedDict):
    """The loss and the metrics of some of the data."""

    samples: int
    before: dict[str, float]
    after: dict[str, float]


class Travel(TypedDict):
    name: str | None
    ratio: float | None


class LayersView(TypedDict):
    """`travel`: norm of the change over the norm of the original, for the input (its name is null)
    and each layer's result; null in place of infinity, and for no edit of the sample or a unit."""

    seconds: float
    lines: list[LayerLine]
    layer: str
    weights: list[WeightView]
    result: LayerResult | None
    sample: InspectedSample | None
    scaled: list[UnitEdit]
    effect: UnitsEffect | None
    travel: list[Travel] | None


@question("inspect_layers", "shown", at_checkpoint=True)
def layers_view(model: LiveModel | RestoredModel, request: LayersQuestion) -> LayersView:
    """Return the layers of the model, and the weights and results of one of them.

    Raises:
        GraphError: the model has no layers to show.
    """
    began = time.perf_counter()
    if isinstance(model, RestoredModel):
        raise GraphError(
            "the model was restored without its program, which has its layers.",
            hint="Press Resume or Run.",
        )
    tensors = results(cast(TrainableNetwork, model))  # a built one passes everything on
    if not tensors:
        raise GraphError("the model has no layers.")
    chosen = request["layer"] if request["layer"] in tensors else _first(tensors)
    view: LayersView = {
        "seconds": 0.0,
        "lines": [_line(name, each) for name, (each, _) in tensors.items()],
        "layer": chosen,
        "weights": _weights(model, tensors[chosen][0]),
        "result": None,
        "sample": None,
        "scaled": [],
        "effect": None,
        "travel": None,
    }
    excerpt = model.test_excerpt or model.train_excerpt
    if excerpt is not None:
        _add_sample(view, model, excerpt, tensors, request)
    view["seconds"] = time.perf_counter() - began
    return view


def _add_sample(
    view: LayersView,
    model: LiveModel,
    excerpt: Excerpt,
    tensors: dict[str, Any],
    request: LayersQuestion,
) -> None:
    """Add the result of the chosen layer for a sample, and its effect on the outputs."""
    chosen, network = view["layer"], cast(TrainableNetwork, model)
    scaled = [each for each in request["scaled"] if each["layer"] in tensors]
    factors = check_factors(network, _factors(scaled))
    about = sample_number(model, excerpt, request["sample"])
    original, target = excerpt.sample(about["number"])
    pixels = request["pixels"]
    drawn = pixels is not None
    if pixels is not None:
        original = drawn_sample(model, pixels)
    x = edited_sample(original, request["edits"])
    is_changed = bool(request["edits"] or factors)
    names = list(tensors) if is_changed else [chosen]
    fetches = [*(tensors[name][1] for name in names), model.outputs[0]]
    *before, output_before = compute(network, fetches, [original], {})
    *after, output = (
        compute(network, fetches, [x], factors) if is_changed else (*before, output_before)
    )
    at = names.index(chosen)
    has_targets = model.is_compiled and target.size > 0
    view["result"] = _result(after[at][0], before[at][0])
    view["sample"] = {
        "number": None if drawn else about["number"],
        "count": about["count"],
        "tested": about["tested"],
        **sample_values(model, original, excerpt.x),
        "target": None if drawn else target_of(model, target[0]),
        "outputs": outputs_of(model, output),
        "outputs_before": outputs_of(model, output_before),
        "decision": decision_of(model, output),
        "decision_before": decision_of(model, output_before),
    }
    view["scaled"] = scaled
    if factors and has_targets:
        view["effect"] = _effect(network, excerpt, factors)
    if is_changed:
        view["travel"] = _travel([None, *names], [original, *before], [x, *after])


def _travel(
    names: Sequence[str | None], before: Sequence[Array], after: Sequence[Array]
) -> list[Travel]:
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


def _line(name: str, layer: Layer) -> LayerLine:
    source = layer.source
    return {
        "name": name,
        "type": type(layer).__name__,
        "shape": list((layer.output_shape or ())[1:]),
        "parameters": sum(int(np.prod(v.spec.static_shape)) for v in layer.variables.values()),
        "line": source[1] if source is not None and source[0] == FILE else None,
    }


def _weights(model: LiveModel, layer: Layer) -> list[WeightView]:
    variables = layer.variables
    values = dict(zip(variables, model.session.values(list(variables.values())), strict=True))
    size = image_size(model.inputs[0].shape[1:])
    image = size[:2] if size is not None and size[2] == 1 and _is_first(model, layer) else None
    views: list[WeightView] = []
    for weight, value in layer.joined({k: np.asarray(v) for k, v in values.items()}).items():
        shown = picture(value, image) if dtype(value.dtype.name).floating else None
        if shown is None:
            continue
        rows, columns, height, width = shown.values.shape
        told = statistics(weight, value)
        views.append(
            {
                "name": told.name,
                "shape": list(told.shape),
                "mean": told.mean,
                "deviation": told.deviation,
                "smallest": told.smallest,
                "largest": told.largest,
                "norm": told.norm,
                "zeros": told.zeros,
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


def _is_first(model: LiveModel, layer: Layer) -> bool:
    """Return whether no layer before ``layer`` has weights, so that it sees the pixels."""
    return next((each for each in model.layers if each.variables), None) is layer


def _result(value: Array, whole: Array) -> LayerResult:
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


def _factors(scaled: Sequence[UnitEdit]) -> dict[str, dict[int, float]]:
    factors: dict[str, dict[int, float]] = {}
    for each in scaled:
        factors.setdefault(each["layer"], {})[each["unit"]] = each["factor"]
    return factors


def _effect(model: TrainableNetwork, excerpt: Excerpt, factors: Factors) -> UnitsEffect:
    """Return the scores of a part of the excerpt with all units as they are, and scaled."""
    rows = spread(len(excerpt.x), MOST_JUDGED)
    x, y = excerpt.x[rows], excerpt.y[rows]
    judged = [
        scores(model, [y], compute(model, model.outputs, [x], each)) for each in ({}, factors)
    ]
    return {"samples": len(rows), "before": judged[0], "after": judged[1]}


def _bytes(values: Array) -> bytes:
    return np.ascontiguousarray(values, "<f4").tobytes()
