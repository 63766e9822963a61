"""Quantized networks in ONNX Runtime: within one step of the output's scale."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest

from playgrad.compression.integer_evaluation import evaluate
from playgrad.errors import ExportError
from playgrad.interchange.onnx.quantized import quantized_onnx_bytes
from tests.compression.random_programs import KINDS, RandomProgram, feeds_of

SEEDS = 6
ROUNDED_OTHERWISE = 0.1
"""The most values of an average pooling that differ by a step: ONNX rounds halves to even."""


@pytest.mark.parametrize("kind", KINDS)
def test_each_step_agrees_with_onnx_runtime(kind: str) -> None:
    different = total = 0
    for seed in range(SEEDS):
        program = RandomProgram(seed).single(kind)
        feeds = feeds_of(program, 16, seed)
        (expected,) = evaluate(program, feeds)
        content = quantized_onnx_bytes(program, "net")
        onnx.checker.check_model(onnx.load_from_string(content), full_check=True)
        session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
        (result,) = session.run(None, feeds)
        assert result.dtype == np.int8 and result.shape == expected.shape
        distance = np.abs(result.astype(int) - expected)
        assert distance.max() <= 1
        different, total = different + int(distance.sum()), total + distance.size
    assert different <= total * (ROUNDED_OTHERWISE if kind == "pool" else 0.001)


def test_padding_that_does_not_stand_for_0_is_refused() -> None:
    random = RandomProgram(1)
    random.conv2d(random.image())
    step = random.steps[0]
    attrs = {**step.attrs, "pad_value": random.tensors[step.inputs[0]].zero_point ^ 1}
    random.steps[0] = step._replace(attrs=attrs)
    with pytest.raises(ExportError, match=r"pads with -?\d+, which does not stand for 0"):
        quantized_onnx_bytes(random.finished(step.output), "net")
