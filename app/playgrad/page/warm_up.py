"""The first work of every run, done once while the image of Python's memory is made.

A run of a page begins in an interpreter that has run nothing yet. CPython specialises the
instructions of a function for the types that it meets (PEP 659), and tables are built when they are
first used. Both are part of the memory, and so of its image.
"""

from __future__ import annotations

import gc

from playgrad import nn, ops, optim
from playgrad.compiler.compile import run_passes
from playgrad.compiler.place import Policy
from playgrad.compiler.program import Program
from playgrad.compiler.steps import Place
from playgrad.devices.kinds import FIRST_GPU, HOST
from playgrad.devices.saved_tunings import dump_tunings, kernels_hash, parse_tunings
from playgrad.devices.target import Limits, Target
from playgrad.graph.graph import Graph
from playgrad.ops.state import global_variables
from playgrad.runtime.compile_steps import compile_step

_IMAGES, _LABELS = (8, 4, 4), (8,)
"""Shapes of a batch."""
_ROUNDS = 3
"""After a few calls, CPython specialises a function."""


def warm_up() -> None:
    """Compile the training step of a small network for a GPU and for the processor; leave no trace
    of it."""
    kernels_hash()
    parse_tunings(dump_tunings({}))
    for _ in range(_ROUNDS):
        _compile_step()
    gc.collect()


def _compile_step() -> None:
    graph = Graph(seed=0)
    with graph.as_default():
        images = ops.placeholder("uint8", _IMAGES, name="x")
        labels = ops.placeholder("int32", _LABELS, name="y")
        scores = images
        for layer in (nn.Rescaling(1 / 255), nn.Flatten(), nn.Dense(4, "relu"), nn.Dense(3)):
            scores = layer(scores)
        loss = nn.SparseCategoricalCrossentropy(from_logits=True)(labels, scores)
        step = optim.Adam(0.001).minimize(loss)
    variables = [v.node for v in global_variables(graph)]
    initial = [graph.tensor(node.attrs["initializer"]) for node in variables]
    run_passes(Program(graph, initial), {}, Policy(HOST, [HOST]))
    program = Program(graph, [loss], [step], {"x": images, "y": labels})
    shapes, policy = {"x": _IMAGES, "y": _LABELS}, Policy(FIRST_GPU, [HOST, FIRST_GPU])
    compiled = run_passes(program, shapes, policy)
    places = {node.name: Place(f"state{number}", 0) for number, node in enumerate(variables)}
    compiled.plan(FIRST_GPU, Target(False, Limits()), places)
    order = program.order()
    compile_step(order, [loss], [images, labels], True, relaxed=True, threads=2)
