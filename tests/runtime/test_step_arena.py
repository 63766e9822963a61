"""The places of many results: none overlap, and gaps are used again."""

from __future__ import annotations

from playgrad.compiler.memory import Block, plan_memory
from playgrad.runtime.step_arena import place_in_order
from tests.sweeps import dice


def random_blocks(count: int) -> list[Block]:
    random = dice("step arena", count)
    blocks = []
    for first in range(count):
        lasting = random.choice((0, 1, 2, 5, 30))
        blocks.append(Block(random.choice((1, 300, 4096, 20000)), first, first + lasting))
    return blocks


def test_blocks_in_use_do_not_overlap() -> None:
    for count in (1, 2, 7, 100, 300):
        blocks = random_blocks(count)
        size = place_in_order(blocks)
        for number, block in enumerate(blocks):
            assert 0 <= block.offset <= size - block.size and block.offset % 256 == 0
            for other in blocks[:number]:
                apart = block.offset + block.size <= other.offset
                apart = apart or other.offset + other.size <= block.offset
                assert apart or not block.overlaps(other)


def test_memory_is_used_again() -> None:
    blocks = random_blocks(300)
    size = place_in_order(blocks)
    assert size < 1.5 * sum(plan_memory(random_blocks(300), 1 << 40, min_arenas=1))
    chain = [Block(1000, number, number + 1) for number in range(1000)]
    assert place_in_order(chain) == 2 * 1024
