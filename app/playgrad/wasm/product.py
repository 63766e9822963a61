"""Products of float32 matrices, in tiles of 6 x 8 that stay in registers.

Blocks of both operands are first packed into panels in the order in which the tiles read them
(Goto, van de Geijn, "Anatomy of high-performance matrix multiplication", 2008), so that transposed
operands, or any other view, cost no more. Sums run over rising indices, in blocks of `DEPTH` terms.
"""

from __future__ import annotations

from playgrad.wasm.encoding import F32, I32, V128
from playgrad.wasm.module import Module
from playgrad.wasm.procedure import Procedure
from playgrad.wasm.values import integer, multiply_add, smaller, zeros

ROWS, COLUMNS = 6, 8
"""Of a tile: its 12 vectors, and 3 of operands, fill the 16 registers of x86-64."""
DEPTH, HEIGHT, WIDTH = 256, 96, 512
"""Of blocks: terms, rows of the first operand, columns of the second one."""
_TILE = 4 * ROWS * COLUMNS
SCRATCH = 4 * DEPTH * (HEIGHT + WIDTH) + _TILE
"""Bytes of memory that a product needs for itself."""


def product_module(relaxed: bool) -> bytes:
    """Return a module with the function ``product``, for stacks of matrices.

    Its parameters are integers; addresses and distances are in bytes:

    - the numbers of products, of rows and columns of each, and of terms of a sum;
    - of each operand, its address and the distances of its matrices, rows and columns;
    - the same of the result, whose columns must be dense;
    - the address of `SCRATCH` bytes.

    Args:
        relaxed: use Relaxed SIMD, which may leave products unrounded.
    """
    module = Module()
    product = _product(module, relaxed)
    f = module.procedure([I32] * 17, "product")
    count, *size = f.arguments[:4]
    a, a_step, *a_steps = f.arguments[4:8]
    b, b_step, *b_steps = f.arguments[8:12]
    c, c_step, c_row, _, scratch = f.arguments[12:]
    with f.count(count):
        f.call(product, *size, a, *a_steps, b, *b_steps, c, c_row, scratch)
        for place, step in ((a, a_step), (b, b_step), (c, c_step)):
            f.add(place, step)
    return module.encode()


def _product(module: Module, relaxed: bool) -> Procedure:
    """Add a function for one product, whose parameters are those of a stack without the first."""
    tile = _tile(module, relaxed)
    edge = _edge(module)
    pack_rows, pack_columns = _pack(module, ROWS), _pack(module, COLUMNS)
    f = module.procedure([I32] * 12)
    m, n, k, a, a_row, a_column, b, b_row, b_column, c, c_row, scratch = f.arguments
    columns = f.copy(scratch + _TILE)
    rows = f.copy(columns + 4 * DEPTH * WIDTH)
    with f.count(k, DEPTH) as term, f.count(n, WIDTH) as left:
        terms, width = f.copy(smaller(k - term, DEPTH)), f.copy(smaller(n - left, WIDTH))
        with f.count(width, COLUMNS) as x:
            source = b + term * b_row + (left + x) * b_column
            valid = smaller(width - x, COLUMNS)
            f.call(pack_columns, columns + x * terms * 4, source, terms, valid, b_column, b_row)
        with f.count(m, HEIGHT) as top:
            height = f.copy(smaller(m - top, HEIGHT))
            with f.count(height, ROWS) as y:
                source = a + (top + y) * a_row + term * a_column
                valid = smaller(height - y, ROWS)
                f.call(pack_rows, rows + y * terms * 4, source, terms, valid, a_row, a_column)
            with f.count(width, COLUMNS) as x, f.count(height, ROWS) as y:
                operands = (rows + y * terms * 4, columns + x * terms * 4)
                target = f.copy(c + (top + y) * c_row + (left + x) * 4)
                is_whole = (height - y >= ROWS) & (width - x >= COLUMNS)
                with f.when(is_whole):
                    f.call(tile, *operands, terms, target, c_row, term)
                with f.otherwise():
                    f.call(tile, *operands, terms, scratch, integer(4 * COLUMNS), integer(0))
                    size = (smaller(height - y, ROWS), smaller(width - x, COLUMNS))
                    f.call(edge, scratch, *size, target, c_row, term)
    return f


def _tile(module: Module, relaxed: bool) -> Procedure:
    """Add a function for a tile: of two panels with their number of terms, to an address with the
    distance of rows there, added to what is there unless the last argument is 0."""
    f = module.procedure([I32] * 6)
    rows, columns, terms, target, row, adds = f.arguments
    sums = [[f.copy(zeros()) for _ in range(COLUMNS // 4)] for _ in range(ROWS)]
    vectors = [f.local(V128) for _ in sums[0]]
    with f.count(terms):
        for number, vector in enumerate(vectors):
            f.set(vector, columns.load(V128, 16 * number))
        for number, line in enumerate(sums):
            factor = f.copy(rows.load_splat(4 * number))
            for total, vector in zip(line, vectors, strict=True):
                f.set(total, multiply_add(factor, vector, total, relaxed))
        f.add(rows, 4 * ROWS)
        f.add(columns, 4 * COLUMNS)
    for line in sums:
        with f.when(adds):
            for number, total in enumerate(line):
                f.set(total, target.load(V128, 16 * number) + total)
        for number, total in enumerate(line):
            f.store(target, total, 16 * number)
        f.add(target, row)
    return f


def _edge(module: Module) -> Procedure:
    """Add a function that copies the valid rows and columns of a tile to their place."""
    f = module.procedure([I32] * 6)
    tile, rows, columns, target, row, adds = f.arguments
    with f.count(rows):
        with f.count(columns) as x:
            place, value = f.copy(target + x * 4), f.copy((tile + x * 4).load(F32))
            with f.when(adds):
                f.set(value, place.load(F32) + value)
            f.store(place, value)
        f.add(tile, 4 * COLUMNS)
        f.add(target, row)
    return f


def _pack(module: Module, width: int) -> Procedure:
    """Add a function that packs ``width`` lines of an operand into a panel, in which the first
    elements of all lines come first.

    Its parameters: the panel, the first line, the number of elements of each line, the number of
    lines that exist, and the distances of lines and of elements. Other lines repeat the last one.
    """
    f = module.procedure([I32] * 6)
    panel, source, length, valid, line, element = f.arguments
    with f.when(line.equals(4) & valid.equals(width)), f.count(length):
        for part in _parts(width):
            f.store(panel, source.load(V128, part), part)
        f.add(source, element)
        f.add(panel, 4 * width)
    with f.otherwise():
        sources = [f.copy(source)]
        for number in range(1, width):
            sources.append(f.copy(sources[-1]))
            with f.when(integer(number) < valid):
                f.add(sources[-1], line)
        with f.count(length):
            for number, place in enumerate(sources):
                f.store(panel, place.load(F32), 4 * number)
                f.add(place, element)
            f.add(panel, 4 * width)
    return f


def _parts(width: int) -> list[int]:
    """Return the offsets of vectors that cover ``width`` elements; the last two may overlap."""
    return [4 * min(first, width - 4) for first in range(0, width, 4)]
