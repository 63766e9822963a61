"""A player of tic-tac-toe that learns from its own games.

It plays both sides, 400 games at a time, and records each position
with the result of its game. A network learns from the records how a
position will end for the side that has just moved; the next games are
played with it, each move to the position that it rates best, after
an opening of random moves. Expect it to lose 1% of its games against
a player who moves at random; before training it loses 42% of them.
"""

from functools import partial

import numpy as np

import playgrad as pg
from playgrad import nn

GAMES, ROUNDS = 400, 10
LINES = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]]
random = np.random.default_rng(0)

model = pg.Sequential([pg.Input((18,)), nn.Dense(64, "relu"), nn.Dense(64, "relu"), nn.Dense(1)])
model.compile(optimizer=pg.optim.Adam(0.003), loss=nn.MeanSquaredError())


def seen(boards, side):
    """Boards (..., 9) of 1 and -1 as the network sees them: stones of ``side``, of the other."""
    return np.concatenate([boards == side, boards == -side], axis=-1).astype(np.float32)


def by_network(boards, side, opening=0):
    """Return the best move on each board; a random one if it has less than ``opening`` stones."""
    after = boards[:, None] + side * np.eye(9, dtype=int)  # (boards, moves, 9)
    worth = model.predict(seen(after, side).reshape(-1, 18)).reshape(-1, 9)
    best = np.where(boards == 0, worth, -np.inf).argmax(axis=1)
    return np.where((boards != 0).sum(axis=1) < opening, by_chance(boards, side), best)


def by_chance(boards, side):
    return np.where(boards == 0, random.random(boards.shape), -1).argmax(axis=1)


def play(first, second, games=GAMES):
    """Return the boards after each move, which of them were still played, and the winners."""
    boards, winner = np.zeros((games, 9), int), np.zeros(games, int)
    positions, running = [], []
    for turn in range(9):
        side, player = (1, first) if turn % 2 == 0 else (-1, second)
        going = winner == 0
        boards = boards.copy()
        moves = player(boards, side)
        boards[going, moves[going]] = side
        won = (boards[:, LINES].sum(axis=2) == 3 * side).any(axis=1)
        winner = np.where(going & won, side, winner)
        positions.append(boards)
        running.append(going)
    return np.array(positions), np.array(running), winner


def lost():
    """Return the share of games that the network loses, half of them as the first player."""
    as_first, as_second = play(by_network, by_chance)[2], play(by_chance, by_network)[2]
    return ((as_first == -1).mean() + (as_second == 1).mean()) / 2


print(f"lost before training {lost():.1%}")
records = []
turns = np.arange(9)[:, None]
sides = 1 - turns % 2 * 2  # 1, -1, 1, ...
for _ in range(ROUNDS):
    opening = random.integers(0, 7, GAMES)
    player = partial(by_network, opening=opening)
    positions, running, winner = play(player, player)
    recorded = running & (turns >= opening - 1)  # the result does not depend on chance any more
    x = seen(positions * sides[..., None], 1)[recorded]
    y = np.broadcast_to(winner * sides, running.shape)[recorded].astype(np.float32)[:, None]
    records = [*records[-2:], (x, y)]
    x, y = map(np.concatenate, zip(*records, strict=True))
    model.fit(x, y, batch_size=100, epochs=2, verbose=0)
print(f"lost after training {lost():.1%}")
