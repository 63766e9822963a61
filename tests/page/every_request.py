"""Requests of every kind, and a program that gives occasion for every event."""

from __future__ import annotations

from typing import Any

PROGRAM = """
import sys
import numpy as np
import playgrad as pg
from playgrad import nn

print("to the console")
print("to the console as well", file=sys.stderr)
pg.show([[0, 1], [2, 3]], title="Four values")
pg.plot([0, 1], {"up": [0, 1], "gap": [None, 1]}, style="points")
x = np.random.default_rng(0).normal(size=(64, 784)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)
model = pg.Sequential([nn.Dense(8, activation="relu"), nn.Dense(2)])
model.compile(
    optimizer=pg.optim.SGD(learning_rate=0.1),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x, y, batch_size=16, epochs=2, validation_data=(x, y), verbose=0)
game = pg.games.TicTacToe()
player = pg.SelfPlay(game, pg.games.network(game, filters=4, blocks=0))
"""
WHILE_TRAINING: list[dict[str, Any]] = [
    {"kind": "set_learning_rate", "value": 0.05},
    {"kind": "trace"},
    {"kind": "pause"},
    {"kind": "step", "unit": "batch"},
    {"kind": "resume"},
]

FAILED = "1 / 0"
ILL = PROGRAM.replace("learning_rate=0.1", "learning_rate=1e30").replace(
    "verbose=0", "verbose=0, callbacks=[nn.TerminateOnNaN()]"
)
"""A program that the doctor finds ill."""
LAB: dict[str, Any] = {"strategy": "async", "devices": 2, "steps": 24}

_RELU = "dense_1/relu_1"
QUESTIONS: list[dict[str, Any]] = [
    {"kind": "export", "format": "onnx"},
    {
        "kind": "export",
        "format": "page",
        "names": {"title": "Signs", "classes": ["minus", "plus"], "columns": []},
    },
    {"kind": "predict", "pixels": [0.5] * 784},
    {"kind": "outputs", "x": [[0.5] * 784]},
    {"kind": "placement"},
    {"kind": "graph"},
    {"kind": "execution", "apart": False},
    {"kind": "operations"},
    {"kind": "kernel_bench", "name": _RELU, "action": "open", "kernel": 0},
    {"kind": "task_view", "known": 0},
    {
        "kind": "inspect_layers",
        "layer": None,
        "sample": 1,
        "pixels": None,
        "edits": [{"at": 1, "value": 0.5}],
        "scaled": [{"layer": "dense_1", "unit": 0, "factor": 0.5}],
    },
    {"kind": "prompt", "code": "x.shape"},
    {
        "kind": "node_view",
        "name": "dense_1/kernel",
        "output": 0,
        "part": "gradient",
        "sample": None,
    },
    {"kind": "node_find", "query": "value(dense_*) |max| > 0"},
    {"kind": "node_kernel", "name": _RELU},
    {"kind": "computed_nodes"},
    {"kind": "node_time", "name": _RELU},
    {"kind": "complete", "text": "mod"},
    {"kind": "histograms"},
    {"kind": "samples", "known": 0},
    {"kind": "projection", "known": 0, "layer": "", "dimensions": 2},
    {"kind": "attention", "sample": 0, "layer": ""},
    {"kind": "trees", "fold": "", "sample": 0},
    {"kind": "next_tokens", "text": None, "sample": 0, "temperature": 1},
    {"kind": "one_sample", "number": 3},
    {"kind": "game_view", "actions": [4], "simulations": 2},
    {"kind": "shrink_begin"},
    *[{"kind": "shrink_next", "seconds": 60}] * 3,
    {"kind": "shrink_tune", "name": None},
    {"kind": "shrink_choose", "name": "int8"},
    {"kind": "shrink_report", "name": "int8"},
    {"kind": "shrink_export", "name": "float16", "format": "npz"},
    {"kind": "shrink_choose", "name": None},
    {
        "kind": "speed_begin",
        "devices": ["cpu"],
        "browser": "Chromium 156",
        "processor": "SIMD",
        "adapter": {
            "vendor": "a maker",
            "architecture": "",
            "device": "",
            "description": "a card",
            "software": False,
            "features": ["shader-f16"],
            "limits": {"maxBufferSize": 1 << 30},
        },
    },
    {"kind": "speed_next"},
    {"kind": "speed_texts"},
    {"kind": "export", "format": "npz"},
]
"""About the model that the program trains; those with a file of their own are not among them."""

SWEPT = """
import numpy as np
import playgrad as pg

def train(rate):
    model = pg.Sequential([pg.nn.Dense(1)])
    model.compile(pg.optim.SGD(rate), loss="mse")
    x = np.ones((8, 1), np.float32)
    return model.fit(x, x, batch_size=4, epochs=2, verbose=0)

pg.sweep(train, grid={"rate": [0.1]}, halving=pg.Halving(2), verbose=0)
"""
"""A sweep of one trial."""
