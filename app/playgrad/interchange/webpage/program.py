"""A prediction as plain data, which the page runs in JavaScript and on WebGPU."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.compiler.compile import placeable, run_passes
from playgrad.compiler.memory import aligned
from playgrad.compiler.place import Policy
from playgrad.compiler.plan import PlanBuilder
from playgrad.compiler.program import Program
from playgrad.compiler.steps import Place
from playgrad.devices.kinds import FIRST_GPU
from playgrad.devices.target import Limits, Target
from playgrad.dtypes import to_device_bytes
from playgrad.errors import OutOfMemoryError, UnsupportedOpError
from playgrad.graph.tensor import Node, Tensor
from playgrad.interchange.inference import InferenceGraph, refusal
from playgrad.ops.expression.expr import Call, Cast, Const, Expr, Leaf, argument_dtype
from playgrad.ops.expression.functions import FUNCTIONS

Array = np.ndarray[Any, Any]
Shapes = Mapping[str, tuple[int, ...]]
"""The shape of each input, by its name."""

STRUCTURED = frozenset({
    "argmax", "argmin", "argsort", "avg_pool2d", "broadcast_to", "concat", "conv2d",
    "conv2d_input_gradient", "cumsum", "dot_product_attention", "expand_dims", "fill", "gather",
    "gru_cell", "layer_normalization", "log_softmax", "lstm_cell", "matmul", "max_pool2d",
    "merge_axes", "one_hot", "pad", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod",
    "reduce_sum", "reshape", "resize", "roll", "scatter_add", "slice", "softmax", "squeeze",
    "stack_rows", "strided_slice", "take_along_axis", "transpose", "unstack_rows",
})  # fmt: skip
"""The operations of static/standalone/operations/, which remain once all shapes are known."""

WEIGHTS = "weights"
_DTYPES = {"float32", "int32", "uint32", "uint8", "bool"}
"""Those of weights and constants; results may also be float64."""


@dataclass
class PageProgram:
    """A prediction for inputs of fixed shapes.

    Attributes:
        data: for ``interpreter.js``: tensors, steps, inputs, outputs, places of stored tensors.
        weights: the bytes of variables and constants, as in a GPU's buffer.
        plan: the Plan of the same prediction (``compiler/plan.py``), whose one external buffer has
            ``weights``; None if WebGPU cannot compute it.
    """

    data: dict[str, Any]
    weights: bytes
    plan: dict[str, Any] | None

    @property
    def content(self) -> dict[str, Any]:
        """Return the data that the page stores as JSON."""
        return {"program": self.data, "plan": self.plan}


def page_program(network: InferenceGraph, shapes: Shapes) -> PageProgram:
    """Return the prediction of a network as plain data.

    Raises:
        ExportError: an operation has no equivalent in JavaScript; it is named, with its layer.
        ShapeError: the shapes do not fit.
    """
    feeds = {tensor.node.name: tensor for tensor in network.inputs}
    program = Program(network.inputs[0].graph, list(network.outputs), [], feeds)
    writer = _Recorder({tensor.node.name: array for tensor, array in network.values.items()})
    reduced = placeable(program, shapes)
    # An input of which only the shape counts is not among the feeds any more.
    inputs = [writer.number(reduced.feeds.get(t.node.name, t)) for t in network.inputs]
    for node in reduced.order():
        writer.add(node)
    data = {
        "tensors": writer.tensors,
        "steps": writer.steps,
        "inputs": inputs,
        "outputs": [writer.numbers[tensor] for tensor in reduced.fetches],
        "stored": writer.stored,
    }
    return PageProgram(data, bytes(writer.weights), _plan(program, shapes, writer.places))


def _plan(program: Program, shapes: Shapes, places: Mapping[str, Place]) -> dict[str, Any] | None:
    """Return the Plan for any GPU, with the limits that WebGPU guarantees, and the names of its
    feeds and fetches in the order of inputs and outputs; a feed that it does not read is None.
    """
    target = Target(is_software=False, limits=Limits())
    try:
        compiled = run_passes(program, shapes, Policy(FIRST_GPU, [FIRST_GPU]))
        segments = compiled.segments[FIRST_GPU]
        # Merged kernels would be faster, but are the larger part of a page with many layers.
        builder = PlanBuilder(
            segments, compiled.program.fetches, target, places, merge_dispatches=False
        )
        plan = builder.build()
    except (OutOfMemoryError, UnsupportedOpError):
        return None
    names = [tensor.name for tensor in compiled.program.fetches]
    if not plan["fetches"].keys() >= set(names):  # an output that nothing computes
        return None
    feeds = [name if name in plan["feeds"] else None for name in program.feeds]
    return {**plan, "inputs": feeds, "outputs": names}


class _Recorder:
    """Numbers the tensors of a program, and stores its weights."""

    def __init__(self, values: Mapping[str, Array]) -> None:
        self.values = values
        self.numbers: dict[Tensor, int] = {}
        self.tensors: list[dict[str, Any]] = []
        self.steps: list[dict[str, Any]] = []
        self.stored: list[dict[str, int]] = []
        self.places: dict[str, Place] = {}
        self.weights = bytearray()

    def number(self, tensor: Tensor) -> int:
        """Give a tensor its number."""
        self.numbers[tensor] = len(self.tensors)
        spec = tensor.spec
        self.tensors.append({"dtype": spec.dtype, "shape": list(spec.shape)})
        return self.numbers[tensor]

    def add(self, node: Node) -> None:
        """Append an operation, or store the value of a variable or constant."""
        kind = node.op.name
        if any(tensor.dtype == "float16" for tensor in (*node.inputs, *node.outputs)):
            raise refusal(node, "a web page has no float16; cast to float32.")
        if kind == "placeholder":
            return
        outputs = [self.number(tensor) for tensor in node.outputs]
        if kind in ("variable", "constant"):
            self._store(node, self.values[node.name] if kind == "variable" else node.attrs["value"])
            return
        step = {"op": kind, "inputs": [self.numbers[t] for t in node.inputs], "outputs": outputs}
        if node.op.elementwise is not None:
            names = [tensor.dtype for tensor in node.inputs]
            exprs = node.op.elementwise.build(node.attrs)
            step["expressions"] = [expression(e, names) for e in exprs]
        elif kind in STRUCTURED:
            step["attrs"] = plain(node.attrs)
        else:
            raise refusal(node, "a stand-alone page has no equivalent.")
        self.steps.append(step)

    def _store(self, node: Node, value: Any) -> None:
        array = np.asarray(value)
        if array.dtype.name not in _DTYPES:
            raise refusal(node, f"a stand-alone page cannot store {array.dtype} values.")
        offset = aligned(len(self.weights))
        self.weights += bytes(offset - len(self.weights)) + to_device_bytes(array)
        self.places[node.name] = Place(WEIGHTS, offset)
        self.stored.append({"tensor": self.numbers[node.output], "offset": offset})


def expression(expr: Expr, leaves: Sequence[str], expected: str | None = None) -> list[Any]:
    """Return an expression as nested lists, with the dtype of the arguments of each function."""
    if isinstance(expr, Leaf):
        return ["leaf", expr.index]
    if isinstance(expr, Const):
        return ["const", plain(expr.value)]
    if isinstance(expr, Cast):
        return ["cast", expr.to, expression(expr.arg, leaves)]
    assert isinstance(expr, Call)
    function = FUNCTIONS[expr.function]
    decisive = expr.args[1:] if function.result == "select" else expr.args
    common = argument_dtype(decisive, leaves, None if function.result == "bool" else expected)
    return [expr.function, common, *(expression(arg, leaves, common) for arg in expr.args)]


def plain(value: Any) -> Any:
    """Return an attribute as JSON has it: infinity and NaN as their names in JavaScript."""
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value
