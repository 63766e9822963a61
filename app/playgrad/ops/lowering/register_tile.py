"""The unrolled WGSL of the tile that an invocation of matmul_register.wgsl keeps in registers."""

from __future__ import annotations

from collections.abc import Iterable


def tile_size(size: int, most: int) -> int:
    """Return the rows or columns of a tile, at most ``most``, for ``size`` of them in the result.

    All tiles are about equal, so that little of the last one lies past the edge.
    """
    return -(-size // -(-size // most))


def tile_code(rows: int, columns: int, places_move: bool) -> dict[str, str]:
    """Return the parts of matmul_register.wgsl with a line for each row, column or result.

    Args:
        places_move: whether the place of a row's element depends on the depth.
    """
    origins = [f"let origin{i} = origin(min(row + {i}u, ROWS - 1u));" for i in range(rows)]
    origins += [
        f"let column{j} = min(column + {j}u, COLUMNS - 1u) * B_COLUMN;" for j in range(columns)
    ]
    starts: list[str] = []
    products: list[str] = []
    place = "place{i}" if places_move else "row{i}.y"
    for i in range(rows):
        starts += row_starts(i, places_move)
        products.append(f"let a{i} = load_a(at{i}, {place.format(i=i)});")
        products.append(f"at{i} += A_STEP;")
        if places_move:
            products.append(f"place{i} += PLACE_STEP;")
    # Column by column: SwiftShader moves a{i} through memory between consecutive products with the
    # same a{i}, which takes a tenth of the time.
    for j in range(columns):
        products.append(f"let b{j} = b[at_b + column{j}];")
        products += [f"sum{i}_{j} += a{i} * b{j};" for i in range(rows)]
    return kernel_parts(rows, columns, origins, starts, products)


def row_starts(i: int, places_move: bool) -> list[str]:
    """Return the lines that locate row ``i`` at the start of a tap."""
    starts = [
        f"let row{i} = row_at(origin{i}, tap_row, tap_column);",
        f"var at{i} = row{i}.x + start;",
    ]
    if places_move:
        starts.append(f"var place{i} = row{i}.y + first_depth * PLACE_STEP;")
    return starts


def kernel_parts(
    rows: int, columns: int, origins: list[str], starts: list[str], products: list[str]
) -> dict[str, str]:
    """Return the parts of a kernel with a tile of ``rows`` x ``columns`` sums."""
    results = [f"sum{i}_{j}" for i in range(rows) for j in range(columns)]
    return {
        "origins": indented(2, origins),
        "sums": indented(2, (f"var {name} = 0.0;" for name in results)),
        "starts": indented(4, starts),
        "products": indented(6, products),
        "results": ", ".join(results),
    }


def indented(indent: int, lines: Iterable[str]) -> str:
    """Return ``lines`` with ``indent`` spaces before each."""
    return "\n".join(" " * indent + line for line in lines)
