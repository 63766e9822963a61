"""The device "reference": NumPy alone, beside compiled code."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.devices import logical, registry
from playgrad.errors import DeviceError
from playgrad.graph.opdef import lookup
from playgrad.graph.spec import TensorSpec
from playgrad.inspection.computed_nodes import computed_nodes
from playgrad.runtime.interpreter import Computation, compute_of
from playgrad.runtime.session import Session
from playgrad.wasm import page_kernels
from tests.cli.running import run
from tests.runtime.test_compiled_steps import compiling, images

Array = np.ndarray[Any, Any]


def trained(device: str) -> list[Array]:
    """Return the weights of a network after a few steps on a device."""
    x, y = images()
    with pg.Graph(seed=3).as_default():
        model = pg.Sequential(
            [nn.Conv2D(5, 3, activation="relu"), nn.MaxPool2D(2), nn.Flatten(), nn.Dense(4)]
        )
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.01), loss, device=device)
    model.fit(x, y, batch_size=16, epochs=2, verbose=0)
    assert model.session.device == f"{device}:0"
    weights = model.get_weights()
    model.close()
    return weights


def test_the_reference_is_never_compiled() -> None:
    """Its digits are NumPy's, to which compiled code is close."""
    plain = trained("cpu")
    with compiling() as host:
        reference = trained("reference")
        assert host.loaded == []
        compiled = trained("cpu")
        assert host.loaded
    for first, second, third in zip(plain, reference, compiled, strict=True):
        assert first.tobytes() == second.tobytes()
        np.testing.assert_allclose(second, third, atol=1e-4)


def test_operations_on_the_reference_are_not_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor do they use kernels where a page has some."""
    monkeypatch.setattr(page_kernels, "sys", SimpleNamespace(platform="emscripten"))
    seen = []

    def reference(arrays: Any, attrs: Any) -> Any:
        seen.append(page_kernels.has_page_kernels())
        return [arrays[0] + 1]

    op = replace(lookup("neg"), reference=reference, prepare=lambda specs, attrs: pytest.fail())
    spec = TensorSpec((2,), "float32")
    for device in ("reference:0", "reference:3"):
        computation = Computation(op, {}, (spec,), (spec,), "neg", device, None)
        (result,) = compute_of(computation)([np.zeros(2, np.float32)])
        assert list(result) == [1, 1]
    assert seen == [False, False] and page_kernels.has_page_kernels()


def test_a_scope_places_operations_on_the_reference() -> None:
    """The rest of a training is compiled, and no operation of the scope is."""
    with compiling() as host, pg.Graph(seed=0).as_default() as graph:
        weight = pg.Variable(np.ones((3, 2), np.float32))
        with graph.device("reference"):
            product = pg.matmul(pg.placeholder("float32", [4, 3], "x"), weight)
        step = weight.assign_sub(0.1 * pg.matmul(pg.transpose(product), product)[:1, :1])
        x = np.arange(12, dtype=np.float32).reshape(4, 3)
        with Session(graph, "cpu") as session:
            result = session.run([product, step], {"x": x})[0]
            computed = computed_nodes(session, [product, step.node], {"x": x})
        assert len(host.loaded) == 1
    assert np.array_equal(result, x @ np.ones((3, 2), np.float32))
    assert computed is not None and computed.compiled
    assert product.node.name not in computed.compiled


def test_the_reference_is_named_but_not_offered() -> None:
    """Nobody chooses it who does not name it; there may be several of it, as of every kind."""
    assert not any("reference" in entry["device"] for entry in registry.list_devices())
    assert "reference:0" in registry.NameableDevices()
    with pytest.raises(DeviceError, match="there is no reference:1 here"):
        Session(device="reference:1")
    try:
        pg.set_logical_devices(reference=2)
        with Session(device="reference:1") as session:
            assert session.device == "reference:1" and session.adapter == "NumPy"
        assert "reference:1" not in logical.device_names()
    finally:
        registry.reset_logical_devices()


def test_a_training_on_the_reference_from_the_command_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAYGRAD_SIMD", "1")
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np, playgrad as pg\n"
        "from playgrad import nn\n"
        "model = pg.Sequential([nn.Dense(1)])\n"
        "model.compile('sgd', 'mse')\n"
        "model.fit(np.ones((8, 2)), np.ones((8, 1)), epochs=1, verbose=0)\n"
        "print('on', model.session.device)\n"
    )
    code, out, err = run(capsys, "train", program, "--device", "reference")
    assert code == 0, err
    assert "on reference:0" in out
