"""The functions in C that a network calls: the integer arithmetic of ``ops/quantized``.

They are C99 without undefined or implementation-defined behaviour: negative numbers are not
shifted, nothing wraps, and int may have 16 bits. A file has only the functions that it calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from playgrad.interchange.c.element_functions import ELEMENTS
from playgrad.interchange.c.move_functions import MOVES
from playgrad.interchange.c.product_functions import PRODUCTS
from playgrad.interchange.c.window_functions import WINDOWS

_ARITHMETIC = {
    "shift_right": """
/* value / 2^shift, rounded to the nearest integer, and halves up. */
static int64_t shift_right(int64_t value, int32_t shift)
{
    value += (int64_t)1 << (shift - 1);
    return value >= 0 ? value >> shift : -1 - ((-1 - value) >> shift);
}
""",
    "clamp": """
static int8_t clamp(int64_t value, int32_t low, int32_t high)
{
    return (int8_t)(value < low ? low : value > high ? high : value);
}
""",
}

_FUNCTIONS = {**_ARITHMETIC, **PRODUCTS, **ELEMENTS, **WINDOWS, **MOVES}


def functions(called: Iterable[str]) -> str:
    """Return the text of the functions and types with these names, and of those that they use."""
    needed: set[str] = set()
    stack = list(called)
    while stack:
        name = stack.pop()
        if name not in needed:
            needed.add(name)
            words = set(re.findall(r"\w+", re.sub(r"/\*.*?\*/", "", _FUNCTIONS[name], flags=re.S)))
            stack += [other for other in _FUNCTIONS if other in words]
    texts = (text for name, text in _FUNCTIONS.items() if name in needed)
    return "".join(texts)
