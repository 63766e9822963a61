"""Synchronous against asynchronous, with one slow replica.

Two devices share the training of one network. Together at every step,
both are as slow as the slower one. On their own, the fast one goes on;
but the gradients of the slow one are of older weights by then: they are
stale. In the Lab, take "As the program says" to see curves and
timelines.
"""

import time

import playgrad as pg
from playgrad import nn

x, y = pg.data.spiral(512)
slow = {"cpu:1": 0.08, "gpu:1": 0.08}  # seconds that it is held up at each piece of work


class Clock(nn.Callback):
    """Notes after how many seconds each loss was reached."""

    def on_train_begin(self, logs):
        self.started = time.perf_counter()
        self.curve = []

    def on_steps_end(self, step, logs):
        self.curve.append((time.perf_counter() - self.started, step, logs["loss"]))


def train(name, strategy):
    pg.reset_default_graph()
    model = pg.Sequential(
        [
            nn.Dense(64, activation="tanh"),
            nn.Dense(64, activation="tanh"),
            nn.Dense(2),
        ]
    )
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
    for what, value in history.parallel.items():
        if value:
            print(f"  {what.replace('_', ' ')}: {value}")
    model.close()


train("one device", None)
train("synchronous", pg.parallel.DataParallel(2))
train("asynchronous", pg.parallel.AsynchronousDataParallel(2, delays=slow))
train(
    "asynchronous, at most 1 batch ahead",
    pg.parallel.AsynchronousDataParallel(2, staleness=1, delays=slow),
)
