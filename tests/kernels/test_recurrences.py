"""Recurrent layers whose steps are one kernel, on a GPU, against PyTorch and against NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.compiler import roll
from playgrad.devices import registry
from playgrad.devices.tuning import HARDWARE, LOOP
from playgrad.graph.tensor import Tensor
from tests.sweeps import slow

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.gpu, pytest.mark.rotates]

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def loops(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The GPU runs even small recurrent layers as one kernel."""
    monkeypatch.setattr(roll, "MOST_IN_CHAINS", 0)
    device = registry.gpu(0)
    before = device.target
    device.target = replace(before, measured=replace(before.tuning, recurrence=LOOP))
    yield
    device.target = before


def families(session: pg.Session, fetches: list[Tensor], feeds: dict[Any, Array]) -> list[str]:
    """Return the families of all kernels, also of those that were merged."""
    kernels = [
        kernel
        for loaded in session.compiled(fetches, feeds).plans.values()
        for kernel in loaded.plan["kernels"]
    ]
    members = [m["family"] for k in kernels for m in k["params"].get("members", [])]
    return [*(kernel["family"] for kernel in kernels), *members]


def against_torch(kind: str, rows: int, steps: int, units: int) -> None:
    """Compare outputs, final states and gradients of a layer with PyTorch's."""
    random = np.random.default_rng(0)
    x = random.standard_normal((rows, steps, 3)).astype(np.float32)
    by_y = random.standard_normal((rows, steps, units)).astype(np.float32)
    theirs = getattr(torch.nn, kind)(3, units, batch_first=True)
    blocks = {"LSTM": [0, 1, 2, 3], "GRU": [1, 0, 2], "RNN": [0]}[kind]  # in PyTorch, of ours

    def ours(weight: Any) -> Array:
        parts = np.split(weight.detach().numpy(), len(blocks))
        return np.concatenate([parts[block] for block in blocks]).T.copy()

    with pg.Graph().as_default() as graph, pg.Session(graph, "gpu") as session:
        fed = pg.placeholder("float32", x.shape)
        layer = getattr(nn, {"RNN": "SimpleRNN"}.get(kind, kind))(units, return_sequences=True)
        y = layer(fed)
        kernels = [layer.variables["kernel"], layer.variables["recurrent_kernel"]]
        biases = [ours(theirs.bias_ih_l0), ours(theirs.bias_hh_l0)]
        session.assign(
            {
                kernels[0]: ours(theirs.weight_ih_l0),
                kernels[1]: ours(theirs.weight_hh_l0),
                layer.variables["bias"]: np.stack(biases) if kind == "GRU" else sum(biases),
            }
        )
        gradients = pg.gradients(pg.reduce_sum(y * by_y), [fed, *kernels])
        fetches, feeds = [y, *gradients], {fed: x}
        assert families(session, fetches, feeds).count("recurrence") >= 2
        results = session.run(fetches, feeds)
        again = session.run(fetches, feeds)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(results, again, strict=True))
    inputs = torch.tensor(x, requires_grad=True)
    outputs, _ = theirs(inputs)
    (outputs * torch.tensor(by_y)).sum().backward()
    expected = [
        outputs.detach().numpy(), inputs.grad.numpy(),
        ours(theirs.weight_ih_l0.grad), ours(theirs.weight_hh_l0.grad),
    ]  # fmt: skip
    for actual, right in zip(results, expected, strict=True):
        np.testing.assert_allclose(actual, right, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("kind", "rows", "steps", "units"),
    [("LSTM", 65, 6, 7), *slow(("GRU", 130, 6, 5), ("RNN", 1, 9, 1), ("LSTM", 2, 7, 66))],
)
def test_layers_agree_with_pytorch(kind: str, rows: int, steps: int, units: int) -> None:
    against_torch(kind, rows, steps, units)


def trained(device: str, layers: Callable[[], list[nn.Layer]], rows: int) -> list[Array]:
    """Return the losses and weights of a training on sequences with masked steps."""
    random = np.random.default_rng(1)
    x = random.standard_normal((2 * rows, 7, 3)).astype(np.float32)
    x[random.random((2 * rows, 7)) < 0.4] = 0
    y = random.standard_normal((2 * rows, 2)).astype(np.float32)
    with pg.Graph().as_default():
        model = pg.Sequential(
            [pg.Input((7, 3), batch_size=rows), nn.Masking(), *layers(), nn.Dense(2)]
        )
        model.compile(optimizer=pg.optim.SGD(0.1), loss="mse", device=device)
        history = model.fit(x, y, batch_size=rows, epochs=2, shuffle=False, verbose=0)
        results = [np.array(history.history["loss"]), *map(np.asarray, model.get_weights())]
        model.close()
    return results


def test_a_training_with_masks_dropout_and_states_is_numpys() -> None:
    def layers() -> list[nn.Layer]:
        return [
            nn.LSTM(5, recurrent_dropout=0.3, return_sequences=True, seed=3, stateful=True),
            nn.GRU(4, go_backwards=True, seed=4),
        ]

    on_gpu, on_cpu = trained("gpu", layers, 3), trained("cpu", layers, 3)
    for actual, expected in zip(on_gpu, on_cpu, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


def test_a_recurrence_beside_the_kernels_of_hardware(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is the default: with other tiles, and kernels merged to others."""
    device = registry.gpu(0)
    hard = replace(device.target, is_software=False, measured=HARDWARE)
    monkeypatch.setattr(device, "target", hard)
    against_torch("LSTM", 9, 6, 5)
