"""The operations of a quantized network, interpreted with NumPy's references alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.compression.integer_program import IntegerProgram, integer_program
from playgrad.graph.opdef import lookup
from tests.compression.networks import NETWORKS, network

Array = np.ndarray[Any, Any]
CHANNELS = ("kernel", "bias", "multiplier", "shift")


def interpreted(program: IntegerProgram, x: Array) -> Array:
    """Return the first output of a program, operation by operation."""
    values = {program.inputs[0]: x.astype(program.tensors[program.inputs[0]].dtype)}
    for step in program.steps:
        inputs = [values[name] for name in step.inputs]
        target = program.tensors[step.output]
        if step.op == "reshape":
            result = inputs[0].reshape(-1, *target.shape)
        elif step.op == "transpose":
            result = inputs[0].transpose(step.attrs["permutation"])
        elif step.op == "concat":
            result = np.concatenate(inputs, step.attrs["axis"])
        elif step.op == "gather":
            result = step.constants["table"][inputs[0]]
        else:
            names = CHANNELS if "kernel" in step.constants else tuple(step.constants)
            arrays = [*inputs, *(step.constants[name] for name in names)]
            (result,) = lookup(step.op).reference(arrays, step.attrs)
        assert (result.shape[1:], result.dtype.name) == (target.shape, target.dtype)
        values[step.output] = result
    return values[program.outputs[0]]


@pytest.mark.parametrize("name", NETWORKS)
def test_the_program_computes_what_the_model_does(name: str) -> None:
    model, x = network(name)
    small = pg.quantize(model, x)
    program, weights = integer_program(small), model.named_weights()
    assert np.array_equal(interpreted(program, x), small.predict(x))
    for step in program.steps:  # each operation reads the scales that its inputs have
        if step.op in ("quantized_matmul", "quantized_conv2d"):
            layer = small.get_layer(step.name)
            source = program.tensors[step.inputs[0]]
            assert source.scale == np.float32(layer.input_scale)
            assert source.zero_point == layer.input_zero_point
            scales, bias = step.constants["weight_scale"], step.constants["bias"]
            assert scales.dtype == np.float32 and scales.shape == bias.shape
            if step.op == "quantized_matmul":
                kernel = weights[f"{step.name}/kernel"]
                assert np.array_equal(scales, np.abs(kernel).max(axis=0) / np.float32(127))


def test_layers_that_stayed_float32_are_named() -> None:
    x = np.random.default_rng(0).normal(size=(9, 5, 2)).astype(np.float32)
    model = pg.Sequential([nn.LSTM(4, name="memory"), nn.Dense(2)])
    model.build((5, 2))
    with pytest.raises(pg.errors.ExportError, match="'memory', 'quantize_1' compute in float32"):
        integer_program(pg.quantize(model, x))
    with pytest.raises(pg.errors.ExportError, match="not a network of integers alone"):
        integer_program(model)
