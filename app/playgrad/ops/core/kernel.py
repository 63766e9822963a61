"""The interface of lowerings: requests for kernels, and kernels as WGSL text with bindings.

A lowering is a pure function ``KernelRequest -> Lowering``. It sees shapes, attributes and the
limits of the target, but no buffers, devices or sessions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from playgrad.devices.target import Limits, Target
from playgrad.dtypes import dtype
from playgrad.errors import KernelError
from playgrad.graph.spec import TensorSpec
from playgrad.ops.core.loops import Loop
from playgrad.ops.expression import wgsl
from playgrad.ops.expression.expr import Expr, infer_dtype


@dataclass(frozen=True)
class Binding:
    """A buffer that a kernel knows as ``name``.

    Attributes:
        kind, index: input, output or scratch buffer number ``index`` of the node; or its alarm, a
            word that is 0 unless the kernel could not compute its results.
        element: the WGSL type of its elements.
        is_elementwise: each invocation reads only the element of this input that it is about to
            write, so that the output may overwrite the input.
        rewritten: a scratch buffer that this call writes, too, although an earlier one did.
        is_part: the call writes elements of this output that no other call of the node touches, so
            that their order does not matter.
    """

    name: str
    kind: Literal["input", "output", "scratch", "alarm"]
    index: int
    element: str
    is_elementwise: bool = False
    rewritten: bool = False
    is_part: bool = False


@dataclass(frozen=True)
class KernelCall:
    """One dispatch.

    Attributes:
        family, params: a description of what the code computes, from which another backend could
            do the same without WGSL.
        code: WGSL without the declarations of the bindings; the entry point is ``main``.
        workgroups: the number of workgroups in x, y and z.
        iterations: about how often an invocation runs its innermost loops.
        results: the number of results that an invocation keeps in registers.
        mergeable: whether it may be merged with other dispatches. False for kernels of the user's
            program, so that an error of the device's compiler is about one kernel.
        loops: the loops of an invocation, without the ones in functions of expressions.
    """

    family: str
    params: Mapping[str, Any]
    code: str
    bindings: tuple[Binding, ...]
    workgroups: tuple[int, int, int]
    iterations: int = 64
    results: int = 1
    mergeable: bool = True
    loops: tuple[Loop, ...] = ()


@dataclass(frozen=True)
class Lowering:
    """The dispatches of one node, in order, and the size in bytes of each scratch buffer.

    A scratch buffer is written by the first call that binds it. Later ones only read it, unless
    their binding is ``rewritten``.
    """

    calls: tuple[KernelCall, ...]
    scratch: tuple[int, ...] = ()


@dataclass(frozen=True)
class Epilogue:
    """Expressions applied to each element as a kernel stores it, one for each output.

    Leaf 0 is the element, of dtype ``dtype``. Leaf i is input ``first + i - 1`` of the request,
    broadcast to the output.
    """

    exprs: tuple[Expr, ...]
    first: int
    dtype: str = "float32"


@dataclass(frozen=True)
class KernelRequest:
    """A node with static shapes, to be lowered for ``target``.

    ``aliases`` maps an input to the output in the same buffer, for variables updated in place.
    """

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    attrs: Mapping[str, Any]
    target: Target
    epilogue: Epilogue | None = None
    aliases: Mapping[int, int] = field(default_factory=dict)

    def store(self, name: str, number: str = "f32", beside: str = "") -> str:
        """Return WGSL of ``fn store(index: u32, value: NUMBER)``, which applies the epilogue.

        A kernel must call it once for each element: the epilogue may update a variable in place.

        Args:
            name: the binding of the first output; ``epilogue_bindings`` declares the others.
            number: the type of the kernel's results in a buffer. Where there is an epilogue the
                parameter has the WGSL type of the epilogue's dtype.
            beside: WGSL of the kernel that uses helpers, too.
        """
        if self.epilogue is None:
            return f"fn store(index: u32, value: {number}) {{ {name}[index] = value; }}"
        number = dtype(self.epilogue.dtype).wgsl or number
        shape = self.outputs[0].static_shape
        buffers = [name, *(_output_name(j) for j in range(1, len(self.outputs)))]
        texts, names = ["value"], [self.epilogue.dtype]
        for i, extra in enumerate(self.inputs[self.epilogue.first :]):
            output = self.aliases.get(self.epilogue.first + i)
            buffer = f"extra{i}" if output is None else buffers[output]
            index = wgsl.broadcast_index("index", extra.static_shape, shape)
            texts.append(wgsl.load(buffer, extra, index))
            names.append(extra.dtype)
        values = [wgsl.render(expr, texts, names) for expr in self.epilogue.exprs]
        results = [infer_dtype(expr, names) for expr in self.epilogue.exprs]
        if len(values) == 1:
            body = f"{name}[index] = {wgsl.stored(values[0], results[0])};"
        else:  # read everything before anything is overwritten
            body = " ".join(
                [f"let y{j} = {value};" for j, value in enumerate(values)]
                + [
                    f"{buffer}[index] = {wgsl.stored(f'y{j}', result)};"
                    for j, (buffer, result) in enumerate(zip(buffers, results, strict=True))
                ]
            )
        return f"{wgsl.helpers(body + beside)}\nfn store(index: u32, value: {number}) {{ {body} }}"

    def epilogue_bindings(self) -> tuple[Binding, ...]:
        """Return the bindings of the inputs and outputs that only ``store`` uses."""
        if self.epilogue is None:
            return ()
        first = self.epilogue.first
        inputs = [
            input_binding(f"extra{i}", first + i, spec, spec.shape == self.outputs[0].shape)
            for i, spec in enumerate(self.inputs[first:])
            if first + i not in self.aliases
        ]
        outputs = [
            output_binding(_output_name(j), j, spec) for j, spec in enumerate(self.outputs) if j > 0
        ]
        return (*inputs, *outputs)


def _output_name(output: int) -> str:
    return f"further{output}"


def element_type(spec: TensorSpec) -> str:
    """Return the WGSL element type of a buffer that holds ``spec``.

    Raises:
        KernelError: GPUs do not have the type.
    """
    storage = dtype(spec.dtype).storage
    if storage is None:
        raise KernelError(f"GPUs have no {spec.dtype} values.", hint="Use float32, or the cpu.")
    return storage


def input_binding(name: str, index: int, spec: TensorSpec, is_elementwise: bool = False) -> Binding:
    """Return the binding of input number ``index``."""
    return Binding(name, "input", index, element_type(spec), is_elementwise)


def output_binding(name: str, index: int, spec: TensorSpec) -> Binding:
    """Return the binding of output number ``index``."""
    return Binding(name, "output", index, element_type(spec))


def grid(items: int, workgroup: int, limits: Limits) -> tuple[int, int, int]:
    """Return the workgroup counts for ``items`` invocations.

    More workgroups than one dimension allows continue in the second. ``flat_index`` computes the
    number of an invocation in this grid.
    """
    groups = max(1, -(-items // workgroup))
    widest = limits.max_compute_workgroups_per_dimension
    if groups <= widest:
        return (groups, 1, 1)
    return (widest, -(-groups // widest), 1)


def flat_index(items: int, workgroup: int, limits: Limits) -> str:
    """Return WGSL for the number of an invocation in ``grid``, given its global id as ``id``."""
    groups = -(-items // workgroup)
    if groups <= limits.max_compute_workgroups_per_dimension:
        return "id.x"
    return f"id.y * {limits.max_compute_workgroups_per_dimension * workgroup}u + id.x"
