"""Kernels with long loops on a driver that ends loops early: the body of each is written several
times into a round, so that there are fewer rounds."""

from __future__ import annotations

import re
from dataclasses import replace

from playgrad.devices.target import Target
from playgrad.ops.core.kernel import KernelCall
from playgrad.ops.core.loops import depth, rounds
from playgrad.ops.core.wgsl_text import closing, without_comments

COPIES = (2, 4, 8, 16, 32, 64)
MOST_COPIES = 256
"""Of the body of an innermost loop: compilers take more than linear time for a long kernel."""
_FOR = re.compile(r"\bfor\s*\(")
_CONTINUE = re.compile(r"\bcontinue\b")


def within_rounds(call: KernelCall, target: Target) -> KernelCall | None:
    """Return ``call`` with loops that the driver does not end early; None if they are too long."""
    most = target.loop_rounds
    if most is None or rounds(call.loops) <= most:
        return call
    for copies in COPIES:
        if copies ** depth(call.loops) <= MOST_COPIES and rounds(call.loops, copies) <= most:
            return replace(call, code=with_copies(without_comments(call.code), copies))
    return None


def with_copies(code: str, copies: int) -> str:
    """Return WGSL without comments in which a round of each ``for`` runs its body ``copies`` times.

    Raises:
        ValueError: a body has a ``continue``, which would leave out the copies after it.
    """
    parts: list[str] = []
    done = 0
    while head := _FOR.search(code, done):
        end_of_head = closing(code, head.end() - 1)
        begin = code.index("{", end_of_head)
        end = closing(code, begin)
        first, condition, step = code[head.end() : end_of_head].split(";")
        body = with_copies(code[begin + 1 : end], copies)
        if _CONTINUE.search(body):
            raise ValueError(f"a loop with `continue` cannot be unrolled: {body.strip()}")
        round_ = f"{{{body}}}\n{step};\n"
        leave = f"if (!({condition})) {{ break; }}\n"
        parts += [
            code[done : head.start()],
            f"for ({first}; {condition};) {{\n{leave.join([round_] * copies)}}}",
        ]
        done = end + 1
    return "".join([*parts, code[done:]])
