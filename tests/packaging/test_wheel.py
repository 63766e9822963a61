"""The wheel, built and installed into an empty environment, outside the checkout."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import time
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from playgrad import paths
from tests.browser.playground import Playground

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[2]
NO_NODE = "pages start more slowly, without an image of Python's memory: node is not on PATH"

# One step of a small network.
PROGRAM = """
import playgrad as pg
from playgrad import nn

(x, y), _ = pg.data.mnist()
model = pg.Sequential([nn.Flatten(), nn.Dense(10)])
model.compile("sgd", nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x[:32] / 255, y[:32], batch_size=32)
print("trained one step")
"""


@dataclass(frozen=True)
class Installation:
    """playgrad in a separate environment, with an empty cache.

    Attributes:
        folder: an empty folder to run commands in.
    """

    wheel: Path
    bin: Path
    folder: Path

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    @property
    def environment(self) -> dict[str, str]:
        """Files come from the checkout's ``var``, not from the network; Node is not on PATH."""
        return {
            "PATH": str(self.bin),
            "HOME": str(self.folder),
            "XDG_CACHE_HOME": str(self.cache),
            "PLAYGRAD_ASSETS": str(paths.var()),
        }

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [self.bin / command[0], *command[1:]],
            cwd=self.folder, env=self.environment, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    folder = tmp_path_factory.mktemp("packaging")
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}

    def run(*command: str | Path) -> None:
        subprocess.run(command, cwd=folder, env=environment, check=True)

    # Built from a source distribution, which anyone can do without Node.
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", ROOT)
    (wheel,) = (folder / "dist").glob("*.whl")
    venv.create(folder / "venv", with_pip=True, symlinks=True)
    binaries = folder / "venv" / "bin"
    run(
        binaries / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--constraint", ROOT / "constraints.txt", wheel,
    )  # fmt: skip
    (folder / "empty").mkdir()
    return Installation(wheel, binaries, folder / "empty")


def test_wheel_contains_page_kernels_and_types(installation: Installation) -> None:
    with zipfile.ZipFile(installation.wheel) as archive:
        names = set(archive.namelist())
    assert {
        "playgrad/py.typed",
        "playgrad/kernels/matmul_shared.wgsl",
        "playgrad/static/index.html",
        "playgrad/static/engine/runner.js",
        "playgrad/static/engine/make-image.mjs",
        "playgrad/static/examples/mnist-mlp.py",
        "playgrad/static/vendor/preact.js",
        "playgrad/static/js/records/layers.js",
        "playgrad/static/vendor/versions.js",
        "playgrad/static/vendor/onnx-messages.zip",
        "playgrad/static/vendor/LICENSES.txt",
        "playgrad/docs/index.html",
    } <= names
    tracked = subprocess.run(
        ["git", "ls-files", "kernels", "static"], cwd=ROOT, capture_output=True, text=True
    ).stdout.split()
    assert {f"playgrad/{name}" for name in tracked if (ROOT / name).is_file()} <= names
    vendored = [path for path in (ROOT / "static" / "vendor").rglob("*") if path.is_file()]
    assert {f"playgrad/{path.relative_to(ROOT).as_posix()}" for path in vendored} <= names
    assert not [name for name in names if "/tests/" in name or "/tools/" in name]
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"playgrad"}


def test_library_comes_from_the_environment(installation: Installation) -> None:
    done = installation.run("python", "-c", "import playgrad; print(playgrad.__file__)")
    assert Path(done.stdout.strip()).is_relative_to(installation.bin.parent)


def test_train_fetches_mnist_once(installation: Installation) -> None:
    command = "playgrad", "train", "mnist-mlp", "--steps", "20", "--device", "cpu", "--json"
    first, second = installation.run(*command), installation.run(*command)
    assert json.loads(first.stdout.splitlines()[-1])["steps"] == 20
    assert first.stderr.startswith("playgrad: fetching MNIST (55.0 MB) from the folder ")
    assert "  train-images-idx3-ubyte (47.0 MB)\n" in first.stderr
    assert second.stderr.startswith("epoch 1/1")
    assert (installation.cache / "playgrad" / "mnist" / "train-images-idx3-ubyte").is_file()


@pytest.fixture(scope="module")
def wheel_server(installation: Installation) -> Iterator[str]:
    """The address of the wheel's server, which logs to the file ``log``."""
    command = [str(installation.bin / "playgrad"), "serve", "--port", "0"]
    log = installation.folder / "log"
    with (
        open(log, "w") as stderr,
        subprocess.Popen(
            command, cwd=installation.folder, env=installation.environment,
            stdout=subprocess.PIPE, stderr=stderr, text=True,
        ) as process,
    ):  # fmt: skip
        assert process.stdout
        address = re.search(r"http://\S+(?=/ )", process.stdout.readline())
        assert address, log.read_text()
        yield address[0]
        process.terminate()


def read(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=300) as response:
        content: bytes = response.read()
    return content


def test_server_has_everything(installation: Installation, wheel_server: str) -> None:
    assert b"<!doctype html>" in read(f"{wheel_server}/")
    assert (
        read(f"{wheel_server}/static/vendor/preact.js")
        == (ROOT / "static/vendor/preact.js").read_bytes()
    )
    for name in ("engine/python-worker.js", "js/main.js", "css/page.css"):
        bundled = ROOT / "static" / "bundled" / name
        assert read(f"{wheel_server}/static/{name}") == bundled.read_bytes()
    with zipfile.ZipFile(io.BytesIO(read(f"{wheel_server}/bundle/playgrad.zip"))) as bundle:
        assert {"playgrad/__init__.py", "playgrad/kernels/matmul_shared.wgsl"} <= set(
            bundle.namelist()
        )
    assert b"playgrad" in read(f"{wheel_server}/docs/")
    names = json.loads(read(f"{wheel_server}/names.json"))["names"]
    assert names["nn.Dense"]["p"][0][0] == "units"
    examples = {example["id"] for example in json.loads(read(f"{wheel_server}/examples.json"))}
    assert examples == {path.stem for path in (ROOT / "static" / "examples").glob("*.py")}
    assert len(read(f"{wheel_server}/data/mnist/test-labels")) == 10_008
    log = installation.folder / "log"
    assert "playgrad: fetching Pyodide " in log.read_text()
    end = time.monotonic() + 400  # a thread of the server tries to make the image
    while NO_NODE not in log.read_text() and time.monotonic() < end:
        time.sleep(0.1)
    assert NO_NODE in log.read_text()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.gpu
def test_page_of_the_wheel_trains_a_step(chromium: Browser, wheel_server: str) -> None:
    playground = Playground(chromium, wheel_server)
    playground.choose_device("gpu")
    assert "trained one step" in playground.finish(PROGRAM)
    assert playground.steps == 1
    playground.forgive("404")  # there is no image of Python's memory without Node
    playground.close()
