"""The board of a game that the program's player learns, as the page asks for it."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import paths
from playgrad.page import game_search
from playgrad.page.game_board import MOST_ACTIONS, GameBoard
from playgrad.page.game_search import MOST_SECONDS, MOST_SIMULATIONS, MOVES, REPLIES, affordable
from tests.page.answers import check_answer
from tests.page.python_side import PythonSide, python_side

PROGRAM = """
import playgrad as pg

game = pg.games.TicTacToe()
model = pg.games.network(game, filters=4, blocks=0, device="cpu")
player = pg.SelfPlay(game, model, simulations=4, games=8, steps=4, batch_size=16, gate_every=2)
player.fit(generations=3, verbose=0)
"""
TIC_TAC_TOE = {"name": "TicTacToe", "size": 3}


def view(side: PythonSide, actions: list[int], simulations: int = 0, **more: Any) -> dict[str, Any]:
    """Return the answer for a position, which has the fields that the page knows."""
    reply = side.ask("game_view", actions=actions, simulations=simulations, **more)
    assert reply["ok"], reply
    return check_answer("game_view", reply["answer"])


def asked(number: int, actions: list[int], simulations: int) -> dict[str, Any]:
    return {"kind": "game_view", "id": number, "actions": actions, "simulations": simulations}


def weights(side: PythonSide) -> str:
    return str(side.ask("export", format="npz")["answer"]["sha256"])


def test_the_board_answers_while_the_network_learns_and_changes_nothing() -> None:
    with python_side() as side:
        assert side.run(PROGRAM) == "done"
        undisturbed = weights(side)
        (game,) = side.of("game")
        assert game["game"]["name"] == "tic-tac-toe" and len(game["game"]["at"]) == 9
        side.events.clear()
        questions = [asked(90 + at, [4, 0][:at], 12) for at in range(3)]
        assert side.run(PROGRAM, *questions) == "done"
        early = [each for each in side.of("reply") if each["id"] >= 90]
        assert [each["answer"]["search"]["simulations"] for each in early] == [12] * 3
        kinds = [event["kind"] for event in side.events]
        assert kinds.index("game") < kinds.index("reply") < kinds.index("fit_end")
        assert weights(side) == undisturbed
        late = view(side, [4, 0], 12)
        assert late["search"]["prior"] != early[2]["answer"]["search"]["prior"]
        assert weights(side) == undisturbed


def test_a_search_is_shown_with_its_tree() -> None:
    with python_side() as side:
        side.run(PROGRAM)
        answer = view(side, [4], 64)
        search, legal = answer["search"], answer["position"]["legal"]
        assert legal == [0, 1, 2, 3, 5, 6, 7, 8]
        assert search["simulations"] == search["asked"] == 64
        assert sum(search["visits"]) == 64 and search["visits"][4] == 0
        assert sum(search["prior"]) == pytest.approx(1, abs=1e-5) and search["prior"][4] == 0
        assert -1 <= search["value"] <= 1 and max(map(abs, search["q"])) <= 1
        tree = {tuple(node["path"]): node for node in search["tree"]}
        assert {len(path) for path in tree} == {1, 2, 3}
        assert sum(len(path) == 1 for path in tree) <= MOVES
        assert search["line"][0] == search["tree"][0]["path"][0]
        for path, node in tree.items():
            if len(path) == 1:
                assert node["visits"] == search["visits"][path[0]]
                assert node["q"] == search["q"][path[0]]
            else:
                assert node["visits"] < tree[path[:-1]]["visits"]
            replies = [n["visits"] for p, n in tree.items() if p[:-1] == path]
            assert replies == sorted(replies, reverse=True) and len(replies) <= REPLIES
        assert view(side, [4], 64)["search"] == search
        alone = view(side, [4])["search"]
        assert alone["prior"] == search["prior"] and alone["visits"] == [0] * 9
        assert alone["tree"] == alone["line"] == []


def test_a_large_network_has_time_for_fewer_simulations() -> None:
    assert affordable(256, 1e-3) == 256
    assert affordable(256, 0.1) == int(MOST_SECONDS / 0.1) < 256
    assert affordable(256, 60) == 1 and affordable(16, 0) == 16


def test_a_search_whose_walks_are_slow_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page gives up a Python that is silent, so that moving takes time, too."""

    class Slow(pg.games.TicTacToe):
        def play(self, state: Any, action: int) -> Any:
            time.sleep(0.02)
            return super().play(state, action)

    monkeypatch.setattr(game_search, "MOST_SECONDS", 0.4)
    game = Slow()
    model = pg.games.network(game, filters=2, blocks=0, device="cpu")
    form = game_search.searched(game, model, game.initial(), 400)
    assert form["asked"] == 400
    assert 1 <= form["simulations"] == sum(form["visits"]) <= 21
    model.close()


def test_the_end_of_a_game_has_a_result_and_no_search() -> None:
    with python_side() as side:
        side.run(PROGRAM)
        answer = view(side, [0, 3, 1, 4, 2], 16)
        assert answer["position"]["result"] == 1 and answer["search"] is None
        assert answer["position"]["legal"] == [] and answer["position"]["placed"] == 2
        answer = view(side, [8, 0, 7, 3, 1, 6], 16)
        assert answer["position"]["result"] == -1
        answer = view(side, [0, 1, 2, 4, 3, 5, 7, 6, 8], 16)
        assert answer["position"]["result"] == 0


def test_a_move_that_breaks_the_rules_is_refused_with_the_position_before_it() -> None:
    with python_side() as side:
        side.run(PROGRAM)
        answer = view(side, [4, 0, 4, 8], 16)
        assert answer["refused"] == {
            "action": 4,
            "why": "tic-tac-toe: b2 is not legal, the point is taken.",
        }
        assert answer["position"]["actions"] == [4, 0] and answer["search"] is None
        assert view(side, [4, 0, 8], 0)["refused"] is None
        for wrong in (9, 10**30):
            assert "has actions 0 to 8" in view(side, [wrong])["refused"]["why"]


def test_questions_have_bounds() -> None:
    with python_side() as side:
        side.run(PROGRAM)
        for field, words in (
            ({"simulations": MOST_SIMULATIONS + 1}, f"at most {MOST_SIMULATIONS}"),
            ({"actions": [0] * (MOST_ACTIONS + 1)}, f"at most {MOST_ACTIONS}"),
            ({"actions": [-1]}, "is no count"),
            ({"simulations": 0.5}, "is no count"),
        ):
            reply = side.ask("game_view", **({"actions": [], "simulations": 0} | field))
            assert not reply["ok"] and words in reply["error"]["message"]


def test_a_program_that_has_not_run_has_the_rules_alone() -> None:
    with python_side() as side:
        answer = view(side, [40, 39], rules={"name": "Go", "size": 9})
        assert answer["search"] is None and answer["game"]["passes"] == 81
        assert view(side, [0], rules=TIC_TAC_TOE)["game"]["columns"] == 3
        reply = side.ask("game_view", actions=[], simulations=0)
        assert "has made no player that learns a game" in reply["error"]["message"]
        reply = side.ask(
            "game_view", actions=[], simulations=0, rules={"name": "Othello", "size": 5}
        )
        assert "Othello is played on 4, 6 or 8 rows, got 5" in reply["error"]["message"]
        reply = side.ask("game_view", actions=[], simulations=0, rules={"name": "os", "size": 5})
        assert "is not one of" in reply["error"]["message"]


def test_weights_of_an_earlier_step_and_of_an_earlier_visit_answer() -> None:
    with python_side() as side:
        side.run(PROGRAM)
        first = bytes(side.of("checkpoint")[0]["bytes"])
        now = view(side, [4], 8)["search"]
        then = view(side, [4], 8, payload=first)["search"]
        assert then["prior"] != now["prior"]
        assert view(side, [4], 8)["search"] == now
        content = side.checkpoint
        side.requests += [{"kind": "reset"}]
        side.serve()
        assert view(side, [4], 8, rules=TIC_TAC_TOE)["search"] is None
        side.ask("restore", payload=content)
        assert view(side, [4], 8, rules=TIC_TAC_TOE)["search"] == now
        assert view(side, [4], 8, payload=first, rules=TIC_TAC_TOE)["search"] == then
        reply = side.ask(
            "game_view", actions=[], simulations=0, rules={"name": "ConnectFour", "size": 7}
        )
        assert "a network that plays Connect Four takes planes" in reply["error"]["message"]


def test_a_network_whose_outputs_are_not_finite_is_reported() -> None:
    program = (
        PROGRAM
        + "model.set_weights({k: v + float('nan') for k, v in model.named_weights().items()})"
    )
    with python_side() as side:
        assert side.run(program) == "done"
        reply = side.ask("game_view", actions=[], simulations=4)
        assert "are not finite" in reply["error"]["message"]


def test_the_prompt_and_the_next_program_have_games_of_their_own() -> None:
    with python_side() as side:
        side.run(PROGRAM)
        side.ask("prompt", code="other = pg.SelfPlay(pg.games.ConnectFour())")
        assert view(side, [4])["game"]["name"] == "tic-tac-toe" and len(side.of("game")) == 1
        side.run("print('no game')")
        reply = side.ask("game_view", actions=[], simulations=0)
        assert "has made no player" in reply["error"]["message"]


def changes(game: pg.games.Game[Any], *moves: str) -> dict[str, Any]:
    """Return the position after moves by name."""
    names = [game.action_name(action) for action in range(game.actions)]
    board = GameBoard(game)
    board.play([names.index(move) for move in moves])
    position = board.position()
    at = board.form()["at"]
    cells = [names[action] for action in at if action is not None]
    return {
        "placed": None if position["placed"] is None else cells[position["placed"]],
        "changed": [cells[cell] for cell in position["changed"]],
        "board": np.reshape(position["board"], (game.rows, game.columns)),
    }


def test_captured_and_turned_stones_are_marked() -> None:
    go = changes(pg.games.Go(5), *["a1", "b1", "a2", "b2", "pass", "a3"])
    assert go["placed"] == "a3" and sorted(go["changed"]) == ["a1", "a2"]
    assert go["board"].sum() == 2 * 3
    passed = changes(pg.games.Go(5), "a1", "pass")
    assert passed["placed"] is None and passed["changed"] == []
    othello = changes(pg.games.Othello(6), "b3")
    assert othello["placed"] == "b3" and othello["changed"] == ["c3"]
    connect = changes(pg.games.ConnectFour(), "column 4", "column 4")
    assert connect["board"][4:, 3].tolist() == [2, 1] and connect["changed"] == []


def test_a_board_takes_moves_back() -> None:
    board = GameBoard(pg.games.TicTacToe())
    for actions in ([4, 0, 8], [4, 0], [4, 1, 2], []):
        board.play(actions)
        fresh = GameBoard(pg.games.TicTacToe())
        fresh.play(actions)
        assert board.position() == fresh.position()


_BOARDS = f"""
import {{ firstBoard, gameOf }} from "{(paths.static() / "js/games/programs.js").as_uri()}";
import {{ readFileSync }} from "node:fs";
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map((code) => {{
  const game = gameOf(code);
  return game && {{ form: game.form, board: firstBoard(game.form), rules: game.rules }};
}})));
"""


def test_the_board_before_a_run_is_that_of_the_rules() -> None:
    """The page draws it from the program alone, before Python has run it."""
    codes = ["TicTacToe()", "ConnectFour()", "Othello()", "Go()"]
    codes += [f"Othello({size})" for size in (4, 8)] + [f"Go(size={size})" for size in range(2, 20)]
    node = shutil.which("node")
    assert node, "these tests need Node.js 20 or newer"
    done = subprocess.run(
        [node, "--input-type=module", "-e", _BOARDS],
        input=json.dumps([f"player = pg.SelfPlay(pg.games.{code})" for code in codes]),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for code, drawn in zip(codes, json.loads(done.stdout), strict=True):
        board = GameBoard(eval(f"pg.games.{code}"))
        assert drawn["form"] == board.form(), code
        assert drawn["board"] == board.position()["board"]
        assert drawn["rules"] == {"name": code.partition("(")[0], "size": board.game.columns}
