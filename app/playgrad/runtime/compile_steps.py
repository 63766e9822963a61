"""Compiles the work of a processor's step: one exported function for each part without Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from playgrad.compiler.work_estimates import is_product, operations
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.emitters import Operand
from playgrad.ops.products.emit_matmul import calls_blas, emit_large_product, emit_turned
from playgrad.ops.recurrent.squashed_gates import cells_that_squash
from playgrad.runtime.layout_in_place import lay_out_in_place
from playgrad.runtime.layout_of_parts import lay_out_parts
from playgrad.runtime.layout_of_products import lay_out_products
from playgrad.runtime.step_arena import Arena, Region, plan_arena
from playgrad.runtime.step_layout import StepValues
from playgrad.runtime.step_order import Part, StepOrder, step_order
from playgrad.wasm.step import StepCode
from playgrad.wasm.values import StackValue

LONGEST = 1e9
"""Multiplications and additions of a run, about; between runs a stop is looked for."""


@dataclass(frozen=True)
class CompiledStep:
    """A step as a module.

    Attributes:
        order: its work; the nodes of each part are numbered from 0.
        arena: the places of its values.
        runs: for each part the numbers of its exported functions; empty for parts of Python.
        module: the module, with ``count`` functions.
        constants: the bytes at its address of constants.
        small: for each small constant of the arena, the bytes before it in these.
        scratch: the bytes that it needs at its address of scratch memory.
        commits: the new values of variables that the module does not overwrite.
        overwrites: whether they are written to the variables at the end of a run.
        repeats: whether one call can compute several steps.
        threads: how many threads the module is written for.
        jobs: how many pieces of work threads share.
        private: the bytes that it needs for each thread but the first one.
    """

    order: StepOrder
    arena: Arena
    runs: list[list[int]]
    count: int
    module: bytes
    constants: bytes
    small: list[int]
    scratch: int
    commits: dict[str, Tensor]
    overwrites: bool
    repeats: bool
    threads: int
    jobs: int
    private: int


def compile_step(
    nodes: Sequence[Node],
    fetches: Sequence[Tensor],
    fed: Sequence[Tensor],
    overwrites: bool,
    relaxed: bool,
    multiplies: bool = False,
    threads: int = 1,
    returns: bool = False,
) -> CompiledStep | None:
    """Compile ``nodes``, in an order of execution; None if no emitter supports any of them.

    Args:
        fetches: the tensors that a run returns.
        fed: the tensors that are fed.
        overwrites: whether the step may overwrite variables.
        relaxed: whether to use Relaxed SIMD.
        multiplies: whether the host multiplies matrices.
        threads: how many threads the host has.
        returns: whether each run returns its results in an array of its own, not as copies.
    """
    order = order_to_compile(nodes, fetches, fed, overwrites, multiplies)
    if order is None:
        return None
    options = overwrites, relaxed, multiplies, threads, returns
    return _compiled(order, nodes, fetches, fed, *options)


def compile_whole(
    nodes: Sequence[Node], fetches: Sequence[Tensor], fed: Sequence[Tensor]
) -> CompiledStep:
    """Compile ``nodes``, which write no variables and all have emitters, for any host."""
    order = step_order(nodes, fetches, fed, False)
    return _compiled(order, nodes, fetches, fed, overwrites=False, relaxed=False)


def _compiled(
    order: StepOrder,
    nodes: Sequence[Node],
    fetches: Sequence[Tensor],
    fed: Sequence[Tensor],
    overwrites: bool,
    relaxed: bool,
    multiplies: bool = False,
    threads: int = 1,
    returns: bool = False,
) -> CompiledStep:
    constants = [node.outputs[0] for node in nodes if node.op.name == "constant"]
    _lay_out(order, {*map(order.root, fetches), *order.written.values()}, multiplies)
    arena = plan_arena(order, fetches, fed, constants, returns)
    # Fetches are read after the last run, and before Python writes to variables.
    fetches_old = any(order.variable_of(tensor) in order.written for tensor in fetches)

    def compiled(threads: int) -> CompiledStep:
        code = StepCode(relaxed, multiplies, threads)
        code.squashing = order.layout.squashing
        return _StepCompiler(order, arena, overwrites, fetches_old, code).compiled()

    if threads > 1:
        shared = compiled(threads)
        if shared.threads > 1:
            return shared
    return compiled(1)


def order_to_compile(
    nodes: Sequence[Node],
    fetches: Sequence[Tensor],
    fed: Sequence[Tensor],
    overwrites: bool,
    multiplies: bool,
) -> StepOrder | None:
    """Return the order of a step that `compile_step` compiles; None if it compiles nothing."""
    order = step_order(nodes, fetches, fed, overwrites, _may_multiply if multiplies else None)
    return order if order.emitters else None


def _may_multiply(node: Node) -> bool:
    """Return whether ``node`` may call a product of the host, which the user may interrupt."""
    return is_product(node) or node.op.name == "while_loop"


def _lay_out(order: StepOrder, lasting: set[Tensor], multiplies: bool) -> None:
    """Decide which values of a step lie within others.

    Args:
        lasting: the values that are needed after the step.
    """
    layout = order.layout
    fixed = [order.written[name] for name in order.in_place]
    values = StepValues(order.nodes, order.root, lasting, fixed)
    lay_out_parts(values, layout)
    common = {tensor for node in order.nodes for tensor in node.outputs if layout.is_shared(tensor)}
    layout.squashing = cells_that_squash(order.nodes, order.root, lasting | common)
    cut = {whole for whole, _ in layout.within.values()}
    for node in layout.squashing:
        for hidden in layout.hidden(node):
            values.users.setdefault(hidden, []).append(node)
            if hidden in cut:  # into parts that nothing may overwrite, then
                layout.joined.add(hidden)
    lay_out_products(
        values, layout, lambda node: multiplies and node in order.emitters and calls_blas(node)
    )
    lay_out_in_place(
        values, layout, lambda node: node in order.emitters and order.emitters[node].in_place
    )


class _StepCompiler:
    """Writes the parts of a step."""

    def __init__(
        self,
        order: StepOrder,
        arena: Arena,
        overwrites: bool,
        fetches_old: bool,
        builder: StepCode,
    ) -> None:
        self._order = order
        self._arena = arena
        self._fetches_old = fetches_old
        self._overwrites = overwrites
        self._builder = builder
        self._runs = 0
        self._turned: set[Tensor] = set()
        self._numbers = {node: number for number, node in enumerate(order.nodes)}
        self._constants = [
            self._builder.add_constant(np.asarray(tensor.node.attrs["value"]))
            for tensor in arena.constants
        ]

    def compiled(self) -> CompiledStep:
        order, builder = self._order, self._builder
        commits = {n: t for n, t in order.written.items() if n not in order.in_place}
        runs = [self._part(part) if part.compiled else [] for part in order.parts]
        repeats = False
        if self._overwrites and not self._fetches_old and order.parts[-1].compiled:
            repeats = self._runs == len(order.parts) == 1
            for name, tensor in commits.items():
                target = builder.pointer(self._arena.variables.index(name))
                size = tensor.spec.size * np.dtype(tensor.dtype).itemsize
                builder.f.copy_bytes(target, self._address(tensor), size)
            commits = {}
        return CompiledStep(
            order,
            self._arena,
            runs,
            self._runs,
            builder.encode(),
            bytes(builder.constants),
            self._constants,
            builder.scratch_bytes,
            commits,
            self._overwrites,
            repeats,
            builder.threads if builder.jobs else 1,
            builder.jobs,
            builder.private_bytes,
        )

    def _part(self, part: Part) -> list[int]:
        """Write a part; return the numbers of its functions."""
        runs = [self._begin()]
        work, overwrites = 0.0, False
        for node in part.nodes:
            overwrites = overwrites or node.op.writes
            work += operations(node)
            early = self._order.emitters[node].returns_early(node)
            if early or (work > LONGEST and not overwrites):
                runs.append(self._begin())
                work = operations(node)
            self._write(node)
            if early:
                runs.append(self._begin())
        return runs

    def _begin(self) -> int:
        self._runs += 1
        return self._builder.begin_run()

    def _write(self, node: Node) -> None:
        layout = self._order.layout
        if node in layout.free:
            return
        builder, emitter = self._builder, self._order.emitters[node]
        if node in layout.products or node in layout.turned:
            self._write_product(node)
            return
        builder.begin_operation(self._numbers[node])
        sources = (*node.inputs, *layout.hidden(node))
        inputs, outputs = (list(map(self._operand, each)) for each in (sources, node.outputs))
        emitter.emit(builder, node, inputs, outputs)
        if emitter.may_fail:
            builder.end_if_failed()

    def _write_product(self, node: Node) -> None:
        """Write a product, or a sum of one and something else."""
        layout, root = self._order.layout, self._order.root
        product = layout.products.get(node, node)
        self._builder.begin_operation(self._numbers[product])
        added = [x for x in node.inputs if root(x) is not root(product.outputs[0])]
        other = self._operand(added[0]) if product is not node else None
        a, b = map(self._address, product.inputs)
        factor = layout.turned.get(product)
        if factor is not None:
            place = self._builder.in_block(self._arena.turned[factor])
            if factor not in self._turned:
                self._turned.add(factor)
                emit_turned(self._builder, product.inputs[1].spec.static_shape, b, place)
            b = place
        target = self._operand(node.outputs[0])
        emit_large_product(self._builder, product, (a, b), target, other, factor is not None)

    def _operand(self, tensor: Tensor) -> Operand:
        return Operand(
            tensor.spec, self._address(tensor), self._arena.places[self._order.root(tensor)]
        )

    def _address(self, tensor: Tensor) -> StackValue:
        place = self._arena.places[self._order.root(tensor)]
        if place.region is Region.ARRAY:
            return self._builder.pointer(place.offset)
        if place.region is Region.CONSTANT:
            return self._builder.in_constants(self._constants[place.offset])
        if place.region is Region.RESULTS:
            return self._builder.pointer(self._arena.arrays) + place.offset
        return self._builder.in_block(place.offset)
