"""`tflite_bytes`: quantized networks as files of TensorFlow Lite."""

from __future__ import annotations

from playgrad.compression.integer_program import IntegerProgram
from playgrad.errors import ExportError
from playgrad.interchange.tflite.builder import TFLiteBuilder
from playgrad.interchange.tflite.steps import WRITERS
from playgrad.interchange.tflite.writer import TFLiteWriter


def tflite_bytes(program: IntegerProgram, name: str) -> bytes:
    """Return the file of a quantized network.

    The batch may have any size, unless a convolution is transposed: then it is 1.

    Args:
        name: of the network.

    Raises:
        ExportError: TensorFlow Lite has no equivalent of a step, or the packages that write its
            files are not installed.
    """
    builder = TFLiteBuilder(name)
    writer = TFLiteWriter(program, builder)
    inputs = [writer.tensor(tensor) for tensor in program.inputs]
    for step in program.steps:
        if step.op not in WRITERS:
            raise ExportError(f"TensorFlow Lite has no equivalent of '{step.op}' in '{step.name}'.")
        WRITERS[step.op](writer, step)
    return builder.model(inputs, [writer.tensor(tensor) for tensor in program.outputs])
