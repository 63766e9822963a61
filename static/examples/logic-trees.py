"""A network of trees that works out logical expressions.

An expression such as (a and (b or a)) is a tree, and each tree has
another shape. A tree-LSTM (Tai et al. 2015) computes the state of a
node from those of its two children. All nodes of the same height, of
all trees of a batch, are computed at once (dynamic batching, Looks et
al. 2017). Expect 99% accuracy on expressions that it has not seen, at
twenty times the speed of one tree at a time.
"""

import time
from itertools import chain

import numpy as np

import playgrad as pg
from playgrad import nn

HEIGHT, UNITS, BATCH, BATCHES, EPOCHS, ALONE = 4, 32, 100, 4, 25, 6
random = np.random.default_rng(0)


def grow(levels, height):
    """Add a random tree to ``levels``; return the height, place and value of its root."""
    if height == 0 or random.random() < 0.2:
        top, node = 0, (0, 0, 0, 0, 0, random.integers(2))
    else:
        (h, i, a), (k, j, b) = grow(levels, height - 1), grow(levels, height - 1)
        operator = random.integers(3)
        top, node = 1 + max(h, k), (h, i, k, j, operator, (a & b, a | b, a ^ b)[operator])
    levels[top].append(node)
    return top, len(levels[top]) - 1, node[-1]


def forest(count):
    """Return (left child, right child, operator) of all nodes of ``count`` random trees, an array
    for each height; the values of all nodes, leaves first; and the numbers of the roots."""
    levels = [[] for _ in range(HEIGHT + 1)]
    roots = [grow(levels, HEIGHT) for _ in range(count)]
    starts = np.cumsum([0, *map(len, levels)], dtype=np.int32)
    h, i, k, j, operators, values = np.array([*chain(*levels)], np.int32).T
    nodes = np.stack([starts[h] + i, starts[k] + j, operators], axis=1)
    return np.split(nodes, starts[1:-1]), values, [starts[h] + i for h, i, _ in roots]


leaf, gates, answer = nn.Embedding(2, 2 * UNITS), nn.Dense(5 * UNITS), nn.Dense(2)
optimizer = pg.optim.Adam(0.01)
loss_of = nn.SparseCategoricalCrossentropy(from_logits=True)


def states_of(left, right, operators):
    """States (nodes, 2 * UNITS) of nodes, from their children's states."""
    (h_left, c_left), (h_right, c_right) = pg.split(left, 2, axis=1), pg.split(right, 2, axis=1)
    inputs = pg.concat([h_left, h_right, pg.one_hot(operators, 3)], axis=1)
    i, f_left, f_right, o, g = pg.split(gates(inputs), 5, axis=1)
    kept = pg.sigmoid(f_left) * c_left + pg.sigmoid(f_right) * c_right
    c = pg.sigmoid(i) * pg.tanh(g) + kept
    return pg.concat([pg.sigmoid(o) * pg.tanh(c), c], axis=1)


@pg.function
def scores(leaves, first, second, third, fourth):
    states = leaf(leaves)
    for nodes in (first, second, third, fourth):
        left, right = pg.gather(states, nodes[:, 0]), pg.gather(states, nodes[:, 1])
        states = pg.concat([states, states_of(left, right, nodes[:, 2])], axis=0)
    return answer(states)


@pg.function
def train(values, leaves, first, second, third, fourth):
    loss = pg.mean(loss_of(values, scores(leaves, first, second, third, fourth)))
    optimizer.minimize(loss, [v for each in (leaf, gates, answer) for v in each.variables.values()])
    return loss


def epoch(forests):
    """Train on each of ``forests``; return the seconds that it took."""
    begin = time.perf_counter()
    for (leaves, *levels), values, _ in forests:
        train(values, values[: len(leaves)], *levels)
    return time.perf_counter() - begin


# Each combination of sizes is compiled once, so that the batches stay the same.
batches, single = [forest(BATCH) for _ in range(BATCHES)], [forest(1) for _ in range(ALONE)]
together = min(epoch(batches) for _ in range(EPOCHS)) / (BATCH * BATCHES)
(leaves, *levels), values, roots = forest(1000)
right = scores(values[: len(leaves)], *levels).argmax(axis=1) == values
print(f"accuracy {right[roots].mean():.1%}")

alone = min(epoch(single) for _ in range(4)) / ALONE
print(f"{1000 * together:.2f} ms a tree, {1000 * alone:.2f} ms one by one: {alone / together:.0f}x")
