"""Synchronous and asynchronous training, with one slow device.

Two devices train one network, and the second is slow. If they wait for
each other at every step, both run at the speed of the slow one. If they
do not wait, the fast one continues, but the gradients of the slow one
are stale: they were computed with older weights. In the Lab, choose "As
the program says" to see curves and timelines.
"""

import time

import playgrad as pg
from playgrad import nn

x, y = pg.data.spiral(512)
slow = {"cpu:1": 0.08, "gpu:1": 0.08}  # seconds of delay per task


class Clock(nn.Callback):
    """Records the time at which each loss is reached."""

    def on_train_begin(self, logs):
        self.started = time.perf_counter()
        self.curve = []

    def on_steps_end(self, step, logs):
        self.curve.append((time.perf_counter() - self.started, step, logs["loss"]))


def train(name, strategy):
    pg.reset_default_graph()
    hidden = [nn.Dense(64, activation="tanh") for _ in range(2)]
    model = pg.Sequential([*hidden, nn.Dense(2)])
    model.compile(
        optimizer=pg.optim.Adam(0.01),
        loss=nn.SparseCategoricalCrossentropy(from_logits=True),
        strategy=strategy,
        device="cpu",
    )
    model.build((2,))
    model.session.executor.delays = slow
    clock = Clock()
    history = model.fit(x, y, batch_size=64, epochs=5, verbose=0, callbacks=[clock])
    loss = history.losses[-8:].mean()
    speed = len(history.losses) / history.train_seconds
    print(f"{name}: {len(history.losses)} steps, {speed:.1f} steps/s, loss {loss:.3f}")
    points = clock.curve[:: max(1, len(clock.curve) // 5)]
    print("  " + ", ".join(f"{loss:.2f} at {seconds:.1f} s" for seconds, _, loss in points))
    for name, value in history.parallel.items():
        if value:
            print(f"  {name.replace('_', ' ')}: {value}")
    model.close()


train("one device", None)
train("synchronous", pg.parallel.DataParallel(2))
train("asynchronous", pg.parallel.AsynchronousDataParallel(2, delays=slow))
bound = pg.parallel.AsynchronousDataParallel(2, staleness=1, delays=slow)
train("asynchronous, at most 1 batch ahead", bound)
