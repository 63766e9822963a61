"""The network of a training, applied to a sample of its data: activations, loss and gradients.

The sample is computed in a session of the probe's own, by NumPy, with copies of the weights. The
session of the training is only read, so its losses do not change.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.data.excerpt import Excerpt
from playgrad.devices.kinds import HOST
from playgrad.dtypes import dtype
from playgrad.graph.autodiff import gradients
from playgrad.graph.graph import Graph, at_top
from playgrad.graph.tensor import Node, Tensor
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import layers_of
from playgrad.ops.state import Variable, placeholder
from playgrad.runtime.session import Session
from playgrad.training.layer_updates import collected_updates
from playgrad.training.objectives import mean_of_batch
from playgrad.training.penalties import collected_penalties, with_penalties
from playgrad.training.recipe import BatchStepKey, Recipe, trained

Array = np.ndarray[Any, Any]
Feeds = dict[Any, Array]
SAMPLES = 64
"""Samples that the network is computed for: enough to call a unit dead."""
MOST_WEIGHTS = 4_000_000
"""Of a network that is observed in training: a copy of the weights takes time and memory."""
MOST_WORK = 100_000_000
"""Values of all activations of the sample times weights of a layer, as a bound of a look's time."""


@dataclass(frozen=True)
class ProbeNodes:
    """The nodes that a probe runs: for the sample, its loss and the gradients."""

    x: Tensor
    y: Tensor
    results: dict[Layer, Tensor]
    loss: Tensor
    gradients: dict[Variable, Tensor]
    forward: tuple[Node, ...]
    backward: tuple[Node, ...]
    bookkeeping: tuple[Variable, ...] = ()


@dataclass(frozen=True)
class ProbeResults:
    """The values for a sample: outputs of layers, mean loss and its gradients."""

    activations: dict[Layer, Array]
    loss: float
    gradients: dict[Variable, Array]


class SampleProbe:
    """Applies the network of ``recipe`` to samples of ``excerpt``, as a training step does.

    The network must have one input and one output.
    """

    def __init__(self, recipe: Recipe, excerpt: Excerpt) -> None:
        self._recipe = recipe
        self._excerpt = excerpt
        self._network = recipe.network
        self._nodes: ProbeNodes | None = None
        self._session: Session | None = None

    def close(self) -> None:
        """Free the probe's session."""
        if self._session is not None:
            self._session.close()
        self._session = self._nodes = None

    @property
    def is_affordable(self) -> bool:
        """False if the network is too large to be observed while it is trained."""
        if self._network.count_params() > MOST_WEIGHTS:
            return False
        work = 0
        for layer in self._network.layers:
            size = sum(math.prod(v.spec.static_shape) for v in layer.variables.values())
            places = math.prod(n or 1 for n in (layer.output_shape or (1,))[1:-1])
            work += size * places
        return work * SAMPLES <= MOST_WORK

    @property
    def nodes(self) -> ProbeNodes:
        """The nodes, which are added to the graph of the network when they are first used.

        Probes of equal data share them: each training has its own, and there may be thousands.
        """
        if self._nodes is None:
            arrays = (self._excerpt.x, self._excerpt.y)
            key = BatchStepKey(
                tuple((array.dtype.name, array.shape[1:]) for array in arrays),
                trained(self._network),
            )
            self._nodes = self._recipe.probes.built(key, self._build)
            self._recipe.probes.drop_oldest()
        return self._nodes

    def weights(self) -> dict[Variable, Array]:
        """Return copies of the weights as they are now."""
        variables = self._network.variables
        values = [np.array(value) for value in self._network.session.values(variables)]
        return dict(zip(variables, values, strict=True))

    def initial_weights(self, of: Sequence[Variable] | None = None) -> dict[Variable, Array]:
        """Return the weights that the layers were made with; ``of``: some of them."""
        variables = self._network.variables if of is None else of
        # Nobody has assigned them in this session.
        values = [np.array(value) for value in self._opened().values(variables)]
        return dict(zip(variables, values, strict=True))

    def feeds(self, samples: int, weights: Mapping[Variable, Array]) -> Feeds:
        """Return values of the placeholders for at most ``samples`` samples, and of the weights."""
        count = len(self._excerpt.x)
        rows = np.arange(min(count, samples)) * count // min(count, samples)
        return {
            self.nodes.x: self._excerpt.x[rows],
            self.nodes.y: self._excerpt.y[rows],
            **weights,
        }

    def run(self, fetches: Any, feeds: Feeds) -> Any:
        """Return the values of ``fetches``."""
        return self._opened().run(fetches, feeds)

    def results(self, feeds: Feeds) -> ProbeResults:
        """Return activations, loss and gradients."""
        nodes = self.nodes
        results, loss, grads = self.run(
            [list(nodes.results.values()), nodes.loss, list(nodes.gradients.values())], feeds
        )
        return ProbeResults(
            dict(zip(nodes.results, results, strict=True)),
            float(loss),
            dict(zip(nodes.gradients, grads, strict=True)),
        )

    def _opened(self) -> Session:
        nodes = self.nodes  # before the session, which is made for a graph
        if self._session is None:
            graph, precision = nodes.loss.graph, self._network.precision
            self._session = Session(graph, HOST, threads=1, precision=precision)
        return self._session

    def _build(self) -> ProbeNodes:
        network, objectives, graph = self._network, self._recipe.objectives, self._network.graph
        x, y = self._excerpt.x, self._excerpt.y
        calls = layers_of(graph).calls
        with _draws_kept(graph), at_top(graph), graph.name_scope("look"), graph.device(HOST):
            x_in = placeholder(x.dtype.name, (None, *x.shape[1:]), "x")
            y_in = placeholder(y.dtype.name, (None, *y.shape[1:]), "y")
            before, known = len(graph.nodes), set(calls)
            with collected_updates(graph), collected_penalties(graph) as activities:
                items = len(network.structure.items)
                outputs = network.apply([x_in], training=True, devices=[HOST] * items)
            results = {c.layer: c.outputs[0] for t, c in calls.items() if t not in known}
            columns = objectives.per_sample([y_in], outputs)
            loss = mean_of_batch(with_penalties(columns, network, activities)[0])
            middle = len(graph.nodes)
            weights = [v for v in network.weights if dtype(v.dtype).floating]
            slopes = gradients(loss, weights)
        return ProbeNodes(
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
