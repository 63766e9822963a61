"""What a lowering is asked for and what it returns: kernels as text, with what they bind.

A lowering is a pure function ``KernelRequest -> Lowering``. It knows shapes, attributes and the
limits of the target; it knows nothing of buffers, devices or sessions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from playgrad.devices.base import Limits, Target
from playgrad.dtypes import dtype
from playgrad.errors import KernelError
from playgrad.graph.spec import TensorSpec
from playgrad.ops.expression import wgsl
from playgrad.ops.expression.expr import Expr, infer_dtype


@dataclass(frozen=True)
class Binding:
    """A buffer that a kernel sees as ``name``: input, output or scratch number ``index``.

    ``is_elementwise`` says of an input that an invocation reads of it only the element that it is
    about to write, so that the output may lie in its place.
    """

    name: str
    kind: Literal["input", "output", "scratch"]
    index: int
    element: str
    is_elementwise: bool = False


@dataclass(frozen=True)
class KernelCall:
    """One dispatch: WGSL without its binding declarations, entry point ``main``.

    ``family`` and ``params`` say what the code does, so that another backend can do it by other
    means. ``workgroups`` are the three dispatch counts, ``steps`` how often about an invocation
    goes through its innermost loop, and ``results`` how many results it keeps at a time.
    """

    family: str
    params: Mapping[str, Any]
    code: str
    bindings: tuple[Binding, ...]
    workgroups: tuple[int, int, int]
    steps: int = 64
    results: int = 1


@dataclass(frozen=True)
class Lowering:
    """The dispatches of one node, in order, and the bytes of each scratch buffer they share.

    A scratch buffer is written by the first call that binds it, and only read by later ones.
    """

    calls: tuple[KernelCall, ...]
    scratch: tuple[int, ...] = ()


@dataclass(frozen=True)
class Epilogue:
    """Expressions applied to each element that a kernel makes, one for each output.

    Leaf 0 is the kernel's own result (of dtype ``dtype``); leaf i is request input
    ``first + i - 1``, broadcast to the output.
    """

    exprs: tuple[Expr, ...]
    first: int
    dtype: str = "float32"


@dataclass(frozen=True)
class KernelRequest:
    """A node with static shapes, to be lowered for ``target``.

    ``aliases`` maps an input to the output that shares its storage (variables updated in place).
    """

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    attrs: Mapping[str, Any]
    target: Target
    epilogue: Epilogue | None = None
    aliases: Mapping[int, int] = field(default_factory=dict)

    def store(self, name: str, number: str = "f32") -> str:
        """WGSL of ``fn store(index: u32, value: NUMBER)``: the epilogue, then a write to ``name``.

        A kernel must call it once for each element: the epilogue may update a variable in place.

        Args:
            name: the binding of the first output; ``epilogue_bindings`` has those of others.
            number: the type of what the kernel makes, as a buffer holds it; an epilogue gets it as
                a value of its dtype.
        """
        if self.epilogue is None:
            return f"fn store(index: u32, value: {number}) {{ {name}[index] = value; }}"
        number = dtype(self.epilogue.dtype).wgsl or number
        shape = self.outputs[0].static_shape
        buffers = [name, *(_further(j) for j in range(1, len(self.outputs)))]
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
        else:  # all is read before anything is written
            body = " ".join(
                [f"let y{j} = {value};" for j, value in enumerate(values)]
                + [
                    f"{buffer}[index] = {wgsl.stored(f'y{j}', result)};"
                    for j, (buffer, result) in enumerate(zip(buffers, results, strict=True))
                ]
            )
        return f"{wgsl.helpers(body)}\nfn store(index: u32, value: {number}) {{ {body} }}"

    def epilogue_bindings(self) -> tuple[Binding, ...]:
        """The further inputs that ``store`` reads, and the further outputs that it writes."""
        if self.epilogue is None:
            return ()
        first = self.epilogue.first
        inputs = [
            input_binding(f"extra{i}", first + i, spec, spec.shape == self.outputs[0].shape)
            for i, spec in enumerate(self.inputs[first:])
            if first + i not in self.aliases
        ]
        outputs = [
            output_binding(_further(j), j, spec) for j, spec in enumerate(self.outputs) if j > 0
        ]
        return (*inputs, *outputs)


def _further(output: int) -> str:
    return f"further{output}"


def element_type(spec: TensorSpec) -> str:
    """The WGSL element type of a buffer that holds ``spec``.

    Raises:
        KernelError: no GPU has the type.
    """
    storage = dtype(spec.dtype).storage
    if storage is None:
        raise KernelError(f"no GPU holds {spec.dtype} values.", hint="Use float32, or the cpu.")
    return storage


def input_binding(name: str, index: int, spec: TensorSpec, is_elementwise: bool = False) -> Binding:
    return Binding(name, "input", index, element_type(spec), is_elementwise)


def output_binding(name: str, index: int, spec: TensorSpec) -> Binding:
    return Binding(name, "output", index, element_type(spec))


def grid(items: int, workgroup: int, limits: Limits) -> tuple[int, int, int]:
    """Workgroup counts for ``items`` invocations, folded into two dimensions where one is too few.

    The matching index is ``flat_index``'s.
    """
    groups = max(1, -(-items // workgroup))
    widest = limits.max_compute_workgroups_per_dimension
    if groups <= widest:
        return (groups, 1, 1)
    return (widest, -(-groups // widest), 1)


def flat_index(items: int, workgroup: int, limits: Limits) -> str:
    """WGSL that computes the invocation number of ``grid`` from ``id: vec3<u32>`` (global id)."""
    groups = -(-items // workgroup)
    if groups <= limits.max_compute_workgroups_per_dimension:
        return "id.x"
    return f"id.y * {limits.max_compute_workgroups_per_dimension * workgroup}u + id.x"
