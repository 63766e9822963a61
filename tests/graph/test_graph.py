"""Graphs: names, scopes, control edges, the default graph, and the source lines of nodes."""

from __future__ import annotations

import inspect
import math
import threading

import numpy as np
import pytest

from playgrad import ops
from playgrad.errors import DTypeError, GraphError, ShapeError
from playgrad.graph.graph import (
    Graph,
    control_dependencies,
    device,
    get_default_graph,
    name_scope,
    reset_default_graph,
)
from playgrad.graph.traversal import ancestors, topological


class TestNames:
    def test_names_default_to_the_operation_and_are_numbered(self, graph):
        names = [ops.constant(1.0).node.name for _ in range(3)]
        assert names == ["constant", "constant_1", "constant_2"]

    @pytest.mark.parametrize("name", [" ", "a\tb", "a\n", " a", "a /b", "a:0", "/a", "a/", "a//b"])
    def test_invalid_names_are_refused(self, graph, name):
        with pytest.raises(GraphError, match="cannot name an operation or a scope"):
            ops.constant(1.0, name=name)
        with pytest.raises(GraphError, match="cannot name"), name_scope(name):
            pass

    def test_names_may_contain_blanks_and_other_characters(self, graph):
        for name in ("a b", "a  b/c d", "ü.1", "(a)"):
            assert ops.constant(1.0, name=name).node.name == name

    def test_taken_names_are_numbered(self, graph):
        a = ops.constant(1.0, name="a")
        b = ops.constant(1.0, name="a_1")
        c = ops.constant(1.0, name="a")
        assert [t.node.name for t in (a, b, c)] == ["a", "a_1", "a_2"]

    def test_tensor_names_end_with_the_output_number(self, graph):
        x = ops.placeholder("float32", [2, 4], name="x")
        y, argmax = ops.max_pool2d(ops.reshape(x, [1, 2, 4, 1])).node.outputs
        assert (x.name, y.name, argmax.name) == ("x:0", "max_pool2d:0", "max_pool2d:1")
        assert graph.tensor("max_pool2d:1") is argmax
        assert graph.tensor("x") is graph.tensor("x:0") is x

    def test_unknown_names_are_refused_with_a_suggestion(self, graph):
        ops.placeholder("float32", [2], name="layer/input")
        with pytest.raises(GraphError, match=r"no node named 'input'.*Did you mean layer/input\?"):
            graph.node("input")

    @pytest.mark.parametrize("name", ["x:1", "x:-1", "x:one"])
    def test_nonexistent_outputs_are_refused(self, graph, name):
        ops.placeholder("float32", [2], name="x")
        with pytest.raises(GraphError, match=f"no tensor '{name}': 'x' has 1 outputs"):
            graph.tensor(name)


class TestNameScopes:
    def test_name_scopes_prefix_names_and_nest(self, graph):
        with name_scope("outer") as outer, name_scope("inner") as inner:
            x = ops.constant(1.0, name="x")
        assert (outer, inner, x.node.name) == ("outer/", "outer/inner/", "outer/inner/x")
        assert ops.constant(1.0, name="x").node.name == "x"

    def test_name_scopes_are_unique(self, graph):
        prefixes = []
        for name in ("layer", "layer", "layer_1", "layer"):
            with name_scope(name) as prefix:
                prefixes.append(prefix)
        assert prefixes == ["layer/", "layer_1/", "layer_1_1/", "layer_2/"]

    def test_none_leaves_all_name_scopes(self, graph):
        with name_scope("outer"), name_scope(None):
            assert ops.constant(1.0, name="x").name == "x:0"

    def test_name_scopes_can_be_reentered(self, graph):
        with name_scope("a") as prefix:
            ops.constant(1.0, name="x")
        with graph.reenter_scope(prefix):
            assert ops.constant(1.0, name="x").node.name == "a/x_1"

    def test_name_scopes_end_with_an_error(self, graph):
        with pytest.raises(KeyError), name_scope("a"):
            raise KeyError
        assert graph.current_scope == ""

    def test_name_scopes_are_local_to_their_thread(self, graph):
        names = []

        def build():
            with graph.as_default():
                names.append(ops.constant(1.0, name="x").node.name)

        with name_scope("a"):
            thread = threading.Thread(target=build)
            thread.start()
            thread.join()
        assert names == ["x"]


class TestOtherScopes:
    def test_device_scopes_nest_and_can_be_cleared(self, graph):
        with device("gpu:0"):
            a = ops.constant(1.0)
            with device("cpu:0"):
                b = ops.constant(1.0)
            with device(None):
                c = ops.constant(1.0)
        assert [t.device for t in (a, b, c)] == ["gpu:0", "cpu:0", None]
        assert ops.constant(1.0).device is None

    def test_control_dependencies_nest_and_can_be_cleared(self, graph):
        a, b = ops.constant(1.0), ops.constant(2.0)
        with control_dependencies([a]), control_dependencies([b.node, a]):
            inner = ops.constant(3.0)
            with control_dependencies(None):
                free = ops.constant(4.0)
        assert inner.node.control_inputs == (a.node, b.node)
        assert free.node.control_inputs == ()
        assert ancestors([inner.node]) == {inner.node, a.node, b.node}
        assert ancestors([inner.node], control=False) == {inner.node}

    def test_control_dependencies_must_be_in_the_graph(self, graph):
        with Graph().as_default():
            other = ops.constant(1.0)
        for wrong in (other, "a", None):
            with (
                pytest.raises(GraphError, match="not a node or tensor of this graph"),
                control_dependencies([wrong]),
            ):
                pass

    def test_group_waits_for_all_inputs(self, graph):
        a, b = ops.constant(1.0), ops.constant(2.0)
        node = ops.group(a, b.node, name="both")
        assert (node.name, node.outputs, node.control_inputs) == ("both", (), (a.node, b.node))
        with pytest.raises(GraphError, match="'both' must have one output, has 0"):
            _ = node.output

    def test_nodes_record_their_phase(self, graph):
        x = ops.placeholder("float32", [2])
        w = ops.Variable(np.ones(2), name="w")
        y = x * w
        update = w.assign_sub(y)
        with graph.phase("gradient"):
            grad = ops.neg(y)
        phases = [t.node.phase for t in (x, w, y, update, grad)]
        assert phases == ["input", "variable", "forward", "update", "gradient"]


class TestDefaultGraph:
    def test_the_innermost_block_sets_the_default_graph(self):
        first, second = Graph(), Graph()
        with first.as_default():
            with second.as_default():
                assert get_default_graph() is second
            assert get_default_graph() is first
            assert ops.constant(1.0).graph is first
        assert len(first.nodes) == 1 and not second.nodes

    def test_the_default_graph_can_be_reset_only_outside_blocks(self):
        graph = reset_default_graph(seed=5)
        assert get_default_graph() is graph and graph.seed == 5
        with graph.as_default(), pytest.raises(GraphError, match="cannot be used inside"):
            reset_default_graph()
        reset_default_graph()

    def test_nodes_join_the_graph_of_their_inputs(self):
        graph = Graph()
        with graph.as_default():
            x = ops.constant(1.0)
        with Graph().as_default():
            assert (x + 1.0).graph is graph

    def test_two_graphs_do_not_mix(self):
        with Graph().as_default():
            x = ops.constant(1.0, name="mine")
        with Graph().as_default():
            y = ops.constant(1.0, name="yours")
        with pytest.raises(GraphError, match=r"input 'yours:0' of add belongs to another graph"):
            _ = x + y


class TestUserLines:
    def test_user_lines_belong_to_the_caller(self, graph):
        line = inspect.currentframe().f_lineno + 1
        x = ops.constant(1.0) * 2.0
        assert x.node.source == (__file__, line)

    def test_errors_contain_the_user_line(self, graph):
        x = ops.placeholder("float32", [None, 4], name="x")
        w = ops.Variable(np.ones((5, 3)), name="w")
        with pytest.raises(ShapeError) as caught, name_scope("dense"):
            line = inspect.currentframe().f_lineno + 1
            ops.matmul(x, w)
        error = caught.value
        assert (error.op, error.source) == ("dense/matmul", (__file__, line))
        assert str(error).startswith("dense/matmul: ")
        assert "(?, 4)" in str(error) and "(5, 3)" in str(error)
        assert f"(created at {__file__}, line {line})" in str(error)
        assert "dense/matmul" not in graph  # the failed operation left nothing behind

    def test_user_lines_may_lie_in_folders_beside_the_library(self, graph):
        """A file is the user's even if its path begins with the name of the library's folder."""
        from playgrad.graph import source

        path = source._LIBRARY.rstrip("/") + "_examples/mine.py"
        scope = {"ops": ops}
        exec(compile("x = ops.constant(1.0)", path, "exec"), scope)
        assert scope["x"].node.source == (path, 1)


class TestTensors:
    def test_symbolic_tensors_have_no_truth_value(self, graph):
        x = ops.constant([1.0, 2.0], name="x")
        with pytest.raises(
            GraphError, match="'greater:0' has no value while the graph is being built"
        ):
            bool(x > 1.0)
        with pytest.raises(GraphError, match="cannot be iterated over"):
            list(x)

    def test_tensors_combine_only_with_numbers_of_their_type(self, graph):
        x = ops.constant([1, 2])
        assert (x + 1).dtype == "int32"
        with pytest.raises(DTypeError, match=r"cannot combine 0\.5 with int32 values"):
            _ = x + 0.5

    def test_placeholders_need_a_shape(self, graph):
        with pytest.raises(ShapeError, match="a placeholder needs a shape"):
            ops.placeholder("float32")

    @pytest.mark.parametrize("shape", [[-1, 2], "ab", [2.5], 1.5])
    def test_placeholders_with_invalid_shapes_are_refused(self, graph, shape):
        with pytest.raises(ShapeError, match=r"whole number|cannot have the shape"):
            ops.placeholder("float32", shape)

    @pytest.mark.parametrize(
        ("value", "dtype", "words"),
        [
            (1e300, None, r"the constant 1e\+300 takes float32 values"),
            (np.array([1, 1 << 40]), None, "this constant takes int32 values, but some do not fit"),
            (1.5, "int32", "the constant 1.5 takes int32 values"),
            (-1, "uint32", "the constant -1 takes uint32 values"),
        ],
    )
    def test_constants_that_would_change_their_value_are_refused(self, graph, value, dtype, words):
        with pytest.raises(DTypeError, match=words):
            ops.constant(value, dtype)

    def test_numbers_outside_the_range_of_the_tensor_are_refused(self, graph):
        pixels = ops.placeholder("uint8", [2])
        with pytest.raises(DTypeError, match="the constant 300 takes uint8 values"):
            _ = pixels + 300
        with pytest.raises(DTypeError, match="fill of 300 takes uint8 values"):
            ops.fill([2], 300, "uint8")

    @pytest.mark.parametrize("value", [[1, 2], (True, False), np.array([1, 2]), np.arange(2.0)])
    def test_lists_and_arrays_beside_floats_are_converted(self, graph, value):
        x, w = ops.placeholder("float32", [3, 2]), ops.Variable([3.0, 4.0])
        for result in (x + value, value * x, ops.maximum(x, value), w.assign(value)):
            assert result.dtype == "float32"
        assert ops.Variable([3, 4], dtype="uint32").assign([1, 2]).dtype == "uint32"
        with pytest.raises(DTypeError, match="takes int32 values, but some do not fit"):
            ops.Variable([3, 4]).assign([1.5, 2.0])

    @pytest.mark.parametrize("value", [ops.constant, int, list, np.asarray])
    def test_equality_is_an_error_that_names_the_function(self, graph, value):
        x, other = ops.constant([1.0]), value([1.0] if value is not int else 1)
        with pytest.raises(GraphError, match=r"pg\.equal\(a, b\)"):
            _ = x == other
        with pytest.raises(GraphError, match=r"pg\.not_equal\(a, b\)"):
            _ = other != x
        assert x != None and {x: 1}[x] == 1  # noqa: E711 - None has no values

    def test_text_is_refused_as_a_value(self, graph):
        with pytest.raises(DTypeError, match="cannot make a tensor of <U1 values"):
            ops.constant("a", "float32")

    def test_infinities_and_nan_are_accepted_as_floats(self, graph):
        assert np.isnan(ops.constant(math.nan).node.attrs["value"])
        assert np.isposinf(ops.constant([math.inf]).node.attrs["value"]).all()

    def test_ragged_lists_are_refused(self, graph):
        with pytest.raises(ShapeError, match="cannot make an array"):
            ops.constant([[1], [1, 2]])

    def test_unknown_element_types_are_refused(self, graph):
        with pytest.raises(DTypeError, match="there is no element type 'int16'"):
            ops.placeholder("int16", [2])

    def test_variables_are_checked_when_assigned(self, graph):
        w = ops.Variable(np.zeros((2, 3)), name="w")
        with pytest.raises(ShapeError, match=r"\(4, 3\)|do not broadcast"):
            w.assign(np.zeros((4, 3), np.float32))
        with pytest.raises(ShapeError, match=r"does not fit the variable of shape \(2, 3\)"):
            w.assign(np.zeros((1, 2, 3), np.float32))
        with pytest.raises(DTypeError):
            w.assign(ops.constant(np.zeros((2, 3), np.int32)))
        assert ops.trainable_variables(graph) == ops.global_variables(graph) == [w]


def test_topological_order_is_by_edges_then_by_creation(graph):
    a, b = ops.constant(1.0), ops.constant(2.0)
    c = a + b
    assert topological([c.node, b.node, a.node]) == [a.node, b.node, c.node]
    reversed_edges = topological([a.node, b.node], lambda n: [b.node] if n is a.node else [])
    assert reversed_edges == [b.node, a.node]


@pytest.mark.parametrize("seed", ["a", 1.5])
def test_seeds_are_whole(graph, seed):
    with pytest.raises(DTypeError, match=f"a seed must be an integer, got {seed!r}"):
        ops.random_uniform([2], seed=seed)


def test_random_operations_have_keys_of_their_own(graph):
    a, b = ops.random_normal([2]), ops.random_normal([2])
    assert a.node.inputs[0] is b.node.inputs[0]
    seeds = [graph.next_random_seed(None), graph.next_random_seed(None), graph.next_random_seed(9)]
    assert seeds[0] != seeds[1] and seeds[2] == [0, 9]
