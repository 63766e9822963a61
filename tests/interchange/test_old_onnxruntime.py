"""An old ONNX Runtime computes the operations and networks of exported files."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from playgrad.contract.cases import add_case
from playgrad.graph.graph import Graph
from playgrad.interchange.onnx.export import onnx_bytes
from playgrad.networks.inference import InferenceGraph
from tests.interchange.networks import MODELS, built, predictions
from tests.interchange.predictions import expect_sample
from tests.interchange.test_onnx_operations import CASES

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]
ROOT = Path(__file__).parents[2]
VERSION = "1.17.3"
PLACE = ROOT / "var" / f"onnxruntime-{VERSION}"
# This version sorts NaN as it comes, loses the digits of a variance beside a large mean, and its
# process ends when it sorts nothing.
DIFFERENT = {"argsort-4", "argsort-5", "layer_normalization-5", "argsort-14"}


@pytest.fixture(scope="module")
def old() -> Path:
    """A folder with the old version and the NumPy that it needs."""
    if not PLACE.is_dir():
        target = PLACE.with_suffix(".part")
        packages = [f"onnxruntime=={VERSION}", "numpy<2"]
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", target, *packages]
        subprocess.run(command, check=True)
        target.rename(PLACE)
    return PLACE


def prepare(folder: Path, content: bytes, arrays: Sequence[Array]) -> None:
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(content)
    np.savez(folder / "inputs.npz", *arrays)


def run(folder: Path, place: Path) -> dict[str, list[Array]]:
    """Return the results of each folder in ``folder``."""
    script = Path(__file__).with_name("run_onnx_files.py")
    result = subprocess.run(
        [sys.executable, "-P", script, folder],
        env=os.environ | {"PYTHONPATH": str(place)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert result.stdout.strip() == VERSION
    return {each.name: list(np.load(each / "results.npz").values()) for each in folder.iterdir()}


def test_operations_are_computed(old: Path, tmp_path: Path) -> None:
    cases = {str(case): case for case in CASES if str(case) not in DIFFERENT}
    for name, case in cases.items():
        added = add_case(case, Graph())
        shown = added.node.outputs[:1] if case.op.name == "max_pool2d" else added.node.outputs
        content = onnx_bytes(InferenceGraph("sample", tuple(added.inputs), shown, {}))
        prepare(tmp_path / name, content, [*added.values.values()])
    for name, results in run(tmp_path, old).items():
        expect_sample(cases[name], results)


def test_networks_are_computed(old: Path, tmp_path: Path) -> None:
    expected = {}
    for name in MODELS:
        model, x = built(name)
        expected[name] = predictions(model, x)
        prepare(tmp_path / name, onnx_bytes(model.inference_graph()), [x])
    for name, results in run(tmp_path, old).items():
        for result, wanted in zip(results, expected[name], strict=True):
            np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)
