"""A function of tensors as a layer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Mapping
from typing import Any

from playgrad import ops
from playgrad.errors import GraphError, ShapeError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer import Layer
from playgrad.nn.masks import mask_of, set_mask
from playgrad.ops.arrays.shape import identity
from playgrad.ops.state import is_variable


class Lambda(Layer):
    """A function of tensors, without variables, as a layer.

    The function gets the input, or a list of several, and returns a tensor. It is called whenever
    the layer is, also when a model builds its training step. If it has parameters ``mask`` and
    ``training``, it gets the mask of the input (or None; a list for several inputs) and whether the
    call is part of a training step.

    A configuration can hold an operation of ``pg``, such as ``pg.square``, by its name. A model
    with another function is saved by its weights only.

    Args:
        function: a function, or the name of an operation.
        output_shape: the shape of a result without the batch; checked if it is not None.
        mask: a function of (inputs, mask) that returns the mask of the result; None for no mask.
        arguments: further arguments of the function by name.

    Raises:
        GraphError: the function is not one, returns something else than a tensor, or creates
            variables.
        ShapeError: the result does not have the shape ``output_shape``.
    """

    kind = "lambda"
    takes_floats = False

    def __init__(
        self,
        function: Callable[..., Any] | str,
        output_shape: Any = None,
        mask: Callable[[Any, Any], Tensor] | None = None,
        arguments: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        operation = getattr(ops, function, None) if isinstance(function, str) else function
        for what, value in (("function", operation), ("mask", mask)):
            if not callable(value) and not (what == "mask" and value is None):
                raise GraphError(
                    f"{what} of a Lambda layer must be a function, got "
                    f"{(function if what == 'function' else mask)!r}.",
                    source=self.source,
                )
        public = getattr(operation, "__name__", "")
        self.function = public if getattr(ops, public, None) is operation else function
        self._function: Callable[..., Any] = operation  # type: ignore[assignment]
        self._result_shape = None if output_shape is None else tuple(output_shape)
        self.mask = mask
        self.uses_mask = mask is not None  # type: ignore[misc]
        self.arguments = dict(arguments or {})

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        graph = inputs[0].graph
        masks = [mask_of(x) for x in inputs]
        argument, mask = (inputs[0], masks[0]) if len(inputs) == 1 else (list(inputs), masks)
        named: dict[str, Any] = dict(self.arguments)
        parameters = _parameters(self._function)
        offered = {"mask": mask, "training": training}
        named |= {name: value for name, value in offered.items() if name in parameters}
        before = len(graph.nodes)
        result = self._function(argument, **named)
        if not isinstance(result, Tensor):
            raise GraphError(
                f"the function of layer '{self.name}' returns {type(result).__name__}, not a "
                "tensor.",
                hint="Use operations of pg, such as pg.square(x), in place of NumPy's.",
            )
        if any(is_variable(node) for node in graph.nodes[before:]):
            raise GraphError(
                f"the function of layer '{self.name}' creates a variable, which would be another "
                "one in each call.",
                hint="Write a layer that creates it in build().",
            )
        self._check_shape(result)
        if self.mask is not None:
            result = identity(result)  # it may be the input, which keeps its own mask
            set_mask(result, self.mask(argument, mask))
        return result

    def _check_shape(self, result: Tensor) -> None:
        expected, actual = self._result_shape, result.shape[1:]
        if expected is not None and (
            len(expected) != len(actual)
            or any(None not in (a, b) and a != b for a, b in zip(expected, actual, strict=True))
        ):
            raise ShapeError(
                f"layer '{self.name}' was given the output_shape {shape_text(expected)}, but its "
                f"function returns samples of shape {shape_text(actual)}."
            )

    def _arguments(self) -> dict[str, Any]:
        # Not the attribute `output_shape`, which is the shape of the last result.
        return {**super()._arguments(), "output_shape": self._result_shape}


def _parameters(function: Callable[..., Any]) -> Container[str]:
    """Return the names of the parameters of ``function``; none if it is written in C."""
    try:
        return inspect.signature(function).parameters
    except ValueError:
        return ()
