"""Runs ONNX files in a process without playgrad: each folder of ``sys.argv[1]``.

A folder has ``model.onnx`` and ``inputs.npz``; ``results.npz`` is added, with the outputs.
"""

import sys
from pathlib import Path

import numpy as np
import onnxruntime

for folder in sorted(Path(sys.argv[1]).iterdir()):
    session = onnxruntime.InferenceSession(
        folder / "model.onnx", providers=["CPUExecutionProvider"]
    )
    names = [each.name for each in session.get_inputs()]
    feeds = dict(zip(names, np.load(folder / "inputs.npz").values(), strict=True))
    np.savez(folder / "results.npz", *session.run(None, feeds))
print(onnxruntime.__version__)
assert "playgrad" not in sys.modules
