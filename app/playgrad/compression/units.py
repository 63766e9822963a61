"""The parts of a network that integer operations can replace, and the tensors that need a range.

A unit is a call of a layer in a canonical structure, with the limits of a following relu. Units
with weights compute in integers whenever they can. The others do so between such units, where their
inputs or results are integers anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.compression.layer_kinds import (
    AVERAGES,
    CLAMPS,
    LINEAR,
    MAXIMA,
    RESHAPES,
    TRAINING_ONLY,
    has_masks,
)
from playgrad.graph.tensor import Node, Tensor
from playgrad.networks.structure import Structure
from playgrad.nn.activation_layers import ReLU, Softmax
from playgrad.nn.basic import Activation, Rescaling
from playgrad.nn.embedding import Embedding
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import LayerCall
from playgrad.nn.merge import Add, Concatenate
from playgrad.ops.reductions.softmax import softmax
from playgrad.training.layer_costs import nodes_of

UNLIMITED = (-np.inf, np.inf)


@dataclass(eq=False)
class Unit:
    """A part of a network that an integer operation can replace.

    Attributes:
        kind: "linear", "embedding", "add", "concatenate", "max_pool", "average_pool", "reshape",
            "scale" (inputs of the network are multiplied before they become integers), "table",
            "softmax" or "pass".
        call: of its layer.
        limits: of its results, where they are less than those of the integers.
        output: its result, after the limits.
        is_integer: whether it computes in integers.
    """

    kind: str
    call: LayerCall
    limits: tuple[float, float]
    output: Tensor
    is_integer: bool = False

    @property
    def has_weights(self) -> bool:
        return self.kind in ("linear", "embedding")

    @property
    def keeps_parameters(self) -> bool:
        """Whether its results have the scale and the zero point of its input."""
        return self.kind in ("max_pool", "reshape", "pass")

    @property
    def has_own_range(self) -> bool:
        """Whether its results have a range of their own, rather than that of its inputs, of its
        weights, or always the same."""
        return self.kind in ("linear", "add", "concatenate", "average_pool", "table")


class Units:
    """The units of a canonical structure.

    Attributes:
        by_output: by the tensors that they compute.
        by_call: by the calls of their layers.
        counts: how often each layer is called.
        clamps: the units that have taken over the limits of other calls.
        reasons: for calls that are no units, the reasons.
    """

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self.users: dict[Tensor, list[Any]] = {}
        self.counts: dict[Layer, int] = {}
        for item in structure.items:
            if isinstance(item, LayerCall):
                self.counts[item.layer] = self.counts.get(item.layer, 0) + 1
            for tensor in item.inputs:
                self.users.setdefault(tensor, []).append(item)
        for tensor in structure.outputs:
            self.users.setdefault(tensor, []).append(None)
        self.by_output: dict[Tensor, Unit] = {}
        self.by_call: dict[LayerCall, Unit] = {}
        self.clamps: dict[LayerCall, Unit] = {}
        self.reasons: dict[LayerCall, str] = {}
        for item in structure.items:
            if isinstance(item, LayerCall) and item not in self.clamps:
                kind, reason = _kind(item, self.counts[item.layer])
                if kind == "scale" and not self._is_first(item):
                    kind = "table"
                if kind:
                    self._add(kind, item)
                else:
                    self.reasons[item] = reason
        self._choose()

    def _is_first(self, call: LayerCall) -> bool:
        """Return whether ``call`` alone uses an input of the network."""
        entry = call.inputs[0]
        return entry in set(self.structure.inputs) and len(self.users[entry]) == 1

    def _add(self, kind: str, call: LayerCall) -> None:
        limits, output = UNLIMITED, call.outputs[0]
        if kind == "linear":
            layer: Any = call.layer
            limits = CLAMPS[layer._activate]
        if kind in ("linear", "add") and limits == UNLIMITED:
            users = self.users.get(output, [])
            user = users[0] if len(users) == 1 else None
            clamp = limits_of(user) if isinstance(user, LayerCall) else None
            if user is not None and clamp is not None and not has_masks(user):
                limits, output = clamp, user.outputs[0]
        unit = Unit(kind, call, limits, output)
        if output is not call.outputs[0]:
            self.clamps[self.users[call.outputs[0]][0]] = unit
        self.by_output[output] = self.by_call[call] = unit

    def _choose(self) -> None:
        """Choose the units that compute in integers."""
        units = list(self.by_call.values())
        for unit in units:
            made = [self.by_output.get(tensor) for tensor in unit.call.inputs]
            unit.is_integer = unit.has_weights or any(each and each.is_integer for each in made)
        for unit in reversed(units):
            users = self.users.get(unit.output, [])
            unit.is_integer = unit.is_integer or (
                bool(users) and all(self._takes_integers(user) for user in users)
            )

    def _takes_integers(self, user: Any) -> bool:
        unit = self.by_call.get(user)
        return unit is not None and unit.is_integer and unit.kind != "embedding"

    @property
    def integer_units(self) -> list[Unit]:
        return [unit for unit in self.by_call.values() if unit.is_integer]

    def integer_inputs(self, unit: Unit) -> tuple[Tensor, ...]:
        """Return the inputs of an integer unit that are integers with a scale."""
        return () if unit.kind == "embedding" else unit.call.inputs

    def points(self) -> list[Tensor]:
        """Return the tensors that need a range, in order."""
        found: dict[Tensor, None] = {}
        for unit in self.integer_units:
            for tensor in self.integer_inputs(unit):
                made = self.by_output.get(tensor)
                if made is None or not made.is_integer:
                    found[tensor] = None
            if unit.has_own_range:
                found[unit.output] = None
        return list(found)


def limits_of(call: LayerCall) -> tuple[float, float] | None:
    """Return the limits that are all that an activation layer does; None for other layers."""
    layer = call.layer
    if type(layer) is Activation:
        return CLAMPS.get(layer._activate)
    if type(layer) is ReLU and not layer.threshold and not layer.negative_slope:
        return 0.0, np.inf if layer.max_value is None else float(layer.max_value)
    return None


def _kind(call: LayerCall, calls: int) -> tuple[str, str]:
    """Return the kind of unit that ``call`` is, or "" and the reason why it is none."""
    layer = call.layer
    shapes = [tensor.shape[1:] for tensor in (*call.inputs, *call.outputs)]
    if calls > 1 and layer.variables:
        return "", f"is called {calls} times"
    if has_masks(call):
        return "", "its sequences have masks"
    if getattr(layer, "data_format", None) == "channels_first":
        return "", "has its channels first"
    if any(None in shape for shape in shapes):
        return "", "takes inputs of any size"
    if type(layer) is Embedding:
        return "embedding", ""
    if type(layer) in LINEAR:
        if CLAMPS.get(layer._activate) is None:
            return "", "has an activation that is not split off"
        return "linear", ""
    plain = {Add: "add", Concatenate: "concatenate"}
    if type(layer) in plain:
        same = len(set(shapes)) == 1 and len(call.inputs) == 2
        return (
            (plain[type(layer)], "") if same or type(layer) is Concatenate else ("", "broadcasts")
        )
    for kind, classes in (
        ("max_pool", MAXIMA),
        ("average_pool", AVERAGES),
        ("reshape", RESHAPES),
        ("pass", TRAINING_ONLY),
    ):
        if isinstance(layer, classes):
            return kind, ""
    if type(layer) is Rescaling and not layer.offset and layer.scale > 0:
        return "scale", ""
    if (type(layer) is Softmax and layer.axis in (-1, len(shapes[0]))) or (
        type(layer) is Activation and layer._activate is softmax
    ):
        return "softmax", ""
    if _is_elementwise(call):
        return "table", ""
    return "", "has no integer form"


def _is_elementwise(call: LayerCall) -> bool:
    """Return whether each result of ``call`` is a function of one input and of nothing else."""
    if len(call.inputs) != 1 or len(call.outputs) != 1 or call.layer.variables:
        return False
    if call.inputs[0].shape != call.outputs[0].shape:
        return False
    return all(_is_function(node) for node in nodes_of(call)) and _depends(call)


def _depends(call: LayerCall) -> bool:
    return any(call.inputs[0] in set(node.inputs) for node in nodes_of(call))


def _is_function(node: Node) -> bool:
    if node.op.name == "constant":
        return node.outputs[0].spec.size == 1
    return node.op.elementwise is not None or node.op.name == "identity"
