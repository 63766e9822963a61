"""`load_weights` and `load_model` with a state_dict of PyTorch, and with our own export."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import safetensors.torch
import torch

import playgrad as pg
from playgrad import nn
from playgrad.errors import CheckpointError, GraphError
from playgrad.io import weights as io_weights
from tests.interchange.pytorch_networks import NETWORKS, network
from tests.interchange.test_pytorch_models import REFUSED

Array = np.ndarray[Any, Any]
SEQUENCES = np.random.default_rng(1).normal(size=(4, 6, 8)).astype(np.float32)
IMAGES = np.random.default_rng(2).normal(size=(4, 8, 8, 2)).astype(np.float32)


def saved(state: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(state, buffer)
    return buffer.getvalue()


def randomized(net: torch.nn.Module) -> torch.nn.Module:
    torch.manual_seed(3)
    for tensor in net.state_dict().values():
        if tensor.is_floating_point():
            tensor.copy_(torch.rand_like(tensor) * 0.6 + 0.1)
    return net.eval()


class LastOutput(torch.nn.Module):
    """A recurrent layer, and a layer that takes its last step."""

    def __init__(self, kind: Callable[..., torch.nn.Module]) -> None:
        super().__init__()
        self.recurrent = kind(8, 5, num_layers=2, batch_first=True)
        self.head = torch.nn.Linear(5, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.recurrent(x)[0][:, -1])


def mlp() -> tuple[torch.nn.Module, pg.Model, Array]:
    theirs = torch.nn.Sequential(
        torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8), torch.nn.Linear(8, 3)
    )
    ours = [nn.Dense(8, activation="relu"), nn.Dense(8), nn.Dense(3)]
    return theirs, pg.Sequential([pg.Input((8,)), *ours]), SEQUENCES[:, 0]


def cnn() -> tuple[torch.nn.Module, pg.Model, Array]:
    theirs = torch.nn.Sequential(
        torch.nn.Conv2d(2, 4, 3, bias=False), torch.nn.BatchNorm2d(4), torch.nn.ReLU(),
        torch.nn.Conv2d(4, 4, 3, padding=1), torch.nn.BatchNorm2d(4), torch.nn.Flatten(),
        torch.nn.Linear(144, 3),
    )  # fmt: skip
    ours = pg.Sequential([
        pg.Input((8, 8, 2)), nn.Conv2D(4, 3, use_bias=False), nn.BatchNormalization(epsilon=1e-5),
        nn.ReLU(), nn.Conv2D(4, 3, padding="same"), nn.BatchNormalization(epsilon=1e-5),
        nn.Flatten(), nn.Dense(3),
    ])  # fmt: skip
    return theirs, ours, IMAGES


def recurrent(theirs: Any, ours: Any) -> tuple[torch.nn.Module, pg.Model, Array]:
    layers = [ours(5, return_sequences=True), ours(5), nn.Dense(3)]
    return LastOutput(theirs), pg.Sequential([pg.Input((6, 8)), *layers]), SEQUENCES


def transformer() -> tuple[torch.nn.Module, pg.Model, Array]:
    theirs = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return theirs, pg.Sequential([pg.Input((6, 8)), nn.TransformerEncoder(16, 2)]), SEQUENCES


PAIRS: dict[str, Callable[[], tuple[torch.nn.Module, pg.Model, Array]]] = {
    "mlp": mlp,
    "cnn": cnn,
    "lstm": lambda: recurrent(torch.nn.LSTM, nn.LSTM),
    "gru": lambda: recurrent(torch.nn.GRU, nn.GRU),
    "transformer": transformer,
}
FILES: dict[str, Callable[[dict[str, torch.Tensor]], bytes]] = {
    "pt": saved,
    "pth": lambda state: saved({"epoch": 3, "model_state_dict": state}),
    "safetensors": safetensors.torch.save,
}


@pytest.mark.parametrize("ending", FILES)
@pytest.mark.parametrize("name", PAIRS)
def test_a_state_dict_is_loaded_into_a_model(name: str, ending: str, tmp_path: Path) -> None:
    theirs, model, x = PAIRS[name]()
    randomized(theirs)
    path = tmp_path / f"net.{ending}"
    path.write_bytes(FILES[ending](theirs.state_dict()))
    assert pg.load_model(path, model=model) is model
    inputs = torch.from_numpy(x.transpose(0, 3, 1, 2).copy() if x.ndim == 4 else x)
    with torch.no_grad():
        expected = theirs(inputs).numpy()
    np.testing.assert_allclose(model.predict(x), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", [n for n in NETWORKS if n not in REFUSED])
def test_our_export_is_a_model_again(name: str, tmp_path: Path) -> None:
    model, inputs = network(name)
    model.export(tmp_path / "model.pt.zip")
    loaded = pg.load_model(tmp_path / "model.pt.zip")
    assert loaded.to_json() == model.to_json()
    expected = model.named_weights()
    for weight, array in loaded.named_weights().items():
        np.testing.assert_array_equal(array, expected[weight])
    x = inputs if len(inputs) > 1 else inputs[0]
    for one, other in zip(as_list(loaded.predict(x)), as_list(model.predict(x)), strict=True):
        np.testing.assert_array_equal(one, other)


def packed(
    tensors: dict[str, Array], metadata: dict[str, str], method: int = zipfile.ZIP_STORED
) -> bytes:
    """Return an export with other weights."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("model.py", "raise SystemExit")
        archive.writestr("model.safetensors", safetensors.numpy.save(tensors, metadata))
    return buffer.getvalue()


def test_hostile_exports_are_refused_by_name(tmp_path: Path) -> None:
    model = pg.Sequential([pg.Input((3,)), nn.Dense(2)])
    model.export(tmp_path / "m.pt.zip")
    whole = (tmp_path / "m.pt.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "m.pt.zip") as archive:
        content = archive.read("model.safetensors")
    tensors = safetensors.numpy.load(content)
    metadata = io_weights.load_metadata(content)
    kernel = {**tensors, "dense_1.weight": np.zeros((4, 3), np.float32)}
    more = {**tensors, "dense_2.weight": np.zeros((4, 3), np.float32)}
    text = metadata["playgrad.model"]
    zeros = {**tensors, "zeros": np.zeros(1 << 26, np.float32)}
    for damaged, words in (
        (whole[:-30], "the export for PyTorch is damaged"),
        (whole.replace(b"model.py", b"model.px"), "not a safetensors, npz or PyTorch file|arrays?"),
        (packed(tensors, {}), "does not describe the layers"),
        (packed({}, metadata), r"it needs 'dense_1\.weight' \(2, 3\) for dense_1/kernel"),
        (packed(kernel, metadata), r"it needs 'dense_1\.weight' \(2, 3\)"),
        (packed({"dense_1.weight": tensors["dense_1.weight"]}, metadata), r"dense_1\.bias"),
        (packed(zeros, metadata, zipfile.ZIP_DEFLATED), "has 268,4.* bytes, more than"),
    ):
        with pytest.raises(CheckpointError, match=words):
            pg.load_model(damaged)
    for broken in (text[:-1], text.replace('"dense"', '"dance"'), "[" * 10**5, "null"):
        with pytest.raises(GraphError):
            pg.load_model(packed(tensors, {**metadata, "playgrad.model": broken}))
    pg.load_model(packed(more, metadata))  # constants of the export are no weights


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def test_a_file_without_layers_needs_a_model(tmp_path: Path) -> None:
    torch.save(torch.nn.Linear(2, 3).state_dict(), tmp_path / "net.pt")
    words = r"^net\.pt: the file has weights, but .*pg\.load_model\(file, model=model\)"
    with pytest.raises(CheckpointError, match=words):
        pg.load_model(tmp_path / "net.pt")
    model = pg.Sequential([pg.Input((2,)), nn.Dense(3)])
    with pytest.raises(ValueError, match="sequence_length is for files that describe a model"):
        pg.load_model(tmp_path / "net.pt", 3, model=model)  # type: ignore[call-overload]


def test_both_lists_are_named_where_tensors_do_not_fit(tmp_path: Path) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 4))
    torch.save(net.state_dict(), tmp_path / "net.pt")
    model = pg.Sequential([pg.Input((8,)), nn.Dense(8), nn.Dense(3)])
    before = model.get_weights()
    with pytest.raises(CheckpointError) as error:
        model.load_weights(tmp_path / "net.pt")
    assert str(error.value).startswith(
        "net.pt: the weights do not belong to this model: it needs 'dense_2.weight' (3, 8) "
        "for dense_2/kernel, 'dense_2.bias' (3,) for dense_2/bias, not in the file; the file has "
        "'1.weight' (4, 8), '1.bias' (4,), not in the model."
    )
    assert "pg.match_weights(model, file)" in str(error.value)
    for one, other in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_order_that_names_do_not_tell_is_refused_in_sorted_files() -> None:
    torch.manual_seed(0)
    first, second = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
    state = torch.nn.ModuleDict({"encode": first, "decode": second}).state_dict()
    model = pg.Sequential([pg.Input((3,)), nn.Dense(3), nn.Dense(3)])
    content = safetensors.torch.save(state)
    words = r"in which order 'decode', 'encode' are.*pg\.match_weights.*torch\.save keeps"
    with pytest.raises(CheckpointError, match=words):
        model.load_weights(content)
    model.load_weights(saved(state))
    np.testing.assert_array_equal(
        model.named_weights()["dense_1/kernel"], first.weight.detach().numpy().T
    )


def test_integers_beside_the_weights_are_left_out() -> None:
    net = torch.nn.Linear(3, 2)
    state = {**net.state_dict(), "positions": torch.arange(5)}
    model = pg.Sequential([pg.Input((3,)), nn.Dense(2)])
    model.load_weights(saved(state))
    np.testing.assert_array_equal(model.get_weights()[1], net.bias.detach().numpy())
