"""Descriptions of models for checkpoints: what predicting and training on need of the program."""

from __future__ import annotations

import os
from typing import Any

from playgrad.errors import CheckpointError
from playgrad.graph.serialize import graph_to_json
from playgrad.graph.tensor import Tensor
from playgrad.graph.traversal import ancestors
from playgrad.networks.network import Network
from playgrad.ops.state import RANDOM_ADVANCE, RANDOM_STEP
from playgrad.training.checkpoints.compile_settings import compile_settings
from playgrad.training.checkpoints.record import ModelRecord, Weight
from playgrad.training.recipe import Recipe


def model_record(network: Network, recipe: Recipe | None, number: int) -> ModelRecord:
    """Describe a model that is built.

    Args:
        recipe: of its training; None if it is not compiled.
        number: of the state with its variables.
    """
    optimizer = None if recipe is None else recipe.optimizer
    weights: list[Tensor] = list(network.variables)
    variables = [*weights, *(() if optimizer is None else optimizer.variables)]
    compiled, not_compiled = _compiled(recipe)
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
        gives_logits=recipe is not None and recipe.objectives.gives_logits,
        parameters=network.count_params(),
        learning_rate=None if optimizer is None else optimizer.initial_learning_rate,
        file_metadata=network.file_metadata(),
        seed=network.graph.seed,
        compiled=compiled,
        not_compiled=not_compiled,
        optimizer=None if optimizer is None else optimizer.state_names(),
    )


def _compiled(recipe: Recipe | None) -> tuple[dict[str, Any] | None, str]:
    """Return the arguments of ``compile``, or None and why files cannot have them."""
    if recipe is None:
        return None, ""
    try:
        return compile_settings(recipe), ""
    except CheckpointError as error:
        return None, error.message


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
        source = node.get("source")
        if source and os.path.isabs(source[0]):
            node.pop("source")  # a path on this machine
    return data
