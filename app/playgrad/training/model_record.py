"""Descriptions of models for checkpoints: what predicting and training on need of the program."""

from __future__ import annotations

from typing import Any

from playgrad.graph.serialize import graph_to_json
from playgrad.graph.tensor import Tensor
from playgrad.graph.traversal import ancestors
from playgrad.models.network import Network
from playgrad.ops.state import RANDOM_ADVANCE, RANDOM_STEP
from playgrad.training.checkpoint import ModelRecord, Weight
from playgrad.training.recipe import Recipe


def model_record(recipe: Recipe, input_maximum: float, number: int) -> ModelRecord:
    """Describe a model whose training step has been built.

    Args:
        input_maximum: the largest input value in its data.
        number: of the state with its variables.
    """
    network = recipe.network
    weights: list[Tensor] = list(network.weights)
    variables = [*weights, *recipe.optimizer.variables]
    return ModelRecord(
        state=number,
        variables={v.node.name: list(v.spec.static_shape) for v in variables},
        weights={
            f"{layer_name}/{name}": Weight(
                [part.node.name for part in parts],
                axis,
                list(layer.weight_specs()[name].static_shape),
                parts[0].dtype,
            )
            for layer_name, layer in network.named_layers()
            for name, (parts, axis) in layer.weight_parts().items()
        },
        graph=forward_graph(network),
        inputs=[tensor.name for tensor in network.inputs],
        outputs=[tensor.name for tensor in network.outputs],
        input_shape=list(network.input_shape),
        input_dtype=network.inputs[0].dtype,
        input_maximum=input_maximum,
        gives_logits=recipe.objectives.gives_logits,
        parameters=network.count_params(),
        learning_rate=recipe.optimizer.initial_learning_rate,
        file_metadata=network.file_metadata(),
    )


def forward_graph(network: Network) -> dict[str, Any]:
    """Return the graph of a prediction as JSON data, without devices: it can run anywhere."""
    graph = network.graph
    targets = [tensor.node for tensor in (*network.inputs, *network.outputs)]
    nodes = ancestors(targets)
    if RANDOM_STEP in graph and graph.node(RANDOM_STEP) in nodes:
        nodes |= ancestors([graph.node(RANDOM_ADVANCE)])
    data = graph_to_json(graph, sorted(nodes, key=lambda node: node.id))
    for node in data["nodes"]:
        node.pop("device", None)
    return data
