"""Quantized networks in LiteRT: within one step of the output's scale."""

from __future__ import annotations

import numpy as np
import pytest

from playgrad.compression.integer_evaluation import evaluate
from playgrad.compression.integer_program import IntegerProgram
from playgrad.errors import ExportError
from playgrad.interchange.tflite.export import tflite_bytes
from tests.compression.litert import run_tflite
from tests.compression.random_programs import KINDS, RandomProgram, feeds_of

SEEDS = 8
ROUNDED_OTHERWISE = {"pool": 0.1, "concat": 0.03, "rescale": 0.03, "matmul": 0.01}
"""The most values that differ by a step: LiteRT rounds halves, and products twice, otherwise."""


def rounds_twice(program: IntegerProgram) -> bool:
    """Return whether means over windows with padding are computed: in the scale of the input, and
    then brought to another one."""
    return any(
        step.op == "quantized_avg_pool2d" and any(map(any, step.attrs["padding"]))
        for step in program.steps
    )


@pytest.mark.parametrize("kind", KINDS)
def test_each_step_agrees_with_litert(kind: str) -> None:
    different = total = refused = 0
    for seed in range(SEEDS):
        program = RandomProgram(seed).single(kind)
        feeds = feeds_of(program, 16, seed)
        (expected,) = evaluate(program, feeds)
        try:
            content = tflite_bytes(program, "net")
        except ExportError as error:
            assert "TensorFlow Lite has no" in str(error)
            refused += 1
            continue
        given = [feeds[name] for name in program.inputs]
        result = run_tflite(content, given, 1 if kind == "transposed_conv2d" else 16)
        assert result.dtype == np.int8 and result.shape == expected.shape
        distance = np.abs(result.astype(int) - expected)
        assert distance.max() <= (2 if rounds_twice(program) else 1)
        different, total = different + int(distance.sum()), total + distance.size
    assert total and (not refused or kind == "pool")
    assert different <= total * ROUNDED_OTHERWISE.get(kind, 0.01)
