"""A prediction as a WebAssembly module and as a Plan: what a page runs without and with WebGPU."""

from __future__ import annotations

import base64
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
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.networks.inference import InferenceGraph, refusal
from playgrad.ops.emitted import emitter_of
from playgrad.ops.state import is_variable
from playgrad.runtime.compile_steps import CompiledStep, compile_whole
from playgrad.runtime.step_arena import Region

Array = np.ndarray[Any, Any]
Shapes = Mapping[str, tuple[int, ...]]
"""The shape of each input, by its name."""

WEIGHTS = "weights"
_DTYPES = {"float32", "int32", "uint32", "uint8", "int8", "bool"}
"""The dtypes of weights and constants; results may also be float64."""


@dataclass
class PageProgram:
    """A prediction for inputs of fixed shapes.

    Attributes:
        data: for ``compiled-network.js``: the ``module`` and the ``constants`` (base64), the bytes
            of its ``scratch`` and its ``block`` (`playgrad.wasm.step.StepCode`); the ``weights``,
            the ``inputs`` and the ``held`` constants that its table points to, in this order; the
            ``outputs``; and the ``nodes`` that may refuse their inputs, by their numbers.
        weights: the bytes of the variables, as in a GPU's buffer.
        plan: the Plan of the same prediction (``compiler/plan.py``), whose one external buffer has
            ``weights``; None if WebGPU cannot compute it.
        looks_up: whether the Plan looks something up by numbers of the inputs, which it does not
            check.
    """

    data: dict[str, Any]
    weights: bytes
    plan: dict[str, Any] | None
    looks_up: bool

    @property
    def content(self) -> dict[str, Any]:
        """Return the data that the page stores as JSON."""
        return {"program": self.data, "plan": self.plan}


def page_program(network: InferenceGraph, shapes: Shapes) -> PageProgram:
    """Return the prediction of a network as plain data.

    Raises:
        ExportError: an operation cannot be compiled; it is named, with its layer.
        ShapeError: the shapes do not fit.
    """
    feeds = {tensor.node.name: tensor for tensor in network.inputs}
    program = Program(network.inputs[0].graph, list(network.outputs), [], feeds)
    reduced = placeable(program, shapes)
    order = reduced.order()
    for node in order:
        _check(node)
    values = {tensor.node.name: array for tensor, array in network.values.items()}
    variables = {node.name: values[node.name] for node in order if is_variable(node)}
    places, weights = _stored(variables)
    read = [reduced.feeds.get(tensor.node.name) for tensor in network.inputs]
    step = compile_whole(order, reduced.fetches, [tensor for tensor in read if tensor is not None])
    plan, looks_up = _plan(program, shapes, places)
    return PageProgram(_data(step, places, read, reduced.fetches), weights, plan, looks_up)


def _check(node: Node) -> None:
    """Check that a node can be compiled, or its value be stored."""
    dtypes = {tensor.dtype for tensor in (*node.inputs, *node.outputs)}
    if "float16" in dtypes:
        raise refusal(node, "a web page has no float16; cast to float32.")
    if node.op.name in ("variable", "constant"):
        if not dtypes <= _DTYPES:
            raise refusal(node, f"a stand-alone page cannot store {node.output.dtype} values.")
    elif "seed" in node.attrs:
        raise refusal(node, "a stand-alone page would draw the same random numbers each time.")
    elif not (node.op.name == "placeholder" or node.op.alias or emitter_of(node)):
        raise refusal(node, "a stand-alone page has no equivalent.")


def _data(
    step: CompiledStep,
    places: Mapping[str, Place],
    read: Sequence[Tensor | None],
    fetches: Sequence[Tensor],
) -> dict[str, Any]:
    """Return `PageProgram.data`.

    Args:
        read: the inputs, None for each of which only the shape counts.
    """
    arena, order = step.arena, step.order
    variables = {name: tensor.spec for tensor, name in order.variables.items()}
    return {
        "module": _text(step.module),
        "runs": step.count,
        "constants": _text(step.constants),
        "scratch": step.scratch,
        "block": arena.size,
        "weights": [[places[n].offset, *_spec(variables[n])] for n in arena.variables],
        "inputs": [None if tensor is None else _spec(tensor.spec) for tensor in read],
        "held": [_text(np.asarray(tensor.node.attrs["value"]).tobytes()) for tensor in arena.held],
        "outputs": [[*_place(step, tensor), *_spec(tensor.spec)] for tensor in fetches],
        "nodes": {
            number: node.name
            for number, node in enumerate(order.nodes)
            if order.emitters[node].may_fail
        },
    }


def _spec(spec: TensorSpec) -> list[Any]:
    return [list(spec.static_shape), spec.dtype]


def _place(step: CompiledStep, tensor: Tensor) -> tuple[str, int]:
    """Return where a result is: in which region, and the bytes before it or the array's number."""
    place = step.arena.places[step.order.root(tensor)]
    if place.region is Region.CONSTANT:
        return "constants", step.small[place.offset]
    return ("arrays" if place.region is Region.ARRAY else "block"), place.offset


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _stored(values: Mapping[str, Array]) -> tuple[dict[str, Place], bytes]:
    """Return the places of variables, and the bytes of their buffer."""
    places: dict[str, Place] = {}
    content = bytearray()
    for name, array in values.items():
        places[name] = Place(WEIGHTS, len(content))
        content += to_device_bytes(np.asarray(array))
        content += bytes(aligned(len(content)) - len(content))
    return places, bytes(content)


def _plan(
    program: Program, shapes: Shapes, places: Mapping[str, Place]
) -> tuple[dict[str, Any] | None, bool]:
    """Return the Plan for any GPU, with the limits that WebGPU guarantees, and the names of its
    feeds and fetches in the order of inputs and outputs, where a feed that it does not read is
    None; and whether it looks something up by numbers of the inputs."""
    target = Target(is_software=False, limits=Limits())
    try:
        compiled = run_passes(program, shapes, Policy(FIRST_GPU, [FIRST_GPU]))
        if compiled.segments.keys() != {FIRST_GPU}:  # some operations need the processor
            return None, False
        segments = compiled.segments[FIRST_GPU]
        # Merged kernels would be faster, but are the larger part of a page with many layers.
        builder = PlanBuilder(
            segments, compiled.program.fetches, target, places, merge_dispatches=False
        )
        plan = builder.build()
    except (OutOfMemoryError, UnsupportedOpError):
        return None, False
    names = [tensor.name for tensor in compiled.program.fetches]
    if not plan["fetches"].keys() >= set(names):  # an output that nothing computes
        return None, False
    feeds = [name if name in plan["feeds"] else None for name in program.feeds]
    return {**plan, "inputs": feeds, "outputs": names}, bool(compiled.program.checks)
