"""The inputs and outputs of a network as a person meets them: pictures, text, rows, classes."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.data.excerpt import Excerpt
from playgrad.data.input_description import InputDescription
from playgrad.dtypes import dtype
from playgrad.errors import ExportError, GraphError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.inspection.input_pixels import described_input, usual_input
from playgrad.inspection.outputs import SEVERAL, scale_of
from playgrad.inspection.pictures import image_size
from playgrad.inspection.writers import Writer, codes_of, writer_of
from playgrad.networks.inference import InferenceGraph

Array = np.ndarray[Any, Any]
LONGEST_PROMPT = 24
"""Tokens of the first prompt, if the model needs no more."""
MOST_SAMPLES = 8
MOST_SAMPLE_BYTES = 64 << 10
"""The limit of all samples together, so that they do not weigh more than a small network."""


@dataclass(frozen=True)
class Names:
    """Names that people use: of the network, and of classes and columns of its data."""

    title: str = ""
    classes: Sequence[str] = ()
    columns: Sequence[str] = ()


def fixed_shapes(model: Any, network: InferenceGraph) -> dict[str, tuple[int, ...]]:
    """Return the shape of each input for a single sample, by the names of the inputs.

    Raises:
        ExportError: a dimension is unknown, and no training told its size.
    """
    known = _excerpt(model)
    shapes = {}
    for tensor in network.inputs:
        sizes = tensor.shape[1:]
        if None in sizes and known is not None and len(known.x.shape) == len(tensor.shape):
            sizes = known.x.shape[1:]
        described = described_input(tensor, network.input)
        if None in sizes and described is not None:
            sizes = described.shape
        if None in sizes:
            raise ExportError(
                f"the input '{tensor.node.name}' has the shape {shape_text(tensor.shape)}, but a "
                "stand-alone page needs to know all sizes but the batch's.",
                hint="Train the model, whose data tell the sizes, or build it for a fixed shape.",
            )
        shapes[tensor.node.name] = (1, *(size for size in sizes if size is not None))
    return shapes


def about(
    model: Any, network: InferenceGraph, shapes: Mapping[str, tuple[int, ...]], names: Names
) -> dict[str, Any]:
    """Return the page's description of inputs and outputs, as plain data.

    Returns:
        ``title``, ``parameters``; ``inputs``: for each its ``kind`` ("picture", "text", "row" or
        "numbers"), ``dtype``, ``shape`` and the kind's fields; ``samples``: some inputs, base64
        of their bytes; ``outputs``: for each its ``kind`` ("classes", "chance", "picture" or
        "numbers") and the kind's fields.
    """
    excerpt = _excerpt(model) if len(network.inputs) == 1 else None
    inputs = [
        _input(model, tensor, shapes[tensor.node.name], excerpt, names, network.input)
        for tensor in network.inputs
    ]
    writes = inputs[0]["kind"] == "text"
    return {
        "title": names.title or network.name,
        "parameters": sum(array.size for array in network.values.values()),
        "inputs": inputs,
        "samples": [] if excerpt is None or writes else _samples(excerpt, inputs[0]),
        "outputs": [_output(model, network, tensor, names) for tensor in network.outputs],
    }


def _excerpt(model: Any) -> Excerpt | None:
    excerpt: Excerpt | None = getattr(model, "test_excerpt", None)
    return excerpt or getattr(model, "train_excerpt", None)


def _input(
    model: Any,
    tensor: Tensor,
    shape: tuple[int, ...],
    excerpt: Excerpt | None,
    names: Names,
    known: InputDescription | None,
) -> dict[str, Any]:
    view: dict[str, Any] = {"dtype": tensor.dtype, "shape": list(shape), "kind": "numbers"}
    writer = None if excerpt is None else writer_of(model)
    if writer is not None and excerpt is not None:
        return view | {
            "kind": "text",
            "tokens": list(writer.vocabulary.tokens),
            "words": writer.vocabulary.words,
            "length": writer.form.length,
            "one_hot": writer.form.one_hot,
            "each": writer.form.each,
            "gives_probabilities": writer.form.gives_probabilities,
            "prompt": _prompt(writer, excerpt),
        }
    size = image_size(shape[1:])
    if size is not None:
        described = described_input(tensor, known) or usual_input(tensor)
        return view | {
            "kind": "picture",
            "height": size[0],
            "width": size[1],
            "channels": size[2],
            "low": list(described.low),
            "high": list(described.high),
        }
    table = described_input(tensor, known)
    if len(shape) == 2 and shape[1] <= 64 and dtype(tensor.dtype).floating:
        columns = names.columns if table is None else table.columns or names.columns
        return view | {
            "kind": "row",
            "columns": list(columns) if len(columns) == shape[1] else [],
            "mean": [] if table is None else list(table.mean),
            "deviation": [] if table is None else list(table.deviation),
        }
    return view


def _prompt(writer: Writer, excerpt: Excerpt) -> str:
    """Return the beginning of a text of the data."""
    codes = codes_of(excerpt.x[0], writer.form)
    return writer.vocabulary.decode(codes[: max(writer.form.least, LONGEST_PROMPT)])


def _samples(excerpt: Excerpt, view: Mapping[str, Any]) -> list[str]:
    x = excerpt.x
    if list(x.shape[1:]) != view["shape"][1:]:
        return []
    kind = dtype(view["dtype"]).numpy
    each = max(1, kind.itemsize * int(np.prod(x.shape[1:])))
    count = min(MOST_SAMPLES, len(x), MOST_SAMPLE_BYTES // each)
    rows = np.ascontiguousarray(x[:count].astype(kind))
    return [base64.b64encode(row.tobytes()).decode() for row in rows]


def _output(model: Any, network: InferenceGraph, tensor: Tensor, names: Names) -> dict[str, Any]:
    sizes = tensor.shape[1:]
    softmaxed = tensor.node.op.name == "softmax"
    scale = _scale(model) if len(network.outputs) == 1 else None
    tells_classes = scale in SEVERAL or softmaxed
    if tells_classes and len(sizes) == 1 and sizes[0] is not None and sizes[0] > 1:
        labels = list(names.classes) if len(names.classes) == sizes[0] else []
        return {"kind": "classes", "labels": labels, "scale": scale or "probabilities"}
    if scale in ("sigmoid", "probability"):
        labels = list(names.classes) if len(names.classes) == 2 else []
        return {"kind": "chance", "labels": labels, "scale": scale}
    size = image_size(sizes)
    if size is not None and scale is None and not softmaxed:
        return {"kind": "picture", "height": size[0], "width": size[1], "channels": size[2]}
    return {"kind": "numbers"}


def _scale(model: Any) -> str | None:
    try:
        return scale_of(model)
    except (AttributeError, GraphError):  # not compiled, or a network without a recipe
        return None
