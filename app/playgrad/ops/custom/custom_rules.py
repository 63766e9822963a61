"""The shape rule, reference, gradient and lowering of an operation of the user's program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playgrad.dtypes import dtype
from playgrad.errors import DTypeError, GraphError, PlaygradError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, Gradient, Infer, OpDef, Sample, register
from playgrad.graph.spec import Shape, TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.core.build import add_node, broadcast_shapes
from playgrad.ops.core.kernel import KernelRequest, Lowering
from playgrad.ops.core.samples import floats
from playgrad.ops.custom.custom_kernel import lower_custom
from playgrad.ops.custom.user_function import (
    Bound,
    call,
    checked_arrays,
    checked_gradients,
    checked_shape,
    source_of,
)
from playgrad.ops.elementwise.elementwise_op import sum_to_like

_FLOATING = ("float32", "float64")


def _refuse(node: Node, grads: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    raise GraphError(
        f"the gradient of {node.attrs['op']!r} cannot be differentiated again.",
        op=node.name,
        source=node.source,
        hint="It is registered with second_derivative=False.",
    )


_ONCE = register(
    OpDef(
        name="once_differentiable",
        infer=lambda inputs, attrs: [inputs[0]],
        reference=lambda inputs, attrs: [inputs[0]],
        gradient=_refuse,
        alias=True,
        samples=(Sample((floats(3, 4),), {"op": "name"}, differentiable=()),),
    )
)


@dataclass(frozen=True)
class CustomRules:
    """The arguments of ``register_op`` as rules of an `OpDef`.

    Attributes:
        inputs: the names of the inputs.
    """

    name: str
    inputs: Sequence[str]
    shape: Callable[..., Any] | None
    gradient: Callable[..., Any] | None
    dtypes: Mapping[str, str | Sequence[str]]
    result_dtype: str | Sequence[str] | None

    def check(self, source: tuple[str, int] | None) -> None:
        """Check that the names of ``dtypes`` are inputs, and the dtypes exist.

        Raises:
            GraphError, DTypeError: they are not, or do not.
        """
        for key in self.dtypes:
            if key not in self.inputs:
                raise GraphError(
                    f"{self.name!r} has no input {key!r}.",
                    source=source,
                    hint=f"Its inputs are {', '.join(self.inputs)}.",
                )
            for kind in _several(self.dtypes[key]):
                dtype(kind)
        for kind in _several(self.result_dtype or ()):
            dtype(kind)

    def structured(self, reference: Callable[..., Any], wgsl: str | None) -> OpDef:
        """Return the op with this reference and kernel, without its gradient."""

        def evaluate(arrays: Sequence[Array], attrs: Attrs) -> list[Array]:
            specs = self._infer([TensorSpec(a.shape, a.dtype.name) for a in arrays], attrs)
            what = f"the reference of {self.name!r}"
            shapes = ", ".join(shape_text(array.shape) for array in arrays)
            hint = f"The inputs have the shapes {shapes}."
            run = call(what, GraphError, hint, Bound(reference, attrs), *arrays)
            return checked_arrays(what, run, specs, reference)

        def lower(request: KernelRequest) -> Lowering:
            assert wgsl is not None
            return lower_custom(request, self.name, wgsl, self.inputs)

        return OpDef(
            name=self.name,
            infer=self.checking_dtypes(self._infer),
            reference=evaluate,
            lower=lower if wgsl is not None else None,
        )

    def checking_dtypes(self, infer: Infer) -> Infer:
        """Return ``infer`` with a check of the dtypes of the inputs before it."""

        def checked(specs: Sequence[TensorSpec], attrs: Attrs) -> Sequence[TensorSpec]:
            for key, spec in zip(self.inputs, specs, strict=True):
                accepted = _several(self.dtypes.get(key, _FLOATING))
                if spec.dtype not in accepted:
                    raise DTypeError(
                        f"the input {key!r} of {self.name!r} must be {' or '.join(accepted)}, not "
                        f"{spec.dtype}.",
                        hint="Convert it with cast(), or list the type in `dtypes`.",
                    )
            return infer(specs, attrs)

        return checked

    def _infer(self, specs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
        shapes = self._shapes([spec.shape for spec in specs], attrs)
        if self.result_dtype is None:
            names = [spec.dtype for spec in specs]
            kinds = [next((n for n in names if dtype(n).floating), names[0])] * len(shapes)
        else:
            kinds = [dtype(kind).name for kind in _several(self.result_dtype)]
            kinds = kinds * len(shapes) if len(kinds) == 1 else kinds
        if len(kinds) != len(shapes):
            raise ShapeError(
                f"{self.name!r} has {len(kinds)} result dtypes, but {len(shapes)} shapes."
            )
        return [TensorSpec(shape, kind) for shape, kind in zip(shapes, kinds, strict=True)]

    def _shapes(self, shapes: Sequence[Shape], attrs: Attrs) -> list[Shape]:
        if self.shape is None:
            return [broadcast_shapes(*shapes)]
        what = f"the shape function of {self.name!r}"
        listed = " and ".join(map(shape_text, shapes))
        hint = f"The inputs have the shapes {listed}; unknown dimensions are None."
        value = call(what, ShapeError, hint, Bound(self.shape, attrs), *shapes)
        several = isinstance(value, list) and all(isinstance(v, (list, tuple)) for v in value)
        try:
            return [checked_shape(what, one) for one in (value if several and value else [value])]
        except PlaygradError as error:
            error.source = source_of(self.shape)
            raise

    def gradient_rule(self, second_derivative: bool) -> Gradient:
        """Return the gradient of the op, whose result is checked and summed to the inputs."""
        function = self.gradient
        assert function is not None

        def rule(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
            what = f"the gradient function of {self.name!r}"
            hint = "It gets the gradient of the result, the result, and the inputs."
            results, flowing = tuple(node.outputs), tuple(grads)
            first: Any = (
                flowing[0] if len(results) == 1 else tuple(map(_or_zeros, flowing, results))
            )
            second: Any = results[0] if len(results) == 1 else results
            bound = Bound(function, node.attrs)
            values = call(what, GraphError, hint, bound, first, second, *node.inputs)
            parts = checked_gradients(what, values, node.inputs, function)
            return [
                None if part is None else self._fitted(what, part, tensor, key, second_derivative)
                for part, tensor, key in zip(parts, node.inputs, self.inputs, strict=True)
            ]

        return rule

    def _fitted(
        self, what: str, grad: Tensor, tensor: Tensor, key: str, second_derivative: bool
    ) -> Tensor:
        """Return ``grad`` summed to the shape of the input ``tensor``, called ``key``."""
        assert self.gradient is not None
        if self.shape is None:
            grad = sum_to_like(grad, tensor)
        elif len(grad.shape) != len(tensor.shape) or any(
            None not in (a, b) and a != b for a, b in zip(grad.shape, tensor.shape, strict=True)
        ):
            raise ShapeError(
                f"{what} returned the shape {shape_text(grad.shape)} for the input {key!r} of "
                f"shape {shape_text(tensor.shape)}.",
                source=source_of(self.gradient),
                hint="A gradient has the shape of its input.",
            )
        if grad.dtype != tensor.dtype and dtype(tensor.dtype).floating:
            raise DTypeError(
                f"{what} returned {grad.dtype} values for the {tensor.dtype} input {key!r}.",
                source=source_of(self.gradient),
                hint="Convert them with cast().",
            )
        return grad if second_derivative else add_node(_ONCE, [grad], {"op": self.name}).output


def _or_zeros(grad: Tensor | None, result: Tensor) -> Tensor:
    return add_node("zeros_like", [result]).output if grad is None else grad


def _several(value: str | Sequence[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
