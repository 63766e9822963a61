"""A look at the layers of a network in training, on a sample of its data.

The sample is computed in a session of the doctor's own, by NumPy, with copies of the weights. The
session of the training is only read, so its losses stay what they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from playgrad.doctor import thresholds
from playgrad.doctor.evidence import LayerFacts, Location, NotFinite
from playgrad.dtypes import dtype
from playgrad.errors import PlaygradError
from playgrad.graph.autodiff import gradients
from playgrad.graph.graph import Graph, at_top
from playgrad.graph.tensor import Node, Tensor
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import layers_of
from playgrad.ops.state import Variable, placeholder
from playgrad.runtime.session import Session
from playgrad.training.excerpt import Excerpt
from playgrad.training.layer_updates import collected_updates
from playgrad.training.objectives import mean_of_batch
from playgrad.training.penalties import collected_penalties, with_penalties
from playgrad.training.recipe import Recipe

Array = np.ndarray[Any, Any]
_HOST = "cpu:0"
_RELU = "relu"


@dataclass(frozen=True)
class Sight:
    """The result of a look: the layers, the loss of the sample, and that of weights far ahead."""

    layers: tuple[LayerFacts, ...]
    loss: float
    ahead: float | None


@dataclass(frozen=True)
class _Nodes:
    """The nodes that a look runs: those of the sample, of its loss and of the gradients."""

    x: Tensor
    y: Tensor
    results: dict[Layer, Tensor]
    loss: Tensor
    gradients: dict[Variable, Tensor]
    forward: tuple[Node, ...]
    backward: tuple[Node, ...]


class Look:
    """Looks at the network of ``recipe``, on samples of ``excerpt``.

    Args:
        line: of the call of ``fit``, which made nodes that the program does not name.
        file: that of the program, as in the sources of nodes.
    """

    def __init__(self, recipe: Recipe, excerpt: Excerpt, line: int | None, file: str | None):
        self._recipe = recipe
        self._excerpt = excerpt
        self._line, self._file = line, file
        self._network = recipe.network
        self._session: Session | None = None
        self._nodes: _Nodes | None = None
        self._first: dict[Variable, Array] | None = None
        self._first_slopes: dict[Variable, Array] | None = None

    def close(self) -> None:
        """Free what the looks needed."""
        if self._session is not None:
            self._session.close()
        self._session = self._nodes = None

    def assume_initial(self) -> None:
        """Take the weights that the layers were made with for the first ones."""
        _, session = self._prepared()
        variables = self._network.weights
        values = [np.array(value) for value in session.values(variables)]
        self._first = dict(zip(variables, values, strict=True))

    @property
    def is_affordable(self) -> bool:
        """False if the network is too large to be looked at while it is trained."""
        weights = self._network.count_params()
        if weights > thresholds.MOST_WEIGHTS:
            return False
        work = 0
        for layer in self._network.layers:
            size = sum(math.prod(v.spec.static_shape) for v in layer.variables.values())
            places = math.prod(n or 1 for n in (layer.output_shape or (1,))[1:-1])
            work += size * places
        return work * thresholds.SAMPLES <= thresholds.MOST_WORK

    def remember(self) -> None:
        """Note the weights of now as the first ones."""
        variables = self._network.weights
        if self._first is None and self._network.count_params() <= thresholds.MOST_WEIGHTS:
            self._first = dict(zip(variables, self._values(variables), strict=True))

    def _values(self, variables: Sequence[Variable]) -> list[Array]:
        return [np.array(value) for value in self._network.session.values(variables)]

    def layers(self, initial: bool = False) -> Sight:
        """Return the layers as they are now.

        Args:
            initial: whether to look at the weights that they were made with instead: those of a
                training that is lost say nothing.
        """
        nodes, session = self._prepared()
        weights = self._network.weights
        values_now = session.values(weights) if initial else self._values(weights)
        now = dict(zip(weights, map(np.asarray, values_now), strict=True))
        x, y = self._sample(thresholds.SAMPLES)
        results, loss, grads = session.run(
            [list(nodes.results.values()), nodes.loss, list(nodes.gradients.values())],
            {nodes.x: x, nodes.y: y, **now},
        )
        values = dict(zip(nodes.results, results, strict=True))
        slopes = dict(zip(nodes.gradients, grads, strict=True))
        if self._first_slopes is None and self._first is not None and not initial:
            feeds: dict[Any, Array] = {nodes.x: x, nodes.y: y, **self._first}
            first = session.run(list(nodes.gradients.values()), feeds)
            self._first_slopes = dict(zip(nodes.gradients, first, strict=True))
        layers = tuple(
            self._layer(name, layer, values.get(layer), now, slopes)
            for name, layer in self._network.named_layers()
        )
        return Sight(
            layers, float(loss), self._ahead(nodes, session, now, {nodes.x: x, nodes.y: y})
        )

    def _ahead(
        self, nodes: _Nodes, session: Session, now: dict[Variable, Array], feeds: dict[Any, Array]
    ) -> float | None:
        first = self._first
        trained = [v for v in self._network.trainable_variables if first and v in first]
        if first is None or not trained:
            return None
        factor = np.float32(thresholds.AHEAD)
        with np.errstate(all="ignore"):
            far = {v: first[v] + factor * (now[v] - first[v]) for v in trained}
        return float(session.run(nodes.loss, {**feeds, **now, **far}))

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
        """Return whether weights are those that the layer was made with."""
        assert self._session is not None
        fresh = self._session.values(kernels)  # nobody has assigned them in this session
        return all(np.array_equal(a, now[v]) for a, v in zip(fresh, kernels, strict=True))

    def _activation(self, layer: Layer) -> str:
        nodes = self._nodes
        assert nodes is not None
        return nodes.results[layer].node.op.name if layer in nodes.results else ""

    def _line_of(self, source: tuple[str, int] | None) -> int | None:
        return source[1] if source is not None and source[0] == self._file else None

    def _sample(self, most: int) -> tuple[Array, Array]:
        count = len(self._excerpt.x)
        rows = np.arange(min(count, most)) * count // min(count, most)
        return self._excerpt.x[rows], self._excerpt.y[rows]

    # The origin of a NaN

    def origin(self) -> NotFinite | None:
        """Return the first operation with a result that is not finite."""
        nodes, session = self._prepared()
        weights = self._network.weights
        feeds = dict(zip(weights, self._values(weights), strict=True))
        if any(not np.isfinite(v).all() for v in feeds.values()):
            if self._first is None:
                return None
            # An update has carried it into the weights: with the first ones, its origin shows.
            feeds = {**feeds, **self._first}
        x, y = self._sample(thresholds.SEARCHED_SAMPLES)
        for group, is_gradient in ((nodes.forward, False), (nodes.backward, True)):
            tensors = [
                t
                for node in group
                for t in node.outputs
                if dtype(t.dtype).floating and not node.op.writes and not node.op.state
            ]
            values = session.run(tensors, {nodes.x: x, nodes.y: y, **feeds})
            for tensor, value in zip(tensors, values, strict=True):
                if not np.isfinite(value).all():
                    return NotFinite(self._place(tensor.node), tensor.node.op.name, is_gradient)
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

    # The graph

    def _prepared(self) -> tuple[_Nodes, Session]:
        if self._nodes is None:
            self._nodes = self._build()
        if self._session is None:
            self._session = Session(self._network.graph, _HOST, threads=1)
        return self._nodes, self._session

    def _build(self) -> _Nodes:
        network, objectives, graph = self._network, self._recipe.objectives, self._network.graph
        x, y = self._excerpt.x, self._excerpt.y
        calls = layers_of(graph).calls
        with _draws_kept(graph), at_top(graph), graph.name_scope("doctor"), graph.device(_HOST):
            x_in = placeholder(x.dtype.name, (None, *x.shape[1:]), "x")
            y_in = placeholder(y.dtype.name, (None, *y.shape[1:]), "y")
            before, known = len(graph.nodes), set(calls)
            with collected_updates(graph), collected_penalties(graph) as activities:
                items = len(network.structure.items)
                outputs = network.apply([x_in], training=True, devices=[_HOST] * items)
            results = {c.layer: c.outputs[0] for t, c in calls.items() if t not in known}
            columns = objectives.per_sample([y_in], outputs)
            loss = mean_of_batch(with_penalties(columns, network, activities)[0])
            middle = len(graph.nodes)
            weights = [v for v in network.weights if dtype(v.dtype).floating]
            slopes = gradients(loss, weights)
        return _Nodes(
            x_in,
            y_in,
            results,
            loss,
            {v: slope for v, slope in zip(weights, slopes, strict=True) if slope is not None},
            tuple(graph.nodes[before:middle]),
            tuple(graph.nodes[middle:]),
        )


@contextmanager
def _draws_kept(graph: Graph) -> Iterator[None]:
    """Put the number of random operations back: further ones of the program draw as they would."""
    count = graph.random_ops
    try:
        yield
    finally:
        graph.random_ops = count


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
