"""The part of an integer program without floating-point numbers, which a C function computes."""

from __future__ import annotations

from playgrad.compression.integer_program import IntegerProgram
from playgrad.errors import ExportError


def integer_core(program: IntegerProgram) -> IntegerProgram:
    """Return a program without ``quantize`` and ``dequantize``, from integers to integers.

    Inputs have the scale with which they are quantized. One that is quantized twice becomes two.

    Raises:
        ExportError: a step in between computes with float32.
    """
    inputs: list[str] = []
    tensors = dict(program.tensors)
    for name in program.inputs:
        if program.tensors[name].dtype != "float32":
            inputs.append(name)
            continue
        for step in program.steps:
            if name in step.inputs and step.op == "quantize":
                inputs.append(step.output)
                # It may differ from that of the integers: the network multiplies its inputs.
                scale = step.attrs["scale"]
                tensors[step.output] = tensors[step.output]._replace(scale=scale)
    origins = {step.output: step.inputs[0] for step in program.steps if step.op == "dequantize"}
    outputs = tuple(origins.get(name, name) for name in program.outputs)
    steps = tuple(step for step in program.steps if step.op not in ("quantize", "dequantize"))
    for name in (*inputs, *outputs, *(name for step in steps for name in step.inputs)):
        if program.tensors[name].dtype == "float32":
            raise ExportError(
                f"'{name}' is a tensor of float32, and the C program computes with integers only.",
                hint="Quantize all layers; model.report() names those that stayed float32.",
            )
    computed = {*inputs, *(step.output for step in steps)}
    for step in steps:
        for name in step.inputs:
            if name not in computed:
                raise ExportError(f"'{step.name}' takes '{name}', which nothing computes.")
    return IntegerProgram(tuple(inputs), outputs, tensors, steps)
