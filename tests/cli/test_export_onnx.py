"""``--export`` and ``playgrad export`` write ONNX files that onnxruntime runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import ExportError
from tests.cli.running import run

PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)
model = pg.Sequential([nn.Dense(8, activation="relu"), nn.Dense(2)])
model.compile("sgd", nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, (x[:, 0] > 0).astype(np.int32), batch_size=16, epochs=2, verbose=0)
"""


def trained(capsys: pytest.CaptureFixture[str], folder: Path, *names: str) -> list[Path]:
    """Train the program for each file, with the same seed, and export the model to it."""
    program = folder / "small.py"
    program.write_text(PROGRAM, encoding="utf-8")
    for name in names:
        code, _, err = run(
            capsys, "train", program, "--device", "cpu", "--seed", "3", "--export", folder / name
        )
        assert code == 0, err
    return [folder / name for name in names]


def test_a_trained_model_is_exported_to_onnx(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    weights, direct = trained(capsys, tmp_path, "w.safetensors", "direct.onnx")
    converted = tmp_path / "converted.onnx"
    code, out, err = run(capsys, "export", weights, converted)
    assert code == 0, err
    assert str(converted) in out

    x = np.random.default_rng(1).normal(size=(5, 4)).astype(np.float32)
    expected = pg.load_model(weights).predict(x)
    for path in (direct, converted):
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        (result,) = session.run(None, {session.get_inputs()[0].name: x})
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def test_an_opset_is_chosen_or_refused_with_the_operator(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    model = pg.Sequential([pg.Input((3,)), nn.Dense(2, "relu"), nn.LayerNormalization()])
    model.save_weights(tmp_path / "w.safetensors")
    for options, opset, ir in (((), 17, 8), (("--opset", "21"), 21, 10)):
        code, _, err = run(
            capsys, "export", tmp_path / "w.safetensors", tmp_path / "m.onnx", *options
        )
        assert code == 0, err
        file = onnx.load(tmp_path / "m.onnx")
        assert [file.opset_import[0].version, file.ir_version] == [opset, ir]
    for opset, message in ((13, "the operator LayerNormalization as it is since opset 17"),
                           (99, "opset 99 is not written; 13 to 23 are")):  # fmt: skip
        code, _, err = run(
            capsys, "export", tmp_path / "w.safetensors", tmp_path / "n.onnx", "--opset", opset
        )
        assert (code, (tmp_path / "n.onnx").exists()) == (1, False)
        assert message in err
    for wrong in ("13", 13.0, True):
        with pytest.raises(ExportError, match=f"opset {wrong!r} is not written"):
            model.export(tmp_path / "n.onnx", opset=wrong)  # type: ignore[arg-type]
    for rest in ((), (tmp_path / "w.npz",), ("--format", "keras")):
        code, _, err = run(capsys, "export", tmp_path / "w.safetensors", *rest, "--opset", 15)
        assert code == 2
        assert "it is for ONNX files" in err


def test_weights_without_layers_do_not_become_onnx(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    np.savez(tmp_path / "w.npz", kernel=np.zeros((2, 2), np.float32))
    code, _, err = run(capsys, "export", tmp_path / "w.npz", tmp_path / "w.onnx")
    assert code == 1
    assert "does not describe the layers" in err
    assert not (tmp_path / "w.onnx").exists()


def test_the_weights_survive_a_format_without_an_equivalent(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    program = tmp_path / "noisy.py"
    noisy = "nn.Lambda(lambda x: pg.scatter_add(x, [0], np.ones((1, 4), np.float32))), nn.Dense(8"
    program.write_text(PROGRAM.replace("nn.Dense(8", noisy), encoding="utf-8")
    target = tmp_path / "noisy.onnx"
    code, _, err = run(capsys, "train", program, "--device", "cpu", "--export", target)
    assert code == 1
    assert "ONNX has no equivalent" in err
    assert not target.exists()
    (rescued,) = tmp_path.glob("playgrad-*/*.safetensors")
    assert str(rescued) in err
