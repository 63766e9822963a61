"""ONNX files made to cause harm: each is a typed error, soon and in little memory."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from onnx import StringStringEntryProto, TensorProto, helper

import playgrad as pg
from playgrad.errors import CheckpointError
from tests.interchange.onnx_files import in_little_memory, load, model, node, tensor

F, LONG = np.float32, np.int64
WEIGHTS = {"w": np.ones((4, 3), F)}


def external() -> Any:
    entry = StringStringEntryProto(key="location", value="../../../etc/passwd")
    return tensor("w", [4, 3], data_location=TensorProto.EXTERNAL, external_data=[entry])


def with_graph() -> Any:
    inner = model(node("Relu", "x")).graph
    choice = node("If", "c", then_branch=inner, else_branch=inner)
    return model(choice, weights={"c": np.asarray(True)})


def nested(depth: int) -> bytes:
    """Return the bytes of graphs within attributes of nodes within graphs, and so on."""

    def field(number: int, content: bytes) -> bytes:
        size, length = bytearray(), len(content)
        while length > 127:
            size.append(length & 127 | 128)
            length >>= 7
        return bytes([number << 3 | 2, *size, length]) + content

    content = b""
    for _ in range(depth):
        content = field(1, field(5, field(6, content)))
    opset = field(8, b"\x10\x11")  # 17
    return b"\x08\x08" + field(7, content) + opset


def chain(operator: str, first: str, count: int) -> list[Any]:
    names = [first, *(f"t{i}" for i in range(count - 1)), "y"]
    return [node(operator, a, b) for a, b in pairwise(names)]


DAMAGED: dict[str, tuple[Any, str]] = {
    "values in another file": (
        model(node("MatMul", "x w"), weights={"w": external()}),
        "'w' are in another file",
    ),
    "a cycle": (
        model(node("Add", "x b", "a"), node("Add", "a x", "b"), node("Relu", "b")),
        "Add 'the/Add' uses 'b'.*cycle",
    ),
    "a node that uses itself": (model(node("Add", "x y")), "uses 'y'.*cycle"),
    "a name computed twice": (
        model(node("Relu", "x"), node("Sigmoid", "x")),
        "'y' is computed twice",
    ),
    "an output that nothing computes": (
        model(node("Relu", "x", "z")),
        "no node computes its output 'y'",
    ),
    "an output of weights alone": (
        model(node("Relu", "x", "z"), node("Relu", "w"), weights=WEIGHTS),
        "'y' of the ONNX file does not depend on its inputs",
    ),
    "too few bytes": (
        model(node("MatMul", "x w"), weights={"w": tensor("w", [4, 3], raw_data=bytes(44))}),
        r"'w' has 11 values for its shape \(4, 3\)",
    ),
    "half a number": (
        model(node("MatMul", "x w"), weights={"w": tensor("w", [4, 3], raw_data=bytes(50))}),
        "'w' has 12 values",
    ),
    "sizes that lie": (
        model(node("MatMul", "x w"), weights={"w": tensor("w", [2**40, 2**40], float_data=[1.0])}),
        "'w' has 1 values",
    ),
    "sizes whose product is 0": (
        model(node("MatMul", "x w"), weights={"w": tensor("w", [2**62, 0], raw_data=b"")}),
        "'w' has 0 values",
    ),
    "negative sizes": (
        model(node("MatMul", "x w"), weights={"w": tensor("w", [-4, -3], raw_data=bytes(48))}),
        "'w' has 12 values",
    ),
    "thousands of axes": (
        model(node("Add", "x w"), weights={"w": tensor("w", [1] * 5000, raw_data=bytes(4))}),
        "'w' has 1 values",
    ),
    "an input with thousands of axes": (model(node("Relu", "x"), shape=[1] * 5000), "dimensions"),
    "an input of negative size": (model(node("Relu", "x"), shape=[-1, 4]), "dimension of -1"),
    "an input of too many bytes": (
        model(node("Relu", "x"), shape=[2**31 - 1, 2**31 - 1]),
        "Relu, node 'the/Relu'.*its result has the shape",
    ),
    "an input of text": (
        model(node("Relu", "x"), dtype=TensorProto.STRING),
        "element type string",
    ),
    "an unknown type": (
        model(node("MatMul", "x w"), weights={"w": tensor("w", [1], data_type=999)}),
        "element type number 999",
    ),
    "a type that playgrad does not have": (
        model(node("MatMul", "x w"), weights={"w": np.ones((4, 3), np.int8)}),
        "MatMul, node 'the/MatMul'",
    ),
    "control flow": (with_graph(), "attribute .* of If 'the/If' is a graph"),
    "no output": (
        model(helper.make_node("Relu", ["x"], []), node("Relu", "x")),
        "'Relu_0' has no outputs",
    ),
    "an opset of the future": (model(node("Relu", "x"), opset=99), "opset 99; 13 to 28 are read"),
    "kernels for other channels": (
        model(node("Conv", "x w"), weights={"w": np.ones((8, 3, 3, 3), F)}, shape=["n", 4, 9, 9]),
        "Conv, node 'the/Conv'.*inputs do not fit",
    ),
    "matrices that do not fit": (
        model(node("MatMul", "x w"), weights={"w": np.ones((5, 3), F)}),
        "MatMul, node 'the/MatMul'.*do not fit",
    ),
    "types that do not fit": (
        model(node("Add", "x w"), weights={"w": np.ones(4, np.int32)}),
        "Add, node 'the/Add'.*do not fit",
    ),
    "a missing input": (model(node("MatMul", "x -")), "call without input 1"),
    "no inputs": (model(node("MatMul", ""), node("Relu", "x", "z")), "without input 0"),
    "text for numbers": (model(node("Transpose", "x", perm="10")), "Transpose, node"),
    "a number for numbers": (model(node("Transpose", "x", perm=1.5)), "Transpose, node"),
    "an axis that does not exist": (model(node("Softmax", "x", axis=2**40)), "Softmax, node"),
    "steps of 0": (
        model(node("MaxPool", "x", kernel_shape=[2, 2], strides=[0, 0]), shape=["n", 4, 9, 9]),
        "MaxPool, node",
    ),
    "a rate that is not a number": (
        model(node("Dropout", "x r t"), weights={"r": np.asarray([1, 2]), "t": np.asarray(True)}),
        "Dropout, node 'the/Dropout'.*rate",
    ),
    "a momentum that is not a number": (
        model(
            node("BatchNormalization", "x a a a a", momentum=[1, 2]),
            weights={"a": np.ones(4, F)},
        ),
        "BatchNormalization, node.*momentum",
    ),
    "a constant of 80 GB": (
        model(
            node("ConstantOfShape", "s", "c"),
            node("Add", "x c"),
            weights={"s": np.asarray([10**5, 10**5], LONG)},
        ),
        "ConstantOfShape, node 'the/ConstantOfShape'.*its result has the shape",
    ),
    "a range of 8 TB": (
        model(
            node("Range", "a b c", "r"),
            node("Add", "x r"),
            weights={"a": np.asarray(0.0, F), "b": np.asarray(1e12, F), "c": np.asarray(0.5, F)},
        ),
        "Range, node.*elements",
    ),
    "many constants of 40 MB": (
        model(
            *(node("ConstantOfShape", "s", f"c{i}") for i in range(50)),
            node("Sum", "x " + " ".join(f"c{i}" for i in range(50))),
            weights={"s": np.asarray([10**7], LONG)},
        ),
        "ConstantOfShape, node.*elements",
    ),
    "constants that double": (
        model(
            *(node("Concat", f"c{i} c{i}", f"c{i + 1}", axis=0) for i in range(60)),
            node("Add", "x c60"),
            weights={"c0": np.ones(64, np.int32)},
        ),
        "Concat, node.*elements",
    ),
    "results that double": (
        model(
            *(node("Concat", f"c{i} c{i}", f"c{i + 1}", axis=1) for i in range(60)),
            node("Relu", "c60"),
            node("Identity", "x", "c0"),
        ),
        "uses 'c0'",
    ),
    "results that double, in order": (
        model(
            node("Identity", "x", "c0"),
            *(node("Concat", f"c{i} c{i}", f"c{i + 1}", axis=1) for i in range(60)),
            node("Relu", "c60"),
        ),
        "Concat, node.*its result has the shape",
    ),
    "a result of many terabytes": (
        model(node("Tile", "x r"), weights={"r": np.asarray([1, 2**40], LONG)}),
        "Tile, node",
    ),
    "an expansion": (
        model(node("Expand", "x s"), weights={"s": np.asarray([2**20, 2**20, 1, 4], LONG)}),
        "Expand, node",
    ),
    "many numbers that depend on the batch": (
        model(
            node("Shape", "x", "s"),
            node("Gather", "s i", "b"),
            node("Expand", "b n", "m"),
            node("Cast", "m", "f", to=TensorProto.FLOAT),
            node("ReduceSum", "f", "t"),
            node("Add", "x t"),
            weights={"i": np.asarray([0], LONG), "n": np.asarray([10**6], LONG)},
        ),
        "'m' in the ONNX file has 1000000 numbers",
    ),
    "a long sequence": (
        model(
            node("LSTM", "x w r", hidden_size=1),
            weights={"w": np.ones((1, 4, 1), F), "r": np.ones((1, 4, 1), F)},
            shape=[2**24, 1, 1],
        ),
        "LSTM, node.*elements",
    ),
    "a triangle": (
        model(node("Trilu", "x"), shape=[2**15, 2**13]),
        "Trilu, node.*constant of 268435456 elements",
    ),
    "a reflection": (
        model(
            node("Pad", "x p", mode="reflect"), weights={"p": np.asarray([0, 0, 0, 2**40], LONG)}
        ),
        "Pad, node",
    ),
    "a large picture": (
        model(
            node("Resize", "x - - s", mode="nearest"),
            weights={"s": np.asarray([1, 1, 2**30, 2**30], LONG)},
            shape=[1, 1, 2, 2],
        ),
        "Resize, node",
    ),
    "a large scale": (
        model(
            node("Resize", "x - s", mode="cubic"),
            weights={"s": np.asarray([1, 1, 1e30, np.nan], F)},
            shape=[1, 1, 2, 2],
        ),
        "Resize, node",
    ),
    "one of many": (
        model(
            node("Cast", "x", "i", to=TensorProto.INT64),
            node("OneHot", "i d v"),
            weights={"d": np.asarray(2**31 - 1, LONG), "v": np.asarray([0, 1], F)},
        ),
        "OneHot, node",
    ),
    "a shape of many numbers": (
        model(node("Reshape", "x s"), weights={"s": np.ones(2**20, LONG)}),
        "Reshape, node.*1048576 numbers",
    ),
    "many nodes": (model(*chain("Relu", "x", 10_001)), "more than 10000 nodes"),
    "many nodes on weights alone": (
        model(
            *chain("Relu", "w", 300)[:-1],
            node("MatMul", "x t298"),
            weights=WEIGHTS,
        ),
        "Relu, node.*more than 200 nodes depend on weights alone",
    ),
}


@pytest.mark.survival("Damaged ONNX files")
@pytest.mark.parametrize("name", DAMAGED)
def test_harmful_files_are_errors(name: str) -> None:
    file, message = DAMAGED[name]
    error = in_little_memory(lambda: load(file.SerializeToString()))
    assert isinstance(error, CheckpointError), error
    assert len(str(error)) < 2000
    with pytest.raises(CheckpointError, match=message):
        raise error


@pytest.mark.parametrize("depth", [2, 30, 50, 1000, 5000])
def test_nested_graphs_are_refused(depth: int) -> None:
    assert isinstance(in_little_memory(lambda: load(nested(depth))), CheckpointError)


@pytest.mark.parametrize(
    "content", [b"", b"\x08", b"\x08\x08", b"PK\x03\x04", b"\xff" * 1000, bytes(1000)]
)
def test_files_of_other_formats_are_refused(content: bytes) -> None:
    with pytest.raises(CheckpointError, match="not in the ONNX format"):
        load(content)


def test_names_other_than_text_do_no_harm() -> None:
    content = model(node("Relu", "x")).SerializeToString()
    assert b"the/Relu" in content
    error = in_little_memory(lambda: load(content.replace(b"the/Relu", b"\xff\xfe/Relu\x80")))
    assert isinstance(error, (CheckpointError, pg.Model))


def test_a_long_graph_is_read() -> None:
    imported = load(model(*chain("Relu", "x", 2_000)).SerializeToString())
    assert len(imported.structure.items) == 2_000


def test_odd_names_are_read() -> None:
    names = ["a b", "a\tb", "x" * 5000, "../w", "<script>", "é:0"]
    weights = {name: np.full(4, i + 1, F) for i, name in enumerate(names)}
    nodes = [helper.make_node("Add", ["x", names[0]], ["t0"])]
    nodes += [
        helper.make_node("Add", [f"t{i - 1}", name], [f"t{i}"]) for i, name in enumerate(names) if i
    ]
    imported = load(model(*nodes, weights=weights, output="t5").SerializeToString())
    np.testing.assert_array_equal(imported.predict(np.zeros((2, 4), F)), np.full((2, 4), 21))
    assert len(imported.named_weights()) == 6


def test_numbers_of_the_batch_that_are_used_twice_are_computed_once() -> None:
    steps = [node("Max", f"n{i} n{i}", f"n{i + 1}") for i in range(24)]
    content = model(
        node("Shape", "x", "n0", end=1),
        *steps,
        node("Cast", "n24", "count", to=TensorProto.FLOAT),
        node("Mul", "x count"),
    )
    read = load(content.SerializeToString())
    assert len(read.graph.nodes) < 200
    x = np.ones((3, 4), F)
    np.testing.assert_array_equal(read.predict(x), 3 * x)
