"""The message classes of ONNX: from the installed package, or from the archive without it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import CheckpointError, ExportError
from playgrad.interchange.onnx import messages
from tools.setup import onnx_messages

ROOT = Path(__file__).parents[2]

# Finders that hide the onnx package, and the protobuf that is installed if asked to.
_WITHOUT = """
import os
import sys
from importlib.abc import MetaPathFinder

class Hidden(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "onnx":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Hidden())
if "without protobuf" in sys.argv:
    os.environ["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"] = "python"
    from playgrad.interchange.onnx.messages import in_this_installation
    sys.path.insert(0, str(in_this_installation()))

import numpy as np
import playgrad as pg
from playgrad import nn

model = pg.Sequential([pg.Input((6, 6, 2)), nn.Conv2D(3, 3), nn.Flatten(), nn.Dense(4)])
model.export("net.onnx")
again = pg.load_model("net.onnx")
x = np.random.default_rng(0).normal(size=(5, 6, 6, 2)).astype(np.float32)
np.testing.assert_allclose(again.predict(x), model.predict(x), rtol=1e-5, atol=1e-5)
from google.protobuf.internal import api_implementation
print(sys.modules["onnx_ml_pb2"].__file__, sys.modules["google.protobuf"].__file__)
print(api_implementation.Type())
"""


@pytest.mark.parametrize("protobuf", ["with protobuf", "without protobuf"])
def test_files_are_written_and_read_without_the_onnx_package(protobuf: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT, protobuf],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    where, kind = done.stdout.splitlines()
    assert messages.NAME in where.split()[0]
    assert (messages.NAME in where.split()[1]) == (protobuf == "without protobuf")
    assert kind == ("python" if protobuf == "without protobuf" else kind)


def test_the_archive_has_the_versions_of_the_desktop() -> None:
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert f"protobuf=={onnx_messages.PROTOBUF}\n" in constraints
    assert f"onnx=={onnx_messages.ONNX}\n" in constraints
    assert onnx_messages.ARCHIVE.name == messages.NAME


def test_a_missing_archive_raises_an_error_with_advice(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    model = pg.Sequential([pg.Input((3,)), nn.Dense(2)])
    path = tmp_path / "net.onnx"
    model.export(path)
    monkeypatch.setitem(sys.modules, "onnx.onnx_ml_pb2", None)
    monkeypatch.setattr(messages.paths, "static", lambda: tmp_path)
    before = messages.set_archive(messages.in_this_installation)
    try:
        for error, action in (
            (ExportError, lambda: model.export(tmp_path / "other.onnx")),
            (CheckpointError, lambda: pg.load_model(path)),
        ):
            with pytest.raises(error, match=re.escape(f"{messages.NAME} is missing")) as raised:
                action()
            assert "install the package onnx" in str(raised.value)
    finally:
        messages.set_archive(before)
    assert not (tmp_path / "other.onnx").exists()
