"""Writes out the tile of results that one invocation of matmul_quads.wgsl keeps in registers."""

from __future__ import annotations

from playgrad.ops.lowering.register_tile import indented


def quad_code(rows: int, columns: int, unrolled: int, places_move: bool) -> dict[str, str]:
    """The parts of matmul_quads.wgsl with a line for each row, column or result of the tile.

    Args:
        rows, columns: of the tile, both even.
        unrolled: depths of a round.
        places_move: whether it depends on the depth which elements of a row are there.
    """
    own_rows, own_columns = range(rows // 2), range(columns // 2)
    origins = [f"let origin{i} = origin(min(row + own_rows + {i}u, ROWS - 1u));" for i in own_rows]
    origins += [
        f"let column{j} = min(column + own_columns + {j}u, COLUMNS - 1u) * B_COLUMN;"
        for j in own_columns
    ]
    starts: list[str] = []
    for i in own_rows:
        starts.append(f"let row{i} = row_at(origin{i}, tap_row, tap_column);")
        starts.append(f"var at{i} = row{i}.x + start;")
        if places_move:
            starts.append(f"var place{i} = row{i}.y + first_depth * PLACE_STEP;")
    results = [f"sum{i}_{j}" for i in range(rows) for j in range(columns)]
    products = [line for k in range(unrolled) for line in _round(rows, columns, k, places_move)]
    return {
        "origins": indented(2, origins),
        "sums": indented(2, (f"var {name} = 0.0;" for name in results)),
        "starts": indented(4, starts),
        "products": indented(6, products),
        "results": ", ".join(results),
    }


def _round(rows: int, columns: int, k: int, places_move: bool) -> list[str]:
    """The products of depth ``depth + k``."""
    lines: list[str] = []
    for i in range(rows // 2):
        place = f"place{i}" if places_move else f"row{i}.y"
        lines.append(f"let a{k}_{i} = load_a(at{i}, {place});")
        lines.append(f"let a{k}_{i + rows // 2} = quadSwapX(a{k}_{i});")
        lines.append(f"at{i} += A_STEP;")
        if places_move:
            lines.append(f"place{i} += PLACE_STEP;")
    for j in range(columns // 2):
        lines.append(f"let b{k}_{j} = b[at_b + {k}u * B_DEPTH + column{j}];")
        lines.append(f"let b{k}_{j + columns // 2} = quadSwapY(b{k}_{j});")
        for column in (j, j + columns // 2):
            lines += [f"sum{i}_{column} += a{k}_{i} * b{k}_{column};" for i in range(rows)]
    return lines
