"""Networks as programs of PyTorch: they load their weights, predict the same and train further."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

import playgrad as pg
from playgrad import nn
from playgrad.errors import ExportError
from tests.interchange.pytorch_networks import NETWORKS, lenet, network

Array = np.ndarray[Any, Any]
RUN = Path(__file__).with_name("run_torch_programs.py")
RULES = "E,F,W,I,N,UP,B,C4,PIE,RET,SIM"
# What the error says of the layers of the table that have no equivalent.
REFUSED = {
    "lambda": "kind 'lambda' has no equivalent",
    "column_parallel_dense": "kind 'column_parallel_dense' has no equivalent",
    "row_parallel_dense on images": "kind 'row_parallel_dense' has no equivalent",
    "layer_normalization of columns": "nn.LayerNorm has the last axis, or several up to it",
    "layer_normalization of each channel": "nn.LayerNorm has the last axis, or several up to it",
    "group_normalization": "nn.GroupNorm has no axis but that of the channels",
    "prelu": "nn.PReLU has one slope for each channel",
    "masking": "kind 'masking' has no equivalent",
    "fake_quantize": "kind 'fake_quantize' has no equivalent",
    "time_distributed": "kind 'time_distributed' has no equivalent",
    "multi_head_attention": "nn.MultiheadAttention has 3 features",
    "parallel_multi_head_attention": "kind 'parallel_multi_head_attention' has no equivalent",
    "dot": "kind 'dot' has no equivalent",
    "dot of images": "kind 'dot' has no equivalent",
    "random_flip": "kind 'random_flip' has no equivalent",
    "random_translation": "kind 'random_translation' has no equivalent",
    "random_rotation": "kind 'random_rotation' has no equivalent",
    "random_zoom": "kind 'random_zoom' has no equivalent",
    "random_contrast": "kind 'random_contrast' has no equivalent",
    "random_brightness": "kind 'random_brightness' has no equivalent",
    "restricted_boltzmann_machine": "kind 'restricted_boltzmann_machine' has no equivalent",
}
EXPORTED = [name for name in NETWORKS if name not in REFUSED]


def identifier(name: str) -> str:
    return name.replace(" ", "_")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of programs, each with what it predicted in a process without playgrad."""
    root = tmp_path_factory.mktemp("programs")
    for name in EXPORTED:
        folder = root / identifier(name)
        model, inputs = network(name)
        model.export(root / "model.pt.zip")
        with zipfile.ZipFile(root / "model.pt.zip") as archive:
            archive.extractall(folder)
        (root / "model.pt.zip").unlink()
        np.savez(folder / "inputs.npz", *inputs)
        results = model.predict(inputs[0] if len(inputs) == 1 else inputs)
        np.savez(folder / "expected.npz", *(results if isinstance(results, list) else [results]))
    done = subprocess.run(
        [sys.executable, "-I", RUN, root], capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return root


@pytest.mark.parametrize("name", EXPORTED)
def test_pytorch_predicts_the_same_and_trains_further(name: str, programs: Path) -> None:
    folder = programs / identifier(name)
    expected = list(np.load(folder / "expected.npz").values())
    *results, losses = np.load(folder / "results.npz").values()
    for result, wanted in zip(results, expected, strict=True):
        assert result.shape == wanted.shape
        np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)
    before, after, parameters = losses
    model, _ = network(name)
    assert bool(parameters) == bool(model.trainable_variables)
    assert np.isfinite(after)
    assert (after != before) == bool(parameters)


def test_linters_accept_the_programs(programs: Path) -> None:
    ruff = [sys.executable, "-m", "ruff"]
    # N812: everybody imports torch.nn.functional as F.
    for command in (["check", "--select", RULES, "--ignore", "N812"], ["format", "--check"]):
        done = subprocess.run(
            [*ruff, *command, "--isolated", "--line-length", "88", programs],
            capture_output=True,
            text=True,
            timeout=500,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def exported(model: pg.Model, tmp_path: Path) -> tuple[str, dict[str, Array]]:
    """Return the program and the state_dict."""
    model.export(tmp_path / "model.pt.zip")
    with zipfile.ZipFile(tmp_path / "model.pt.zip") as archive:
        program = archive.read("model.py").decode()
        return program, safetensors.numpy.load(archive.read("model.safetensors"))


LENET = '''
class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv2d_1 = nn.Conv2d(1, 6, kernel_size=5, padding=2)
        self.max_pool2d_1 = nn.MaxPool2d(2)
        self.conv2d_2 = nn.Conv2d(6, 16, kernel_size=5)
        self.average_pool2d_1 = nn.AvgPool2d(2)
        self.dense_1 = nn.Linear(400, 120)
        self.dropout_1 = nn.Dropout(0.5)
        self.dense_2 = nn.Linear(120, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return (batch, 10) for (batch, 28, 28)."""
        x = x * 0.00392156862745098
        x = x.reshape(-1, 28, 28, 1)
        # Channels first, as the modules of PyTorch expect them.
        x = x.permute(0, 3, 1, 2)
        x = F.relu(self.conv2d_1(x))
        x = self.max_pool2d_1(x)
        x = F.relu(self.conv2d_2(x))
        x = self.average_pool2d_1(x)
        x = torch.flatten(x, 1)
        x = torch.tanh(self.dense_1(x))
        x = self.dropout_1(x)
        return F.softmax(self.dense_2(x), dim=1)
'''


def test_the_program_reads_as_one_by_hand(tmp_path: Path) -> None:
    program, _ = exported(lenet(), tmp_path)
    assert program.endswith(LENET)


def test_the_state_has_the_names_and_layouts_of_pytorch(tmp_path: Path) -> None:
    model = lenet()
    _, state = exported(model, tmp_path)
    weights = model.named_weights()
    kernel = weights["conv2d_2/kernel"]  # (height, width, in, out)
    np.testing.assert_array_equal(state["conv2d_2.weight"], kernel.transpose(3, 2, 0, 1))
    np.testing.assert_array_equal(state["dense_2.weight"], weights["dense_2/kernel"].T)
    # PyTorch flattens channel by channel, playgrad pixel by pixel.
    columns = state["dense_1.weight"].reshape(120, 16, 5, 5)
    rows = weights["dense_1/kernel"].reshape(5, 5, 16, 120)
    np.testing.assert_array_equal(columns, rows.transpose(3, 2, 0, 1))


@pytest.mark.parametrize("name", REFUSED)
def test_a_layer_without_an_equivalent_is_named(name: str, tmp_path: Path) -> None:
    model, _ = network(name)
    path = tmp_path / "model.pt.zip"
    path.write_bytes(b"before")
    with pytest.raises(ExportError) as refusal:
        model.export(path)
    (layer,) = model.layers
    assert str(refusal.value).startswith(f"layer '{layer.name}': ")
    assert REFUSED[name] in str(refusal.value)
    assert path.read_bytes() == b"before"


@pytest.mark.parametrize(
    ("layers", "shape", "words"),
    [
        (
            [nn.LSTM(2, activation="relu")],
            (4, 3),
            "layer 'lstm_1': nn.LSTM has no activation 'relu'",
        ),
        ([nn.GRU(2, reset_after=False)], (4, 3), "nn.GRU has no reset_after=False"),
        ([nn.GRU(2, dropout=0.5)], (4, 3), "nn.GRU has no dropout of inputs"),
        (
            [nn.Dense(2, activation=lambda x: x * x)],
            (3,),
            "'dense_1': the activation .* has no equ",
        ),
        ([nn.TransformerEncoder(4, 1, activation="tanh")], (4, 2), "has no activation 'tanh'"),
        ([nn.Dropout(0.5, noise_shape=(None, 1))], (3,), "nn.Dropout has no noise_shape"),
        ([nn.Masking(0), nn.LSTM(2)], (4, 3), "'masking_1'"),
    ],
)
def test_an_argument_without_an_equivalent_is_named(
    layers: list[nn.Layer], shape: tuple[int, ...], words: str, tmp_path: Path
) -> None:
    model = pg.Sequential(layers)
    model.build(shape)
    with pytest.raises(ExportError, match=words):
        model.export(tmp_path / "model.pt.zip")
    assert not list(tmp_path.iterdir())


def test_an_operation_without_an_equivalent_is_named(tmp_path: Path) -> None:
    inputs = pg.Input((3,))
    model = pg.Model(inputs, nn.Dense(2)(pg.cumsum(inputs, 1)))
    with pytest.raises(ExportError, match=r"operation 'cumsum.*' \(cumsum\): the PyTorch program"):
        model.export(tmp_path / "model.pt.zip")


def test_the_same_network_gives_the_same_bytes(tmp_path: Path) -> None:
    model, _ = network("lenet")
    contents = []
    for _ in range(2):
        model.export(tmp_path / "model.zip", "pytorch")
        contents.append((tmp_path / "model.zip").read_bytes())
    assert contents[0] == contents[1]
    assert zipfile.ZipFile(io.BytesIO(contents[0])).testzip() is None
