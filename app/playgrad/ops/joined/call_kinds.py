"""The kinds of calls that a `Fold` has met, and their functions in a graph."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from secrets import token_hex
from typing import Any, Protocol
from zlib import crc32

from playgrad.devices.kinds import kind_of
from playgrad.errors import DTypeError, GraphError, ShapeError, UnsupportedOpError, shape_text
from playgrad.graph.graph import Graph
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import specs_of
from playgrad.ops.control.nested import flatten, rebuild, same_structure
from playgrad.ops.control.recording import Recording, inputs_like, record
from playgrad.ops.joined.layout import width_of


class JoinedFunction(Protocol):
    """A function of rows, which may be a method of ``owner``; ``label`` is its name, and
    ``identity`` tells it from others."""

    function: Callable[..., Any]
    owner: Any
    label: str
    identity: Hashable

    def compute(self, *args: Any) -> Any:
        """Call the function itself."""


_VALUE = ("value",)


@dataclass(eq=False)
class CallKind:
    """Calls of one function whose arguments have the same forms.

    Attributes:
        number: its place among the kinds of its `Fold`.
        forms: of each argument ``("value",)``, ``("input", i)``, ``("number", dtype, shape)`` or
            ``("fixed", value)``.
        code: what stands for it in a table of calls.
        producers: the numbers of the kinds of the values that it has been called with, for each of
            these calls that differed.
    """

    number: int
    function: JoinedFunction
    forms: tuple[Any, ...]
    code: int
    producers: set[tuple[int, ...]] = field(default_factory=set)

    @property
    def label(self) -> str:
        """The name of its function."""
        return self.function.label

    @property
    def title(self) -> str:
        """The name of its function, with the strings, bools and None that it is called with."""
        fixed = [repr(form[1]) for form in self.forms if form[0] == "fixed"]
        return f"{self.label}({', '.join(fixed)})" if fixed else self.label

    @cached_property
    def width(self) -> int:
        """The columns that its arguments take in a table."""
        return sum(width_of(form) for form in self.forms)

    def first_producers(self) -> list[int]:
        """Return for each argument that is a value the kind that returns it and was met first."""
        return [min(column) for column in zip(*self.producers, strict=True)]


class CallKinds:
    """The kinds of calls of a `Fold`, in the order in which they were met.

    Attributes:
        known: the kind of calls that were met before, by their signature: the identity of the
            function, and of each argument the kind that returns it or else its form.
    """

    def __init__(self) -> None:
        self.known: dict[tuple[Any, ...], CallKind] = {}
        self._kinds: dict[Any, CallKind] = {}
        self._codes: set[int] = set()

    def __len__(self) -> int:
        return len(self._kinds)

    def __iter__(self) -> Iterator[CallKind]:
        return iter(self._kinds.values())

    def met(self, function: JoinedFunction, signature: tuple[Any, ...]) -> CallKind:
        """Return the kind of a call whose signature is not known, and note the signature.

        Raises:
            GraphError: no argument has rows.
        """
        taken = signature[1:]
        forms = tuple(_VALUE if isinstance(form, CallKind) else form for form in taken)
        key = (function.identity, forms)
        kind = self._kinds.get(key)
        if kind is None:
            if all(form[0] == "fixed" for form in forms):
                raise GraphError(
                    f"{function.label}() is called without a number, an array or a value, so that "
                    "its result would have no rows.",
                    hint="Pass a number that tells calls apart, such as 0.",
                )
            kind = CallKind(len(self._kinds), function, forms, self._code(function, forms))
            self._kinds[key] = kind
        kind.producers.add(tuple(form.number for form in taken if isinstance(form, CallKind)))
        self.known[signature] = kind
        return kind

    def _code(self, function: JoinedFunction, forms: tuple[Any, ...]) -> int:
        """Return a number that stands for the kind, also in a later run of the program.

        Functions that only their objects tell apart get numbers of this process, so that a later
        run refuses a table of them, in place of taking one for the other.
        """
        owner = function.owner
        text = f"{function.function.__qualname__}{forms}"
        if owner is not None:
            name = getattr(owner, "name", None)  # a layer's, for instance
            text += name if isinstance(name, str) else _here(owner)
        code, again = 0, ""
        while code == 0 or code in self._codes:
            code = crc32(f"{text}{again}".encode()) & 0x7FFFFFFF
            again += _here(function.function if owner is None else owner)
        self._codes.add(code)
        return code


@cache
def _process() -> str:
    """Return what no other process has. Not drawn by an import: pages share the memory after it,
    and with it the addresses of objects."""
    return token_hex(8)


def _here(thing: object) -> str:
    """Return what no other object of this or another process has."""
    return f"{_process()}:{id(thing)}"


class _Within(threading.local):
    def __init__(self) -> None:
        self.label: str | None = None


WITHIN = _Within()
"""The name of the batched function that this thread is recording, or None."""


def recorded(graph: Graph, prefix: str, kind: CallKind, specs: Sequence[TensorSpec],
             structures: Sequence[Any]) -> Recording:  # fmt: skip
    """Call the function of ``kind`` with placeholders, and return what it adds to ``graph``.

    Args:
        specs: those of the arguments.
        structures: how the tensors of each argument that is a value are nested.

    Raises:
        GraphError: the function writes a variable or draws random numbers, or returns no tensor.
        ShapeError: a result has no row for each call, or a size of it is unknown.
        UnsupportedOpError: it uses a device scope other than the processor's.
    """
    inputs = inputs_like(graph, prefix, specs, "argument")
    left, nested = iter(inputs), iter(structures)
    arguments = []
    for form, *detail in kind.forms:
        if form == "value":
            like = next(nested)
            arguments.append(rebuild(like, [next(left) for _ in flatten(like)]))
        else:
            arguments.append(detail[0] if form == "fixed" else next(left))
    outer, WITHIN.label = WITHIN.label, kind.label
    try:
        recording = record(graph, prefix, kind.function.compute, arguments, inputs)
    finally:
        WITHIN.label = outer
    what = f"the batched function {kind.label}()"
    recording.forbid_writes(what, "Return the value, and assign it after the Fold.")
    for node in recording.nodes:
        if node.op.name == "read_variable":
            raise GraphError(f"{what} must not use read_value().", op=node.name, source=node.source)
        if (
            node.device not in (None, graph.current_device)
            and kind_of(str(node.device)).has_kernels
        ):
            raise UnsupportedOpError(
                f"joined calls run on the processor, but '{node.name}' is placed on {node.device}.",
                op=node.name,
                source=node.source,
                hint="Leave out the device scope.",
            )
    if recording.draws:
        raise GraphError(
            f"{what} must not draw random numbers: they would depend on which calls are joined.",
            source=recording.source,
            hint="Apply nn.Dropout to the result of the Fold or to its inputs.",
        )
    if not recording.outputs:
        raise GraphError(f"{what} must return a tensor.", source=recording.source)
    for tensor in recording.outputs:
        if not tensor.shape or tensor.shape[0] is not None or None in tensor.shape[1:]:
            raise ShapeError(
                f"{what} must return a row for each call, of a known shape, but it returned the "
                f"shape {shape_text(tensor.shape)}.",
                source=recording.source,
                hint="Its first dimension must come from an argument.",
            )
    return recording


def expect_same_value(a: Recording, b: Recording, taker: CallKind, first: CallKind,
                      second: CallKind) -> None:  # fmt: skip
    """Check that two functions whose values are the same argument of a third return the same.

    Raises:
        GraphError: they differ in structure.
        ShapeError, DTypeError: they differ in shape or dtype.
    """
    where = f"{taker.label}() takes values of {first.label}() and {second.label}() in one place"
    try:
        same_structure(b.result, a.result, f"{where}: the second")
    except GraphError as error:
        error.source = a.source
        raise
    for x, y in zip(specs_of(a.outputs), specs_of(b.outputs), strict=True):
        if x.dtype != y.dtype:
            raise DTypeError(
                f"{where}, which return {x.dtype} and {y.dtype}.",
                source=a.source,
                hint="Convert one of them with cast().",
            )
        if x.shape != y.shape:
            texts = [shape_text(spec.shape) for spec in (x, y)]
            raise ShapeError(
                f"{where}, which return the shapes {texts[0]} and {texts[1]}.", source=a.source
            )
