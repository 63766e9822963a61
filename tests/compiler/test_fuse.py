"""``fuse``: operations that become one kernel, and operations that must not."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from playgrad import ops
from playgrad.compiler.fold import fold
from playgrad.compiler.fuse import MAX_BINDINGS, fuse
from playgrad.compiler.place import Policy, place
from playgrad.compiler.program import Program
from playgrad.compiler.prune import prune
from playgrad.runtime.session import Session
from tests.compiler.interpreter import interpret

GPU = "gpu:0"


def fused(graph, fetches, targets=(), feeds=None, device=GPU) -> Counter:
    """Count the operations after ``fuse`` by kind, without leaves, and check the values."""
    tensors = {t.name: t for t in feeds or []}
    program = prune(Program(graph, list(fetches), list(targets), tensors))
    program = fold(place(program, Policy(device, ("cpu:0", GPU))))
    random = np.random.default_rng(0)
    arrays = {
        name: random.uniform(-1, 1, t.spec.static_shape).astype(t.dtype)
        for name, t in tensors.items()
    }
    state = {
        node.name: random.uniform(-1, 1, node.outputs[0].spec.static_shape).astype(np.float32)
        for node in graph.nodes
        if node.op.name == "variable"
    }
    result = fuse(program)
    expected, after = interpret(program, arrays, state)
    actual, after_fused = interpret(result, arrays, state)
    for have, want in zip(
        [*actual, *after_fused.values()], [*expected, *after.values()], strict=True
    ):
        np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-6)
    leaves = ("placeholder", "constant", "variable")
    return Counter(node.op.name for node in result.order() if node.op.name not in leaves)


def x_of(*shape: int, name: str = "x", dtype: str = "float32"):
    return ops.placeholder(dtype, list(shape), name=name)


class TestChains:
    def test_chains_whose_text_would_double_are_divided(self, graph):
        """A relu uses its argument twice: forty in one kernel would be a text of 2**40 terms."""
        y = x = x_of(3)
        for _ in range(40):
            y = ops.relu(y - 0.01)
        assert 2 <= fused(graph, [y], [], [x])["fused"] <= 10

    def test_a_chain_of_a_hundred_operations_stays_one_kernel(self, graph):
        y = x = x_of(3)
        for number in range(100):
            y = y * 0.5 + number
        assert fused(graph, [y], [], [x]) == {"fused": 1}

    def test_a_chain_of_elementwise_operations_becomes_one_kernel(self, graph):
        x = x_of(3, 4)
        y = ops.tanh(ops.exp(x * 2.0) + x) * x
        assert fused(graph, [y], feeds=[x]) == {"fused": 1}

    def test_chains_that_fork_and_join_become_one_kernel(self, graph):
        x = x_of(3, 4)
        y = ops.exp(x)
        assert fused(graph, [ops.sin(y) + ops.cos(y)], feeds=[x]) == {"fused": 1}

    def test_chains_broadcast_rows_and_change_types(self, graph):
        x, row = x_of(3, 4), x_of(4, name="row")
        y = ops.cast(ops.cast(x > row, "float32") * 3.0, "int32")
        assert fused(graph, [y], feeds=[x, row]) == {"fused": 1}

    def test_chains_stop_at_a_fetched_value(self, graph):
        x = x_of(3)
        middle = ops.exp(x)
        assert fused(graph, [middle, ops.neg(middle)], feeds=[x]) == {"exp": 1, "neg": 1}

    def test_chains_stop_at_a_value_used_elsewhere(self, graph):
        x = x_of(3, 4)
        middle = ops.exp(x)
        counted = fused(graph, [ops.neg(middle), ops.reduce_sum(middle)], feeds=[x])
        assert counted == {"exp": 1, "neg": 1, "reduce_sum": 1}

    def test_chains_stop_at_targets_and_awaited_operations(self, graph):
        x = x_of(3)
        middle = ops.exp(x)
        assert fused(graph, [ops.neg(middle)], [middle.node], [x])["exp"] == 1
        awaited = ops.exp(x)
        with graph.control_dependencies([awaited]):
            late = ops.sin(x)
        assert fused(graph, [ops.neg(awaited), late], feeds=[x])["exp"] == 1

    def test_chains_stop_at_operations_with_control_inputs(self, graph):
        x = x_of(3)
        with graph.control_dependencies([ops.constant(1.0)]):
            middle = ops.exp(x)
        assert fused(graph, [ops.neg(middle)], feeds=[x])["exp"] == 1

    def test_chains_stop_at_another_shape(self, graph):
        row = x_of(4, name="row")
        x = x_of(3, 4)
        counted = fused(graph, [ops.exp(row) + x], feeds=[x, row])
        assert counted == {"exp": 1, "add": 1}

    def test_chains_stay_on_one_device(self, graph):
        x = x_of(3)
        with graph.device("cpu:0"):
            middle = ops.exp(x)
        assert fused(graph, [ops.neg(middle)], feeds=[x]) == {"exp": 1, "neg": 1}

    def test_chains_are_fused_on_the_cpu_too(self, graph):
        x, w = x_of(3, 4), x_of(4, 3, name="w")
        y = ops.neg(ops.exp(ops.matmul(x, w)))
        assert fused(graph, [y], feeds=[x, w], device="cpu:0") == {"matmul": 1, "fused": 1}

    def test_chains_end_at_the_binding_limit(self, graph):
        xs = [x_of(3, name=f"x{i}") for i in range(2 * MAX_BINDINGS)]
        total = xs[0]
        for x in xs[1:]:
            total = total + x
        counted = fused(graph, [total], feeds=xs)
        assert sum(counted.values()) > 1 and set(counted) == {"fused"}

    def test_a_chain_may_use_all_bindings_of_a_kernel(self, graph):
        xs = [x_of(3, name=f"x{i}") for i in range(MAX_BINDINGS - 1)]
        total = xs[0]
        for x in xs[1:]:
            total = total + x
        assert fused(graph, [total], feeds=xs) == {"fused": 1}


class TestScalars:
    def test_cheap_scalars_are_computed_in_the_kernel(self, graph):
        x, s = x_of(3, 4), x_of(name="s")
        assert fused(graph, [x * (s + 1.0)], feeds=[x, s]) == {"fused": 1}

    def test_expensive_scalars_are_computed_once(self, graph):
        x, s = x_of(3, 4), x_of(name="s")
        scale = ops.tanh(ops.exp(ops.sin(s) * 2.0) + ops.cos(s))
        counted = fused(graph, [x * scale], feeds=[x, s])
        assert sum(counted.values()) == 2

    def test_constants_are_written_into_the_kernel_text(self, graph):
        x = x_of(3)
        y = ops.where(x > 0.5, x, float("inf")) - 3
        assert fused(graph, [ops.is_finite(y)], feeds=[x]) == {"fused": 1}

    def test_a_constant_that_determines_the_shape_stays(self, graph):
        x = x_of(name="s")
        one = ops.constant([[1.0]])
        assert sum(fused(graph, [ops.exp(x) + one], feeds=[x]).values()) == 1


class TestEpilogues:
    def test_matmul_is_fused_with_bias_and_relu(self, graph):
        x, w, b = x_of(3, 4), x_of(4, 5, name="w"), x_of(5, name="b")
        y = ops.relu(ops.matmul(x, w) + b)
        assert fused(graph, [y], feeds=[x, w, b]) == {"with_epilogue": 1}

    def test_matmul_is_fused_with_the_derivative_of_an_activation(self, graph):
        g, w, h = x_of(3, 4), x_of(4, 5, name="w"), x_of(3, 5, name="h")
        y = ops.where(h > 0.0, ops.matmul(g, w), 0.0)
        assert fused(graph, [y], feeds=[g, w, h]) == {"with_epilogue": 1}

    def test_conv2d_is_fused_with_bias_and_activation(self, graph):
        x, w, b = x_of(1, 4, 4, 2), x_of(3, 3, 2, 3, name="w"), x_of(3, name="b")
        y = ops.tanh(ops.conv2d(x, w) + b)
        assert fused(graph, [y], feeds=[x, w, b]) == {"with_epilogue": 1}

    def test_a_fetched_product_gets_no_epilogue(self, graph):
        x, w = x_of(3, 4), x_of(4, 5, name="w")
        product = ops.matmul(x, w)
        counted = fused(graph, [product, ops.relu(product)], feeds=[x, w])
        assert counted == {"matmul": 1, "relu": 1}

    def test_a_product_used_twice_gets_no_epilogue(self, graph):
        x, w = x_of(3, 4), x_of(4, 5, name="w")
        product = ops.matmul(x, w)
        fetches = [ops.relu(product), ops.reduce_sum(product)]
        assert fused(graph, fetches, feeds=[x, w])["matmul"] == 1

    def test_an_epilogue_keeps_the_type_of_the_product(self, graph):
        x, w = x_of(3, 4), x_of(4, 5, name="w")
        counted = fused(graph, [ops.matmul(x, w) > 0.0], feeds=[x, w])
        assert counted["matmul"] == 1

    def test_a_broadcast_product_gets_no_epilogue(self, graph):
        x, w, big = x_of(1, 4), x_of(4, 5, name="w"), x_of(3, 5, name="big")
        counted = fused(graph, [ops.matmul(x, w) + big], feeds=[x, w, big])
        assert counted == {"matmul": 1, "add": 1}

    def test_an_epilogue_joins_only_one_of_two_products(self, graph):
        x, w = x_of(3, 4), x_of(4, 5, name="w")
        y = ops.matmul(x, w) - ops.matmul(x * 2.0, w)
        counted = fused(graph, [y], feeds=[x, w])
        assert counted["with_epilogue"] == counted["matmul"] == 1


class TestUpdates:
    def test_updates_absorb_the_operations_before_them(self, graph):
        w = ops.Variable(np.ones((3, 4)), name="w")
        g = x_of(3, 4, name="g")
        update = w.assign_sub(ops.square(g) * 0.1 + w * 0.01)
        assert fused(graph, [], [update.node], [g]) == {"fused_update": 1}

    def test_updates_are_not_fused_into_their_readers(self, graph):
        w = ops.Variable(np.ones(3), name="w")
        y = ops.exp(w.assign_add(1.0))
        assert fused(graph, [y])["exp"] == 1

    def test_an_update_by_a_product_becomes_its_epilogue(self, graph):
        x, g = x_of(6, 3), x_of(6, 4, name="g")
        w, m, v = (ops.Variable(np.ones((3, 4)), name=name) for name in "wmv")
        new = ops.apply_adam(w, m, v, ops.matmul(x, g, transpose_a=True), 0.1, 1e-7)
        assert fused(graph, [], [new[0].node], [x, g]) == {"update_with_epilogue": 1}

    def test_an_update_by_a_fetched_product_stays_separate(self, graph):
        x, g = x_of(6, 3), x_of(6, 4, name="g")
        w = ops.Variable(np.ones((3, 4)), name="w")
        grad = ops.matmul(x, g, transpose_a=True)
        new = w.assign_sub(0.1 * grad)
        assert fused(graph, [grad], [new.node], [x, g])["matmul"] == 1

    @pytest.mark.gpu
    def test_an_update_by_a_product_of_its_variable_uses_the_old_value(self, graph):
        before = np.arange(9, dtype=np.float32).reshape(3, 3)
        w = ops.Variable(before, name="w")
        with Session(graph, "gpu") as session:
            session.run(w.assign_sub(ops.matmul(w, w, transpose_b=True) * 0.1).node)
            np.testing.assert_allclose(
                session.value(w), before - 0.1 * before @ before.T, rtol=1e-5
            )

    def test_an_update_of_several_variables_stays_one_kernel(self, graph):
        w, m, v = (ops.Variable(np.ones(3), name=name) for name in "wmv")
        g = x_of(3, name="g")
        new = ops.apply_adam(w, m, v, g * 2.0, 0.1, 1e-7)
        assert fused(graph, [], [new[0].node], [g]) == {"fused_update": 1}
