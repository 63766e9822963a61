"""Two graphs, three sessions.

A graph says what is computed; a session keeps the values of its
variables. One graph may live in several sessions, each with values
of its own, and a program may have several graphs. Here two sessions
train the same graph from different starts, and a second graph tells
how far apart they end. Expect both to arrive at a slope of 3.
"""

import numpy as np

import playgrad as pg

x = np.linspace(-1, 1, 32, dtype=np.float32)

line = pg.Graph(seed=0)
with line.as_default():
    inputs = pg.placeholder("float32", (None,), name="inputs")
    slope = pg.Variable(np.float32(0), name="slope")
    error = pg.mean((slope * inputs - 3 * inputs) ** 2)
    train = pg.optim.SGD(0.5).minimize(error)

distance = pg.Graph()
with distance.as_default():
    one = pg.placeholder("float32", ())
    other = pg.placeholder("float32", ())
    apart = pg.abs(one - other)

with pg.Session(line) as first, pg.Session(line) as second, pg.Session(distance) as compare:
    second.assign({slope: np.float32(10)})  # its own value of the variable
    for step in range(1, 25):
        first.run(train, {inputs: x})
        second.run(train, {inputs: x})
        if step % 4 == 0:
            a, b = first.run(slope), second.run(slope)
            gap = compare.run(apart, {one: a, other: b})
            print(f"step {step:2}: slopes {a:.3f} and {b:.3f}, {gap:.3f} apart")
