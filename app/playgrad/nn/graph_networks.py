"""Graph convolutions with a network of the user's: GIN and EdgeConv."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from playgrad.errors import GraphError
from playgrad.graph.eager import graph_mode
from playgrad.graph.graph import Graph
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.call_context import call_arguments, training_context
from playgrad.nn.initializers import Constant
from playgrad.nn.layer import Layer, layer_type
from playgrad.nn.message_passing import MessagePassing
from playgrad.nn.wrapper import WrapperLayer
from playgrad.ops.arrays.concat import concat
from playgrad.ops.state import placeholder
from playgrad.records import LayerRecord


class _WithNetwork(MessagePassing, WrapperLayer):
    """A layer that applies a network to nodes or edges.

    The variables of its first layer are named ``<layer>/network_0/<name>``.

    Raises:
        GraphError: the network is not made of layers.
    """

    def __init__(
        self, network: Layer | Sequence[Layer], aggr: str, flow: str, name: str | None
    ) -> None:
        super().__init__(aggr, flow, name=name)
        layers = _layers(network)
        wrong = next((each for each in layers if not isinstance(each, Layer)), None)
        if wrong is not None or not layers:
            raise GraphError(
                f"the network of a {type(self).__name__} layer is a layer or a list of layers, "
                f"got {'none' if wrong is None else type(wrong).__name__}.",
                source=self.source,
            )
        self._network: list[Layer] = [layer.clone() for layer in layers]

    def build_network(self, width: int) -> None:
        """Build the network for ``width`` features."""
        shape: Shape = (None, width)
        for number, layer in enumerate(self._network):
            self.contain(f"network_{number}", layer, shape)
            with graph_mode(), Graph().as_default():
                shape = layer.clone()(placeholder("float32", shape)).shape

    def applied(self, x: Tensor) -> Tensor:
        """Return the result of the network."""
        with training_context(None) as training:
            for layer in self._network:
                x = layer.call(x, **call_arguments(layer.call, training, {}))
                layer._penalize([x])
        return x

    def get_config(self) -> dict[str, Any]:
        arguments = self._arguments()
        layers = _layers(arguments["network"])
        kinds = [{"kind": each.kind, "config": each.get_config()} for each in layers]
        config = {**arguments, "network": kinds}
        return config if self.trainable else {**config, "trainable": False}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Return a new layer with a network of new layers."""
        layers = [layer_type(one["kind"]).from_config(one["config"]) for one in config["network"]]
        return super().from_config({**config, "network": layers})


class GINConv(_WithNetwork):
    """Graph isomorphism network (Xu et al. 2019): ``network((1 + eps) * x[i] + sum(x[j]))``.

    Inputs, result (nodes, ...): see `MessagePassing`.

    Args:
        network: a layer, or a list of layers that follow each other; copies of them are used.
        eps: the initial ``eps``.
        train_eps: whether ``eps`` is trained.
    """

    kind = "gin_conv"
    record = LayerRecord()

    def __init__(
        self,
        network: Layer | Sequence[Layer],
        eps: float = 0.0,
        train_eps: bool = False,
        flow: str = "source_to_target",
        name: str | None = None,
    ) -> None:
        super().__init__(network, "add", flow, name)
        self.eps = float(eps)
        self.train_eps = bool(train_eps)

    def build(self, *shapes: Shape) -> None:
        self.build_network(self.known(shapes[0], -1))
        if self.train_eps:
            self.add_weight("eps", (), Constant(self.eps))

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        edges, x, _ = self.as_one_graph(inputs)
        own = x * (1.0 + (self.variables["eps"] if self.train_eps else self.eps))
        return edges.as_samples(self.applied(own + self.propagate(edges, x=x)))


class EdgeConv(_WithNetwork):
    """Edge convolution (Wang et al. 2019): aggregates ``network([x[i], x[j] - x[i]])``.

    Inputs, result (nodes, ...): see `MessagePassing`.

    Args:
        network: a layer, or a list of layers that follow each other; copies of them are used.
        aggr: the aggregate: "max", "mean", "add", "min" or "std".
    """

    kind = "edge_conv"
    record = LayerRecord()

    def __init__(
        self,
        network: Layer | Sequence[Layer],
        aggr: str = "max",
        flow: str = "source_to_target",
        name: str | None = None,
    ) -> None:
        super().__init__(network, aggr, flow, name)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        edges, x, _ = self.as_one_graph(inputs)
        return edges.as_samples(self.propagate(edges, x=x))

    def build(self, *shapes: Shape) -> None:
        self.build_network(2 * self.known(shapes[0], -1))

    def message(self, x_i: Tensor, x_j: Tensor) -> Tensor:  # type: ignore[override]
        return self.applied(concat([x_i, x_j - x_i], -1))


def _layers(network: Any) -> list[Any]:
    return list(network) if isinstance(network, (list, tuple)) else [network]
