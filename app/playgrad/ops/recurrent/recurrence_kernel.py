"""The kernel of ``recurrence``: a workgroup goes through all steps of some rows of the batch.

It keeps the states of its rows in workgroup memory and reads the weights from a buffer in every
step. After each instruction the workgroup waits, so that the next one may read any of its values.
The depth of a product with few columns is cut into slices, whose sums are added from the first to
the last; so the order of all additions depends on shapes alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from playgrad.devices.target import Limits
from playgrad.errors import KernelError
from playgrad.ops.core.kernel import (
    Binding,
    KernelCall,
    KernelRequest,
    Lowering,
    grid,
    input_binding,
    output_binding,
)
from playgrad.ops.core.loops import Loop, innermost
from playgrad.ops.expression import wgsl
from playgrad.ops.expression.expr import Const, Expr, Leaf, substitute
from playgrad.ops.expression.shared import render_shared
from playgrad.ops.recurrent.blockwise import BLOCKWISE
from playgrad.ops.recurrent.recurrence_data import KeptValue, Recurrence, Ref, Value
from playgrad.ops.recurrent.recurrence_formula import Formula
from playgrad.ops.recurrent.recurrence_memory import Areas, plan_areas
from playgrad.ops.recurrent.recurrence_normalization import (
    NORMALIZATIONS,
    PARTS,
    SUMS,
    RowNormalization,
)
from playgrad.ops.recurrent.recurrence_product import invocations, products_of

MOST_ROWS = 4
"""Rows of a workgroup: each number of the weights is read once for all of them."""
WORKGROUPS = 32
"""Workgroups to have before one gets several rows, so that many processors read the weights."""


def lower_recurrence(request: KernelRequest) -> Lowering:
    """Lower a recurrence to one dispatch.

    Raises:
        KernelError: the values of a row do not fit into workgroup memory.
    """
    recurrence = Recurrence.of(request.attrs)
    size = rows_size(recurrence)
    largest = request.target.limits.max_compute_workgroup_storage_size
    if size > largest:
        raise KernelError(
            f"the steps of a recurrence need {size} bytes of workgroup memory, but the adapter "
            f"has {largest}.",
            hint="Use fewer units, or device='cpu'.",
        )
    return Lowering((_KernelWriter(request, recurrence).call(),))


def rows_size(recurrence: Recurrence, rows: int = 1) -> int:
    """Return the bytes of workgroup memory that ``rows`` rows take."""
    return 4 * rows * _areas(recurrence).size


def _areas(recurrence: Recurrence) -> Areas:
    sums = {
        number: product.slices * product.columns
        for number, product in products_of(recurrence).items()
        if product.slices > 1
    }
    sums |= {
        number: SUMS[each.op] * PARTS
        for number, each in enumerate(recurrence.body)
        if each.op in NORMALIZATIONS
    }
    return plan_areas(recurrence, sums, partial(_is_aligned, recurrence))


def _is_aligned(recurrence: Recurrence, instruction: int, operand: int) -> bool:
    each = recurrence.body[instruction]
    if each.op in BLOCKWISE:
        return True
    if each.op in ("matmul", "concat", *NORMALIZATIONS):
        return False
    _, *value = each.inputs[operand]
    return recurrence.width((value[0], value[1])) == each.widths[0]


@dataclass
class _KernelWriter:
    """Writes the kernel of a recurrence."""

    request: KernelRequest
    recurrence: Recurrence
    loops: list[Loop] = field(default_factory=list)  # of a step

    def __post_init__(self) -> None:
        self.areas = _areas(self.recurrence)
        self.products = products_of(self.recurrence)
        self.size = invocations(self.recurrence)
        self.rows = self._rows(self.request.target.limits)

    def _rows(self, limits: Limits) -> int:
        """Return the rows of a workgroup, a power of two."""
        rows = 1
        while (
            2 * rows <= MOST_ROWS
            and 2 * rows * WORKGROUPS <= self.recurrence.rows
            and rows_size(self.recurrence, 2 * rows) <= limits.max_compute_workgroup_storage_size
        ):
            rows *= 2
        return rows

    def call(self) -> KernelCall:
        """Return the dispatch."""
        recurrence, limits = self.recurrence, self.request.target.limits
        groups = grid(-(-recurrence.rows // self.rows), 1, limits)
        first = [self._first(number) for number in range(len(recurrence.carried))]
        before = [Loop(self._rounds(recurrence.width(c.value))) for c in recurrence.carried]
        self.loops.clear()
        body = [self._instruction(number) for number in range(len(recurrence.body))]
        body += [self._move()] if self.areas.moved() else []
        steps = Loop(recurrence.steps, tuple(self.loops))
        text = "\n".join([*first, *body])
        code = f"""{wgsl.helpers(text)}
const ROWS = {recurrence.rows}u;
var<workgroup> values: array<f32, {max(1, self.rows * self.areas.size)}>;

@compute @workgroup_size({self.size})
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) invocation: u32,
) {{
  let first = (group.y * {groups[0]}u + group.x) * {self.rows}u;
{"".join(first)}  for (var t = 0u; t < {recurrence.steps}u; t++) {{
{"".join(body)}  }}
}}
"""
        inputs, outputs = self.request.inputs, self.request.outputs
        bindings: list[Binding] = [input_binding(f"in{n}", n, x) for n, x in enumerate(inputs)]
        bindings += [output_binding(f"out{n}", n, y) for n, y in enumerate(outputs)]
        loops = (*before, steps)
        params = {**recurrence.attrs(), "rows_of_workgroup": self.rows}
        return KernelCall(
            "recurrence" if recurrence.steps > 1 else "rows",
            params,
            code,
            tuple(bindings),
            groups,
            iterations=innermost(loops),
            results=self.rows,
            loops=loops,
        )

    def _rounds(self, width: int) -> int:
        """Return the rounds of a loop over ``width`` columns of all rows."""
        return -(-self.rows * width // self.size)

    # Operands

    def _place(self, area: int, width: int, row: str, column: str) -> str:
        """Return WGSL for an element of an area in workgroup memory."""
        return f"values[{area * self.rows}u + {row} * {width}u + {column}]"

    def _read(self, ref: Ref, column: str, units: int) -> tuple[str, str]:
        """Return WGSL for an element of an operand in row ``r``, and its dtype.

        A value with one column is the same for all ``units`` units.
        """
        kind, *rest = ref
        if kind == "number":
            return wgsl.literal(rest[0], rest[1]), rest[1]
        if kind == "source":
            part = self.recurrence.sources[rest[0]]
            spec = self.request.inputs[part.input]
            index = _sum(
                str(part.first) + "u",
                _times("t", part.step),
                _times("row", part.row),
                _times(f"({column})", part.column),
            )
            return wgsl.load(f"in{part.input}", spec, index), spec.dtype
        value = (rest[0], rest[1])
        areas = self.areas.new if kind == "value" else self.areas.before
        width = self.recurrence.width(value)
        return self._place(areas[value], width, "r", "0u" if width == 1 else column), "float32"

    def _keep(self, value: tuple[int, int], column: str, text: str, initial: bool) -> str:
        """Return WGSL that stores an element of an output; empty if the value is not one."""
        lines = []
        for kept in self.recurrence.kept:
            if kept.value != value or (initial and not kept.initial):
                continue
            width = self.recurrence.width(value)
            condition = "first + r < ROWS"
            if kept.order == "last":
                condition += f" && t == {self.recurrence.steps - 1}u"
            place = _sum(
                f"({_position(kept, self.recurrence.steps, initial)} * ROWS + row) * {width}u",
                f"{kept.first}u",
                column,
            )
            lines.append(f"if ({condition}) {{ out{kept.output}[{place}] = {text}; }}")
        return " ".join(lines)

    def _for_each(self, units: int, lines: Sequence[str]) -> str:
        """Return a loop over ``units`` columns ``c`` of all rows ``r``, and a barrier after it."""
        body = "\n      ".join(line for line in lines if line)
        self.loops.append(Loop(self._rounds(units)))
        return f"""    for (var p = invocation; p < {self.rows * units}u; p += {self.size}u) {{
      let r = p / {units}u;
      let c = p % {units}u;
      let row = min(first + r, ROWS - 1u);
      {body}
    }}
    workgroupBarrier();
"""

    # Instructions

    def _first(self, number: int) -> str:
        """Return WGSL that reads the initial values of a carried value."""
        carried = self.recurrence.carried[number]
        width = self.recurrence.width(carried.value)
        text, _ = self._read(carried.initial, "c", width)
        place = self._place(self.areas.before[carried.value], width, "r", "c")
        kept = self._keep(carried.value, "c", "x", initial=True)
        return self._for_each(width, [f"let x = {text};", f"{place} = x;", kept])

    def _instruction(self, number: int) -> str:
        each = self.recurrence.body[number]
        if each.op in NORMALIZATIONS:
            return self._normalization(number)
        return self._product(number) if each.op == "matmul" else self._formula(number)

    def _formula(self, number: int) -> str:
        each = self.recurrence.body[number]
        widths = [self._width(ref) for ref in each.inputs]
        formula = Formula.of(each, widths)
        texts: list[str] = []
        names: list[str] = []
        leaves: list[Expr] = []
        lines: list[str] = []
        for operand, offset in formula.reads:
            ref = each.inputs[operand]
            if ref[0] == "number":
                leaves.append(Const(ref[1], ref[2]))
                continue
            leaves.append(Leaf(len(texts)))
            text, name = self._read(ref, _sum("c", f"{offset}u"), formula.units)
            lines.append(f"let x{len(texts)} = {text};")
            texts.append(f"x{len(texts)}")
            names.append(name)
        exprs = [substitute(expr, leaves) for expr in formula.exprs]
        statements, results = render_shared(exprs, texts, names)
        lines += statements
        lines += [f"let y{n} = {text};" for n, text in enumerate(results)]
        for n, (output, offset) in enumerate(formula.writes):
            lines += self._store((number, output), _sum("c", f"{offset}u"), f"y{n}")
        return self._for_each(formula.units, lines)

    def _store(self, value: Value, column: str, text: str) -> list[str]:
        """Return WGSL that stores an element of a value wherever it is needed."""
        lines = [self._keep(value, column, text, initial=False)]
        if value in self.areas.new:
            width = self.recurrence.width(value)
            lines.append(f"{self._place(self.areas.new[value], width, 'r', column)} = {text};")
        return lines

    def _normalization(self, number: int) -> str:
        each = self.recurrence.body[number]
        width = each.widths[0]
        rows = RowNormalization(
            each,
            self.rows,
            self.size,
            self.areas.partial[number],
            lambda operand, column: self._read(each.inputs[operand], column, width)[0],
        )
        code, loops = rows.passes()
        self.loops += loops
        lines = rows.result()
        for output in range(len(each.widths)):
            lines += self._store((number, output), "c", f"y{output}")
        return code + self._for_each(width, lines)

    def _width(self, ref: Ref) -> int:
        if ref[0] in ("value", "before"):
            return self.recurrence.width((ref[1], ref[2]))
        return self.recurrence.sources[ref[1]].width if ref[0] == "source" else 1

    def _product(self, number: int) -> str:
        each, product = self.recurrence.body[number], self.products[number]
        kind, *value = each.inputs[0]
        before = self.areas.new if kind == "value" else self.areas.before
        result = self.areas.new[number, 0]
        target = result if product.slices == 1 else self.areas.partial[number]
        _, weights, begins = each.inputs[1]
        code, loop = product.code(
            self.rows, before[value[0], value[1]], f"in{weights}", begins, target
        )
        self.loops.append(loop)
        place = self._place(result, product.columns, "r", "c")
        kept = self._keep((number, 0), "c", place, initial=False)
        if product.slices > 1:
            sums = product.sum_of_slices(self.rows, target)
            code += self._for_each(product.columns, [f"{place} = {sums};", kept])
        elif kept:
            code += self._for_each(product.columns, [kept])
        return code

    def _move(self) -> str:
        """Return WGSL that copies values for the next step."""
        text = ""
        for value in self.areas.moved():
            width = self.recurrence.width(value)
            target = self._place(self.areas.before[value], width, "r", "c")
            source = self._place(self.areas.new[value], width, "r", "c")
            text += self._for_each(width, [f"{target} = {source};"])
        return text


def _position(kept: KeptValue, steps: int, initial: bool) -> str:
    """Return WGSL for the place of step ``t``, or of the initial value, in an output."""
    if kept.order == "last":
        return "0u"
    if kept.order == "steps":
        return "0u" if initial else _sum("t", f"{int(kept.initial)}u")
    return f"{steps}u" if initial else f"({steps - 1}u - t)"


def _sum(first: str, *terms: str) -> str:
    """Return WGSL for a sum; a negative term begins with a minus sign."""
    text = first
    for term in terms:
        if term and term != "0u":
            text += f" {term}" if term.startswith("-") else f" + {term}"
    return text if text == first else f"({text})"


def _times(name: str, factor: int) -> str:
    """Return WGSL for a product with a constant, for `_sum`."""
    if factor == 0:
        return ""
    sign = "- " if factor < 0 else ""
    return f"{sign}{name}" if abs(factor) == 1 else f"{sign}{name} * {abs(factor)}u"
