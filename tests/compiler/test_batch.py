"""Dispatch groups: their members, the text of their kernels, and their results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from playgrad import ops
from playgrad.compiler.kernel_text import BufferAccess, KernelText
from playgrad.compiler.steps import Place
from playgrad.devices import registry
from playgrad.devices.base import Plan
from playgrad.devices.null import NullHost
from playgrad.devices.target import Limits, Target
from playgrad.graph.graph import Graph
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.rows import stack_rows
from playgrad.ops.core.kernel import KernelRequest
from playgrad.ops.expression.helpers import WGSL_HELPERS
from playgrad.ops.lowering.matmul import lower_matmul
from tests.compiler.programs import network
from tests.compiler.random_programs import Sampled, sampled_programs
from tests.compiler.test_plan import execute, plan_of
from tests.sweeps import examples

WIDE = (1 << 11, 16)
"""Too many elements for one workgroup."""


def nodes_of(plan: Plan) -> list[list[str]]:
    return [command["nodes"] for command in plan["commands"]]


def x_of(*shape: int, name: str = "x") -> Tensor:
    return ops.placeholder("float32", list(shape), name=name)


class TestWhatIsMerged:
    @pytest.fixture(autouse=True)
    def graph(self):
        with Graph().as_default() as graph:
            yield graph

    def test_independent_dispatches_are_merged(self):
        x = x_of(*WIDE)
        plan = plan_of([ops.reduce_sum(x, 1), ops.exp(x)], feeds={x: WIDE}, merge=True)
        assert nodes_of(plan) == [["reduce_sum", "exp"]]

    def test_small_dependent_dispatches_are_merged_with_barriers(self):
        x = x_of(6, 4)
        y = ops.softmax(ops.matmul(x, ops.exp(x), transpose_b=True))
        plan = plan_of([ops.reduce_sum(y, 1)], feeds={x: (6, 4)}, merge=True)
        assert nodes_of(plan) == [["exp", "matmul", "softmax", "reduce_sum"]]
        assert plan["kernels"][0]["wgsl"].count("storageBarrier();") == 3

    @pytest.mark.parametrize("is_software", [True, False])
    def test_wide_dispatches_join_barriers_only_on_hardware(self, is_software):
        x = x_of(*WIDE)
        few = x_of(4, 4, name="few")
        fetches = [ops.softmax(ops.matmul(few, few)), ops.exp(x)]
        feeds = {x: WIDE, few: (4, 4)}
        plan = plan_of(fetches, feeds=feeds, merge=True, is_software=is_software)
        together = [["matmul", "softmax", "exp"]]
        assert nodes_of(plan) == ([["matmul", "softmax"], ["exp"]] if is_software else together)

    def test_a_wide_dispatch_is_not_merged_with_its_producer(self):
        x = x_of(*WIDE)
        y = ops.exp(x, name="first")
        plan = plan_of([ops.reduce_sum(y, 1), y], feeds={x: WIDE}, merge=True)
        assert nodes_of(plan) == [["first"], ["reduce_sum"]]

    @pytest.mark.gpu
    @pytest.mark.parametrize("join", [lambda parts: ops.concat(parts, 1), stack_rows])
    def test_parts_of_a_result_are_copied_in_one_dispatch(self, join):
        """On hardware. What reads the result waits for all of them."""
        x = x_of(*WIDE)
        whole = join([ops.exp(x), ops.sin(x), ops.cos(x)])
        again = join([whole, whole])
        plan = plan_of([again], feeds={x: WIDE}, merge=True, is_software=False)
        first, second = whole.node.name, again.node.name
        assert nodes_of(plan) == [["exp", "sin", "cos"], [first], [second]]
        apart = plan_of([again], feeds={x: WIDE}, merge=False, is_software=False)
        assert len(apart["commands"]) == 3 + 3 + 2
        feeds = {x: np.random.default_rng(0).standard_normal(WIDE).astype(np.float32)}
        assert execute(plan, feeds) == execute(apart, feeds)

    def test_independent_updates_are_merged_before_their_shared_counter(self):
        rate = ops.Variable(0.5, name="rate")
        variables = [ops.Variable(np.zeros(WIDE), name=f"w{i}") for i in range(5)]
        updates = [w.assign_sub(rate * (i + 1.0)).node for i, w in enumerate(variables)]
        advance = rate.assign_add(1.0).node
        plan = plan_of([], [*updates, advance], merge=True)
        assert [len(names) for names in nodes_of(plan)] == [5, 1]
        assert len(plan["commands"][0]["bindings"]) == 1  # all variables are in one buffer

    def test_merged_dispatches_respect_the_binding_limit(self):
        xs = [ops.Variable(np.zeros(4), name=f"x{i}") for i in range(12)]
        state = {x.node.name: Place(f"buffer{i}", 0) for i, x in enumerate(xs)}
        updates = [x.assign_add(1.0).node for x in xs]
        plan = plan_of([], updates, state=state, merge=True)
        assert sorted(len(command["bindings"]) for command in plan["commands"]) == [4, 8]

    @pytest.mark.parametrize("merge", [True, False])
    def test_variables_are_bound_once_where_one_has_too_many_operands(self, merge):
        states = [ops.Variable(np.ones(4), name=f"w{i}") for i in range(4)]
        gate = ops.placeholder("bool", [], name="gate")
        scalars = [x_of(name=name) for name in ("rate", "epsilon", "decay")]
        grad = x_of(4, name="grad")
        new = ops.apply_amsgrad(*states, grad, *scalars[:2], gate=gate, decay=scalars[2])
        feeds = {grad: (4,), gate: ()} | dict.fromkeys(scalars, ())
        (command,) = plan_of([], [new[0].node], feeds, merge=merge)["commands"]
        assert len(command["bindings"]) == 2  # the variables, and what is fed

    def test_dispatches_stay_apart_if_their_joint_range_exceeds_a_binding(self):
        limits = Limits(max_storage_buffer_binding_size=4 * 2048, max_buffer_size=1 << 20)
        variables = [ops.Variable(np.zeros(2048), name=f"w{i}") for i in range(2)]
        updates = [w.assign_add(1.0).node for w in variables]
        assert len(plan_of([], updates, merge=True)["commands"]) == 1
        assert len(plan_of([], updates, merge=True, limits=limits)["commands"]) == 2

    def test_fetches_are_kept_until_the_end_of_their_segment(self):
        x = x_of(*WIDE)
        y = ops.exp(x)
        z = ops.exp(ops.reduce_sum(ops.matmul(y, y, transpose_a=True) * 2.0, 1))
        plan = plan_of([y, z], feeds={x: WIDE}, merge=True)
        held = plan["fetches"][y.name]
        for command in plan["commands"][1:]:
            kernel = plan["kernels"][command["kernel"]]
            for (buffer, offset, size), access in zip(
                command["bindings"], kernel["access"], strict=True
            ):
                if buffer == held["buffer"] and access == "read_write":
                    assert offset >= held["offset"] + 4 * y.spec.size or (
                        offset + size <= held["offset"]
                    )


class TestKernelText:
    CODE = """
// A comment that names source[0].
const WIDTH = 4u;
fn scale(value: f32) -> f32 { return value * 2.0; }

@compute @workgroup_size(WIDTH, 2)
fn main(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let source_width = id.x;
  if (flags[index[id.x]] == 1u) {
    result[id.x] = scale(source[index[id.x] + WIDTH]) + source[0];
  }
}
"""

    def test_kernel_text_yields_workgroup_size_and_parameters(self):
        text = KernelText(self.CODE)
        assert text.workgroup == (4, 2, 1) and not text.cooperates
        assert text.parameters == [
            ("global_invocation_id", "id", "vec3<u32>"), ("local_invocation_index", "lane", "u32"),
        ]  # fmt: skip
        assert KernelText("var<workgroup> x: u32; " + self.CODE).cooperates

    def test_functions_get_prefixed_names_and_buffer_offsets(self):
        slots = {
            "source": BufferAccess("buffer0", 64, "f32", "f32"),
            "result": BufferAccess("buffer1", 0, "f32", "u32"),
            "index": BufferAccess("buffer1", 128, "i32", "u32"),
            "flags": BufferAccess("buffer1", 192, "u32", "u32"),
        }
        assert KernelText(self.CODE).function("m1_", slots).splitlines() == [
            "const m1_WIDTH = 4u;",
            "fn m1_scale(value: f32) -> f32 { return value * 2.0; }",
            "fn m1_main(id: vec3<u32>, lane: u32) {",
            "  let source_width = id.x;",
            "  if (buffer1[192u + u32(bitcast<i32>(buffer1[128u + u32(id.x)]))] == 1u) {",
            "    buffer1[id.x] = bitcast<u32>(m1_scale(buffer0[64u + u32("
            "bitcast<i32>(buffer1[128u + u32(id.x)]) + m1_WIDTH)]) + buffer0[64u + u32(0)]);",
            "  }",
            "}",
        ]

    def test_arrays_in_workgroup_memory_are_declared_outside_the_function(self):
        code = """
alias Number = f32;
const SIDE = 4u;
const PITCH = 2u * SIDE + 1u;
var<workgroup> tile: array<Number, SIDE * PITCH>;
@compute @workgroup_size(SIDE)
fn main(@builtin(local_invocation_index) lane: u32) { tile[lane] = x[lane]; }
"""
        text = KernelText(code)
        assert text.is_mergeable(["x"]) and text.cooperates
        assert text.shared == {"tile": ("f32", 36)}
        slots = {"x": BufferAccess("buffer0", 0, "f32", "f32")}
        function = text.function("m0_", slots, {"tile": "shared"})
        assert function.splitlines()[3:] == [
            "fn m0_main(lane: u32) { shared[lane] = buffer0[lane]; }"
        ]

    @pytest.mark.parametrize(
        "body",
        [
            "x[lane] += 1.0;",
            "x[lane]++;",
            "let p = &x[lane];",
            "let n = arrayLength(&x);",
            "let x = 1.0;",
            "for (var i = 0u; i < 8u; x[i] = 1.0) { i += 1u; }",
        ],
    )
    def test_unsupported_kernel_text_is_not_mergeable(self, body):
        head = "@compute @workgroup_size(8)\nfn main(@builtin(local_invocation_index) lane: u32)"
        assert KernelText(f"{head} {{ x[lane] = 1.0; }}").is_mergeable(["x"])
        assert not KernelText(f"{head} {{ {body} }}").is_mergeable(["x"])
        assert not KernelText(f"enable f16;\n{head} {{ x[lane] = 1.0; }}").is_mergeable(["x"])
        assert not KernelText(f"{head.replace('main', 'run')} {{}}").is_mergeable(["x"])


@pytest.mark.parametrize("name", WGSL_HELPERS)
def test_a_product_with_any_epilogue_may_be_merged(name):
    """No function of the expression language uses the name of a product's buffer."""
    spec = TensorSpec((4, 4), "float32")
    request = KernelRequest((spec, spec), (spec,), {}, Target(True, Limits()))
    (call,) = lower_matmul(request).calls
    buffers = [binding.name for binding in call.bindings]
    assert KernelText(WGSL_HELPERS[name] + call.code).is_mergeable(buffers)


def merged_and_apart(sampled: Sampled) -> list[dict[str, Any]]:
    program = sampled.program
    feeds = {tensor: sampled.shapes[name] for name, tensor in program.feeds.items()}
    return [
        plan_of(program.fetches, program.targets, feeds, merge=merge) for merge in (True, False)
    ]


@given(sampled_programs())
@examples(60)
def test_random_programs_are_within_the_rules(sampled):
    merged, apart = merged_and_apart(sampled)
    assert len(merged["commands"]) <= len(apart["commands"])
    host = NullHost()
    host.load(merged, {"state": host.create_buffer(1 << 16)})
    names = [
        {name for command in plan["commands"] for name in command["nodes"]}
        for plan in (merged, apart)
    ]
    assert names[0] == names[1]


def assert_same(merged: list[bytes], apart: list[bytes]) -> None:
    """Check that results are equal: on hardware up to rounding, as its compiler may fuse products
    with additions in one kernel and not in another."""
    if registry.gpu(0).target.is_software:
        assert merged == apart
        return
    for a, b in zip(merged, apart, strict=True):
        actual, expected = np.frombuffer(a, np.float32), np.frombuffer(b, np.float32)
        scale = np.abs(expected).max(initial=0.0)
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-6 * scale)


@pytest.mark.gpu
@given(sampled_programs())
@examples(60)
def test_random_programs_give_the_same_bytes(sampled):
    feeds = sampled.feed_dict()
    assert_same(*(execute(plan, feeds) for plan in merged_and_apart(sampled)))


@pytest.mark.gpu
@pytest.mark.parametrize("is_software", [True, False])
@pytest.mark.parametrize("batch", [6, 512])
def test_training_steps_give_the_same_bytes(is_software, batch):
    """Kernels for hardware use workgroup memory and barriers."""
    feeds = network().feeds(batch)
    results = []
    for merge in (True, False):
        net = network()
        shapes = {tensor: array.shape for tensor, array in net.feeds(batch).items()}
        plan = plan_of([net.loss], [net.train], shapes, merge=merge, is_software=is_software)
        results.append(execute(plan, feeds, state_too=True))
    assert_same(*results)
