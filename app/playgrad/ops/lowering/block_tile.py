"""The tile of results of a workgroup of matmul_blocks.wgsl, and its unrolled WGSL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from playgrad.ops.lowering.half_operands import half_element, half_quad
from playgrad.ops.lowering.register_tile import indented


@dataclass(frozen=True)
class BlockTile:
    """A tile of results of a workgroup.

    Attributes:
        rows, columns: its size.
        thread_rows, thread_columns: the results of an invocation, multiples of 4.
        step: the depths that a slice stages at a time, a multiple of 4.
        slices: the numbers of slices to choose from.
        ahead: whether an invocation loads what the next round stages before it multiplies.
    """

    rows: int
    columns: int
    thread_rows: int
    thread_columns: int
    step: int
    slices: tuple[int, ...] = (1,)
    ahead: bool = False

    @property
    def threads(self) -> int:
        """The invocations of a slice."""
        return self.rows * self.columns // self.results

    @property
    def results(self) -> int:
        """The results of an invocation."""
        return self.thread_rows * self.thread_columns

    def storage(self, slices: int) -> int:
        """Return the bytes of workgroup memory."""
        return 4 * slices * self.step * (self.rows + self.columns)

    def tiles(self, rows: int, columns: int) -> int:
        """Return the number of tiles that cover a result."""
        return ceil(rows / self.rows) * ceil(columns / self.columns)


def operand_code(letter: str, is_wide: bool, is_half: bool) -> dict[str, str]:
    """Return WGSL of one element of an operand, and of four, by its binding."""
    if is_half:
        one, four = half_element(letter, "at", is_wide), half_quad(letter, "at", is_wide)
        return {f"element_{letter}": one, f"quad_{letter}": four}
    if is_wide:
        texts = f"{letter}[at / 4u][at % 4u]", f"{letter}[at / 4u]"
    else:
        four = ", ".join(f"{letter}[at + {i}u]" for i in range(4))
        texts = f"{letter}[at]", f"vec4<f32>({four})"
    return {f"element_{letter}": texts[0], f"quad_{letter}": texts[1]}


_SUM_OF_SLICES = [
    "tile_a[invocation] = results[i];",
    "workgroupBarrier();",
    "if (i % SLICES == slice) {",
    "  results[i] = sum_of_slices(thread);",
    "}",
    "workgroupBarrier();",
]


def tile_code(tile: BlockTile, slices: int) -> dict[str, str]:
    """Return the parts of matmul_blocks.wgsl with a line for each vector of the tile."""
    rows, quads = tile.thread_rows, tile.thread_columns // 4
    names = [f"sum{i}_{j}" for i in range(rows) for j in range(quads)]
    products = [f"let a{q} = tile_a[at_a + {q}u * THREADS_DOWN];" for q in range(rows // 4)]
    products += [f"let b{j} = tile_b[at_b + {j}u * THREADS_ACROSS];" for j in range(quads)]
    products += [
        f"sum{i}_{j} += a{i // 4}.{'xyzw'[i % 4]} * b{j};"
        for i in range(rows)
        for j in range(quads)
    ]
    return {
        "sums": indented(2, (f"var {name} = vec4<f32>();" for name in names)),
        "products": indented(6, products),
        "results": ", ".join(names),
        **_staging(tile),
        "slices": indented(4, _SUM_OF_SLICES if slices > 1 else ()),
    }


def _staging(tile: BlockTile) -> dict[str, str]:
    """Return the lines by which the invocations of a slice stage blocks, and load them ahead."""

    def put(letter: str, number: str, i: int) -> str:
        return f"put_{letter}({number}, slice, next{i});"

    def load(letter: str, number: str, depth: str) -> str:
        first = {"a": "first_row", "b": "first_column"}[letter]
        return f"load_{letter}({number}, {first}, {depth}, end, batch)"

    if not tile.ahead:
        staging = _for_blocks(
            tile, lambda x, number, i: f"put_{x}({number}, slice, {load(x, number, 'first')});"
        )
        return {"ahead": "", "staging": indented(4, staging), "next": ""}

    def loads(depth: str) -> list[str]:
        return _for_blocks(tile, lambda x, number, i: f"next{i} = {load(x, number, depth)};")

    puts = _for_blocks(tile, put)
    declared = [f"var next{i} = mat4x4<f32>();" for i in range(len(puts))]
    return {
        "ahead": indented(2, [*declared, *loads("start + slice * STEP")]),
        "staging": indented(4, puts),
        "next": indented(4, loads("first + SLICES * STEP")),
    }


def _for_blocks(tile: BlockTile, line: Callable[[str, str, int], str]) -> list[str]:
    """Return ``line`` for all blocks that an invocation stages, first those of A.

    Args:
        line: returns WGSL by the operand's letter, the number of the block in a step, and that
            among the blocks of an invocation.
    """
    of_a, of_b = tile.rows * tile.step // 16, tile.columns * tile.step // 16
    lines = []
    for i, first in enumerate(range(0, of_a + of_b, tile.threads)):
        a = line("a", f"thread + {first}u", i)
        number = f"thread + {first}u - {of_a}u"
        b = line("b", number, i)
        if first + tile.threads <= of_a:
            lines.append(a)
            continue
        if first + tile.threads > of_a + of_b:
            b = f"if ({number} < {of_b}u) {{ {b} }}"
        lines.append(
            b if first >= of_a else f"if (thread < {of_a - first}u) {{ {a} }} else {{ {b} }}"
        )
    return lines
