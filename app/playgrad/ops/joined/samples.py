"""Samples of joined calls, for the op contract."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from playgrad.graph.graph import Graph
from playgrad.graph.opdef import Array, Attrs
from playgrad.graph.spec import TensorSpec
from playgrad.ops.arrays.gather import gather
from playgrad.ops.control.recording import inputs_like, record
from playgrad.ops.control.subgraph import to_text
from playgrad.ops.core.build import as_tensor
from playgrad.ops.core.samples import floats
from playgrad.ops.elementwise.activations import tanh
from playgrad.ops.elementwise.definitions import add, mul
from playgrad.ops.joined.layout import JoinedKind

_LEAF, _NODE = 11, 7


def sample_attrs() -> Attrs:
    """Return the attributes of trees whose leaves are rows of a captured table and whose inner
    nodes are tanh(left * right + x), where x is a row of an input of the sample."""
    graph = Graph()
    with graph.as_default():
        words = as_tensor(np.zeros((3, 2), np.float32))
        state = TensorSpec((None, 2), "float32")
        functions: list[tuple[Callable[..., Any], list[TensorSpec], list[Any]]] = [
            (lambda word: gather(words, word), [TensorSpec((None,), "int32")], [words]),
            (lambda x, y, z: tanh(add(mul(x, y), z)), [state, state, state], []),
        ]
        texts = []
        for fn, specs, captures in functions:
            inputs = inputs_like(graph, "sample/", specs, "argument")
            texts.append(to_text(record(graph, "sample/", fn, inputs, inputs), captures))
    kinds = [
        JoinedKind("leaf", _LEAF, texts[0], [["number", "int32", []]], [0], 0),
        JoinedKind("node", _NODE, texts[1], [["value", 0], ["value", 0], ["input", 0]], [], 0),
    ]
    return {"kinds": [kind.to_json() for kind in kinds], "inputs": 1, "root": 1}


def sample_table(*, code: int = _NODE, later: bool = False) -> Array:
    """Return the calls of a tree with shared leaves, and of a leaf alone."""
    tree = [
        [_LEAF, 0, 0, 1, 0],
        [_LEAF, 0, 0, 2, 0],
        [_NODE, 1, 0, 0, 1],
        [code, 2, 1, 3 if later else 2, 0],
    ]
    return np.asarray([tree, [[_LEAF, 0, 1, 2, 0], *[[0] * 5] * 3]], np.int32)


SAMPLE_INPUTS = (floats(2, 2), floats(3, 2, seed=1))
"""The input of the samples, and the captured table."""
