"""The part of a graph between a model's inputs and outputs, and replaying it on other inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playgrad.errors import GraphError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node, Tensor
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import LayerCall, notes_of

Step = LayerCall | Node
"""A layer call, or an operation that the user added without a layer."""


@dataclass(frozen=True)
class Structure:
    """Layer calls and operations from ``inputs`` to ``outputs``, each after those it needs."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    steps: tuple[Step, ...]

    @property
    def graph(self) -> Graph:
        return self.outputs[0].graph

    @property
    def layers(self) -> list[Layer]:
        """Each layer once, in the order of the first calls."""
        calls = (step for step in self.steps if isinstance(step, LayerCall))
        return list(dict.fromkeys(call.layer for call in calls))

    def replay(
        self, inputs: Sequence[Tensor], training: bool, devices: Sequence[str | None] = ()
    ) -> list[Tensor]:
        """The outputs for other ``inputs``, computed by new nodes with the same variables.

        Args:
            devices: where each of ``steps`` is done; empty for where the user wanted it.
        """
        new = dict(zip(self.inputs, inputs, strict=True))
        for step, device in zip(self.steps, devices or map(_device, self.steps), strict=True):
            arguments = [new.get(tensor, tensor) for tensor in step.inputs]
            if isinstance(step, LayerCall):
                with self.graph.device(device):
                    new[step.output] = step.layer(*arguments, training=training)
            else:
                copy = self.graph.copy(
                    step, arguments, control_inputs=step.control_inputs, device=device
                )
                new.update(zip(step.outputs, copy.outputs, strict=True))
        return [new.get(tensor, tensor) for tensor in self.outputs]


def _device(step: Step) -> str | None:
    return step.device


def find_structure(inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Structure:
    """The structure between ``inputs`` and ``outputs``.

    Operations that depend on no input (constants, variables) are shared, not replayed.

    Raises:
        GraphError: an output does not depend on any input, or depends on another placeholder.
    """
    calls = notes_of(outputs[0].graph).by_output
    steps: dict[Step, bool] = {}
    depends: dict[Tensor, bool] = dict.fromkeys(inputs, True)
    stack = [(tensor, False) for tensor in reversed(outputs)]
    while stack:
        tensor, entered = stack.pop()
        if tensor in depends:
            continue
        step: Step = calls.get(tensor) or tensor.node
        if not entered:
            if isinstance(step, Node) and step.op.name == "placeholder":
                raise GraphError(
                    f"the model's outputs depend on '{step.name}', which is not among its inputs.",
                    op=step.name,
                    source=step.source,
                )
            stack.append((tensor, True))
            stack.extend((below, False) for below in reversed(step.inputs))
            continue
        depends[tensor] = any(depends[below] for below in step.inputs)
        if depends[tensor]:
            steps[step] = True
    for output in outputs:
        if not depends[output]:
            raise GraphError(
                f"the output '{output.name}' does not depend on the model's inputs.",
                op=output.node.name,
                source=output.node.source,
            )
    return Structure(tuple(inputs), tuple(outputs), tuple(steps))
