"""The part of a C file that compares the function with results of playgrad."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.compression.integer_evaluation import evaluate
from playgrad.compression.integer_program import IntegerProgram
from playgrad.interchange.c.header import parameters
from playgrad.interchange.c.source import numbers

Array = np.ndarray[Any, Any]

CASES = 4
_SEED = 2463534242


def check_text(program: IntegerProgram, name: str) -> str:
    """Return a ``main`` that runs made-up inputs, and returns 1 unless all results are equal."""
    tensors = [program.tensors[name] for name in program.inputs]
    named = list(zip(program.inputs, tensors, strict=True))
    sizes = [math.prod(tensor.shape) for tensor in tensors]
    kinds = [(tensor.dtype, _values(program, name)) for name, tensor in named]
    cases = _xorshift(CASES * sum(sizes)).reshape(CASES, sum(sizes))
    parts = np.split(cases, np.cumsum(sizes)[:-1], axis=1)
    feeds = {
        name: _feed(part, *kind, tensor.shape)
        for name, tensor, part, kind in zip(program.inputs, tensors, parts, kinds, strict=True)
    }
    results = evaluate(program, feeds)
    takes = parameters(program.inputs, "input")
    gives = parameters(program.outputs, "output")
    lines = []
    for tensor, parameter, size in zip(tensors, takes, sizes, strict=True):
        lines.append(f"static {tensor.dtype}_t {parameter}[{size}];")
    for parameter, result in zip(gives, results, strict=True):
        size = result[0].size
        lines += [
            f"static int8_t {parameter}[{size}];",
            f"static const int8_t expected_{parameter}[{CASES} * {size}] = {{",
            numbers(result.reshape(-1).tolist()),
            "};",
        ]
    fills = [
        f"        for (i = 0; i < {size}; i++) {{\n"
        f"            {parameter}[i] = {_expression(*kind)};\n"
        "        }"
        for parameter, size, kind in zip(takes, sizes, kinds, strict=True)
    ]
    compares = [
        f"        for (i = 0; i < {result[0].size}; i++) {{\n"
        f"            different += {parameter}[i] != expected_{parameter}"
        f"[number * {result[0].size} + i];\n"
        "        }"
        for parameter, result in zip(gives, results, strict=True)
    ]
    return f"""
#ifdef {name.upper()}_TEST
#include <stdio.h>

{chr(10).join(lines)}

/* xorshift, Marsaglia 2003 */
static uint32_t next_number(void)
{{
    static uint32_t x = {_SEED}u;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return x;
}}

int main(void)
{{
    long number, i, different = 0;
    for (number = 0; number < {CASES}; number++) {{
{chr(10).join(fills)}
        {name}_run({", ".join([*takes, *gives])});
{chr(10).join(compares)}
    }}
    printf("%ld values differ in {CASES} cases\\n", different);
    return different != 0;
}}
#endif
"""


def _values(program: IntegerProgram, tensor: str) -> int:
    """Return how many values an input can have: an index is less than the rows of its tables."""
    if program.tensors[tensor].dtype == "int8":
        return 256
    rows = [
        step.constants["table"].shape[0]
        for step in program.steps
        if step.op == "gather" and tensor in step.inputs
    ]
    return min(rows, default=1)


def _expression(dtype: str, limit: int) -> str:
    number = f"(next_number() >> 8) % {limit}"
    return f"(int8_t)((int32_t)({number}) - 128)" if dtype == "int8" else f"(int32_t)({number})"


def _feed(numbers: Array, dtype: str, limit: int, shape: Sequence[int]) -> Array:
    values = (numbers >> 8) % limit
    values = values.astype(np.int64) - 128 if dtype == "int8" else values
    return values.astype(dtype).reshape(-1, *shape)


def _xorshift(count: int) -> Array:
    x, values = _SEED, np.empty(count, np.uint32)
    for number in range(count):
        x ^= x << 13 & 0xFFFFFFFF
        x ^= x >> 17
        x ^= x << 5 & 0xFFFFFFFF
        values[number] = x
    return values
