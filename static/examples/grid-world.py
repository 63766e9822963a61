"""Deep Q-learning: a network finds its way by trying.

A walker on a grid of 6 by 6 fields with walls and two pits does not
know the map. Each step costs 0.04, a pit 1, and the goal gives 1.
From its recorded steps, a network learns what each of the four moves
is worth in the end (Mnih et al. 2015): 32 walkers gather steps, and a
copy of the network from some time ago rates the field that a step
leads to. Expect the shortest ways from all 25 fields.
"""

import numpy as np

import playgrad as pg
from playgrad import nn

MAP = ["S.....", ".##.#.", ".#..#.", "...#..", ".#O...", ".#..OG"]
MOVES = np.array([[-1, 0], [1, 0], [0, -1], [0, 1]])
WALKERS, ROUNDS, BATCH, DISCOUNT, REFRESH = 32, 1000, 128, 0.95, 25
random = np.random.default_rng(0)
grid = np.array([list(row) for row in MAP])
fields = np.flatnonzero(np.isin(grid, ["S", "."]))  # where a walk can start


def move(places, moves):
    """Return the next places, the rewards, and whether the walks end there."""
    at = np.stack(np.divmod(places, 6), axis=-1) + MOVES[moves]
    inside = ((at >= 0) & (at < 6)).all(axis=-1)
    y, x = at.clip(0, 5).T
    new = np.where(inside & (grid[y, x] != "#"), 6 * y + x, places)
    found = grid.reshape(-1)[new]
    rewards = np.select([found == "G", found == "O"], [1.0, -1.0], -0.04).astype(np.float32)
    return new, rewards, (found == "G") | (found == "O")


# From one-hot fields (batch, 36) to the worth of each move (batch, 4), now and some time ago.
worths, former = (
    pg.Sequential([pg.Input((36,)), nn.Dense(64, activation="relu"), nn.Dense(4)]) for _ in range(2)
)
optimizer, loss_of = pg.optim.Adam(0.003), nn.Huber()
one_hot = np.eye(36, dtype=np.float32)


@pg.function(worths)
def train(places, moves, targets):
    chosen = pg.sum(worths(places) * pg.one_hot(moves, 4), axis=1)
    loss = pg.mean(loss_of(targets, chosen))
    optimizer.minimize(loss, worths.trainable_variables)
    return loss


def targets(places, rewards, ends):
    """The reward of a step, and the worth of the best move after it."""
    return rewards + DISCOUNT * ~ends * former.predict(one_hot[places]).max(axis=1)


memory = []  # (places, moves, rewards, next places, ends) of WALKERS steps
places = random.choice(fields, WALKERS)
for number in range(ROUNDS):
    if number % REFRESH == 0:
        former.set_weights(worths.get_weights())
    best = worths.predict(one_hot[places]).argmax(axis=1)
    explores = random.random(WALKERS) < max(0.1, 1 - number / 600)
    moves = np.where(explores, random.integers(0, 4, WALKERS), best)
    new, rewards, ends = move(places, moves)
    memory.append((places, moves, rewards, new, ends))
    places = np.where(ends, random.choice(fields, WALKERS), new)
    some = [memory[i] for i in random.integers(0, len(memory), BATCH // WALKERS)]
    before, moved, gained, after, ended = map(np.concatenate, zip(*some, strict=True))
    train(one_hot[before], moved.astype(np.int32), targets(after, gained, ended))

# The shortest ways to the goal, by comparing neighbours, and the network's ways.
lengths = np.where(grid == "G", 0, np.inf).reshape(-1)
walked = lengths.copy()
best = worths.predict(one_hot).argmax(axis=1)
for _ in range(36):
    steps = [move(fields, np.full(len(fields), direction))[:2] for direction in range(4)]
    ways = [np.where(rewards == -1, np.inf, 1 + lengths[new]) for new, rewards in steps]
    lengths[fields] = np.min(ways, axis=0)
    new, rewards, _ = move(fields, best[fields])
    walked[fields] = np.where(rewards == -1, np.inf, 1 + walked[new])
arrived = np.isfinite(walked[fields])
shortest = arrived & (walked == lengths)[fields]
print(f"goal reached from {arrived.sum()} of {len(fields)} fields, {shortest.sum()} shortest ways")
