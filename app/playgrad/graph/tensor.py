"""Nodes of a graph, and the tensors that flow along its edges."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

from playgrad.errors import GraphError
from playgrad.graph.eager import is_eager, value_of_tensor
from playgrad.graph.opdef import OpDef
from playgrad.graph.spec import Shape, TensorSpec

if TYPE_CHECKING:
    from playgrad.graph.graph import Graph


@dataclass(eq=False)
class Node:
    """One use of an operation in a graph, created by ``Graph.add``. Its edges never change.

    Attributes:
        phase: the part of a step it belongs to: input, forward, gradient, update or variable.
        task: the task of its device that it is part of, such as the forward pass of one
            micro-batch; None leaves that to the compiler.
        source: file and line of the user's program that created it.
        detached: whether it was computed at once, outside of its graph's list of nodes.
        holders: the tapes that may need the inputs of a detached node, which it then keeps.
    """

    graph: Graph = field(repr=False)
    id: int
    name: str
    op: OpDef = field(repr=False)
    inputs: tuple[Tensor, ...] = field(repr=False)
    attrs: dict[str, Any] = field(repr=False)
    control_inputs: tuple[Node, ...] = field(repr=False)
    device: str | None = None
    phase: str = "forward"
    task: str | None = None
    source: tuple[str, int] | None = field(default=None, repr=False)
    outputs: tuple[Tensor, ...] = field(default=(), repr=False)
    detached: bool = field(default=False, repr=False)
    holders: int = field(default=0, repr=False)

    @property
    def output(self) -> Tensor:
        """The only output.

        Raises:
            GraphError: it has no output, or several.
        """
        if len(self.outputs) != 1:
            raise GraphError(f"'{self.name}' must have one output, has {len(self.outputs)}.")
        return self.outputs[0]

    def forget_inputs(self) -> None:
        """Free what a detached node was computed from, unless a tape holds it."""
        if self.holders == 0:
            self.inputs, self.control_inputs = (), ()

    @property
    def predecessors(self) -> tuple[Node, ...]:
        """Nodes that must run before this one: its data inputs, then its control inputs."""
        return (*[tensor.node for tensor in self.inputs], *self.control_inputs)


# The operators of a tensor are operations, but ``graph`` does not import ``ops``: ops.operators
# fills this table when it is imported.
OPERATORS: dict[str, Callable[..., Any]] = {}


def _operator(name: str, swapped: bool = False) -> Callable[..., Any]:
    def method(self: Tensor, *args: Any) -> Any:
        return OPERATORS[name](*((args[0], self, *args[1:]) if swapped else (self, *args)))

    method.__name__ = name
    return method


def _method(name: str) -> Callable[..., Any]:
    def method(self: Tensor, *args: Any, **options: Any) -> Any:
        return OPERATORS[name](self, *args, **options)

    method.__name__ = name
    method.__doc__ = f"As `numpy.ndarray.{name}`."
    return method


@dataclass(frozen=True, eq=False)
class Tensor:
    """A handle for output number ``index`` of ``node``, with shape and dtype but without values.

    Arithmetic, comparison (``<``, ``<=``, ``>``, ``>=``), ``@``, indexing with slices and the
    methods that arrays of NumPy have, too, add nodes to the graph. ``==`` and ``!=`` are errors, as
    readers disagree on whether they compare handles
    (use ``is``) or values (use ``pg.equal``).
    """

    node: Node
    index: int
    spec: TensorSpec

    __array_priority__: ClassVar[int] = 100

    @property
    def shape(self) -> Shape:
        return self.spec.shape

    @property
    def dtype(self) -> str:
        return self.spec.dtype

    @property
    def graph(self) -> Graph:
        return self.node.graph

    @property
    def name(self) -> str:
        """``node:index``, unique in the graph."""
        return f"{self.node.name}:{self.index}"

    @property
    def device(self) -> str | None:
        return self.node.device

    # Values, in eager mode or by running the graph

    @property
    def eager_value(self) -> Any:
        """The array that eager mode has computed; None for a tensor of a graph."""
        return vars(self).get("_value")

    def set_eager_value(self, array: Any) -> None:
        """Set the array that eager mode has computed."""
        vars(self)["_value"] = array

    def numpy(self) -> Any:
        """Return the value as an array of its own.

        In eager mode, it is what the operation has computed. Otherwise the graph runs, in the
        session that its models share, with the variables' current values and new random numbers.

        Raises:
            FeedError: it depends on a placeholder.
        """
        value = self.eager_value
        return value_of_tensor(self) if value is None else value.copy()

    def item(self) -> Any:
        """Return the only element as a Python number; see `numpy`."""
        return self.numpy().item()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self._eager("NumPy cannot use it")
        return array if dtype is None else array.astype(dtype)

    def __float__(self) -> float:
        return float(self._eager("it is not a number").item())

    def __int__(self) -> int:
        return int(self._eager("it is not a number").item())

    def __format__(self, form: str) -> str:
        return format(self._eager("it is not a number").item(), form) if form else str(self)

    def _eager(self, problem: str) -> Any:
        """Return the value of a tensor in eager mode, of which a variable is one."""
        if self.eager_value is None and not (is_eager() and self.node.op.name == "variable"):
            raise GraphError(
                f"the tensor '{self.name}' has no value while the graph is being built, so "
                f"{problem}.",
                source=self.node.source,
                hint="Use tensor.numpy(), or fetch it from a session.",
            )
        return self.numpy()

    def __repr__(self) -> str:
        value = self.eager_value
        shown = "" if value is None else f"\n{value}"
        return f"<Tensor {self.name} {self.spec}>{shown}"

    def __bool__(self) -> bool:
        if self.eager_value is not None:
            return bool(self.eager_value)
        raise GraphError(
            f"the tensor '{self.name}' has no value while the graph is being built, so Python "
            "cannot branch on it.",
            source=self.node.source,
            hint="Use pg.where(condition, a, b), or fetch its value from a session first.",
        )

    def __iter__(self) -> Any:
        if self.eager_value is not None and self.shape:
            return iter([self[row] for row in range(len(self.eager_value))])
        raise GraphError(f"the tensor '{self.name}' cannot be iterated over.", hint="Slice it.")

    def __eq__(self, other: object) -> bool:
        return self._compare(other, "==", "equal")

    def __ne__(self, other: object) -> bool:
        return not self._compare(other, "!=", "not_equal")

    __hash__ = object.__hash__  # of the handle: tensors are keys of feeds

    def _compare(self, other: object, symbol: str, function: str) -> bool:
        """Return False beside objects without values, such as None.

        Raises:
            GraphError: ``other`` has values, too.
        """
        if isinstance(other, (Tensor, bool, int, float, list, tuple)) or hasattr(other, "dtype"):
            raise GraphError(
                f"{symbol} does not compare tensors.",
                hint=f"Use pg.{function}(a, b) for their values, or 'is' for the tensors.",
            )
        return False

    __add__, __radd__ = _operator("add"), _operator("add", swapped=True)
    __sub__, __rsub__ = _operator("sub"), _operator("sub", swapped=True)
    __mul__, __rmul__ = _operator("mul"), _operator("mul", swapped=True)
    __truediv__, __rtruediv__ = _operator("div"), _operator("div", swapped=True)
    __floordiv__, __rfloordiv__ = (
        _operator("floor_divide"),
        _operator("floor_divide", swapped=True),
    )
    __mod__, __rmod__ = _operator("mod"), _operator("mod", swapped=True)
    __pow__, __rpow__ = _operator("pow"), _operator("pow", swapped=True)
    __matmul__, __rmatmul__ = _operator("matmul"), _operator("matmul", swapped=True)
    __neg__ = _operator("neg")
    __abs__ = _operator("abs")
    __lt__, __le__ = _operator("less"), _operator("less_equal")
    __gt__, __ge__ = _operator("greater"), _operator("greater_equal")
    __and__, __or__ = _operator("logical_and"), _operator("logical_or")
    __xor__, __rxor__ = _operator("logical_xor"), _operator("logical_xor", swapped=True)
    __invert__ = _operator("logical_not")
    __getitem__ = _operator("getitem")

    # NumPy's methods
    sum, mean, max, min = _method("sum"), _method("mean"), _method("max"), _method("min")
    argmax, argmin = _method("argmax"), _method("argmin")
    reshape, transpose, squeeze = _method("reshape"), _method("transpose"), _method("squeeze")
    astype = _method("astype")


def specs_of(tensors: Iterable[Tensor]) -> list[TensorSpec]:
    """Return the spec of each of ``tensors``."""
    return list(map(_SPEC, tensors))


_SPEC = attrgetter("spec")
