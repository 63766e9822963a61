"""Evidence about the layers of a network in training, on a sample of its data.

The sample is computed by a `SampleProbe`, so the losses of the training do not change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from playgrad.data.excerpt import Excerpt
from playgrad.doctor import thresholds
from playgrad.doctor.evidence import LayerFacts, Location, NotFinite
from playgrad.dtypes import dtype
from playgrad.errors import PlaygradError
from playgrad.graph.tensor import Node
from playgrad.inspection.probe import MOST_WEIGHTS, SAMPLES, SampleProbe
from playgrad.nn.layer import Layer
from playgrad.ops.state import Variable
from playgrad.training.recipe import Recipe

Array = np.ndarray[Any, Any]
_RELU = "relu"


@dataclass(frozen=True)
class LayerEvidence:
    """The layers, and the losses of the sample.

    Attributes:
        loss: of the sample.
        ahead: the loss of weights that have gone as far as ``times`` says, in the same direction.
    """

    layers: tuple[LayerFacts, ...]
    loss: float
    ahead: float | None
    times: float


class LayerProbe:
    """Measures the layers of the network of ``recipe``, on samples of ``excerpt``.

    Args:
        line: of the call of ``fit``, which made nodes that the program does not name.
        file: that of the program, as in the sources of nodes.
    """

    def __init__(self, recipe: Recipe, excerpt: Excerpt, line: int | None, file: str | None):
        self._recipe = recipe
        self._excerpt = excerpt
        self._line, self._file = line, file
        self._network = recipe.network
        self._probe = SampleProbe(recipe, excerpt)
        self._first: dict[Variable, Array] | None = None
        self._first_slopes: dict[Variable, Array] | None = None

    def close(self) -> None:
        """Free the probe."""
        self._probe.close()

    def assume_initial(self) -> None:
        """Take the initial weights of the layers for the first ones."""
        self._first = self._probe.initial_weights()

    @property
    def is_affordable(self) -> bool:
        """False if the network is too large to be examined while it is trained."""
        return self._probe.is_affordable

    def remember(self) -> None:
        """Note the current weights as the first ones."""
        if self._first is None and self._network.count_params() <= MOST_WEIGHTS:
            self._first = self._probe.weights()

    def layers(self, initial: bool = False) -> LayerEvidence:
        """Return the layers as they are now.

        Args:
            initial: whether to examine the initial weights instead: the weights of a training that
                is lost say nothing.
        """
        probe = self._probe
        nodes = probe.nodes
        now = probe.initial_weights() if initial else probe.weights()
        feeds = probe.feeds(SAMPLES, now)
        seen = probe.results(feeds)
        slopes = seen.gradients
        if self._first_slopes is None and self._first is not None and not initial:
            first = probe.run(list(nodes.gradients.values()), {**feeds, **self._first})
            self._first_slopes = dict(zip(nodes.gradients, first, strict=True))
        layers = tuple(
            self._layer(name, layer, seen.activations.get(layer), now, slopes)
            for name, layer in self._network.named_layers()
        )
        return LayerEvidence(layers, seen.loss, *self._ahead(seen.loss, now, feeds))

    def _ahead(
        self, loss: float, now: dict[Variable, Array], feeds: dict[Any, Array]
    ) -> tuple[float | None, float]:
        """Return the loss farther along the way of the weights, and how many times as far.

        It is tried farther and farther until the loss is clearly lower than ``loss``, or rises.
        """
        first = self._first
        trained = [v for v in self._network.trainable_variables if first and v in first]
        if first is None or not trained:
            return None, thresholds.AHEAD
        ahead, reached, times = loss, thresholds.AHEAD, thresholds.AHEAD
        while ahead >= thresholds.GAIN_AHEAD * loss and times <= thresholds.FARTHEST:
            with np.errstate(all="ignore"):
                far = {v: first[v] + np.float32(times) * (now[v] - first[v]) for v in trained}
            there = float(self._probe.run(self._probe.nodes.loss, {**feeds, **far}))
            if not there < ahead:
                break
            ahead, reached = there, times
            times *= thresholds.AHEAD
        return ahead, reached

    def _layer(
        self,
        name: str,
        layer: Layer,
        result: Array | None,
        now: dict[Variable, Array],
        slopes: dict[Variable, Array],
    ) -> LayerFacts:
        variables = [v for v in layer.variables.values() if dtype(v.dtype).floating]
        kernels = [v for v in variables if len(v.shape) > 1]
        place = Location(name, self._line_of(layer.source))
        facts = LayerFacts(place, layer.kind, weights=sum(now[v].size for v in kernels))
        if result is not None and result.dtype.kind == "f" and result.ndim > 1:
            facts = replace(
                facts,
                units=result.shape[-1],
                activation=self._activation(layer),
                dead=_dead(result) if self._activation(layer) == _RELU else None,
            )
        if not kernels:
            return facts
        known = [slopes[v] for v in kernels if v in slopes]
        norm = _norm([now[v] for v in kernels])
        first = self._first
        moved = 0.0 if first is None else _norm([now[v] - first[v] for v in kernels])
        before = 0.0 if first is None else _norm([first[v] for v in kernels])
        early = self._first_slopes or slopes
        frozen = not any(v.trainable for v in variables)
        return replace(
            facts,
            weight_norm=norm,
            gradient_norm=_norm(known) if known else None,
            gradient_size=_norm([early[v] for v in kernels if v in early])
            / math.sqrt(facts.weights),
            moved=moved / before if before else 0.0,
            frozen=frozen,
            untrained=frozen and self._is_initial(kernels, now),
            constant=all(bool((now[v] == now[v].flat[0]).all()) for v in kernels),
        )

    def _is_initial(self, kernels: list[Variable], now: dict[Variable, Array]) -> bool:
        """Return whether the layer still has its initial weights."""
        fresh = self._probe.initial_weights(kernels)
        return all(np.array_equal(fresh[v], now[v]) for v in kernels)

    def _activation(self, layer: Layer) -> str:
        results = self._probe.nodes.results
        return results[layer].node.op.name if layer in results else ""

    def _line_of(self, source: tuple[str, int] | None) -> int | None:
        return source[1] if source is not None and source[0] == self._file else None

    # The origin of a NaN

    def origin(self, begins: bool) -> NotFinite | None:
        """Return the first operation with a result that is not finite.

        Args:
            begins: whether no step has updated the weights.
        """
        probe = self._probe
        nodes, weights = probe.nodes, probe.weights()
        broken = [v for v, values in weights.items() if not np.isfinite(values).all()]
        if broken:
            if begins:
                return NotFinite(self._place(broken[0].node), "")
            if self._first is None:
                return None
            # An update has carried it into the weights: with the first ones, its origin shows.
            weights = {**weights, **self._first}
        feeds = probe.feeds(thresholds.SEARCHED_SAMPLES, weights)
        for group in (nodes.forward, nodes.backward):
            tensors = [
                t
                for node in group
                for t in node.outputs
                if dtype(t.dtype).floating and not node.op.writes and not node.op.state
            ]
            values = probe.run(tensors, feeds)
            for tensor, value in zip(tensors, values, strict=True):
                if not np.isfinite(value).all():
                    return NotFinite(self._place(tensor.node), tensor.node.op.name)
        return None

    def _place(self, node: Node) -> Location:
        line = self._line_of(node.source)
        layer, known = self._layer_of(node)
        if line is None or line == self._line:
            line = self._line_of(known.source) if known is not None else line
        return Location(layer or node.name, line)

    def _layer_of(self, node: Node) -> tuple[str | None, Layer | None]:
        for name, layer in self._network.named_layers():
            if f"/{layer.name}/" in f"/{node.name}":
                return name, layer
        return None, None


def _norm(arrays: Sequence[Array]) -> float:
    with np.errstate(all="ignore"):
        return float(np.sqrt(sum(float((a.astype(np.float64) ** 2).sum()) for a in arrays)))


def _dead(result: Array) -> float | None:
    """Return the share of units that are 0 wherever they are computed."""
    if result.shape[-1] < thresholds.FEWEST_UNITS:
        return None
    units = np.abs(result).reshape(-1, result.shape[-1]).max(axis=0)
    return float((units == 0).mean())


def can_be_looked_at(recipe: Recipe) -> bool:
    """Return whether a sample of the data says everything about the network."""
    network = recipe.network
    try:
        return len(network.inputs) == 1 and len(network.outputs) == 1
    except PlaygradError:
        return False
