"""Whole networks as scripts: Python with NumPy alone predicts what playgrad does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from tests.interchange.networks import MODELS, built, lenet, predictions

# Refuses every import but NumPy and the standard library.
ALONE = """
import runpy, sys
import numpy
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in {*sys.stdlib_module_names, "numpy"}:
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize("name", MODELS)
def test_numpy_predicts_the_same(name: str, tmp_path: Path) -> None:
    model, x = built(name)
    model.export(tmp_path / "model.py")
    namespace: dict[str, Any] = {"__name__": "model"}
    exec((tmp_path / "model.py").read_text(encoding="utf-8"), namespace)
    for batch in (x, x[:1]):
        results = namespace["predict"](batch)
        results = results if isinstance(results, tuple) else (results,)
        for result, wanted in zip(results, predictions(model, batch), strict=True):
            np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)


def test_the_script_needs_numpy_alone(tmp_path: Path) -> None:
    model, x = lenet(), MODELS["lenet"][1]
    model.export(tmp_path / "digits.py")
    np.save(tmp_path / "inputs.npy", x)
    command = [sys.executable, "-I", "-c", ALONE, "digits.py", "inputs.npy", "outputs.npy"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=500)
    result = np.load(tmp_path / "outputs.npy")
    np.testing.assert_allclose(result, model.predict(x), rtol=1e-5, atol=1e-5)
    told = subprocess.run(command[:-2], cwd=tmp_path, capture_output=True, text=True, timeout=500)
    assert told.returncode == 1
    assert "usage: python digits.py inputs.npy outputs.npy" in told.stderr


@pytest.mark.parametrize(
    "name",
    ['"""\nraise SystemExit\n"""', "back\\N{slash}", "two\nlines", "ends in \\", 'a "quote"'],
)
def test_quotes_in_a_network_name_do_not_end_the_docstring(name: str, tmp_path: Path) -> None:
    model = pg.Sequential([pg.Input((3,)), nn.Dense(2)], name=name)
    model.export(tmp_path / "model.py")
    namespace: dict[str, Any] = {"__name__": "model"}
    exec((tmp_path / "model.py").read_text(encoding="utf-8"), namespace)
    assert namespace["__doc__"].startswith(f"{name}, a trained network")
    assert "predict" in namespace


@pytest.mark.parametrize("name", ["x²", "½", "²", "a-b", "名", "1st", "class"])
def test_names_of_layers_become_identifiers(name: str, tmp_path: Path) -> None:
    model = pg.Sequential([pg.Input((3,)), nn.Dense(2, name=name)])
    model.export(tmp_path / "model.py")
    namespace: dict[str, Any] = {"__name__": "model"}
    exec((tmp_path / "model.py").read_text(encoding="utf-8"), namespace)
    x = np.ones((2, 3), np.float32)
    np.testing.assert_allclose(namespace["predict"](x), model.predict(x), rtol=1e-5)
