"""`playgrad train` when a device is lost: one line, then training continues and ends as usual."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from playgrad.devices import registry
from playgrad.io import load
from playgrad.training.checkpoints.project_file import decode_project
from tests.cli.running import result_of, run

pytestmark = [pytest.mark.gpu, pytest.mark.survival("Lost devices on the desktop")]

PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad.devices import registry

x = np.random.default_rng(0).normal(size=(40, 3))
y = (x.sum(1) > 0).astype(int)
model = pg.Sequential([pg.nn.Dropout(0.2), pg.nn.Dense(2)])
loss = pg.nn.SparseCategoricalCrossentropy(from_logits=True)
model.compile(pg.optim.Adam(0.05), loss, ["accuracy"])
at = {at}


def look(done, logs):
    if at and done >= at[0]:
        at.pop(0)
        {before}
        registry.gpu(0).host._device.destroy()
    elif done % 5 == 0:
        model.session.keep_copy()


callback = pg.nn.LambdaCallback(on_steps_end=look)
model.fit(x, y, batch_size=10, epochs=5, validation_data=(x, y), callbacks=callback)
print(len(model.history.losses), len(model.history.history["val_loss"]))
"""
NO_ADAPTER = "registry.this_host().list_adapters = lambda: []"


@pytest.fixture(autouse=True)
def fresh_devices() -> Iterator[None]:
    host = registry.this_host()
    listing = host.list_adapters
    registry.close_gpus()
    yield
    host.list_adapters = listing  # type: ignore[attr-defined]
    registry.close_gpus()


def program(folder: Path, at: list[int], before: str = "pass") -> Path:
    path = folder / "small.py"
    path.write_text(PROGRAM.replace("{at}", str(at)).replace("{before}", before))
    return path


def test_checkpoints_after_a_lost_device_equal_an_undisturbed_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    last = []
    for number, moments in enumerate(([7, 12], [])):
        folder, path = tmp_path / str(number), program(tmp_path, moments)
        options = ("--device", "gpu", "--checkpoint", folder, "--every", 2)
        assert run(capsys, "train", path, *options)[0] == 0
        last.append(decode_project((folder / "step-00000020.playgrad").read_bytes()))
    one, undisturbed = last
    np.testing.assert_array_equal(one.fits[0].steps, undisturbed.fits[0].steps)
    assert one.fits[0].history == undisturbed.fits[0].history
    assert one.info() == undisturbed.info() and one.info()["finished"]
    for name, array in one.state.items():
        np.testing.assert_array_equal(array, undisturbed.state[name], err_msg=name)


@pytest.mark.parametrize("at", [[3], [7, 12]])
def test_training_continues_after_a_lost_device(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, at: list[int]
) -> None:
    results = []
    for number, moments in enumerate((at, [])):
        weights = tmp_path / f"{number}.safetensors"
        path = program(tmp_path, moments)
        code, out, err = run(
            capsys, "train", path, "--device", "gpu", "--json", "--export", weights
        )
        assert "20 5" in out.splitlines()
        lines = [line for line in err.splitlines() if line.startswith("playgrad:")]
        assert len(lines) == len(moments)
        for line in lines:
            assert line.startswith("playgrad: gpu:0: ") and line.endswith(" Training continues.")
        results.append((result_of((code, out, err)), load(weights)))
    (result, weights_after), (undisturbed, expected) = results
    for key in ("train_loss", "test_loss", "steps", "epochs", "device"):
        assert result[key] == undisturbed[key]
    for name, array in weights_after.items():
        np.testing.assert_array_equal(array, expected[name])


def test_training_continues_on_the_cpu_after_a_lost_gpu(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAYGRAD_DEVICE", "gpu")
    weights = tmp_path / "w.safetensors"
    path = program(tmp_path, [7], NO_ADAPTER)
    with pytest.warns(RuntimeWarning, match="gpu:0 cannot be opened, so the CPU does the work"):
        result = result_of(run(capsys, "train", path, "--json", "--export", weights))
    assert (result["device"], result["steps"]) == ("cpu:0", 20)
    assert load(weights)


def test_a_gpu_that_was_requested_is_not_replaced(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    weights = tmp_path / "w.safetensors"
    path = program(tmp_path, [7], NO_ADAPTER)
    code, _, err = run(capsys, "train", path, "--device", "gpu", "--export", weights)
    assert code == 1
    assert "no adapter here. Use device='cpu'" in err
    assert f"The weights of the last copy were written to {weights}." in err
    assert load(weights)
