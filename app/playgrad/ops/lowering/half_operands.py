"""Operands of products that are float16, two in a word of their buffers.

WGSL unpacks them without the feature `shader-f16`. All kernels compute with float32.
"""

from __future__ import annotations

import re

from playgrad.ops.core.wgsl_text import closing

HALF_VECTOR = "vec2<u32>"
"""The binding of four float16 at a time."""


def half_element(letter: str, index: str, is_wide: bool = False) -> str:
    """Return WGSL of element ``index`` of an operand.

    Args:
        is_wide: whether the operand is bound as `HALF_VECTOR`, else as words.
    """
    word = f"{letter}[({index}) >> 1u]"
    if is_wide:
        word = f"{letter}[({index}) >> 2u][(({index}) >> 1u) & 1u]"
    return f"unpack2x16float({word} >> ((({index}) & 1u) << 4u)).x"


def half_quad(letter: str, index: str, is_wide: bool) -> str:
    """Return WGSL of four elements from ``index`` on, a multiple of 4.

    Args:
        is_wide: whether the operand is bound as `HALF_VECTOR`.
    """
    if is_wide:
        words = [f"{letter}[{index} / 4u].{word}" for word in "xy"]
    else:
        words = [f"{letter}[{index} / 2u]", f"{letter}[{index} / 2u + 1u]"]
    return f"vec4<f32>({', '.join(f'unpack2x16float({word})' for word in words)})"


def with_half_loads(code: str, letter: str) -> str:
    """Return a kernel that reads elements of ``letter`` as ``letter[index]``, for float16."""
    parts: list[str] = []
    done = 0
    for match in re.finditer(rf"\b{letter}\[", code):
        end = closing(code, match.end() - 1)
        parts += code[done : match.start()], half_element(letter, code[match.end() : end])
        done = end + 1
    return "".join((*parts, code[done:]))
