"""Layer normalization, and its gradient, of rows that are in workgroup memory.

Several invocations have a part of each row, and leave their partial sums in workgroup memory, where
all add them from the first to the last. The numerics are those of kernels/common/row_moments.wgsl.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from playgrad.ops.core.loops import Loop
from playgrad.ops.recurrent.recurrence_data import Instruction

NORMALIZATIONS = ("layer_normalization", "layer_normalization_gradient")
PARTS = 16
"""Partial sums of a row."""
SUMS = {"layer_normalization": 2, "layer_normalization_gradient": 4}
"""The sums over a row that each needs."""


@dataclass(frozen=True)
class RowNormalization:
    """The WGSL of an instruction.

    Args:
        rows, size: rows and invocations of a workgroup.
        place: of the partial sums in workgroup memory, for each row.
        read: returns WGSL for the element of an operand in a column, in row ``r``.
    """

    each: Instruction
    rows: int
    size: int
    place: int
    read: Callable[[int, str], str]

    @property
    def width(self) -> int:
        return self.each.widths[0]

    def passes(self) -> tuple[str, list[Loop]]:
        """Return WGSL that computes the partial sums, and its loops."""
        moments = self._moments()
        x = self.read(0, "c")
        code = [
            self._pass([0], [f"let base = {self.read(0, '0u')};"], [], [f"{x} - base"]),
            self._pass([1], moments[:4], [f"let d = {x} - mean;"], ["d * d"]),
        ]
        if len(self.each.widths) == 2:
            slopes = [f"let n = ({x} - mean) * factor;", f"let h = {self._slope()};"]
            code.append(self._pass([2, 3], [*moments, self._slope_base()], slopes, ["h", "h * n"]))
        inside = Loop(-(-self.width // PARTS))
        sums = [Loop(PARTS)] * (2 * SUMS[self.each.op])
        return "".join(code), [*(Loop(self._rounds, (inside,)) for _ in code), *sums]

    def result(self) -> list[str]:
        """Return the lines that compute the results ``y0``, ``y1`` of column ``c``."""
        lines = [*self._moments(), f"let n = ({self.read(0, 'c')} - mean) * factor;"]
        if len(self.each.widths) == 1:
            return [*lines, f"let y0 = n * {self.read(1, 'c')} + {self.read(2, 'c')};"]
        return [
            *lines,
            self._slope_base(),
            *self._mean("slope", 2),
            *self._mean("along", 3),
            f"let y0 = factor * ({self._slope()} - slope - n * along);",
            f"let y1 = {self.read(2, 'c')} * n;",
        ]

    @property
    def _rounds(self) -> int:
        return -(-self.rows * PARTS // self.size)

    def _moments(self) -> list[str]:
        epsilon = repr(float(self.each.attrs["epsilon"]))
        return [
            *self._mean("shift", 0),
            f"let mean = {self.read(0, '0u')} + shift;",
            *self._mean("variance", 1),
            f"let factor = select(bitcast<f32>(pg_nan), inverseSqrt(variance + {epsilon}), "
            "pg_isfinite(variance));",
        ]

    def _slope(self) -> str:
        return f"{self.read(2, 'c')} * {self.read(1, 'c')} - slope_base"

    def _slope_base(self) -> str:
        """Return a line with the first slope of the row, which all slopes are less: so equal ones
        have the gradient 0 however a quotient is rounded."""
        return f"let slope_base = {self.read(2, '0u')} * {self.read(1, '0u')};"

    def _part(self, number: int, part: str) -> str:
        parts = SUMS[self.each.op] * PARTS
        return f"values[{self.place * self.rows + number * PARTS}u + r * {parts}u + {part}]"

    def _mean(self, name: str, number: int) -> list[str]:
        """Return lines that divide a sum by the width."""
        return [
            f"var {name} = 0.0;",
            f"for (var l = 0u; l < {PARTS}u; l++) {{ {name} += {self._part(number, 'l')}; }}",
            f"{name} /= {float(self.width)};",
        ]

    def _pass(
        self, numbers: Sequence[int], before: Sequence[str], lines: Sequence[str],
        terms: Sequence[str],
    ) -> str:  # fmt: skip
        """Return a pass over the rows that adds up ``terms`` of each column ``c``."""
        sums = [f"var sum{n} = 0.0;" for n in numbers]
        adds = [f"sum{n} += {term};" for n, term in zip(numbers, terms, strict=True)]
        stores = [f"{self._part(n, 'part')} = sum{n};" for n in numbers]
        return f"""    for (var p = invocation; p < {self.rows * PARTS}u; p += {self.size}u) {{
      let r = p / {PARTS}u;
      let part = p % {PARTS}u;
      let row = min(first + r, ROWS - 1u);
      {" ".join([*before, *sums])}
      for (var c = part; c < {self.width}u; c += {PARTS}u) {{ {" ".join([*lines, *adds])} }}
      {" ".join(stores)}
    }}
    workgroupBarrier();
"""
