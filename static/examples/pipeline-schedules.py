"""Schedules of a pipeline, compared.

Four layers are dealt out to two devices, and eight parts of each batch
pass through them. The schedule says in which order; the bubble is the
share of time in which devices wait. Every piece of work is held up for
a few milliseconds, as if the layers were large: so one sees the
schedule, also where two devices share one processor. All give the same
loss but PipeDream, which does not wait for updates: its weights are
older. In the Lab, take "As the program says" to see each timeline.
"""

import playgrad as pg
from playgrad import nn
from playgrad.parallel.schedules import SCHEDULES, draw, make_schedule
from playgrad.runtime.timeline import timeline

DEVICES, PARTS, DELAY = 2, 8, 0.01  # seconds
x, y = pg.data.spiral(512)
rows = []

for schedule in SCHEDULES:
    chunks = 2 if schedule == "interleaved" else 1
    pg.reset_default_graph()
    model = pg.Sequential(
        [
            nn.Dense(64, activation="tanh"),
            nn.Dense(64, activation="tanh"),
            nn.Dense(64, activation="tanh"),
            nn.Dense(2),
        ]
    )
    model.compile(
        optimizer=pg.optim.Adam(0.01),
        loss=nn.SparseCategoricalCrossentropy(from_logits=True),
        strategy=pg.parallel.Pipeline(DEVICES, PARTS, schedule),
        device="cpu",
    )
    model.build((2,))
    kind = model.session.device.partition(":")[0]
    model.session.executor.delays = {f"{kind}:{place}": DELAY for place in range(DEVICES)}
    history = model.fit(x, y, batch_size=256, epochs=5, verbose=0)

    trace = pg.Trace()
    model.session.run(model.training_step, trace=trace)
    measured = timeline(trace).bubble
    formula = pg.parallel.bubble_formula(schedule, DEVICES, PARTS, chunks)
    speed = len(history.losses) / history.train_seconds
    rows.append((schedule, measured, formula, speed, history.losses[-1]))
    print(f"{schedule}\n{draw(make_schedule(schedule, DEVICES, PARTS, chunks))}\n")
    model.close()

print("schedule       bubble measured  by formula  steps/s    loss")
for schedule, measured, formula, speed, loss in rows:
    print(f"{schedule:13}  {measured:15.0%}  {formula:10.0%}  {speed:7.2f}  {loss:.4f}")
