"""Loops of kernels that somebody is writing end."""

from __future__ import annotations

import pytest

from playgrad.inspection.loop_guard import guarded

KERNEL = """// for { a comment
fn main() {
  for (var i = 0u; i < 4u; i += 1u) { a(); }
  while (true) {
    loop { break; } /* while { another
  */ }
}"""


def test_each_loop_counts_its_rounds_on_lines_with_the_same_numbers() -> None:
    before, after = KERNEL.split("\n"), guarded(KERNEL).split("\n")
    changed = [n for n, (a, b) in enumerate(zip(before, after, strict=False), 1) if a != b]
    assert changed == [3, 4, 5]
    assert after[len(before) :] == ["var<private> pg_rounds: u32 = 0u;", ""]
    assert guarded(KERNEL).count("pg_rounds += 1u;") == 3


@pytest.mark.parametrize(
    "text",
    [
        "fn main() { for (;;) { workgroupBarrier(); } }",
        "fn main() { loop { if (workgroupUniformLoad(&done)) { break; } } }",
        "fn main() { x = 1; }",
    ],
)
def test_kernels_with_barriers_or_without_loops_are_unchanged(text: str) -> None:
    assert guarded(text) == text
