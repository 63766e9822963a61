"""``playgrad shrink``: smaller models in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from tests.cli.running import result_of, run


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Path, Path]:
    """A trained model and its data, in files."""
    random = np.random.default_rng(0)
    x = random.normal(size=(300, 12)).astype(np.float32)
    y = (x[:, :4].sum(1) > 0).astype(np.int32)
    model = pg.Sequential([pg.Input((12,)), nn.Dense(32, activation="relu"), nn.Dense(2)])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.01), loss, ["accuracy"], device="cpu")
    model.fit(x, y, epochs=5, verbose=0)
    model.save_weights(tmp_path / "model.safetensors")
    np.savez(
        tmp_path / "data.npz", x_train=x[:250], y_train=y[:250], x_test=x[250:], y_test=y[250:]
    )
    return tmp_path / "model.safetensors", tmp_path / "data.npz"


def test_pruned_clustered_and_quantized(saved, tmp_path, capsys) -> None:
    model, data = saved
    small = tmp_path / "small.safetensors"
    changes = ("--sparsity", "0.5", "--clusters", "8", "--int8", "--data", data, "--epochs", "2")
    report = result_of(run(capsys, "shrink", model, *changes, "-o", small, "--json"))
    assert report["after"]["raw"] < report["before"]["raw"] / 2
    assert min(report["latency"]["before"], report["latency"]["after"]) > 0
    accuracy = report["comparisons"][1]
    assert (accuracy["metric"], accuracy["samples"], accuracy["data"]) == (
        "accuracy",
        50,
        "test data",
    )
    assert min(accuracy["before"], accuracy["after"]) > 0.8
    x = np.load(data)["x_test"]
    loaded = pg.load_model(small)
    kernel = next(value for value in loaded.named_weights().values() if value.shape == (12, 32))
    assert kernel.dtype == np.int8 and 0.4 < np.mean(kernel == 0) < 0.9
    assert np.mean(loaded.predict(x).argmax(1) == np.load(data)["y_test"]) == accuracy["after"]


def test_weights_alone_need_no_data(saved, tmp_path, capsys) -> None:
    model, _ = saved
    small = tmp_path / "small.safetensors"
    code, out, err = run(capsys, "shrink", model, "--float16", "--sparsity", "0.9", "-o", small)
    assert code == 0, err
    assert "% zeros, float16" in out and "times smaller" in out
    assert small.stat().st_size < model.stat().st_size
    values = pg.load_model(small).named_weights()["dense_1/kernel"]
    assert values.dtype == np.float32 and np.mean(values == 0) > 0.85


def test_narrower(saved, tmp_path, capsys) -> None:
    model, data = saved
    small = tmp_path / "small.onnx"
    changes = ("--sparsity", "0.5", "--structured", "--data", data, "--epochs", "1")
    report = result_of(run(capsys, "shrink", model, *changes, "-o", small, "--json"))
    assert report["multiply_adds"] * 2 == report["multiply_adds_before"]
    assert pg.load_model(small).predict(np.load(data)["x_test"]).shape == (50, 2)


def test_a_program_in_c(saved, tmp_path, capsys) -> None:
    model, data = saved
    code, out, err = run(capsys, "shrink", model, "--int8", "--data", data, "-o", tmp_path / "a.c")
    assert code == 0, err
    assert "accuracy on 50 samples of test data" in out
    assert "int8_t" in (tmp_path / "a.c").read_text() and (tmp_path / "a.h").exists()
    code, out, err = run(capsys, "shrink", model, "--float16", "-o", tmp_path / "b.c")
    assert code == 1 and "times smaller" in out and "b.safetensors" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "nothing to do"),
        (("--int8",), "--int8 needs --data"),
        (("--int8", "--float16"), "not allowed with"),
        (("--sparsity", "1"), "not from 0 to below 1"),
        (("--sparsity", "nan"), "not from 0 to below 1"),
        (("--clusters", "257"), "from 1 to 256"),
        (("--float16", "--structured"), "without --sparsity"),
        (("--float16", "--epochs", "2", "--data", "mnist"), "--epochs has no effect"),
        (("--sparsity", "0.5", "--epochs", "2"), "--epochs needs --data"),
        (("--int8", "-o", "small.xyz"), "no format"),
    ],
)
def test_wrong_usage(arguments, said, capsys) -> None:
    code, _, err = run(capsys, "shrink", "model.safetensors", *arguments)
    assert code == 2 and said in err


def test_unknown_data(saved, capsys) -> None:
    model, _ = saved
    code, _, err = run(capsys, "shrink", model, "--int8", "--data", "no-such-set")
    assert code == 1 and "there is no data set 'no-such-set'" in err
    code, _, err = run(capsys, "shrink", model, "--int8", "--data", "mnist")
    assert code == 1 and "ShapeError" in err


@pytest.mark.parametrize("activation", [None, "sigmoid"])
def test_two_classes_in_one_output(activation: str | None, saved, tmp_path, capsys) -> None:
    _, data = saved
    model = pg.Sequential([pg.Input((12,)), nn.Dense(1, activation=activation)])
    kernel = np.repeat(np.float32([[1.0], [0.0]]), [4, 8], axis=0)
    model.set_weights({"dense_1/kernel": kernel, "dense_1/bias": np.zeros(1, np.float32)})
    model.save_weights(tmp_path / "one.safetensors")
    options = ("--sparsity", "0.5", "--int8", "--data", data, "--epochs", "1", "--json")
    report = result_of(run(capsys, "shrink", tmp_path / "one.safetensors", *options))
    loss, accuracy = report["comparisons"]
    assert accuracy["before"] == 1 and accuracy["after"] > 0.9
    assert loss["after"] == pytest.approx(loss["before"], abs=0.05)


def test_the_model_is_not_overwritten(saved, capsys) -> None:
    model, _ = saved
    before = model.read_bytes()
    code, _, err = run(capsys, "shrink", model, "--sparsity", "0.5", "-o", model)
    assert code == 2 and "write the smaller model to another file" in err
    assert model.read_bytes() == before
