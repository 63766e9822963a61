"""The samples as points in a plane: principal component analysis of the values of a layer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.dtypes import dtype
from playgrad.errors import DataError, GraphError
from playgrad.graph.tensor import Tensor
from playgrad.inspection.forward import values_of
from playgrad.nn.layer_calls import LayerCall
from playgrad.training.prepare_data import prepare_inputs

Array = np.ndarray[Any, Any]
INPUT = "input"
MOST_VALUES = 1 << 16
"""Of a sample in a layer: more would take long to bring from a GPU and to analyse."""


@dataclass(frozen=True)
class LayerValues:
    """A layer whose values can be projected: its name, and how many it has for each sample."""

    name: str
    tensor: Tensor
    size: int


@dataclass(frozen=True, eq=False)
class Projection:
    """Samples by the first principal components of their values.

    Attributes:
        rows: the numbers of the samples; samples with values that are not finite are left out.
        points: (samples, components).
        explained: the shares of the variance that the components have.
    """

    rows: Array
    points: Array
    explained: tuple[float, ...]


def projectable_layers(model: Any) -> list[LayerValues]:
    """Return the input and the layers of a model that give each sample a fixed number of floats.

    Those with more than `MOST_VALUES` are left out; so are inputs of whole numbers, except bytes,
    because tokens are names rather than amounts.
    """
    named: list[tuple[str, Tensor]] = []
    if len(model.inputs) == 1:
        kind = dtype(model.inputs[0].dtype)
        if kind.floating or kind.name == "uint8":
            named.append((INPUT, model.inputs[0]))
    names = {layer: name for name, layer in model.named_layers()}
    calls: dict[str, int] = {}
    for item in model.structure.items:
        if not isinstance(item, LayerCall):
            continue
        name = names[item.layer]
        calls[name] = calls.get(name, 0) + 1
        tensor = item.outputs[0]
        if dtype(tensor.dtype).floating:
            named.append((name if calls[name] == 1 else f"{name} ({calls[name]})", tensor))
    batch = model.inputs[0].shape[0]
    result = []
    for name, tensor in named:
        head, *sizes = tensor.shape or (0,)
        if head == batch and None not in sizes:
            size = math.prod(each or 0 for each in sizes)
            if 0 < size <= MOST_VALUES:
                result.append(LayerValues(name, tensor, size))
    return result


def project(model: Any, x: Any, layer: str = INPUT) -> Projection:
    """Return the samples ``x`` in the plane in which the values of a layer differ most.

    Args:
        x: an array (samples, ...).
        layer: the name of a layer, as in ``model.summary()``, or "input".

    Raises:
        GraphError: there is no such layer, or computing its values would change the model.
        DataError: fewer than two samples have finite values.
        ShapeError, DTypeError: the data does not fit.
    """
    (samples,) = prepare_inputs(model, x, "x")
    layers = {each.name: each for each in projectable_layers(model)}
    if layer not in layers:
        raise GraphError(
            f"there is no layer '{layer}' with values to project.",
            hint=f"Choose one of: {', '.join(layers)}.",
        )
    return project_values(layer_values(model, layers[layer], samples))


def layer_values(model: Any, layer: LayerValues, x: Array) -> Array:
    """Return the values of a layer for samples that have been checked, (samples, values)."""
    values = x if layer.tensor is model.inputs[0] else values_of(model, layer.tensor, x)
    return values.reshape(len(x), -1)


def project_values(values: Array, most: int = 2) -> Projection:
    """Return the projection of ``values`` (samples, values).

    Args:
        most: of components; see `principal_components`.

    Raises:
        DataError: fewer than two samples have finite values.
    """
    rows = np.flatnonzero(np.isfinite(values).all(axis=1))
    if len(rows) < 2:
        raise DataError(
            f"a projection needs two samples with finite values, got {len(rows)} of {len(values)}."
        )
    points, explained = principal_components(values[rows], most)
    return Projection(rows, points, explained)


def principal_components(values: Array, most: int = 2) -> tuple[Array, tuple[float, ...]]:
    """Return the coordinates of samples along the directions of largest variance.

    Each direction is such that the sample farthest from the mean along it has a positive
    coordinate.

    Args:
        values: finite, (samples, values).
        most: of directions, at least 2; there are fewer, but not less than 2, if the samples have
            no more.

    Returns:
        points: (samples, directions); one without variance has zeros.
        explained: the shares of the variance; zeros if there is none.
    """
    centred = values.astype(np.float64)
    centred -= centred.mean(axis=0)
    size = np.abs(centred).max(initial=0.0)
    if size:
        centred /= size  # whose squares may be too large or too small for a float
    samples, columns = centred.shape
    if columns > samples:
        # The products of samples have the same coordinates, and are fewer numbers.
        directions, squares, _ = np.linalg.svd(centred @ centred.T)
        lengths = np.sqrt(squares)
    else:
        directions, lengths, _ = np.linalg.svd(centred, full_matrices=False)
        squares = lengths**2
    count = min(most, len(lengths))
    points = np.zeros((samples, max(count, 2)))
    points[:, :count] = directions[:, :count] * lengths[:count] * size
    farthest = np.abs(points).argmax(axis=0)
    points *= np.where(points[farthest, np.arange(len(farthest))] < 0, -1.0, 1.0)
    shares = np.zeros(len(farthest))
    shares[:count] = squares[:count] / max(squares.sum(), np.finfo(np.float64).tiny)
    return points, tuple(shares.tolist())
