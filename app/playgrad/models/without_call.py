"""Models whose class trains its parts in ``train_step``, and has no ``call``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playgrad.errors import GraphError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Tensor
from playgrad.models.moving import move
from playgrad.networks.network import Network
from playgrad.networks.structure import Structure, StructureItem, expect_unique_names
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import layers_of
from playgrad.nn.sublayers import attributes


def structure_of_parts(model: Any, graph: Graph, inputs: Sequence[Tensor]) -> Structure:
    """Return a structure without outputs, of the calls in the models and layers of ``model``.

    Models of other graphs move to ``graph``.

    Raises:
        GraphError: a part is not built, or two layers have the same name.
    """
    items: dict[StructureItem, None] = {}
    for name, part in attributes(model, (Layer, Network)):
        if isinstance(part, Network) and part.built:
            if part.graph is not graph:
                move(part, graph)
            called: Sequence[StructureItem] = part.structure.items
        else:
            calls = layers_of(graph).calls.values()
            called = [call for call in calls if call.layer is part]
        if not called:
            raise GraphError(
                f"'{name}' of the model '{model.name}' is not built, and a model without call does "
                "not tell the shape of its input.",
                source=part.source,
                hint="Begin it with pg.Input(shape).",
            )
        items |= dict.fromkeys(called)
    structure = Structure(tuple(inputs), (), tuple(items))
    expect_unique_names(structure.layers)
    return structure
