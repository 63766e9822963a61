"""Quantized networks in LiteRT: within one step of the output's scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter, OpResolverType

from playgrad.compression.integer_evaluation import evaluate
from playgrad.compression.integer_program import IntegerProgram
from playgrad.errors import ExportError
from playgrad.interchange.tflite.export import tflite_bytes
from tests.compression.random_programs import KINDS, RandomProgram, feeds_of

SEEDS = 8
ROUNDED_OTHERWISE = {"pool": 0.1, "concat": 0.03, "rescale": 0.03, "matmul": 0.01}
"""The most values that differ by a step: LiteRT rounds halves, and products twice, otherwise."""


Array = np.ndarray[Any, Any]


def run(content: bytes, program: IntegerProgram, feeds: Mapping[str, Array], batch: int) -> Array:
    """Return the output that LiteRT computes, batch by batch."""
    interpreter = Interpreter(
        model_content=content,
        experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    )
    inputs = interpreter.get_input_details()
    for detail, name in zip(inputs, program.inputs, strict=True):
        interpreter.resize_tensor_input(detail["index"], [batch, *program.tensors[name].shape])
    interpreter.allocate_tensors()
    results = []
    for start in range(0, len(next(iter(feeds.values()))), batch):
        for detail, name in zip(inputs, program.inputs, strict=True):
            interpreter.set_tensor(detail["index"], feeds[name][start : start + batch])
        interpreter.invoke()
        results.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
    return np.concatenate(results)


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
        result = run(content, program, feeds, 1 if kind == "transposed_conv2d" else 16)
        assert result.dtype == np.int8 and result.shape == expected.shape
        distance = np.abs(result.astype(int) - expected)
        assert distance.max() <= 1
        different, total = different + int(distance.sum()), total + distance.size
    assert total and (not refused or kind in ("pool", "transposed_conv2d"))
    assert different <= total * ROUNDED_OTHERWISE.get(kind, 0.01)
