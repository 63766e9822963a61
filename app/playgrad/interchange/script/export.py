"""`script_text`: networks as Python scripts that predict with NumPy alone."""

from __future__ import annotations

import base64
import builtins
import inspect
import json
import keyword
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from playgrad.data import picture
from playgrad.data.input_description import InputDescription
from playgrad.dtypes import dtype
from playgrad.graph.tensor import Node, Tensor
from playgrad.inspection.pictures import image_size
from playgrad.interchange.script import helpers
from playgrad.interchange.script.expressions import EXPRESSIONS
from playgrad.io.npz import dump
from playgrad.networks.inference import InferenceGraph, refusal

Array = np.ndarray[Any, Any]

HELPERS: dict[str, Callable[..., Any]] = {
    name: function
    for name, function in vars(helpers).items()
    if inspect.isfunction(function) and function.__module__ == helpers.__name__
}
_RESERVED = {
    *keyword.kwlist, *dir(builtins), *HELPERS,
    "np", "math", "base64", "io", "sys", "WEIGHTS", "predict",
    "prepare", "fitted", "areas", "Array", "GREY",
}  # fmt: skip
_LARGEST = 8
"""Constants of more elements are stored with the weights."""

_HEAD = '''"""{title}, a trained network: predicts with NumPy alone.

    python {file} inputs.npy outputs.npy

or, from another program: ``from {module} import predict``.
"""

import base64
import io
import math
import sys

import numpy as np

'''
_PREPARE = '''

def prepare(pixels):
    """Return the input (1, ...) for a picture: bytes (height, width, 1 or 3), as it is to be seen.

    Turn it as its EXIF orientation says, and show it on white where it is transparent, before.
    """
    low, high = np.array({low}), np.array({high})
    values = low + fitted(pixels, *{size}) / 255 * (high - low)
    return {rounding}(values).reshape((1, *{shape}))

'''
_MAIN = """

if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python " + sys.argv[0] + " inputs.npy outputs.npy")
    results = predict(np.load(sys.argv[1]))
    np.save(sys.argv[2], results[0] if isinstance(results, tuple) else results)
"""


def script_text(network: InferenceGraph, file: str = "model.py") -> str:
    """Return the script whose ``predict(inputs)`` computes a prediction; it has the weights inside.

    Raises:
        ExportError: an operation cannot be written with NumPy; the message names it and its layer.
    """
    inputs, outputs = network.inputs, network.outputs
    writer = _Writer()
    parameters = [writer.name(tensor) for tensor in inputs]
    for node in network.nodes:
        writer.add(node, network.values)
    results = ", ".join(writer.names[tensor] for tensor in outputs)
    shapes = ", ".join(_shape(tensor) for tensor in outputs)
    body = [
        f"def predict({', '.join(parameters)}):",
        f'    """Return {shapes} for {", ".join(map(_shape, inputs))}."""',
        *(
            f"    {name} = np.asarray({name}, {tensor.dtype!r})"
            for name, tensor in zip(parameters, inputs, strict=True)
        ),
        *writer.lines,
        f"    return {results}",
        "",
    ]
    names = {"title": network.name, "file": file, "module": file.removesuffix(".py")}
    head = _HEAD.format_map({key: _in_docstring(name) for key, name in names.items()})
    described = [] if network.input is None else _input(network.input, inputs[0].dtype)
    sources = _sources(writer.called)
    parts = [head, *described, *sources, *_weights(writer.stored), "\n".join(body), _MAIN]
    return "".join(parts)


class _Writer:
    """The body of the function, line by line."""

    def __init__(self) -> None:
        self.names: dict[Tensor, str] = {}
        self.lines: list[str] = []
        self.called: set[str] = set()
        self.stored: dict[str, Array] = {}
        self._taken = set(_RESERVED)

    def name(self, tensor: Tensor) -> str:
        """Give the tensor a name that Python accepts."""
        base = re.sub(r"\W", "_", tensor.node.name)
        base = "".join(char if f"_{char}".isidentifier() else "_" for char in base)  # not for "²"
        base = base if base.isidentifier() else f"_{base}"
        name, number = base, 1
        while name in self._taken:
            name, number = f"{base}_{number}", number + 1
        self._taken.add(name)
        self.names[tensor] = name
        return name

    def add(self, node: Node, values: Mapping[Tensor, Array]) -> None:
        """Append the line of an operation."""
        kind = node.op.name
        if kind in ("variable", "constant"):
            array = node.attrs["value"] if kind == "constant" else values[node.output]
            self.names[node.output] = self._value(node, np.asarray(array))
            return
        expression = self._expression(node)
        names = [self.name(tensor) for tensor in node.outputs]
        if kind == "max_pool2d":  # its second output is for the gradient
            names = names[:1]
        target = f"({names[0]},)" if kind == "unstack_rows" and len(names) == 1 else None
        self.lines.append(f"    {target or ', '.join(names)} = {expression}")

    def _value(self, node: Node, array: Array) -> str:
        if node.op.name == "constant" and array.size <= _LARGEST and np.isfinite(array).all():
            return f"np.asarray({array.tolist()!r}, {array.dtype.name!r})"
        self.stored[node.name] = array
        return f"WEIGHTS[{node.name!r}]"

    def _expression(self, node: Node) -> str:
        kind, inputs = node.op.name, [self.names[tensor] for tensor in node.inputs]
        if kind in ("slice", "strided_slice"):
            return f"{inputs[0]}{_subscript(node)}"
        if kind == "matmul" and not (node.attrs["transpose_a"] or node.attrs["transpose_b"]):
            return f"{inputs[0]} @ {inputs[1]}"
        if kind in EXPRESSIONS:
            attrs = {name: _literal(value) for name, value in node.attrs.items()}
            attrs |= {"inputs": ", ".join(inputs), "out_dtype": repr(node.outputs[0].dtype)}
            return EXPRESSIONS[kind].format(*inputs, **{"axis": 0, **attrs})
        if kind not in HELPERS:
            raise refusal(node, "the NumPy script has no equivalent.")
        self.called.add(kind)
        attrs_text = [f"{name}={_literal(value)}" for name, value in node.attrs.items()]
        return f"{kind}({', '.join([*inputs, *attrs_text])})"


def _input(described: InputDescription, kind: str) -> list[str]:
    """Return the function that turns pictures into inputs."""
    shape, low, high = described.shape, list(described.low), list(described.high)
    height, width, channels = image_size(shape) or (*shape, 1, 1, 1)[:3]
    if (len(shape) == 1 and image_size(shape) is None) or channels not in (1, 3):
        return []  # how many rows the pixels have is not known
    rounding = "" if dtype(kind).floating else "np.round"
    return [
        f"Array = np.ndarray\nGREY = {picture.GREY}\n",
        *(f"\n\n{inspect.getsource(each)}" for each in (picture.fitted, picture.areas)),
        _PREPARE.format(
            size=(height, width, channels), shape=shape, low=low, high=high, rounding=rounding
        ),
    ]


def _in_docstring(text: str) -> str:
    """Escape text that would end the docstring: names may come from an untrusted file."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _literal(value: Any) -> str:
    """Return the Python text of an attribute, lists as tuples."""
    if isinstance(value, float) and not math.isfinite(value):
        return "np.nan" if math.isnan(value) else ("np.inf" if value > 0 else "-np.inf")
    return repr(_as_tuple(value))


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, (list, tuple)) else value


def _subscript(node: Node) -> str:
    if node.op.name == "strided_slice":
        slices = [slice(*each) for each in node.attrs["slices"]]
    else:
        sides = zip(node.attrs["begin"], node.attrs["size"], strict=True)
        slices = [slice(at or None, None if n < 0 else at + n) for at, n in sides]
    texts = [
        ":".join("" if part is None else str(part) for part in (each.start, each.stop))
        + (f":{each.step}" if each.step not in (None, 1) else "")
        for each in slices
    ]
    return f"[{', '.join(texts) or '...'}]"


def _shape(tensor: Tensor) -> str:
    sizes = ["batch" if n is None else str(n) for n in tensor.shape]
    return f"{tensor.dtype} ({', '.join(sizes)})"


def _sources(called: set[str]) -> list[str]:
    """Return the sources of the helpers and of their callees, in the order of their file."""
    used: set[str] = set()
    pending = list(called)
    while pending:
        name = pending.pop()
        if name not in used:
            used.add(name)
            pending.extend(HELPERS.keys() & set(HELPERS[name].__code__.co_names))
    return [f"\n{inspect.getsource(HELPERS[name])}\n" for name in HELPERS if name in used]


def _weights(stored: Mapping[str, Array]) -> list[str]:
    content = dump({f"w{i}": array for i, array in enumerate(stored.values())})
    lines = base64.encodebytes(content).decode()
    names = repr(list(stored))
    return [
        f'\n_DATA = """\n{lines}"""\n',
        "_ARRAYS = np.load(io.BytesIO(base64.b64decode(_DATA)))\n",
        f'WEIGHTS = {{name: _ARRAYS[f"w{{i}}"] for i, name in enumerate({names})}}\n\n\n',
    ]
