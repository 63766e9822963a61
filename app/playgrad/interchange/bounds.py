"""Bounds for reading files of other programs: work stays in proportion, and ends."""

MOST_NODES = 10_000
"""The most nodes, layers, weights, inputs and outputs of a graph; a GPT-2 has about 3,000."""
MOST_CALLS = 3 * MOST_NODES
"""The most tensors that the layers and models of a file are called with, all together."""
MOST_OPERATIONS = 10 * MOST_NODES
"""The most operations that they become."""
MOST_STEPS = 10_000
"""The longest sequences of a model whose file leaves their length open; a step is operations."""
