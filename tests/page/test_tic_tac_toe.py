"""The board in Watch has the rules of the example, and shows its network the same positions."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
from typing import Any

import numpy as np

from playgrad import paths
from tests.page.python_side import python_side

SOURCES = {
    path.stem: path.read_text(encoding="utf-8")
    for path in (paths.static() / "examples").glob("*.py")
}
_SCRIPT = f"""
import {{ bestMove, isOfTicTacToe, isOver, positionsAfter, sideToMove, wonLine }} from
  "{(paths.static() / "js/panels/watch/tic-tac-toe.js").as_uri()}";
import {{ readFileSync }} from "node:fs";
const {{ games, sources }} = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify({{
  boards: games.map(({{ cells, ratings }}) => ({{
    side: sideToMove(cells), over: isOver(cells), won: wonLine(cells),
    positions: positionsAfter(cells), best: bestMove(cells, ratings),
  }})),
  programs: Object.keys(sources).filter((name) => isOfTicTacToe(sources[name])),
}}));
"""


def page(games: list[dict[str, Any]], sources: dict[str, str]) -> dict[str, Any]:
    """Return what the page says of boards with ratings, and which programs it has a board for."""
    node = shutil.which("node")
    assert node, "these tests need Node.js 20 or newer"
    result = subprocess.run(
        [node, "--input-type=module", "-e", _SCRIPT],
        input=json.dumps({"games": games, "sources": sources}),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def example() -> dict[str, Any]:
    """The names of the example, as far as they are defined without a network."""
    tree = ast.parse(SOURCES["tic-tac-toe"])
    kept = [
        each
        for each in tree.body
        if isinstance(each, ast.FunctionDef)
        or (isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) in ("LINES", "random"))
        or (isinstance(each, ast.Assign) and "GAMES" in ast.unparse(each))
    ]
    names: dict[str, Any] = {"np": np}
    exec(compile(ast.Module(kept, []), "tic-tac-toe.py", "exec"), names)
    return names


def test_the_page_plays_by_the_rules_of_the_example() -> None:
    names = example()
    boards, running, _ = names["play"](names["by_chance"], names["by_chance"], games=40)
    games, expected = [], []
    ratings = np.random.default_rng(1).normal(size=(len(boards), 40, 9))
    for turn in range(len(boards) - 1):
        side = 1 if (turn + 1) % 2 == 0 else -1
        for game in np.flatnonzero(running[turn]):
            cells = boards[turn, game]
            won = names["LINES"] and (cells[names["LINES"]].sum(axis=1) == -3 * side)
            after = cells + side * np.eye(9, dtype=int)
            free = cells == 0
            games.append({"cells": cells.tolist(), "ratings": ratings[turn, game].tolist()})
            expected.append({
                "side": side,
                "won": names["LINES"][int(won.argmax())] if won.any() else None,
                "over": bool(won.any() or not free.any()),
                "positions": names["seen"](after, side)[free].tolist(),
                "best": int(np.where(free, ratings[turn, game], -np.inf).argmax()),
            })  # fmt: skip
    said = page(games, {})["boards"]
    assert any(each["won"] for each in said) and not all(each["over"] for each in said)
    for answer, game in zip(said, games, strict=True):
        free = np.asarray(game["cells"]) == 0
        answer["positions"] = np.asarray(answer["positions"], float)[free].tolist()
    assert said == expected


def test_only_programs_of_the_game_have_the_board() -> None:
    assert page([], SOURCES)["programs"] == ["tic-tac-toe"]
    edited = SOURCES["tic-tac-toe"].replace("[3, 4, 5]", "(5, 4, 3)")
    other = SOURCES["tic-tac-toe"].replace("[3, 4, 5]", "[3, 4, 6]")
    assert page([], {"edited": edited, "other": other})["programs"] == ["edited"]


def test_a_network_rates_what_the_page_asks_about() -> None:
    """Also as it was at a checkpoint; of inputs of another size it says what it takes."""
    program = """
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.random.default_rng(0).integers(0, 2, (32, 18)).astype(np.float32)
model = pg.Sequential([nn.Dense(4, "tanh"), nn.Dense(1)])
model.compile(optimizer=pg.optim.SGD(0.1), loss=nn.MeanSquaredError())
model.fit(x, x[:, :1], epochs=2, verbose=0)
print(model.predict(x[:9]).tobytes().hex())
"""
    x = np.random.default_rng(0).integers(0, 2, (32, 18))[:9].tolist()
    with python_side() as side:
        assert side.run(program) == "done"
        for payload in (None, side.checkpoint):
            answer = side.ask("outputs", x=x, payload=payload)
            assert bytes(answer["answer"]).hex() == side.output.split()[-1]
        error = side.ask("outputs", x=[[0, 1]])["error"]
        assert error["message"].startswith("the model takes inputs of shape (18,), but got 2")
