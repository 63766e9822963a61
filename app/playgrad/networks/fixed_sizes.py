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
    """Return a hint for inputs that differ from the inputs of ``network`` in their sizes alone.

    Args:
        shapes: the shapes of the arrays.

    Returns:
        None if another number of dimensions or of features is the reason.
    """
    expected = [tensor.shape for tensor in network.inputs]
    if any(len(a) != len(b) for a, b in zip(shapes, expected, strict=True)):
        return None
    features = [(a[-1], b[-1]) for a, b in zip(shapes, expected, strict=True) if len(a) > 2]
    if any(m != n for m, n in features):
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
        if not features:  # of numbers without steps, these are features
            return None
        return f"Its layers have one size: for {shape_text(shapes[0][1:])}, {error.message}"
    finally:
        remove_nodes(graph, set(graph.nodes[before:]))
    first = network.inputs[0]
    sizes = ["None"] * max(1, len(shapes[0]) - 2) + [str(n) for n in shapes[0][2:][-1:]]
    if getattr(network, "is_subclassed", False):
        how = f'call model.build((None, {", ".join(sizes)}), "{first.dtype}") before it sees data'
    else:
        how = f"begin the model with pg.Input(({', '.join(sizes)}{',' * (len(sizes) == 1)}))"
    return f"Its layers take other sizes, too: {how}."
