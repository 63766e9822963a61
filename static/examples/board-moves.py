"""A network that sees where to move on a 9 by 9 board of Go.

In each made-up position, exactly one move takes a stone: it fills the
last free point beside a lone stone of the other player. The network
has convolutions only, and its 81 outputs, one for each point, are the
scores of the moves. Nothing tells it the rules. Expect it to find the
move in 95% of the positions that it has not seen.
"""

import numpy as np

import playgrad as pg
from playgrad import nn

SIZE, POSITIONS, UNSEEN = 9, 3000, 500
random = np.random.default_rng(0)


def beside(points):
    """Return the four neighbours of each point: (boards, SIZE, SIZE, 4), False off the board."""
    wide = np.pad(points, ((0, 0), (1, 1), (1, 1)))
    sides = [wide[:, :-2, 1:-1], wide[:, 2:, 1:-1], wide[:, 1:-1, :-2], wide[:, 1:-1, 2:]]
    return np.stack(sides, axis=-1)


def positions(count):
    """Boards (count, SIZE, SIZE, 3): own stones, others, all points; and the number of a move."""
    boards, moves = [], []
    while sum(map(len, moves)) < count:
        cells = random.choice(3, (2000, SIZE, SIZE), p=[0.4, 0.35, 0.25])
        free, own, other = (cells == kind for kind in range(3))
        lone = other & ~beside(other).any(axis=-1) & (beside(free).sum(axis=-1) == 1)
        takes = free & beside(lone).any(axis=-1)
        one = takes.sum(axis=(1, 2)) == 1
        boards.append(np.stack([own, other, np.ones_like(own)], axis=-1)[one])
        moves.append(takes[one].reshape(-1, SIZE * SIZE).argmax(axis=1))
    return np.concatenate(boards)[:count].astype(np.float32), np.concatenate(moves)[:count]


model = pg.Sequential(
    [
        nn.Conv2D(24, 3, padding="same", activation="relu"),
        nn.Conv2D(24, 3, padding="same", activation="relu"),
        nn.Conv2D(1, 1),
        nn.Flatten(),
    ]
)
model.compile(
    optimizer=pg.optim.Adam(0.01),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
x, y = positions(POSITIONS)
model.fit(x, y, batch_size=50, epochs=4, verbose=0)
print(f"moves found {model.evaluate(*positions(UNSEEN))[1]:.1%}")
