"""`playgrad train` with programs that train by a loop of their own, without `fit`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from playgrad.io import load
from tests.cli.running import result_of, run

LOOP = """
import numpy as np
import playgrad as pg

model = pg.Sequential([pg.Input((3,)), pg.nn.Dense(1, name="line")])
optimizer = pg.optim.SGD(0.1)

@pg.function(model)
def train(x, y):
    loss = pg.mean(pg.square(model(x) - y))
    optimizer.minimize(loss, model.trainable_variables)
    return loss

x = np.random.default_rng(0).normal(size=(40, 3))
for _ in range(50):
    loss = train(x, x.sum(axis=1, keepdims=True))
print(f"loss {loss:.3f}")
"""


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    path = tmp_path / "loop.py"
    path.write_text(LOOP)
    return path


def test_a_custom_training_loop_runs(
    capsys: pytest.CaptureFixture[str], loop: Path, tmp_path: Path
) -> None:
    weights = tmp_path / "w.npz"
    code, out, err = run(capsys, "train", loop, "--device", "cpu", "--export", weights)
    assert (code, err) == (0, "")
    lacks = "layers, compile settings, optimizer state"
    assert out.startswith("loss 0.000\nloop finished in ")
    assert out.endswith(f" s, without fit()\nweights written to {weights}, without {lacks}\n")
    np.testing.assert_allclose(load(weights)["line/kernel"], 1, atol=0.01)


def test_the_result_is_printed_when_the_weights_cannot_be_written(
    capsys: pytest.CaptureFixture[str], loop: Path, tmp_path: Path
) -> None:
    target = tmp_path / "target" / "w.npz"
    target.parent.mkdir()
    loop.write_text(f"{loop.read_text()}\nimport os\nos.rmdir({str(target.parent)!r})\n")
    code, out, err = run(capsys, "train", loop, "--device", "cpu", "--export", target)
    assert code == 1 and "loop finished in " in out and "weights written" not in out
    assert f"cannot write '{target}': No such file or directory." in err


def test_the_result_of_a_custom_loop_is_printed_as_json(
    capsys: pytest.CaptureFixture[str], loop: Path
) -> None:
    result = result_of(run(capsys, "train", loop, "--device", "cpu", "--json", "--seed", 7))
    assert 0 < result.pop("seconds") < 60
    assert result == {"example": "loop", "seed": 7}


def test_a_program_without_a_model_runs_but_exports_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "none.py"
    path.write_text("print(1)\n")
    code, out, _ = run(capsys, "train", path)
    assert (code, out.splitlines()[0]) == (0, "1")
    code, _, err = run(capsys, "train", path, "--export", tmp_path / "w.npz")
    assert code == 1
    assert "none.py did not train a model whose weights --export could write." in err
    assert not (tmp_path / "w.npz").exists()


def test_options_of_fit_are_refused(capsys: pytest.CaptureFixture[str], loop: Path) -> None:
    for option, value in (("--steps", 3), ("--batch-size", 2), ("--parallel", "sync")):
        code, _, err = run(capsys, "train", loop, "--device", "cpu", option, value)
        assert code == 1
        assert f"loop.py did not call fit(), so {option} had no effect." in err
