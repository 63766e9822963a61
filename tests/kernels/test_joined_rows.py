"""Normalizations joined with what is beside them, on a GPU, against NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.compiler import joined_rows
from playgrad.devices import registry
from playgrad.devices.tuning import HARDWARE, JOINED

pytestmark = [pytest.mark.gpu, pytest.mark.rotates]

Array = np.ndarray[Any, Any]
Layers = Callable[[], list[nn.Layer]]


@pytest.fixture(autouse=True)
def rows(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The GPU joins even small layers."""
    monkeypatch.setattr(joined_rows, "MOST_IN_CHAINS", 0)
    device = registry.gpu(0)
    before = device.target
    device.target = replace(before, measured=replace(before.tuning, rows=JOINED))
    yield
    device.target = before


def trained(device: str, layers: Layers, shape: tuple[int, ...], batch: int) -> list[Array]:
    """Return the losses, predictions and weights of a training, and check that it joins rows."""
    random = np.random.default_rng(1)
    x = random.standard_normal((2 * batch, *shape)).astype(np.float32)
    y = random.standard_normal((2 * batch, 2)).astype(np.float32)
    with pg.Graph().as_default():
        model = pg.Sequential([pg.Input(shape, batch_size=batch), *layers()])
        model.compile(optimizer=pg.optim.SGD(0.003), loss="mse", device=device)
        history = model.fit(x, y, batch_size=batch, epochs=2, shuffle=False, verbose=0)
        plans = model.session.compiled(model.training_targets).plans.values()
        kernels = [kernel for loaded in plans for kernel in loaded.plan["kernels"]]
        members = [m["family"] for k in kernels for m in k["params"].get("members", [])]
        families = [*members, *(kernel["family"] for kernel in kernels)]
        assert ("rows" in families) == (device == "gpu")
        results = [np.array(history.history["loss"]), *map(np.asarray, model.get_weights())]
        results.append(model.predict(x[:batch], verbose=0))
        model.close()
    return results


def decoder() -> list[nn.Layer]:
    blocks = [nn.TransformerDecoder(20, 2, normalize_first=True) for _ in range(2)]
    return [nn.Dense(12), *blocks, nn.GlobalAveragePooling1D(), nn.Dense(2)]


def perceptron() -> list[nn.Layer]:
    hidden = [nn.Dense(70, activation="gelu"), nn.LayerNormalization()]
    return [nn.LayerNormalization(), *hidden, nn.Dense(17), nn.LayerNormalization(), nn.Dense(2)]


CASES: dict[str, tuple[Layers, tuple[int, ...], int]] = {
    "blocks of a transformer": (decoder, (5, 3), 3),
    "several rows of a workgroup": (perceptron, (9,), 70),
    "a row": (perceptron, (9,), 1),
}


def agree(case: str) -> None:
    on_gpu, on_cpu = trained("gpu", *CASES[case]), trained("cpu", *CASES[case])
    for actual, expected in zip(on_gpu, on_cpu, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("case", CASES)
def test_a_training_is_numpys(case: str) -> None:
    agree(case)


def test_beside_the_kernels_of_hardware(monkeypatch: pytest.MonkeyPatch) -> None:
    """With other tiles, and kernels merged to others."""
    device = registry.gpu(0)
    hard = replace(device.target, is_software=False, measured=replace(HARDWARE, rows=JOINED))
    monkeypatch.setattr(device, "target", hard)
    agree("blocks of a transformer")


def test_a_training_repeats_its_bits() -> None:
    first, second = (trained("gpu", *CASES["blocks of a transformer"]) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert one.tobytes() == other.tobytes()
