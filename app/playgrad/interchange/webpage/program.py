"""A prediction as plain data, which the page runs in JavaScript and on WebGPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from playgrad.compiler.compile import placeable, run_passes
from playgrad.compiler.memory import aligned
from playgrad.compiler.place import Policy
from playgrad.compiler.plan import PlanBuilder
from playgrad.compiler.program import Program
from playgrad.compiler.segments import Segment
from playgrad.compiler.steps import Place
from playgrad.compiler.steps_data import steps_of
from playgrad.devices.kinds import FIRST_GPU, GPU
from playgrad.devices.target import Limits, Target
from playgrad.dtypes import to_device_bytes
from playgrad.errors import OutOfMemoryError, UnsupportedOpError
from playgrad.graph.tensor import Node
from playgrad.networks.inference import InferenceGraph, refusal
from playgrad.ops.state import is_variable

Array = np.ndarray[Any, Any]
Shapes = Mapping[str, tuple[int, ...]]
"""The shape of each input, by its name."""

STRUCTURED = frozenset({
    "argmax", "argmin", "argsort", "avg_pool2d", "broadcast_to", "concat", "conv2d",
    "conv2d_input_gradient", "cumsum", "dot_product_attention", "fill", "gather", "gather_sum",
    "gru_cell", "layer_normalization", "log_softmax", "lstm_cell", "matmul", "max_pool2d",
    "one_hot", "pad", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum",
    "resize", "roll", "scatter_add", "segment_max", "segment_min", "slice", "softmax", "stack_rows",
    "strided_slice", "take_along_axis", "transpose", "unstack_rows", "weighted_gather_sum",
})  # fmt: skip
"""The operations of static/standalone/operations/, which remain once all shapes are known."""

WEIGHTS = "weights"
_PAGE = replace(GPU, name="page", updates_in_place=False)
"""Values are as in a GPU's buffer, since both read the same weights."""
_DTYPES = {"float32", "int32", "uint32", "uint8", "int8", "bool"}
"""The dtypes of weights and constants; results may also be float64."""


@dataclass
class PageProgram:
    """A prediction for inputs of fixed shapes.

    Attributes:
        data: for ``interpreter.js``: the Steps (compiler/steps_data.py), and their slots of inputs,
            None where only the shape counts, and of outputs.
        weights: the bytes of the variables, as in a GPU's buffer.
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
    reduced = placeable(program, shapes)
    order = reduced.order()
    for node in order:
        _check(node)
    variables = {node.name for node in order if is_variable(node)}
    values = {tensor.node.name: array for tensor, array in network.values.items()}
    places, weights = _stored({name: values[name] for name in values if name in variables})
    steps = steps_of([Segment("page", 0, order)], reduced.fetches, places, _PAGE)
    data = {
        **steps,
        "inputs": [steps["feeds"].get(tensor.node.name) for tensor in network.inputs],
        "outputs": [steps["fetches"][tensor.name] for tensor in reduced.fetches],
    }
    return PageProgram(data, weights, _plan(program, shapes, places))


def _check(node: Node) -> None:
    """Check that JavaScript can compute a node, or store its value."""
    dtypes = {tensor.dtype for tensor in (*node.inputs, *node.outputs)}
    if "float16" in dtypes:
        raise refusal(node, "a web page has no float16; cast to float32.")
    if node.op.name in ("variable", "constant"):
        if not dtypes <= _DTYPES:
            raise refusal(node, f"a stand-alone page cannot store {node.output.dtype} values.")
    elif not (node.op.name in ("placeholder", *STRUCTURED) or node.op.alias or node.op.elementwise):
        raise refusal(node, "a stand-alone page has no equivalent.")


def _stored(values: Mapping[str, Array]) -> tuple[dict[str, Place], bytes]:
    """Return the places of variables, and the bytes of their buffer."""
    places: dict[str, Place] = {}
    content = bytearray()
    for name, array in values.items():
        places[name] = Place(WEIGHTS, len(content))
        content += to_device_bytes(np.asarray(array))
        content += bytes(aligned(len(content)) - len(content))
    return places, bytes(content)


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
