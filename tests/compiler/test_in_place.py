"""Results that overwrite inputs that are not read afterwards."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from playgrad import ops
from playgrad.compiler.plan import PlanBuilder
from playgrad.compiler.segments import Segment
from playgrad.devices.target import Limits, Target
from playgrad.graph.tensor import Tensor
from tests.compiler.random_programs import Sampled, sampled_programs
from tests.compiler.test_plan import arena_bytes, execute, plan_of
from tests.sweeps import examples

pytestmark = pytest.mark.usefixtures("graph")

SHAPE = (1 << 11, 16)
BYTES = 4 << 15


@pytest.fixture
def x() -> Tensor:
    return ops.placeholder("float32", list(SHAPE), name="x")


def shifted(y: Tensor) -> Tensor:
    """Return an elementwise result that ``fuse`` cannot join with the producer of ``y``."""
    return y - ops.reduce_max(y, 1, keepdims=True)


def arenas(fetches: list[Tensor], x: Tensor) -> int:
    """Return how many blocks of the size of ``x`` the arenas hold."""
    return arena_bytes(plan_of(fetches, feeds={x: SHAPE}, merge=True)) // BYTES


def test_the_last_reader_overwrites_its_input(x):
    assert arenas([shifted(shifted(ops.exp(x)))], x) == 1


def test_values_needed_later_are_not_overwritten(x):
    y = ops.exp(x)
    assert arenas([ops.matmul(shifted(y), y, transpose_b=True)], x) >= 2


def test_fetched_values_are_not_overwritten(x):
    y = ops.exp(x)
    assert arenas([y, shifted(y)], x) == 2


def test_inputs_read_at_other_elements_are_not_overwritten(x):
    y = ops.exp(x)
    assert arenas([ops.transpose(y) * 2.0], x) == 2


def test_casts_do_not_overwrite_their_input(x):
    assert arenas([ops.cast(ops.cast(shifted(ops.exp(x)), "int32") * 3, "float32")], x) <= 2


@pytest.mark.gpu
def test_writing_in_place_gives_the_same_bytes(x):
    feeds = {x: np.random.default_rng(0).normal(size=SHAPE).astype(np.float32)}
    y = shifted(ops.exp(x))
    fetches = [shifted(y + 1.0), ops.reduce_sum(y, 0)]
    plans = [plan_of(fetches, feeds={x: SHAPE}, reuse=reuse, merge=True) for reuse in (True, False)]
    assert arena_bytes(plans[0]) < arena_bytes(plans[1])
    assert execute(plans[0], feeds) == execute(plans[1], feeds)


@pytest.mark.gpu
@given(sampled_programs())
@examples(60)
def test_random_programs_give_the_same_bytes(sampled: Sampled):
    program = sampled.program
    shapes = {tensor: sampled.shapes[name] for name, tensor in program.feeds.items()}
    results = [
        execute(
            plan_of(program.fetches, program.targets, shapes, reuse=reuse, merge=True),
            sampled.feed_dict(),
            state_too=True,
        )
        for reuse in (True, False)
    ]
    assert results[0] == results[1]


def test_a_fetch_reusing_memory_stays_until_it_is_read(graph):
    """Fetches are read after the whole segment, whatever else it computes."""
    x, y = (ops.placeholder("float32", list(SHAPE)) for _ in "xy")
    first = ops.exp(x)
    over, other = first * 2.0, ops.exp(y)
    two = over.node.inputs[1].node
    segments = [
        Segment("gpu:0", 0, [x.node, y.node, first.node]),
        Segment("gpu:0", 1, [two, over.node, other.node]),
    ]
    builder = PlanBuilder(
        segments, [over, other], Target(True, Limits()), {}, merge_dispatches=False
    )
    slots = builder.build()["fetches"]
    places = {(slots[t.name]["buffer"], slots[t.name]["offset"]) for t in (over, other)}
    assert len(places) == 2
