"""Quantized networks that come back from ONNX files: the same bits."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnxruntime.quantization import CalibrationDataReader, QuantType, quantize_static

import playgrad as pg
from playgrad.compression.integer_evaluation import evaluate
from playgrad.interchange.onnx.quantized import quantized_onnx_bytes
from tests.compression.networks import NETWORKS, network
from tests.compression.random_programs import KINDS, RandomProgram, feeds_of
from tests.sweeps import budget, dice

SEEDS = 4
Array = np.ndarray[Any, Any]


@pytest.mark.parametrize("bits", ["int8", "int4"])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_has_the_same_bits(name: str, bits: str, tmp_path: Path) -> None:
    model, x = network(name)
    small = pg.quantize(model, x, weights=bits)
    path = tmp_path / "small.onnx"
    small.export(path)
    loaded = pg.load_model(path)
    np.testing.assert_array_equal(loaded.predict(x), small.predict(x))
    again = tmp_path / "again.onnx"
    loaded.export(again)
    np.testing.assert_array_equal(pg.load_model(again).predict(x), small.predict(x))


@pytest.mark.parametrize("kind", sorted({*KINDS} - {"upsample"}))
def test_each_step_has_the_same_bits(kind: str) -> None:
    for seed in range(SEEDS):
        program = RandomProgram(seed).single(kind)
        feeds = feeds_of(program, 5, seed)
        (expected,) = evaluate(program, feeds)
        content = quantized_onnx_bytes(program, "net")
        if kind == "pool" and b"QuantizeLinear" not in content:
            continue  # a maximum of int8 alone: nothing says that the file is of integers
        model = pg.load_model(content)
        arrays = [feeds[name] for name in program.inputs]
        result = model.predict(arrays if len(arrays) > 1 else arrays[0])
        np.testing.assert_array_equal(result, expected, err_msg=f"seed {seed}")


def network_of_others(seed: int) -> onnx.ModelProto:
    """Return a network as other programs write it, with channels first."""
    random = np.random.default_rng(seed)

    def normal(*shape: int) -> Array:
        return (random.normal(size=shape) / np.sqrt(shape[-1] * 3)).astype(np.float32)

    weights = {
        "w1": normal(8, 3, 3, 3), "b1": normal(8), "w2": normal(8, 8, 3, 3), "b2": normal(8),
        "w3": normal(5, 8), "b3": normal(5),
    }  # fmt: skip
    make, pads = onnx.helper.make_node, {"pads": [1, 1, 1, 1], "kernel_shape": [3, 3]}
    nodes = [
        make("Conv", ["x", "w1", "b1"], ["c1"], **pads),
        make("Relu", ["c1"], ["r1"]),
        make("MaxPool", ["r1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2]),
        make("Conv", ["p1", "w2", "b2"], ["c2"], **pads),
        make("Add", ["p1", "c2"], ["s"]),
        make("GlobalAveragePool", ["s"], ["g"]),
        make("Flatten", ["g"], ["f"]),
        make("Gemm", ["f", "w3", "b3"], ["y"], transB=1),
    ]
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        nodes,
        "others",
        [info("x", onnx.TensorProto.FLOAT, ["n", 3, 12, 12])],
        [info("y", onnx.TensorProto.FLOAT, ["n", 5])],
        [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    opsets = [onnx.helper.make_opsetid("", 13)]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)


class _Samples(CalibrationDataReader):
    def __init__(self, x: Array) -> None:
        self._batches = iter(np.split(x, 4))

    def get_next(self) -> Any:
        batch = next(self._batches, None)
        return None if batch is None else {"x": batch}


def test_a_network_that_onnxruntime_has_quantized(tmp_path: Path) -> None:
    x = np.random.default_rng(3).normal(size=(32, 3, 12, 12)).astype(np.float32)
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    onnx.save(network_of_others(1), before)
    quantize_static(
        before, after, _Samples(x), per_channel=True,
        activation_type=QuantType.QInt8, weight_type=QuantType.QInt8,
    )  # fmt: skip
    session = onnxruntime.InferenceSession(after, providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, {"x": x})
    loaded = pg.load_model(after)
    assert {array.dtype for array in loaded.named_weights().values()} == {
        np.dtype(np.int8), np.dtype(np.int32)
    }  # fmt: skip
    steps = np.abs(loaded.predict(x) - expected) / loaded.layers[-1].scale
    assert np.rint(steps).max() <= 2 and np.mean(np.rint(steps) > 0) < 0.15
    loaded.export(tmp_path / "others.c")


# Files that are refused


@cache
def exported_bytes() -> bytes:
    model, x = network("images")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.onnx"
        pg.quantize(model, x).export(path)
        return path.read_bytes()


def exported() -> onnx.ModelProto:
    return onnx.load_from_string(exported_bytes())


def constant_of(model: onnx.ModelProto, operator: str, place: int) -> Any:
    """Return an initializer that an operator takes at a place, the first that has one there."""
    constants = {each.name: each for each in model.graph.initializer}
    names = (n.input[place] for n in model.graph.node
             if n.op_type == operator and len(n.input) > place)  # fmt: skip
    return next(constants[name] for name in names if name in constants)


def replaced(model: onnx.ModelProto, operator: str, place: int, array: Array) -> None:
    constant = constant_of(model, operator, place)
    constant.CopyFrom(onnx.numpy_helper.from_array(array, constant.name))


def changed(operator: str, name: str, value: Any) -> Callable[[onnx.ModelProto], None]:
    def change(model: onnx.ModelProto) -> None:
        node = next(each for each in model.graph.node if each.op_type == operator)
        for number, each in enumerate(node.attribute):
            if each.name == name:
                del node.attribute[number]
                break
        node.attribute.append(onnx.helper.make_attribute(name, value))

    return change


REFUSED: dict[str, tuple[Callable[[onnx.ModelProto], None], str]] = {
    "unsigned integers": (
        lambda model: replaced(model, "QuantizeLinear", 2, np.array(3, np.uint8)),
        "its integers are uint8, but must be int8",
    ),
    "a negative scale": (
        lambda model: replaced(model, "QuantizeLinear", 1, np.array(-1, np.float32)),
        "its scale must be positive",
    ),
    "a scale that is NaN": (
        lambda model: replaced(model, "QuantizeLinear", 1, np.array(np.nan, np.float32)),
        "its scale must be positive",
    ),
    "a huge scale": (
        lambda model: replaced(model, "QuantizeLinear", 1, np.array(1e38, np.float32)),
        "scale",
    ),
    "padding by name": (changed("Conv", "auto_pad", "SAME_UPPER"), "padding is not written out"),
    "strides of 0": (changed("Conv", "strides", [0, 1]), "Conv"),
    "strides of a line": (changed("Conv", "strides", [1]), "Conv"),
    "three groups": (changed("Conv", "group", 3), "into 3 groups"),
    "another operator": (
        lambda model: setattr(model.graph.node[3], "op_type", "Sin"), "has no integer form"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_integer_form_is_named(name: str) -> None:
    change, words = REFUSED[name]
    model = exported()
    change(model)
    with pytest.raises(pg.CheckpointError, match=words):
        pg.load_model(model.SerializeToString())


def test_damaged_files_are_refused_or_read() -> None:
    content = bytearray(exported_bytes())
    random, survived = dice("damaged QDQ files"), 0
    for _ in range(budget(60, 1500)):
        damaged = bytearray(content)
        for _ in range(random.randint(1, 3)):
            damaged[random.randrange(len(damaged))] = random.randrange(256)
        try:
            pg.load_model(bytes(damaged))
        except pg.CheckpointError:
            survived += 1
    assert survived  # most bytes are weights, whose damage nothing shows
