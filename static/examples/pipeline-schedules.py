"""Pipeline schedules, compared.

Two devices hold two layers each. A batch passes through them in eight
micro-batches, in the order that the schedule sets. The bubble is the
share of time that devices spend waiting. A delay of 10 ms per task
imitates large layers, so that the schedule is visible even if both
devices share one processor. All schedules give the same loss, except
PipeDream, which does not wait for updates and uses older weights. In
the Lab, choose "As the program says" to see each timeline.
"""

import playgrad as pg
from playgrad import nn
from playgrad.parallel.schedules import SCHEDULES, draw, make_schedule
from playgrad.runtime.timeline import timeline

DEVICES, MICRO_BATCHES = 2, 8
DELAY = 0.01  # seconds
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
        strategy=pg.parallel.Pipeline(DEVICES, MICRO_BATCHES, schedule),
        device="cpu",
    )
    model.build((2,))
    kind = model.session.device.partition(":")[0]
    model.session.executor.delays = {f"{kind}:{number}": DELAY for number in range(DEVICES)}
    history = model.fit(x, y, batch_size=256, epochs=5, verbose=0)

    trace = pg.Trace()
    model.session.run(model.training_step, trace=trace)
    measured = timeline(trace).bubble
    formula = pg.parallel.bubble_formula(schedule, DEVICES, MICRO_BATCHES, chunks)
    speed = len(history.losses) / history.train_seconds
    rows.append((schedule, measured, formula, speed, history.losses[-1]))
    print(f"{schedule}\n{draw(make_schedule(schedule, DEVICES, MICRO_BATCHES, chunks))}\n")
    model.close()

print("schedule       bubble measured  by formula  steps/s    loss")
for schedule, measured, formula, speed, loss in rows:
    print(f"{schedule:13}  {measured:15.0%}  {formula:10.0%}  {speed:7.2f}  {loss:.4f}")
