"""``place``, ``split`` and segments: the device of each node, and transfers."""

from __future__ import annotations

import numpy as np
import pytest

from playgrad import ops
from playgrad.compiler.compile import compile_program
from playgrad.compiler.place import Policy, place
from playgrad.compiler.program import Program
from playgrad.compiler.split import split
from playgrad.devices.kinds import canonical
from playgrad.errors import DeviceError, GraphError, UnsupportedOpError
from playgrad.graph.opdef import OpDef

AVAILABLE = ("cpu:0", "gpu:0", "gpu:1")


def placed(graph, fetches, default="gpu:0", feeds=None, available=AVAILABLE):
    feeds = {t.name: t for t in feeds or []}
    program = place(Program(graph, fetches, [], feeds), Policy(default, available))
    return program, {node.name: node.device for node in program.graph.nodes}


def count(program, name):
    return sum(node.op.name == name for node in program.graph.nodes)


@pytest.mark.parametrize(("name", "full"), [("cpu", "cpu:0"), ("gpu", "gpu:0"), ("gpu:1", "gpu:1")])
def test_short_device_names_are_completed(name, full):
    assert canonical(name) == full


@pytest.mark.parametrize(
    "name", ["tpu", "gpu:", "gpu:-1", "GPU", "", "gpu:0 ", "gpu:١", "cpu:" + "9" * 10]
)
def test_invalid_device_names_are_refused(name):
    with pytest.raises(DeviceError, match=f"'{name}' is not a device. Write cpu, gpu, cpu:0"):
        canonical(name)


class TestPlace:
    def test_operations_go_to_the_default_device(self, graph):
        y = ops.exp(ops.constant([1.0]), name="y")
        assert set(placed(graph, [y])[1].values()) == {"gpu:0"}
        assert set(placed(graph, [y], "cpu:0")[1].values()) == {"cpu:0"}

    def test_operations_follow_their_device_scope(self, graph):
        x = ops.constant([1.0], name="x")
        with graph.device("gpu:1"):
            y = ops.exp(x, name="y")
        z = ops.neg(y, name="z")
        # The constant has no device scope, so it is placed where it is used.
        assert placed(graph, [z])[1] == {"x": "gpu:1", "y": "gpu:1", "z": "gpu:0"}

    def test_placeholders_go_where_they_are_first_used(self, graph):
        x = ops.placeholder("float32", [2], name="x")
        with graph.device("cpu"):
            y = ops.exp(x, name="y")
        assert placed(graph, [y], feeds=[x])[1] == {"x": "cpu:0", "y": "cpu:0"}

    def test_float64_goes_to_the_cpu(self, graph):
        x = ops.constant([1.0], dtype="float64", name="x")
        y = ops.exp(x, name="y")
        back = ops.cast(y, "float32", name="back")
        z = ops.neg(back, name="z")
        devices = placed(graph, [z])[1]
        assert devices == {"x": "cpu:0", "y": "cpu:0", "back": "cpu:0", "z": "gpu:0"}

    def test_an_operation_without_a_kernel_goes_to_the_cpu(self, graph):
        op = OpDef("host_only", lambda inputs, attrs: inputs, lambda inputs, attrs: inputs)
        y = graph.add(op, [ops.constant([1.0])], name="y").output
        assert placed(graph, [y])[1]["y"] == "cpu:0"
        with graph.device("gpu:0"):
            z = graph.add(op, [y], name="z").output
        with pytest.raises(UnsupportedOpError) as caught:
            placed(graph, [z])
        assert "z: the operation 'host_only' cannot run on gpu:0: it has no GPU kernel." in str(
            caught.value
        )

    def test_float64_on_a_gpu_is_refused(self, graph):
        with graph.device("gpu:0"):
            y = ops.exp(ops.constant([1.0], dtype="float64"), name="y")
        with pytest.raises(UnsupportedOpError) as caught:
            placed(graph, [y])
        text = str(caught.value)
        assert "cannot run on gpu:0: no GPU has float64 values" in text
        assert "Place it on cpu:0." in text and __file__ in text

    def test_unknown_devices_are_refused(self, graph):
        with graph.device("gpu:7"):
            y = ops.exp(ops.constant([1.0]), name="y")
        with pytest.raises(DeviceError) as caught:
            placed(graph, [y], available=("cpu:0",))
        assert "is placed on gpu:7, which does not exist here." in str(caught.value)
        assert "Available: cpu:0." in str(caught.value)

    def test_updates_follow_their_variable(self, graph):
        with graph.device("cpu:0"):
            w = ops.Variable([1.0], name="w")
        update = w.assign_add(2.0, name="update")
        with graph.control_dependencies([update]):
            value = w.read_value(name="value")
        devices = placed(graph, [value])[1]
        assert devices["update"] == devices["value"] == devices["w"] == "cpu:0"

    def test_updates_elsewhere_are_refused(self, graph):
        w = ops.Variable([1.0], name="w")
        update = w.assign_add(2.0, name="update")
        update.node.device = "cpu:0"
        with pytest.raises(GraphError) as caught:
            placed(graph, [update])
        assert "'update' is placed on cpu:0, but the variable 'w'" in str(caught.value)
        assert "Put both in the same device scope." in str(caught.value)


class TestSplit:
    def test_a_value_is_sent_once_to_each_device(self, graph):
        x = ops.placeholder("float32", [2], name="x")
        y = ops.exp(x, name="y")
        with graph.device("cpu:0"):
            a, b = ops.neg(y), ops.tanh(y)
        with graph.device("gpu:1"):
            c = ops.sin(y) + ops.cos(y)
        program = split(placed(graph, [a, b, c, y], feeds=[x])[0])
        assert count(program, "send") == count(program, "receive") == 2
        for node in program.graph.nodes:
            assert {t.node.device for t in node.inputs} <= {node.device}
        for node in program.graph.nodes:
            if node.op.name == "receive":
                (send,) = node.control_inputs
                assert send.attrs["channel"] == node.attrs["channel"]
                assert send.device == "gpu:0" and node.device in ("cpu:0", "gpu:1")

    def test_constants_are_copied_to_each_device(self, graph):
        c = ops.constant([1.0, 2.0], name="c")
        y = ops.exp(c)
        with graph.device("cpu:0"):
            z = ops.neg(c)
        program = split(placed(graph, [y, z])[0])
        assert count(program, "send") == 0 and count(program, "constant") == 2

    def test_a_program_on_one_device_has_no_transfers(self, graph):
        y = ops.exp(ops.placeholder("float32", [2]))
        program = placed(graph, [y], feeds=[y.node.inputs[0]])[0]
        assert len(split(program).graph.nodes) == len(program.graph.nodes)


def test_segments_are_cut_where_another_device_comes_between(graph):
    x = ops.placeholder("float32", [2], name="x")
    a = ops.matmul(ops.reshape(x, [1, 2]), ops.constant(np.ones((2, 2))), name="a")
    with graph.device("cpu:0"):
        b = ops.exp(a, name="b")
    c = ops.matmul(b, ops.constant(np.ones((2, 2))), name="c")
    independent = ops.reduce_sum(x, name="independent")
    program = Program(graph, [c, independent], [], {"x:0": x})
    compiled = compile_program(program, {"x:0": (2,)}, Policy("gpu:0", AVAILABLE))
    first, second = compiled.segments["gpu:0"]
    assert {"a", "independent"} <= {node.name for node in first.nodes}
    assert {node.op.name for node in second.nodes} >= {"receive", "matmul"}
    assert (first.index, second.index) == (0, 1)
    read = [
        {tensor.name for tensor in segment.results(compiled.program.fetches)}
        for segment in (first, second)
    ]
    assert read == [{"independent:0", "a:0"}, {"c:0"}]


def test_a_task_is_cut_at_a_value_needed_by_another_device(graph):
    """The second half of the task needs a result that the other device computes from the first."""
    x = ops.placeholder("float32", [2], name="x")
    with graph.task("whole"):
        with graph.device("gpu:0"):
            first = ops.reduce_sum(x, name="first")
        with graph.device("cpu:0"), graph.control_dependencies([first.node]):
            between = ops.exp(x, name="between")
        with graph.device("gpu:0"):
            last = ops.neg(between, name="last")
    program = Program(graph, [first, last], [], {"x:0": x})
    compiled = compile_program(program, {"x:0": (2,)}, Policy("gpu:0", AVAILABLE))
    inside = [{node.name for node in s.nodes} for s in compiled.segments["gpu:0"]]
    assert any("first" in names and "last" not in names for names in inside)
