"""ONNX files of playgrad, PyTorch and Keras are read, operator by operator, with their numbers."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from torch.onnx import TrainingMode

import playgrad as pg
from playgrad import nn
from playgrad.contract.cases import Case, add_case
from playgrad.errors import CheckpointError
from playgrad.graph.graph import Graph
from playgrad.interchange.onnx.export import onnx_bytes
from playgrad.interchange.readers import ONNX
from playgrad.networks.inference import InferenceGraph
from playgrad.nn.layer import record_of
from playgrad.runtime.options import Options, options_set
from tests.interchange.keras_side import opened, predicted
from tests.interchange.layer_variants import VARIANTS, variant
from tests.interchange.networks import predictions, randoms
from tests.interchange.predictions import expect_sample
from tests.interchange.test_keras_models import TORCH_CANNOT, network
from tests.interchange.test_onnx_operations import CASES
from tests.interchange.torch_modules import MODULES
from tests.nn.test_layers import TABLE
from tests.sweeps import budget, dice

Array = np.ndarray[Any, Any]

CONSTANT = {"fill", "ones_like", "size", "zeros_like"}
"""Operations whose result does not depend on the numbers of an input."""
READ = [
    case
    for case in CASES
    if case.op.name not in CONSTANT and all(np.size(x) for x in case.sample.inputs)
]
ONNX_CANNOT = {"fake_quantize"}
"""Layers that training alone has: networks of integers are written from what it has found."""
LAYERS = [name for name in TABLE if name not in TORCH_CANNOT | ONNX_CANNOT]
KERAS_CANNOT_WRITE = {"average_pool1d", "layer_normalization of images", "rms_normalization"}
"""Layers of which torch's exporter cannot write what Keras makes of them, as random ones."""
OF_KERAS = [
    name
    for name in LAYERS
    if record_of(TABLE[name][0].kind).keras
    and name not in KERAS_CANNOT_WRITE
    and not TABLE[name][0].kind.startswith("random")
]


def check(model: pg.Model, xs: list[Array], expected: list[Array]) -> None:
    """Check what ``model`` predicts, for a single sample as well."""
    for size in (len(xs[0]), 1):
        batch: Any = [x[:size] for x in xs] if len(xs) > 1 else xs[0][:size]
        for seen, wanted in zip(predictions(model, batch), expected, strict=True):
            part = wanted[: size * len(wanted) // len(xs[0])]
            np.testing.assert_allclose(seen, part, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("case", dice("ONNX").sample(READ, budget(150, len(READ))), ids=str)
def test_an_exported_operation_is_read(case: Case) -> None:
    added = add_case(case, Graph())
    shown = added.node.outputs[:1] if case.op.name == "max_pool2d" else added.node.outputs
    model = ONNX.read(onnx_bytes(InferenceGraph("sample", tuple(added.inputs), shown, {})))
    feeds = dict(zip(model.inputs, added.values.values(), strict=True))
    expect_sample(case, model.session.run(list(model.outputs), feeds))
    model.close()


def test_numbers_that_depend_on_the_size_of_the_batch_are_read() -> None:
    def counted(x: pg.Tensor) -> pg.Tensor:
        ones, zeros = pg.ones_like(x), pg.zeros_like(x)
        total = pg.cast(pg.size(x), "float32")
        return pg.concat([x + ones * total, zeros, x * pg.fill((1, 3), 2.0)], 1)

    model = pg.Sequential([pg.Input((3,)), nn.Lambda(counted)])
    again = ONNX.read(onnx_bytes(model.inference_graph()))
    for x in (randoms(5, 3), randoms(1, 3)):
        np.testing.assert_allclose(again.predict(x), model.predict(x), rtol=1e-6)


@pytest.mark.parametrize("name", dice("layers").sample(LAYERS, budget(40, len(LAYERS))))
def test_an_exported_layer_is_read(name: str, tmp_path: Path) -> None:
    model, xs = network(name)
    model.export(tmp_path / "m.onnx")
    check(pg.load_model(tmp_path / "m.onnx"), xs, predictions(model, xs if len(xs) > 1 else xs[0]))


@pytest.mark.filterwarnings("ignore:layer .* got a sequence with a mask:RuntimeWarning")
@pytest.mark.parametrize("name", dice("variants").sample([*VARIANTS], budget(30, len(VARIANTS))))
def test_a_variant_of_a_layer_runs_in_onnxruntime_and_is_read(name: str, tmp_path: Path) -> None:
    model, xs = variant(name)
    expected = predictions(model, xs if len(xs) > 1 else xs[0])
    model.export(tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    feeds = {info.name: x for info, x in zip(session.get_inputs(), xs, strict=True)}
    for result, wanted in zip(session.run(None, feeds), expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)
    check(pg.load_model(tmp_path / "m.onnx"), xs, expected)


def exported(module: torch.nn.Module, x: Array, opset: int) -> bytes:
    """Return a file by PyTorch, whose batch has any size."""
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module,
            (torch.from_numpy(x),),
            file,
            dynamo=False,
            opset_version=opset,
            input_names=["x"],
            dynamic_axes={"x": {0: "batch"}},
            training=TrainingMode.PRESERVE,
        )
    return file.getvalue()


@pytest.mark.filterwarnings("ignore::UserWarning")  # of PyTorch's speed
@pytest.mark.parametrize("name", dice("torch modules").sample([*MODULES], budget(50, len(MODULES))))
def test_a_module_of_pytorch_is_read(name: str) -> None:
    module, x = MODULES[name]
    torch.set_num_threads(1)
    with torch.no_grad():
        results = module.eval()(torch.from_numpy(x))
    opset = dice(name).choice((13, 15, 17, 18, 20))
    try:
        content = exported(module, x, opset)
    except torch.onnx.errors.UnsupportedOperatorError:
        content = exported(module, x, 20)
    expected = [y.numpy() for y in (results if isinstance(results, tuple | list) else [results])]
    with options_set(Options(device="cpu")):
        taken = x.astype(np.int32) if x.dtype == np.int64 else x
        if name in ("mean of the batch", "sum over the size of the batch"):
            np.testing.assert_allclose(pg.load_model(content).predict(taken), *expected, atol=1e-5)
        else:
            check(pg.load_model(content), [taken], expected)


@pytest.mark.filterwarnings("ignore")  # of torch's exporter, which Keras calls
@pytest.mark.parametrize("name", dice("keras").sample(OF_KERAS, budget(8, len(OF_KERAS))))
def test_a_layer_that_keras_wrote_as_onnx_is_read(name: str, tmp_path: Path) -> None:
    model, xs = network(name)
    model.export(tmp_path / "m.keras")
    other = opened(tmp_path / "m.keras")
    results = predicted(other, xs)  # first: Keras exports models that have been called
    other.export(str(tmp_path / "m.onnx"), format="onnx", verbose=False)
    check(
        pg.load_model(tmp_path / "m.onnx"), xs, results if isinstance(results, list) else [results]
    )


def test_weights_of_a_layer_whose_result_is_not_used_are_read() -> None:
    """Keras writes recurrent layers so: the first step decides the shape of a constant alone."""
    node = onnx.helper.make_node
    kernel = randoms(3, 2)
    graph = onnx.helper.make_graph(
        [
            node("MatMul", ["x", "kernel"], ["unused"]),
            node("Identity", ["kernel"], ["same"]),
            node("MatMul", ["x", "same"], ["product"]),
            node("Shape", ["unused"], ["shape"]),
            node("ConstantOfShape", ["shape"], ["zeros"]),
            node("Add", ["product", "zeros"], ["y"]),
        ],
        "unused",
        [onnx.helper.make_tensor_value_info("x", 1, ["batch", 3])],
        [onnx.helper.make_tensor_value_info("y", 1, ["batch", 2])],
        [onnx.numpy_helper.from_array(kernel, "kernel")],
    )
    file = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    model = pg.load_model(file.SerializeToString())
    x = randoms(4, 3)
    np.testing.assert_allclose(model.predict(x), x @ kernel, rtol=1e-5)
    assert [*model.named_weights()] == ["kernel/kernel"]


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (torch.nn.MaxPool2d(2, dilation=2), "MaxPool, node .* does not support dilated pooling"),
        (torch.nn.LocalResponseNorm(2), "'then_branch' of If .* is not read"),
    ],
)
def test_modules_that_playgrad_cannot_compute_are_named(
    module: torch.nn.Module, message: str
) -> None:
    with pytest.raises(CheckpointError, match=message):
        pg.load_model(exported(module.eval(), randoms(1, 4, 9, 8), 17))
