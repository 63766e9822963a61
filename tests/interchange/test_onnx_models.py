"""Whole networks as ONNX files: onnxruntime predicts what playgrad does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import CheckpointError, ExportError
from tests.interchange.networks import MODELS, built, lenet, predictions


@pytest.mark.parametrize("name", MODELS)
def test_onnxruntime_predicts_the_same(name: str, tmp_path: Path) -> None:
    model, x = built(name)
    path = tmp_path / "model.onnx"
    model.export(path)
    onnx.checker.check_model(str(path), full_check=True)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (source,) = session.get_inputs()
    for batch in (x, x[:1], np.concatenate([x, x])):  # the size of a batch is free
        expected = predictions(model, batch)
        for result, wanted in zip(session.run(None, {source.name: batch}), expected, strict=True):
            np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)


LOWEST = {"lenet": 13, "residual": 13, "encoder_decoder": 20, "reader": 17, "attention": 17}


@pytest.mark.parametrize("name", MODELS)
def test_files_of_networks_open_in_old_readers(name: str, tmp_path: Path) -> None:
    built(name)[0].export(tmp_path / "m.onnx")
    file = onnx.load(tmp_path / "m.onnx")
    assert file.opset_import[0].version == LOWEST[name]
    assert file.ir_version == onnx.helper.find_min_ir_version_for(file.opset_import)


def test_names_of_weights_and_layers_are_kept(tmp_path: Path) -> None:
    model = lenet()
    model.export(tmp_path / "lenet.onnx")
    graph = onnx.load(tmp_path / "lenet.onnx").graph
    stored = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
    for name, array in model.named_weights().items():
        np.testing.assert_array_equal(stored[name], array)
    assert "conv2d_1/conv2d" in {output for node in graph.node for output in node.output}
    assert graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    assert graph.name == model.name


def test_an_operation_without_an_equivalent_is_named(tmp_path: Path) -> None:
    scattered = nn.Lambda(lambda x: pg.scatter_add(x, [0], np.ones((1, 3), np.float32)))
    model = pg.Sequential([pg.Input((3,)), scattered, nn.Dense(2)])
    path = tmp_path / "scattered.onnx"
    path.write_bytes(b"before")
    with pytest.raises(ExportError, match=r"layer 'lambda_1', operation '.*' .*: ONNX has no"):
        model.export(path)
    assert path.read_bytes() == b"before"


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="cannot write"):
        lenet().export(tmp_path / "none" / "model.onnx")
    with pytest.raises(CheckpointError, match="no format has the ending"):
        lenet().export(tmp_path / "model.pb")
