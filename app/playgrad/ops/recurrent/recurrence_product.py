"""The products of a recurrence: of some rows in workgroup memory by a matrix in a buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playgrad.ops.core.loops import Loop
from playgrad.ops.recurrent.recurrence_data import Recurrence

NARROW, WIDE = 64, 256
"""Invocations of a workgroup. Kernels with ``NARROW`` can share a dispatch with most others."""
LEAST_DEPTH = 16
"""The least depth of a slice."""
COLUMNS = (4, 2)
"""Columns that an invocation may compute together."""
UNROLLED = (16, 8, 4, 2)
"""Terms of a sum that a round may compute. One workgroup has too few invocations to hide the time
of a load, so each has many loads on their way."""


@dataclass(frozen=True)
class RowProduct:
    """A product, computed by all invocations of a workgroup.

    Attributes:
        columns: of the result.
        depth: the terms of a sum.
        slices: parts of the depth, with sums of their own.
        size: invocations of the workgroup.
    """

    columns: int
    depth: int
    slices: int
    size: int

    @classmethod
    def of(cls, columns: int, depth: int, size: int) -> RowProduct:
        """Return the product with as many slices as there are invocations for."""
        slices = 1
        while 2 * slices * columns <= size and depth >= 2 * slices * LEAST_DEPTH:
            slices *= 2
        return cls(columns, depth, slices, size)

    def code(
        self, rows: int, left: int, weights: str, begins: int, target: int
    ) -> tuple[str, Loop]:
        """Return WGSL that computes the product, or the sums of its slices, and its loop.

        Args:
            left, target: places in workgroup memory, for each row.
            weights: the buffer of the matrix, which begins with element ``begins``.
        """
        columns, size = self.columns, self.size
        together = next((n for n in COLUMNS if columns % (n * size) == 0), 1)
        deep = -(-self.depth // self.slices)
        is_even = self.depth % self.slices == 0
        unrolled = next((n for n in UNROLLED if is_even and deep % n == 0), 1)
        sums = [(r, n) for r in range(rows) for n in range(together)]
        terms = [
            f"let w{k}_{n} = {weights}[(k + {k}u) * {columns}u + c + {begins + n * size}u];"
            for k in range(unrolled)
            for n in range(together)
        ]
        for k in range(unrolled):
            terms += [
                f"let x{k}_{r} = values[{left * rows + r * self.depth + k}u + k];"
                for r in range(rows)
            ]
            terms += [f"s{r}_{n} += x{k}_{r} * w{k}_{n};" for r, n in sums]
        # Sums of a slice follow those of the slice before it.
        row = f"(slice * {rows}u + {{}}u) * {columns}u"
        stores = [
            f"values[{target * rows}u + {row.format(r)} + c + {n * size}u] = s{r}_{n};"
            for r, n in sums
        ]
        lines = [f"var s{r}_{n} = 0.0;" for r, n in sums]
        items = self.slices * columns
        code = f"""    for (var p = invocation; p < {items}u; p += {size * together}u) {{
      let c = p % {columns}u;
      let slice = p / {columns}u;
      let end = min(slice * {deep}u + {deep}u, {self.depth}u);
      {_joined(lines, 6)}
      for (var k = slice * {deep}u; k < end; k += {unrolled}u) {{
        {_joined(terms, 8)}
      }}
      {_joined(stores, 6)}
    }}
    workgroupBarrier();
"""
        passes = -(-items // (size * together))
        return code, Loop(passes, (Loop(deep // unrolled),))

    def sum_of_slices(self, rows: int, place: int) -> str:
        """Return WGSL for the sum of element ``p`` of all slices, from the first to the last."""
        each = rows * self.columns
        return " + ".join(f"values[{place * rows + s * each}u + p]" for s in range(self.slices))


def invocations(recurrence: Recurrence) -> int:
    """Return the invocations of a workgroup."""
    work = [columns * depth for columns, depth in _sizes(recurrence).values()]
    return WIDE if max(work, default=0) > NARROW * NARROW else NARROW


def products_of(recurrence: Recurrence) -> dict[int, RowProduct]:
    """Return the products, by the numbers of their instructions."""
    size = invocations(recurrence)
    return {number: RowProduct.of(*each, size) for number, each in _sizes(recurrence).items()}


def _sizes(recurrence: Recurrence) -> dict[int, tuple[int, int]]:
    """Return the columns and the depth of each product."""
    sizes = {}
    for number, each in enumerate(recurrence.body):
        if each.op == "matmul":
            _, instruction, output = each.inputs[0]
            sizes[number] = each.widths[0], recurrence.width((instruction, output))
    return sizes


def _joined(lines: Sequence[str], indent: int) -> str:
    return ("\n" + " " * indent).join(lines)
