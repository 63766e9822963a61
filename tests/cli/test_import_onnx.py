"""Files of PyTorch's ONNX exporter on the command line."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import playgrad as pg
from tests.cli.running import run
from tests.interchange import torch_networks


def test_onnx_files_are_run_and_converted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    x = np.random.default_rng(0).normal(size=(3, 1, 20, 20)).astype(np.float32)
    network = torch_networks.lenet().eval()
    expected = torch_networks.predicted(network, x)
    path, images = tmp_path / "lenet.onnx", tmp_path / "images.npy"
    path.write_bytes(torch_networks.exported(network, x))
    np.save(images, x)

    code, out, err = run(capsys, "predict", path, images, "--format", "csv", "--logits")
    assert code == 0, err
    rows = list(csv.DictReader(out.splitlines()))
    assert [int(row["class"]) for row in rows] == expected.argmax(1).tolist()

    for ending in ("safetensors", "onnx"):
        converted = tmp_path / f"converted.{ending}"
        code, _, err = run(capsys, "export", path, converted)
        assert code == 0, err
        scores = pg.load_model(converted).predict(x)
        np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)

    script, scores_path = tmp_path / "lenet.py", tmp_path / "scores.npy"
    code, _, err = run(capsys, "export", path, script)
    assert code == 0, err
    subprocess.run([sys.executable, script, images, scores_path], check=True)
    np.testing.assert_allclose(np.load(scores_path), expected, rtol=1e-4, atol=1e-5)


def test_a_damaged_file_is_an_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path, images = tmp_path / "lenet.onnx", tmp_path / "images.npy"
    path.write_bytes(b"\x08\x08text")
    np.save(images, np.zeros((1, 4), np.float32))
    code, out, err = run(capsys, "predict", path, images)
    assert code != 0
    assert out == ""
    assert "not in the ONNX format" in err
