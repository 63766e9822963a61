"""``--export`` and ``playgrad export`` write modules of PyTorch that predict the same."""

from __future__ import annotations

import importlib.util
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch

import playgrad as pg
from tests.cli.running import run
from tests.cli.test_export_onnx import trained


def module(path: Path) -> Any:
    """Return the module of an exported zip file, with its weights."""
    folder = path.with_suffix("")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    spec = importlib.util.spec_from_file_location("model", folder / "model.py")
    assert spec is not None
    assert spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    model = program.Model()
    model.load_state_dict(safetensors.torch.load_file(folder / "model.safetensors"))
    return model.eval()


def test_a_trained_model_is_exported_to_pytorch(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    weights, direct = trained(capsys, tmp_path, "w.safetensors", "direct.pt.zip")
    converted = tmp_path / "converted.bin"
    code, out, err = run(capsys, "export", weights, converted, "--format", "pytorch")
    assert code == 0, err
    assert str(converted) in out
    x = np.random.default_rng(1).normal(size=(5, 4)).astype(np.float32)
    expected = pg.load_model(weights).predict(x)
    for path in (direct, converted):
        with torch.no_grad():
            result = module(path)(torch.from_numpy(x)).numpy()
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def test_a_format_must_be_known(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source, target = tmp_path / "w.npz", tmp_path / "w.bin"
    np.savez(source, kernel=np.zeros((2, 2), np.float32))
    code, _, err = run(capsys, "export", source, target, "--format", "torchscript")
    assert (code, "no format is called 'torchscript'" in err) == (2, True)
    code, _, err = run(capsys, "export", source, target)
    assert (code, "no format has the ending" in err) == (2, True)
    assert not target.exists()
    assert run(capsys, "export", source, target, "--format", "safetensors")[0] == 0
    assert set(safetensors.torch.load_file(target)) == {"kernel"}
