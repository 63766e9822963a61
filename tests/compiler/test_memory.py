"""``plan_memory``: live blocks do not overlap, and the memory of dead ones is reused."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from playgrad.compiler.memory import ALIGNMENT, Block, aligned, plan_memory

ROOM = 1 << 30


@st.composite
def block_lists(draw) -> list[Block]:
    spans = st.tuples(st.integers(1, 5000), st.integers(0, 20), st.integers(0, 6))
    blocks = [Block(size, at, at + long) for size, at, long in draw(st.lists(spans, max_size=25))]
    if blocks:
        numbers = st.integers(0, len(blocks) - 1)
        # Like a dispatch that reads i and writes j, which must lie in different arenas.
        for i, j in draw(st.lists(st.tuples(numbers, numbers), max_size=12)):
            if i != j and blocks[i].overlaps(blocks[j]):
                blocks[i].apart.add(j)
                blocks[j].apart.add(i)
    return blocks


def spans_meet(a: Block, b: Block) -> bool:
    return a.offset < b.offset + b.size and b.offset < a.offset + a.size


@given(block_lists(), st.booleans())
def test_live_blocks_do_not_overlap(blocks, reuse):
    sizes = plan_memory(blocks, ROOM, reuse)
    for i, a in enumerate(blocks):
        assert a.offset % ALIGNMENT == 0 and a.offset + a.size <= sizes[a.arena]
        for b in blocks[:i]:
            if a.arena == b.arena and (a.overlaps(b) or not reuse):
                assert not spans_meet(a, b)
        assert all(a.arena != blocks[j].arena for j in a.apart)


@given(block_lists())
def test_reuse_never_increases_memory(blocks):
    with_reuse = sum(plan_memory(blocks, ROOM))
    without = sum(plan_memory(blocks, ROOM, reuse=False))
    assert with_reuse <= without == sum(aligned(block.size) for block in blocks)


@given(block_lists())
def test_arenas_are_at_least_as_large_as_all_live_blocks(blocks):
    total = sum(plan_memory(blocks, ROOM))
    for now in range(30):
        assert total >= sum(b.size for b in blocks if b.first <= now <= b.last)


@given(block_lists(), st.integers(5120, 20000))
def test_arenas_respect_the_size_limit(blocks, limit):
    for size in plan_memory(blocks, limit):
        assert size <= aligned(limit)
    assert all(block.offset + block.size <= limit for block in blocks)


def test_a_chain_needs_two_places():
    """Each dispatch reads the previous result, so that two arenas are used in turn."""
    blocks = [Block(1024, i, i + 1) for i in range(10)]
    for i in range(9):
        blocks[i].apart.add(i + 1)
        blocks[i + 1].apart.add(i)
    assert sorted(plan_memory(blocks, ROOM)) == [1024, 1024]
    assert sum(plan_memory(blocks, ROOM, reuse=False)) == 10240


def test_an_empty_plan_needs_no_memory():
    assert plan_memory([], ROOM) == []
