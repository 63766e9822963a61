"""A network of trees that works out logical expressions.

An expression such as (a and (b or a)) is a tree, and each tree has
another shape. A tree-LSTM (Tai et al. 2015) computes the state of a
node from those of its two children. Calls of the same function at
the same depth, of all trees of a batch, are joined (dynamic
batching, Looks et al. 2017). Expect 99% accuracy on expressions
that it has not seen, at twenty times the speed of one tree at a
time.
"""

import time

import numpy as np

import playgrad as pg
from playgrad import nn

HEIGHT, UNITS, BATCH, STEPS, ALONE = 4, 32, 100, 120, 10
random = np.random.default_rng(0)


def grow(height):
    """Return a random tree: a value, or (left, right, operator, value)."""
    if height == 0 or random.random() < 0.2:
        return int(random.integers(2))
    left, right, operator = grow(height - 1), grow(height - 1), int(random.integers(3))
    a, b = value_of(left), value_of(right)
    return left, right, operator, (a & b, a | b, a ^ b)[operator]


def value_of(tree):
    return tree if isinstance(tree, int) else tree[3]


words, gates, answer = nn.Embedding(2, 2 * UNITS), nn.Dense(5 * UNITS), nn.Dense(2)
layers = (words, gates, answer)
optimizer = pg.optim.Adam(0.01)
loss_of = nn.SparseCategoricalCrossentropy(from_logits=True, reduction="none")


@pg.batched
def leaf(value):
    state, scores = words(value), answer(words(value))
    return state, scores, loss_of(value, scores)


@pg.batched
def node(left, right, operator, value):
    """State, scores and the loss of the whole tree, from what its two children returned."""
    h_left, c_left = pg.split(left[0], 2, axis=1)
    h_right, c_right = pg.split(right[0], 2, axis=1)
    inputs = pg.concat([h_left, h_right, pg.one_hot(operator, 3)], axis=1)
    i, f_left, f_right, o, g = pg.split(gates(inputs), 5, axis=1)
    kept = pg.sigmoid(f_left) * c_left + pg.sigmoid(f_right) * c_right
    c = pg.sigmoid(i) * pg.tanh(g) + kept
    state = pg.concat([pg.sigmoid(o) * pg.tanh(c), c], axis=1)
    scores = answer(state)
    return state, scores, left[2] + right[2] + loss_of(value, scores)


def read(tree):
    """Call a function for each node, as if there were one tree only."""
    if isinstance(tree, int):
        return leaf(tree)
    left, right, operator, value = tree
    return node(read(left), read(right), operator, value)


fold = pg.Fold(read)


@pg.function
def train(trees):
    loss = pg.mean(fold(trees)[2])
    optimizer.minimize(loss, [v for each in layers for v in each.variables.values()])
    return loss


@pg.function
def scores(trees):
    return fold(trees)[1]


def seconds(batches):
    """Train on each of ``batches``; return the seconds of the fastest."""
    times = []
    for trees in batches:
        begin = time.perf_counter()
        train(fold.read(trees))
        times.append(time.perf_counter() - begin)
    return min(times)


together = seconds([grow(HEIGHT) for _ in range(BATCH)] for _ in range(STEPS)) / BATCH
fresh = [grow(HEIGHT) for _ in range(1000)]
right = scores(fold.read(fresh)).argmax(axis=1) == [value_of(tree) for tree in fresh]
print(f"accuracy {right.mean():.1%}")

alone = seconds([grow(HEIGHT)] for _ in range(ALONE))
print(f"{1000 * together:.2f} ms a tree, {1000 * alone:.2f} ms one by one: {alone / together:.0f}x")
