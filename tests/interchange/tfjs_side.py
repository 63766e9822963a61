"""TensorFlow.js in Node: makes models, saves them, loads them and predicts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
ROOT = Path(__file__).parents[2]
BUNDLE = """import {{ build }} from "rolldown";
await build({{
  input: {program},
  logLevel: "warn",
  platform: "node",
  resolve: {{ mainFields: ["module", "main"] }},
  output: {{ file: {script}, format: "esm" }},
}});
"""


class TensorFlowJs:
    """TensorFlow.js as a program of Node.

    Args:
        folder: where the program and its models are kept.
    """

    def __init__(self, folder: Path) -> None:
        self._script = folder / "tfjs.mjs"
        program = json.dumps(str(Path(__file__).with_name("tfjs_models.mjs")))
        text = BUNDLE.format(program=program, script=json.dumps(str(self._script)))
        command = ["node", "--input-type=module", "-e", text]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)

    def make(self, folder: Path) -> None:
        """Save models, each in a folder of its own."""
        self._run("make", folder)

    def predict(self, *folders: Path) -> list[list[Array]]:
        """Return the outputs of saved models for the inputs beside them."""
        printed = self._run("predict", *folders).splitlines()[-1]
        return [[_array(each) for each in outputs] for outputs in json.loads(printed)]

    def _run(self, *arguments: str | Path) -> str:
        done = subprocess.run(
            ["node", self._script, *arguments], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def arrays_of(folder: Path) -> tuple[list[Array], list[Array]]:
    """Return the inputs of a saved model, and what TensorFlow.js predicted for them."""
    data = json.loads((folder / "predictions.json").read_text())
    inputs, outputs = ([_array(each) for each in data[key]] for key in ("inputs", "outputs"))
    return inputs, outputs


def _array(data: dict[str, Any]) -> Array:
    return np.asarray(data["data"], np.float32).reshape(data["shape"])
