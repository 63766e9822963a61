"""Measures what `pg.SelfPlay` learns in a time, against players without a network.

python -m bench.learned_games connect-four --seconds 900
python -m bench.learned_games go-5x5 --seconds 300 --games 200
python -m bench.learned_games tic-tac-toe --seconds 60

Prints the Elo ratings on the way, and the matches at the end, with several lengths of search.
Times are of the clock: a busy machine learns less in them, which the processor's time beside them
shows.
"""

from __future__ import annotations

import argparse
import itertools
import time
from dataclasses import dataclass, field
from typing import Any

import playgrad as pg
from playgrad import games


@dataclass(frozen=True)
class Course:
    """How a game is learned, and who plays against the network then.

    Attributes:
        rate: of learning; a schedule counts the batches of training.
        walks: of the network's searches in these matches, one match for each.
    """

    game: games.Game[Any]
    rate: float | pg.optim.Schedule
    settings: dict[str, Any]
    others: list[games.Player]
    walks: tuple[int, ...]
    size: dict[str, int] = field(default_factory=lambda: {"filters": 32, "blocks": 1})


COURSES = {
    "tic-tac-toe": Course(
        games.TicTacToe(), 0.005, {"explored_moves": 9, "noise_share": 0.5},
        [games.RandomPlayer(), games.OnePlyPlayer()], (200,),
    ),
    "connect-four": Course(
        games.ConnectFour(), pg.optim.ExponentialDecay(0.003, 5000, 0.5),
        {"steps": 100, "explored_moves": 8, "searched_share": 0.25, "gate_every": 10},
        [games.OnePlyPlayer(), games.RolloutPlayer(100)], (100, 200),
    ),
    "go-5x5": Course(
        games.Go(5), 0.003, {"games": 32, "gate_every": 4, "gate_games": 16},
        [games.RandomPlayer()], (32,),
    ),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name", choices=COURSES)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--save", help="a file for the player, to go on later", metavar="FILE")
    options = parser.parse_args()
    course = COURSES[options.name]
    optimizer = pg.optim.AdamW(course.rate, weight_decay=1e-4)
    model = games.network(course.game, optimizer=optimizer, device="cpu", **course.size)
    play = pg.SelfPlay(course.game, model, **course.settings)
    started, used = time.perf_counter(), time.process_time()
    play.fit(seconds=options.seconds, verbose=0)
    seconds, used = time.perf_counter() - started, time.process_time() - used
    print(
        f"{options.name}: {play.generation} generations, {play.games_played:,} games, "
        f"{play.positions_evaluated:,} positions in {seconds:.0f} s ({used:.0f} s of a processor)"
    )
    print("Elo:", " ".join(f"{rating.generation}:{rating.elo:.0f}" for rating in play.ratings))
    if options.save:
        play.save(options.save)
    for walks, other in itertools.product(course.walks, course.others):
        result = games.match(course.game, play.player(walks), other, options.games)
        print(f"{walks} walks against {other.name}: {result} ({result.score:.1%})", flush=True)


if __name__ == "__main__":
    main()
