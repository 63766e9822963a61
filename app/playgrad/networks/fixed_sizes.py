"""Why a model takes samples of one size only, such as sequences of one length."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from playgrad.errors import PlaygradError, shape_text
from playgrad.graph.graph import at_top
from playgrad.networks.network import Network
from playgrad.nn.layer_calls import remove_nodes
from playgrad.ops.state import placeholder


def hint_for_sizes(network: Network, shapes: Sequence[tuple[int, ...]]) -> str | None:
    """Return what to do about inputs that differ from those of ``network`` in their sizes alone.

    Args:
        shapes: those of the arrays.

    Returns:
        None if another number of dimensions or of features is the reason.
    """
    expected = [tensor.shape for tensor in network.inputs]
    if any(len(a) != len(b) or a[-1:] != b[-1:] for a, b in zip(shapes, expected, strict=True)):
        return None
    graph, before = network.graph, len(network.graph.nodes)
    try:
        with warnings.catch_warnings(), at_top(graph):
            warnings.simplefilter("ignore")
            inputs = [
                placeholder(tensor.dtype, (None, *shape[1:]))
                for tensor, shape in zip(network.inputs, shapes, strict=True)
            ]
            network.apply(inputs, training=False)
    except PlaygradError as error:
        return f"Its layers have one size: for {shape_text(shapes[0][1:])}, {error.message}"
    finally:
        remove_nodes(graph, set(graph.nodes[before:]))
    sizes = ", ".join(["None"] * (len(shapes[0]) - 2) + [str(shapes[0][-1])])
    return f"Its layers take other sizes, too: begin the model with pg.Input(({sizes}))."
