"""Products of float32 matrices, in tiles of 6 x 8 that stay in registers.

Blocks of both operands are first packed into panels in the order in which the tiles read them
(Goto, van de Geijn, "Anatomy of high-performance matrix multiplication", 2008), so that transposed
operands, or any other view, cost no more. Sums run over rising indices, in blocks of `DEPTH` terms.
"""

from __future__ import annotations

from collections.abc import Callable

from playgrad.wasm.encoding import F32, I32, V128
from playgrad.wasm.module import Module
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.values import StackValue, integer, multiply_add, smaller, zeros

ROWS, COLUMNS = 6, 8
"""Of a tile: its 12 vectors, and 3 of operands, fill the 16 registers of x86-64."""
DEPTH, HEIGHT, WIDTH = 256, 96, 512
"""Of blocks: terms, rows of the first operand, columns of the second one."""
_TILE = 4 * ROWS * COLUMNS
SCRATCH = 4 * DEPTH * (HEIGHT + WIDTH) + _TILE
"""Bytes of memory that a product needs for itself."""


def product_module(relaxed: bool) -> bytes:
    """Return a module with the functions ``product`` and ``indexed_product``.

    All parameters are integers; addresses and distances are in bytes. Those of ``product``, which
    multiplies stacks of matrices:

    - the numbers of products, of rows and columns of each, and of terms of a sum;
    - of each operand, its address and the distances of its matrices, rows and columns;
    - the same of the result, whose columns must be dense;
    - the address of `SCRATCH` bytes.

    ``indexed_product`` multiplies one matrix, whose element (i, j) is at its address + ``rows[i]``
    + ``columns[j]``, by another one. So are the pixels under the windows of a convolution. Its
    parameters:

    - the numbers of rows, columns and terms;
    - the addresses of the first operand, and of the int32 arrays ``rows`` and ``columns``;
    - of the second operand, the address and the distances of its rows and columns;
    - the address of the result and the distance of its rows, and of `SCRATCH` bytes.

    Args:
        relaxed: use Relaxed SIMD, which may leave products unrounded.
    """
    module = Module()
    ProductProcedures(module, relaxed, exported=True)
    return module.encode()


class ProductProcedures:
    """The procedures of `product_module`, in ``module``.

    Attributes:
        product, indexed_product: with the parameters of the functions of these names.
    """

    def __init__(self, module: Module, relaxed: bool, exported: bool = False) -> None:
        tile, edge = _tile(module, relaxed), _edge(module)
        pack_columns = _pack(module, COLUMNS)
        names = ("product", "indexed_product") if exported else (None, None)
        self.product = _stacked_product(module, tile, edge, pack_columns, names[0])
        pack_indexed = _pack_indexed(module, ROWS)
        self.indexed_product = module.procedure([I32] * 12, names[1])
        pack_rows = _indexed_rows(self.indexed_product, pack_indexed)
        _write_product(self.indexed_product, tile, edge, pack_columns, pack_rows)


def _stacked_product(
    module: Module, tile: Procedure, edge: Procedure, pack_columns: Procedure, export: str | None
) -> Procedure:
    product = module.procedure([I32] * 12)
    pack_rows = _strided_rows(product, _pack(module, ROWS))
    _write_product(product, tile, edge, pack_columns, pack_rows)
    f = module.procedure([I32] * 17, export)
    count, *size = f.arguments[:4]
    a, a_step, *a_steps = f.arguments[4:8]
    b, b_step, *b_steps = f.arguments[8:12]
    c, c_step, c_row, _, scratch = f.arguments[12:]
    with f.count(count):
        f.call(product, *size, a, *a_steps, b, *b_steps, c, c_row, scratch)
        for place, step in ((a, a_step), (b, b_step), (c, c_step)):
            f.add(place, step)
    return f


PackRows = Callable[[StackValue, StackValue, StackValue, Local, StackValue], None]
"""Packs a panel: its address, the first row and the first term, the numbers of terms and rows."""


def _strided_rows(f: Procedure, pack: Procedure) -> PackRows:
    a, a_row, a_column = f.arguments[3:6]

    def pack_rows(
        panel: StackValue, row: StackValue, term: StackValue, terms: Local, valid: StackValue
    ) -> None:
        source = a + row * a_row + term * a_column
        f.call(pack, panel, source, terms, valid, a_row, a_column)

    return pack_rows


def _indexed_rows(f: Procedure, pack: Procedure) -> PackRows:
    a, rows, columns = f.arguments[3:6]

    def pack_rows(
        panel: StackValue, row: StackValue, term: StackValue, terms: Local, valid: StackValue
    ) -> None:
        f.call(pack, panel, a, terms, valid, rows + row * 4, columns + term * 4)

    return pack_rows


def _write_product(
    f: Procedure, tile: Procedure, edge: Procedure, pack_columns: Procedure, pack_rows: PackRows
) -> None:
    """Write a function for one product, with 12 parameters: of a stack without the first, or of an
    indexed product."""
    m, n, k, _, _, _, b, b_row, b_column, c, c_row, scratch = f.arguments
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
                valid = smaller(height - y, ROWS)
                pack_rows(rows + y * terms * 4, top + y, term, terms, valid)
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


def _pack_indexed(module: Module, width: int) -> Procedure:
    """Add a function like `_pack`, for an operand whose elements are found by tables.

    Its parameters: the panel, the operand, the number of elements of each line, the number of
    lines that exist, and the addresses of the distances of lines and of elements.
    """
    f = module.procedure([I32] * 6)
    panel, operand, length, valid, lines, elements = f.arguments
    sources = []
    for number in range(width):
        last = smaller(integer(number), valid - 1)
        sources.append(f.copy(operand + (lines + last * 4).load(I32)))
    with f.count(length):
        offset = f.copy(elements.load(I32))
        for number, place in enumerate(sources):
            f.store(panel, (place + offset).load(F32), 4 * number)
        f.add(elements, 4)
        f.add(panel, 4 * width)
    return f


def _parts(width: int) -> list[int]:
    """Return the offsets of vectors that cover ``width`` elements; the last two may overlap."""
    return [4 * min(first, width - 4) for first in range(0, width, 4)]
