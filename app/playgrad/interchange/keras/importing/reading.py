"""The parts of a Keras file that have been read so far, and their limits."""

from __future__ import annotations

from playgrad.errors import CheckpointError
from playgrad.graph.graph import Graph
from playgrad.interchange.bounds import MOST_CALLS, MOST_NODES, MOST_OPERATIONS


class Reading:
    """The layers of a file so far, in all of its models, and the tensors they are called with.

    Args:
        graph: the graph of their operations.
        sequence_length: the steps of inputs for which the file leaves them open; None to leave
            them open.
    """

    def __init__(self, graph: Graph, sequence_length: int | None = None) -> None:
        self.sequence_length = sequence_length
        self.is_open = False  # whether an input leaves the number of steps open
        self._names: dict[str, int] = {}  # with the number of layers that were given each
        self._graph = graph
        self._layers = self._calls = 0

    def add_layer(self) -> None:
        """Count a layer.

        Raises:
            CheckpointError: there are too many.
        """
        self._layers += 1
        if self._layers > MOST_NODES:
            raise CheckpointError(f"the Keras file has more than {MOST_NODES:,} layers.")

    def unique(self, name: str, model: str) -> str:
        """Return ``name`` for a layer of ``model``, or another if a layer has it already."""
        if name in self._names:
            name = f"{model}_{name}"
        chosen = name
        while chosen in self._names:
            self._names[name] += 1
            chosen = f"{name}_{self._names[name]}"
        self._names[chosen] = 1
        return chosen

    def add_call(self, tensors: int) -> None:
        """Count the call of a layer or a model: models that call each other have no end.

        Raises:
            CheckpointError: there are too many.
        """
        self._calls += 1 + tensors
        if self._calls > MOST_CALLS or len(self._graph.nodes) > MOST_OPERATIONS:
            raise CheckpointError(
                "the layers and models of the Keras file are called too often, with more than "
                f"{MOST_CALLS:,} tensors or {MOST_OPERATIONS:,} operations in all."
            )
