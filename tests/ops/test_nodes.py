"""The history of ``record``, operators of tensors, and operations without a kernel."""

from __future__ import annotations

import numpy as np
import pytest

from playgrad.contract.interpreter import value
from playgrad.errors import DTypeError, ShapeError, UnsupportedOpError
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import OpDef
from playgrad.ops import (
    Variable,
    constant,
    matmul,
    ones_like,
    placeholder,
    record,
    reduce_sum,
    slice_,
)
from playgrad.runtime.session import Session


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_record_is_a_ring(device: str) -> None:
    history = Variable(np.zeros((3, 2), np.float32), trainable=False)
    position = placeholder("uint32", [])
    node = record(history, position, [constant(5.0), reduce_sum(constant([1.0, 2.0]))]).node
    with Session(device=device) as session:
        session.run(node, {position: np.uint32(4)})
        assert session.value(history).tolist() == [[0, 0], [5, 3], [0, 0]]


def test_record_refuses_too_many_values() -> None:
    history = Variable(np.zeros((3, 7), np.float32))
    with pytest.raises(ShapeError, match="at most 6 values, not 7"):
        record(history, 0, [1.0] * 7)


def test_operators_make_nodes() -> None:
    a, b = constant([[1.0, 2.0]]), constant([[3.0], [4.0]])
    assert (a @ b).node.op.name == "matmul"
    assert value(a @ b).tolist() == [[11.0]]
    with pytest.raises(DTypeError, match="not int32"):
        matmul(constant([[1]]), constant([[1]]))
    assert value(slice_(a, [0, 1], [1, -1])).tolist() == [[2.0]]
    assert value(ones_like(a)).tolist() == [[1.0, 1.0]]


@pytest.mark.gpu
def test_an_op_without_a_kernel_is_refused_on_a_gpu(graph: Graph) -> None:
    double = OpDef(
        name="double",
        infer=lambda inputs, attrs: list(inputs),
        reference=lambda inputs, attrs: [inputs[0] * 2],
    )
    x = placeholder("float32", [2])
    anywhere = graph.add(double, [x]).output
    with graph.device("gpu:0"):
        there = graph.add(double, [x], name="twice").output
    two = np.ones(2, np.float32)
    with Session(device="gpu:0") as session:
        with pytest.raises(UnsupportedOpError, match="'double' cannot run on gpu:0") as caught:
            session.run(there, {x: two})
        assert caught.value.op == "twice"
        assert session.run(anywhere, {x: two}).tolist() == [2.0, 2.0]
