"""Placeholders, variables, and the operations that read and write variables.

All reads of a variable come before the writes of the same run, so they give the value from before
the run. ``read_value`` under ``control_dependencies`` instead reads where control edges put it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from playgrad.dtypes import dtype as dtype_of
from playgrad.errors import DTypeError, GraphError, ShapeError, shape_text
from playgrad.graph.eager import at_once, attached, is_detached
from playgrad.graph.graph import Graph, get_default_graph
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, lookup, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.core.build import as_tensor, constant, graph_of, one_or_more, whole
from playgrad.ops.core.invariant import Invariant
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.elementwise.definitions import cast
from playgrad.ops.elementwise.elementwise_op import elementwise_op
from playgrad.ops.expression import expr as e

RANDOM_STEP = "random/step"
RANDOM_ADVANCE = "random/advance"
DATA = "data"
"""The contents of a variable that holds a data set: the program has it, too."""
TARGETS = "targets"
"""The contents of a variable that holds the targets of a data set."""
BOOKKEEPING = "bookkeeping"
"""The contents of a variable whose value matters only while steps are running."""


def _declared(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    return [TensorSpec(tuple(attrs["shape"]), attrs["dtype"])]


def _needs_runtime(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    raise GraphError("placeholders and variables have values only in a session.")


_PLACEHOLDER = register(
    OpDef("placeholder", _declared, _needs_runtime, blocks_gradient=True, state=True)
)
_VARIABLE = register(OpDef("variable", _declared, _needs_runtime, blocks_gradient=True, state=True))
_READ = register(
    OpDef("read_variable", _declared, _needs_runtime, blocks_gradient=True, state=True)
)
_NO_OP = register(OpDef("no_op", lambda inputs, attrs: [], lambda inputs, attrs: []))


def checked_update(op: OpDef) -> OpDef:
    """Return ``op`` with a shape rule that also requires outputs to have their variables' specs."""

    def infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> Sequence[TensorSpec]:
        outputs = op.infer(inputs, attrs)
        for variable, output in zip(inputs, outputs, strict=False):
            if output.shape != variable.shape:
                raise ShapeError(
                    f"a value of shape {shape_text(inputs[-1].shape)} does not fit the variable "
                    f"of shape {shape_text(variable.shape)}."
                )
            if output.dtype != variable.dtype:
                raise DTypeError(
                    f"a {output.dtype} value does not fit the {variable.dtype} variable.",
                    hint="Convert it with cast().",
                )
        return outputs

    return replace(op, infer=infer)


_WRITTEN = {"variables": ["state"]}
_ASSIGN_SAMPLES = (
    Sample((floats(3, 4), floats(3, 4, seed=1)), _WRITTEN),
    Sample((floats(3, 4), floats(4)), _WRITTEN),
    Sample((integers(5), integers(5, seed=1)), _WRITTEN),
)
_BAD_ASSIGNMENTS = (
    InvalidSample(
        (floats(4), floats(3, 4)), _WRITTEN, ShapeError, "does not fit the variable of shape (4,)"
    ),
    InvalidSample((floats(4), floats(3)), _WRITTEN, ShapeError, "do not broadcast"),
)


def register_value_of(op: OpDef) -> None:
    """Register an op that computes the values that ``op`` writes, without writing them."""

    def without_names(attrs: Attrs) -> Attrs:
        return {key: value for key, value in attrs.items() if key != "variables"}

    samples = tuple(replace(s, attrs=without_names(s.attrs)) for s in op.samples)
    invalid = tuple(replace(s, attrs=without_names(s.attrs)) for s in op.invalid)
    name = f"{op.name}{_VALUE}"
    register(replace(op, name=name, writes=False, samples=samples, invalid=invalid))


_VALUE = "_value"


def value_of(op: OpDef) -> OpDef:
    """Return the op that computes the values that ``op`` writes, without writing them.

    Raises:
        GraphError: no such op is registered.
    """
    try:
        return lookup(f"{op.name}{_VALUE}")
    except GraphError:
        raise GraphError(
            f"no operation computes the values of {op.name!r} without writing them."
        ) from None


def _assignment(name: str, formula: e.Expr) -> OpDef:
    op = elementwise_op(
        name, lambda attrs: (formula,), None, _ASSIGN_SAMPLES, _BAD_ASSIGNMENTS, writes=True
    )
    op = register(checked_update(op))
    register_value_of(op)
    return op


_ASSIGN = _assignment("assign", e.Leaf(1))
_ASSIGN_ADD = _assignment("assign_add", e.Leaf(0) + e.Leaf(1))
_ASSIGN_SUB = _assignment("assign_sub", e.Leaf(0) - e.Leaf(1))


def placeholder(
    dtype: Any = "float32", shape: Sequence[int | None] | None = None, name: str | None = None
) -> Tensor:
    """Return a tensor whose value is fed when the graph runs.

    Args:
        dtype: the element type.
        shape: the dimensions, None for one of any size, such as the batch. Required.

    Raises:
        ShapeError: there is no shape, or a dimension is negative or not a whole number.
        DTypeError: there is no such dtype.
    """
    if shape is None:
        raise ShapeError(
            "a placeholder needs a shape.", hint="Write None for a dimension that may vary."
        )
    sizes = [None if n is None else whole(n, "a dimension") for n in one_or_more(shape)]
    if any(n is not None and n < 0 for n in sizes):
        raise ShapeError(
            f"a placeholder cannot have the shape {shape_text(tuple(sizes))}.",
            hint="Write None for a dimension that may vary.",
        )
    attrs = {"shape": sizes, "dtype": dtype_of(dtype).name}
    return get_default_graph().add(_PLACEHOLDER, attrs=attrs, name=name, phase="input").output


class Variable(Tensor):
    """A tensor that keeps its value from run to run, separately in each session.

    Args:
        initial_value: a number, nested lists, an array or a tensor, of known shape. The subgraph of
            a tensor runs once in each session, on the cpu, when the variable is first needed.
        name: its name in sessions and weights files; a number is added if it is taken.
        trainable: whether optimizers update it.
        dtype: its element type; None means that of the initial value.
        contents: `DATA`, `TARGETS` or `BOOKKEEPING` if sessions need not keep a copy of the value
            in host memory in case the device is lost.
        constraint: a function from a value to the one to be kept; optimizers apply it after each
            update.

    Attributes:
        keep: what updates keep of its value, after the constraint, such as zeros; None for nothing.

    Raises:
        ShapeError: the shape of the initial value is not known in full.
        DTypeError: there is no such dtype, or the initial value does not fit it.
    """

    def __init__(
        self,
        initial_value: Any,
        name: str | None = None,
        trainable: bool = True,
        dtype: Any = None,
        contents: str | None = None,
        constraint: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        if is_detached(initial_value):
            initial_value = initial_value.numpy()
        graph = graph_of(initial_value)
        name = name or "variable"
        scope = f"{graph.current_scope}{name}/"
        with (
            attached(),
            graph.reenter_scope(scope),
            graph.control_dependencies(None),
            graph.phase("variable"),
        ):
            initial = as_tensor(initial_value, graph, dtype_of(dtype).name if dtype else None)
            if dtype is not None and initial.dtype != dtype_of(dtype).name:
                initial = cast(initial, dtype)
            attrs = {
                "shape": list(initial.spec.static_shape),
                "dtype": initial.dtype,
                "trainable": trainable,
                "initializer": initial.name,
            }
            if contents is not None:
                attrs["contents"] = contents
        with graph.control_dependencies(None):
            node = graph.add(_VARIABLE, attrs=attrs, name=name, phase="variable")
        super().__init__(node, 0, node.outputs[0].spec)
        self.constraint = constraint
        self.keep: Invariant | None = None
        node.outputs = (self,)  # so that gradients() and sessions see this handle

    @classmethod
    def of(cls, node: Node) -> Variable:
        """Return the handle of a variable's ``node`` that was read from a file."""
        variable = cls.__new__(cls)
        Tensor.__init__(variable, node, 0, node.outputs[0].spec)
        variable.constraint = None
        variable.keep = None
        node.outputs = (variable,)
        return variable

    @property
    def variable_name(self) -> str:
        """The name in sessions and weights files, such as ``dense_1/kernel``."""
        return self.node.name

    @property
    def trainable(self) -> bool:
        """True if optimizers update it by default."""
        return bool(self.node.attrs["trainable"])

    @trainable.setter
    def trainable(self, trainable: bool) -> None:
        self.node.attrs["trainable"] = bool(trainable)

    @property
    def contents(self) -> str | None:
        return contents_of(self.node)

    @property
    def initial_value(self) -> Tensor:
        return self.graph.tensor(self.node.attrs["initializer"])

    def assign(self, value: Any, name: str | None = None) -> Tensor:
        """Replace the value by ``value``, broadcast to its shape; return the new value."""
        return self._write(_ASSIGN, value, name)

    def assign_add(self, value: Any, name: str | None = None) -> Tensor:
        """Add ``value``, broadcast to the shape of the variable; return the new value."""
        return self._write(_ASSIGN_ADD, value, name)

    def assign_sub(self, value: Any, name: str | None = None) -> Tensor:
        """Subtract ``value``, broadcast to the shape of the variable; return the new value."""
        return self._write(_ASSIGN_SUB, value, name)

    def read_value(self, name: str | None = None) -> Tensor:
        """Read the value at this point of the control edges, not the one from before the run."""
        attrs = {"variable": self.node.name, "shape": list(self.shape), "dtype": self.dtype}
        return self.graph.add(
            _READ,
            attrs=attrs,
            name=name,
            device=self.node.device,
            control_inputs=[self.node],  # so that users of the value depend on the variable
        ).output

    def overwrite(self, written: Tensor, value: Tensor, name: str | None = None) -> Tensor:
        """Replace ``written``, which the same run has written, by ``value``; return it."""
        return self._write(_ASSIGN, value, name, written)

    def _write(
        self, op: OpDef, value: Any, name: str | None, before: Tensor | None = None
    ) -> Tensor:
        with self.graph.as_default(), at_once(value):
            tensor = value if isinstance(value, Tensor) else constant(value, self.dtype)
        return self.graph.add(
            op,
            [self if before is None else before, tensor],
            {"variables": [self.node.name]},
            name=name,
            phase="update",
            device=self.node.device,
        ).output


def is_variable(node: Node) -> bool:
    """Return whether ``node`` is a variable."""
    return node.op is _VARIABLE


def contents_of(variable: Node) -> str | None:
    """Return `DATA`, `TARGETS` or `BOOKKEEPING`; None for a variable whose value is to be kept."""
    contents: str | None = variable.attrs.get("contents")
    return contents


def holds_data(variable: Node) -> bool:
    """Return whether a variable holds a part of a data set, which the program has, too."""
    return contents_of(variable) in (DATA, TARGETS)


def global_variables(graph: Graph | None = None) -> list[Tensor]:
    """Return all variables of ``graph``, by default the default graph, in creation order."""
    graph = graph or get_default_graph()
    return [node.outputs[0] for node in graph.nodes if is_variable(node)]


def trainable_variables(graph: Graph | None = None) -> list[Tensor]:
    """Return the variables of ``graph`` that optimizers update, in creation order."""
    return [tensor for tensor in global_variables(graph) if tensor.node.attrs["trainable"]]


def group(*items: Node | Tensor, name: str | None = None) -> Node:
    """Return a node that depends on all ``items``, to run them together.

    Args:
        items: nodes and tensors of one graph.
    """
    nodes = [item.node if isinstance(item, Tensor) else item for item in items]
    graph = nodes[0].graph if nodes else get_default_graph()
    return graph.add(_NO_OP, name=name or "group", control_inputs=nodes, phase="update")


def random_step(graph: Graph | None = None) -> Tensor:
    """Return the uint32 step of random operations; a run that reads it adds 1 to it at the end."""
    graph = graph or get_default_graph()
    if RANDOM_STEP in graph:
        return graph.node(RANDOM_STEP).outputs[0]
    with (
        attached(),
        graph.as_default(),
        graph.reenter_scope(""),
        graph.device(None),
        graph.phase("variable"),
    ):
        step = Variable(0, name=RANDOM_STEP, trainable=False, dtype="uint32")
        step.assign_add(1, name=RANDOM_ADVANCE)
    return step
