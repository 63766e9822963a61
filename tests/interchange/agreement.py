"""Agreement of other libraries with playgrad: a row for each format and direction."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
import onnxruntime
from playwright.sync_api import Browser
from safetensors.numpy import load_file

import playgrad as pg
from tests.browser.playground import Playground
from tests.browser.tensorflow_js import VERSION, tensorflow_js
from tests.interchange import torch_networks
from tests.interchange.networks import MODELS, built, predictions

Array = np.ndarray[Any, Any]
Pairs = list[tuple[Array, Array]]
Compare = Callable[[str, Path], Pairs]
"""(network, folder) to pairs of arrays, the library's and playgrad's."""
HEADER = (
    "| format | direction | library | networks | largest error |\n| --- | --- | --- | --- | --- |"
)
EVERY = tuple(MODELS)
RUN = Path(__file__).with_name("run_torch_programs.py")
ONE_STEP = """
import numpy as np
import playgrad as pg

model = pg.Sequential([])
model.compile("sgd", "mse")
x = np.ones({sizes}, np.float32)
model.fit(x, 0 * model.predict(x), verbose=0)
"""


@dataclass(frozen=True)
class Row:
    """A format, a direction, and a library that reads or writes its files.

    Attributes:
        library: the name of its distribution; of another program, its name.
    """

    format: str
    direction: str
    library: str
    networks: tuple[str, ...]
    compare: Compare

    def error(self, folder: Path) -> float:
        """Return the largest difference, relative to the largest number where that exceeds 1."""
        return max(
            float(np.abs(theirs - ours).max() / max(1.0, np.abs(ours).max()))
            for network in self.networks
            for theirs, ours in self.compare(network, folder)
        )

    def line(self, error: str) -> str:
        names = ", ".join(self.networks).replace("_", " ")
        known = self.library if self.library in ("Chromium", VERSION) else versioned(self.library)
        return f"| {self.format} | {self.direction} | {known} | {names} | {error} |"


def versioned(library: str) -> str:
    return f"{library} {version(library).partition('+')[0]}"


# Out


def weights(read: Callable[[Path], Any], ending: str) -> Compare:
    """The arrays of a file, beside the weights."""

    def compare(network: str, folder: Path) -> Pairs:
        model, _ = built(network)
        model.export(folder / f"weights{ending}")
        stored = read(folder / f"weights{ending}")
        return [(stored[name], array) for name, array in model.named_weights().items()]

    return compare


def exported(
    ending: str, predict: Callable[[Path, Array], list[Array]], are_flat: bool = False
) -> Compare:
    """Compare the predictions of a library with an exported file.

    Args:
        are_flat: whether ``predict`` returns one row of numbers for each sample.
    """

    def compare(network: str, folder: Path) -> Pairs:
        model, x = built(network)
        path = folder / f"{network}{ending}"
        model.export(path)
        theirs, ours = predict(path, x), predictions(model, x)
        if are_flat:
            theirs = [a.reshape(b.shape) for a, b in zip(theirs, ours, strict=True)]
        return list(zip(theirs, ours, strict=True))

    return compare


def by_onnxruntime(path: Path, x: Array) -> list[Array]:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    results: list[Array] = session.run(None, {session.get_inputs()[0].name: x})
    return results


def by_keras(path: Path, x: Array) -> list[Array]:
    results = keras.models.load_model(path).predict(x, verbose=0)
    return results if isinstance(results, list) else [results]


@cache
def pytorch_programs(parent: Path) -> Path:
    """Return a folder of every network's program, run in one process without playgrad."""
    root = parent / "programs"
    for network in EVERY:
        model, x = built(network)
        model.export(parent / f"{network}.pt.zip")
        with zipfile.ZipFile(parent / f"{network}.pt.zip") as archive:
            archive.extractall(root / network)
        np.savez(root / network / "inputs.npz", x)
        np.savez(root / network / "ours.npz", *predictions(model, x))
    subprocess.run([sys.executable, "-I", RUN, root], check=True, timeout=500)
    return root


def by_pytorch(network: str, folder: Path) -> list[Array]:
    *results, _ = np.load(pytorch_programs(folder.parent) / network / "results.npz").values()
    return results


def pytorch_models(network: str, folder: Path) -> Pairs:
    ours = np.load(pytorch_programs(folder.parent) / network / "ours.npz").values()
    return list(zip(by_pytorch(network, folder), ours, strict=True))


def by_script(path: Path, x: Array) -> list[Array]:
    results = runpy.run_path(str(path))["predict"](x)
    return list(results) if isinstance(results, tuple) else [results]


def by_page(browser: Browser) -> Callable[[Path, Array], list[Array]]:
    """In plain JavaScript: WebGPU would compute with what the machine's driver makes of it."""

    def predict(path: Path, x: Array) -> list[Array]:
        page = browser.new_page()
        page.add_init_script("delete Navigator.prototype.gpu")
        page.goto(path.as_uri())
        page.get_by_test_id("backend").wait_for()
        samples = [page.evaluate("x => predict(x)", each.reshape(-1).tolist()) for each in x]
        page.close()
        return [np.asarray(output, np.float32) for output in zip(*samples, strict=True)]

    return predict


def by_onnxruntime_from_page(browser: Browser, server: str) -> Compare:
    """A network that was brought to the page, trained for a step there, and exported from its menu.

    The weights that it has then come from the same menu.
    """

    def compare(network: str, folder: Path) -> Pairs:
        model, x = built(network)
        model.export(folder / "brought.safetensors")
        playground = Playground(browser, server)
        playground.expect_status("ready")
        playground.choose_device("cpu")
        playground.write(ONE_STEP.format(sizes=x.shape))
        playground.at("data-open").click()
        playground.at("data-file").set_input_files(folder / "brought.safetensors")
        playground.at("model-use").click()
        playground.finish()
        playground.at("export").click()
        path, weights = (
            playground.download(f"export-menu-{name}", folder)
            for name in ("onnx", "weights-safetensors")
        )
        playground.close()
        ours = predictions(pg.load_model(weights), x)
        return list(zip(by_onnxruntime(path, x), ours, strict=True))

    return compare


def by_tensorflow_js(browser: Browser) -> Callable[[Path, Array], list[Array]]:
    def predict(path: Path, x: Array) -> list[Array]:
        with tensorflow_js(browser, path.parent) as opened:
            return opened(path, [x])[1]

    return predict


# In


def onnx_of_pytorch(network: str, folder: Path) -> Pairs:
    build = {"LeNet": torch_networks.lenet, "ResNet": torch_networks.SmallResNet}[network]
    (x, y), (x_test, _) = torch_networks.images()
    theirs = torch_networks.trained(build(), x[:64], y[:64], 1)
    path = folder / "network.onnx"
    path.write_bytes(torch_networks.exported(theirs, x[:1]))
    return [(torch_networks.predicted(theirs, x_test[:8]), pg.load_model(path).predict(x_test[:8]))]


def keras_models(network: str, folder: Path) -> Pairs:
    model, x = built(network)
    model.export(folder / "ours.keras")
    keras.models.load_model(folder / "ours.keras").save(folder / "theirs.keras")
    ours = predictions(pg.load_model(folder / "theirs.keras"), x)
    return list(zip(by_keras(folder / "theirs.keras", x), ours, strict=True))


def weights_of_pytorch(network: str, folder: Path) -> Pairs:
    model, x = built(network)
    model.set_weights([np.zeros_like(array) for array in model.get_weights()])
    weights = pytorch_programs(folder.parent) / network / "model.safetensors"
    pg.match_weights(model, weights).apply()
    return list(zip(by_pytorch(network, folder), predictions(model, x), strict=True))


def rows(browser: Browser, server: str) -> list[Row]:
    """Return the rows of the table; ``browser`` opens pages, one of them from ``server``."""
    in_the_page = by_onnxruntime_from_page(browser, server)
    in_tensorflow_js = exported(".tfjs.zip", by_tensorflow_js(browser))
    return [
        Row("safetensors", "out", "safetensors", EVERY, weights(load_file, ".safetensors")),
        Row("npz", "out", "numpy", EVERY, weights(np.load, ".npz")),
        Row("ONNX", "out", "onnxruntime", EVERY, exported(".onnx", by_onnxruntime)),
        Row("ONNX, in the page", "out", "onnxruntime", ("lenet",), in_the_page),
        Row("Keras 3", "out", "keras", EVERY, exported(".keras", by_keras)),
        Row("PyTorch", "out", "torch", EVERY, pytorch_models),
        Row("TensorFlow.js", "out", VERSION, ("lenet",), in_tensorflow_js),
        Row("script", "out", "numpy", EVERY, exported(".py", by_script)),
        Row("page", "out", "Chromium", EVERY, exported(".html", by_page(browser), are_flat=True)),
        Row("Keras 3", "in", "keras", EVERY, keras_models),
        Row("PyTorch weights", "in", "torch", EVERY, weights_of_pytorch),
        Row("ONNX", "in", "torch", ("LeNet", "ResNet"), onnx_of_pytorch),
    ]
