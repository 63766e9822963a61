"""Runs exported programs of PyTorch in a process without playgrad: each folder of ``sys.argv[1]``.

A folder has ``model.py``, ``model.safetensors`` and ``inputs.npz``; ``results.npz`` is added, with
the outputs and the loss before and after a training step.
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file


def loaded(folder):
    """Return the module of a folder with its weights, as the head of its program says."""
    spec = importlib.util.spec_from_file_location(f"model_{folder.name}", folder / "model.py")
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    (kind,) = (
        each
        for each in vars(program).values()
        if isinstance(each, type) and each.__module__ == spec.name
    )
    model = kind()
    model.load_state_dict(load_file(folder / "model.safetensors"), strict=True)
    return model


def predicted(model, inputs):
    model.eval()
    with torch.no_grad():
        results = model(*inputs)
    return results if isinstance(results, tuple) else (results,)


def loss_of(results):
    return sum(((result - 1) ** 2).mean() for result in results)


def trained(model, inputs):
    """Return the loss before and after a step of SGD."""
    before = loss_of(predicted(model, inputs)).item()
    parameters = [each for each in model.parameters() if each.requires_grad]
    if parameters:
        optimizer = torch.optim.SGD(parameters, lr=0.05)
        model.train()
        results = model(*inputs)
        loss_of(results if isinstance(results, tuple) else (results,)).backward()
        optimizer.step()
    return [before, loss_of(predicted(model, inputs)).item(), len(parameters)]


torch.set_num_threads(1)
for folder in sorted(Path(sys.argv[1]).iterdir()):
    model = loaded(folder)
    inputs = [torch.from_numpy(array) for array in np.load(folder / "inputs.npz").values()]
    outputs = {
        f"output_{i}": r.detach().clone().numpy() for i, r in enumerate(predicted(model, inputs))
    }
    np.savez(folder / "results.npz", **outputs, losses=trained(model, inputs))
assert "playgrad" not in sys.modules
