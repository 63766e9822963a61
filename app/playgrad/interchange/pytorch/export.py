"""`pytorch_bytes`: networks as programs of PyTorch, with their weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import indent
from typing import Any

import numpy as np

from playgrad.data.input_description import KEY, InputDescription
from playgrad.graph.tensor import Node, Tensor
from playgrad.interchange.pytorch.layers import add_layer
from playgrad.interchange.pytorch.names import class_name
from playgrad.interchange.pytorch.operations import add_operation
from playgrad.interchange.pytorch.use import LayerUse
from playgrad.interchange.pytorch.writer import WIDTH, NetworkStructure, ProgramWriter, call_text
from playgrad.io.safetensors import dump
from playgrad.io.zip_file import zip_bytes
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import LayerCall

Array = np.ndarray[Any, Any]

_HEAD = '''"""{name}, a network trained in playgrad. To predict with it:

    from safetensors.torch import load_file

    model = {name}()
    model.load_state_dict(load_file("model.safetensors"))
    model.eval()

Channels are the last axis of its inputs and outputs, as in playgrad.
"""

{imports}


class {name}(nn.Module):
'''


def pytorch_bytes(
    name: str,
    structure: NetworkStructure,
    layers: Sequence[tuple[str, Layer]],
    weights: Mapping[str, Array],
    described: InputDescription | None = None,
) -> bytes:
    """Return the content of a zip file with ``model.py`` and ``model.safetensors``.

    Args:
        name: the name of the model.
        structure: its layers and operations.
        layers: its layers by name.
        weights: its arrays by layer and name, such as ``dense_1/kernel``.
        described: how a picture becomes the input, if it is known.

    Raises:
        ExportError: PyTorch has no equivalent of a layer or an operation.
    """
    writer = ProgramWriter(structure, layers, weights)
    for position, item in enumerate(structure.items):
        writer.position = position
        add_item(writer, item)
    results = [writer.read(tensor, "last") for tensor in structure.outputs]
    metadata = {} if described is None else {KEY: described.to_json()}
    stored = dump(writer.state, metadata)
    program = _program(class_name(name), writer, structure, results).encode()
    return zip_bytes({"model.py": program, "model.safetensors": stored})


def add_item(writer: ProgramWriter, item: LayerCall | Node) -> None:
    """Append the lines of a layer call or an operation.

    Raises:
        ExportError: it has no equivalent.
    """
    if isinstance(item, LayerCall):
        add_layer(LayerUse(writer, item))
    else:
        add_operation(writer, item)


def _program(
    name: str, writer: ProgramWriter, structure: NetworkStructure, results: list[str]
) -> str:
    kind = "torch.Tensor" if len(results) == 1 else "tuple[torch.Tensor, ...]"
    arguments = ["self", *(f"{argument}: torch.Tensor" for argument in writer.arguments)]
    signature = f"def forward({', '.join(arguments)}) -> {kind}:"
    if len(signature) + 4 > WIDTH:
        signature = f"{call_text('def forward', arguments)} -> {kind}:"
        if "\n" not in signature:
            lines = "".join(f"    {argument},\n" for argument in arguments)
            signature = f"def forward(\n{lines}) -> {kind}:"
    sizes = f"Return {_shapes(structure.outputs)} for {_shapes(structure.inputs)}."
    constructor = ["super().__init__()", *writer.modules]
    body = [f'"""{sizes}"""', *_with_return(writer.lines, results)]
    methods = (
        "def __init__(self) -> None:\n"
        + indent("\n".join(constructor), " " * 4)
        + f"\n\n{signature}\n"
        + indent("\n".join(body), " " * 4)
        + "\n"
    )
    imports = ["import torch", "from torch import nn"]
    if any("F." in line for line in writer.lines):
        imports.insert(1, "import torch.nn.functional as F")
    return _HEAD.format(name=name, imports="\n".join(imports)) + indent(methods, " " * 4)


def _with_return(lines: list[str], results: list[str]) -> list[str]:
    """Return the lines of ``forward`` with the one that returns the results."""
    returned = f"return {', '.join(results)}"
    if len(returned) + 8 > WIDTH:
        return [*lines, "return (", *(f"    {result}," for result in results), ")"]
    if lines and len(results) == 1 and lines[-1].startswith(f"{results[0]} = "):
        direct = lines[-1].replace(f"{results[0]} =", "return", 1)
        if "\n" not in direct and len(direct) + 8 <= WIDTH:
            return [*lines[:-1], direct]
    return [*lines, returned]


def _shapes(tensors: Sequence[Tensor]) -> str:
    texts = [
        f"({', '.join('batch' if n is None else str(n) for n in tensor.shape)})"
        for tensor in tensors
    ]
    return ", ".join(texts)
