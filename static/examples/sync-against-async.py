"""Synchronous against asynchronous, with one slow replica.

Two devices share the training of one network. Together at every step, both are as slow as the
slower one. On their own, the fast one goes on; but the gradients of the slow one are of older
weights by then: they are stale.
"""

import time

import playgrad as pg
from playgrad import nn

x, y = pg.data.spiral(512)
slow = {"cpu:1": 0.08}    # seconds that this device is held up at each batch


def train(name, strategy):
    pg.reset_default_graph()
    model = pg.Sequential([
        nn.Dense(64, activation="tanh"),
        nn.Dense(64, activation="tanh"),
        nn.Dense(2),
    ])
    model.compile(
        optimizer=pg.optim.Adam(0.01),
        loss=nn.SparseCategoricalCrossentropy(from_logits=True),
        strategy=strategy,
        device="cpu",
    )
    model.session.executor.delays = slow
    started = time.perf_counter()
    history = model.fit(x, y, batch_size=64, epochs=4, verbose=0)
    seconds = time.perf_counter() - started
    loss = history.losses[-8:].mean()
    print(f"{name}: {len(history.losses)} steps in {seconds:.1f} s, loss {loss:.3f}")
    for what, value in history.parallel.items():
        print(f"  {what.replace('_', ' ')}: {value}")
    model.close()


train("synchronous", pg.parallel.DataParallel(2))
train("asynchronous", pg.parallel.AsynchronousDataParallel(2, delays=slow))
train("asynchronous, at most 1 batch ahead",
      pg.parallel.AsynchronousDataParallel(2, staleness=1, delays=slow))
