"""The page's views of a model whose class has no ``call``: they refuse, or show its parts."""

from __future__ import annotations

from typing import Any

from tests.page.python_side import python_side

PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad import nn


class Autoencoder(pg.Model):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def train_step(self, data):
        with pg.GradientTape() as tape:
            loss = pg.mean((self.decoder(self.encoder(data)) - data) ** 2.0)
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        return {"loss": loss}


a, b = pg.Input((8, 8, 1)), pg.Input((2,))
encoder = pg.Model(a, nn.Dense(2, "relu")(nn.Flatten()(a)))
decoder = pg.Model(b, nn.Reshape((8, 8, 1))(nn.Dense(64)(b)))
model = Autoencoder(encoder, decoder)
model.compile("adam")
model.fit(np.random.default_rng(0).random((64, 8, 8, 1), np.float32), epochs=2, verbose=0)
"""
QUESTIONS: list[dict[str, Any]] = [
    {"kind": "graph"},
    {"kind": "operations"},
    {"kind": "placement"},
    {"kind": "execution", "apart": False},
    {"kind": "histograms"},
    {"kind": "export", "format": "npz"},
    {"kind": "export", "format": "onnx"},
    {"kind": "predict", "pixels": [0.5] * 64},
    {"kind": "task_view", "known": 0},
    {
        "kind": "inspect_layers",
        "layer": None,
        "sample": 1,
        "pixels": None,
        "edits": [],
        "scaled": [],
    },
    {"kind": "samples", "known": 0},
    {"kind": "projection", "known": 0, "layer": "", "dimensions": 2},
    {"kind": "attention", "sample": 0, "layer": ""},
    {"kind": "one_sample", "number": 3},
]


def test_views_of_a_model_without_outputs() -> None:
    with python_side() as side:
        assert side.run(PROGRAM) == "done"
        replies = {}
        for question in QUESTIONS:
            fields = {name: value for name, value in question.items() if name != "kind"}
            reply = side.ask(question["kind"], **fields)
            replies[question.get("format", question["kind"])] = reply
        refused = {name: reply["error"] for name, reply in replies.items() if not reply["ok"]}
        assert set(refused) == {"onnx", "predict"}
        for name, error in refused.items():
            assert "has no method call" in error["message"], (name, error)
        checkpoint = side.checkpoint
        side.requests.append({"kind": "reset"})
        assert side.ask("restore", payload=checkpoint)["ok"]
        for kind, fields in (("export", {"format": "onnx"}), ("predict", {"pixels": [0.5] * 64})):
            assert "has no method call" in side.ask(kind, **fields)["error"]["message"]
        assert side.run(PROGRAM, resume=True, payload=checkpoint) == "done"
