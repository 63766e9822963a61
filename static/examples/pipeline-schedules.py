"""Schedules of a pipeline, compared.

Four layers are dealt out to two devices, and eight parts of each batch pass through them. The
schedule says in which order; the bubble is the share of time in which devices wait. The formula
assumes equal stages and free transfers, so what is measured is worse, most of all on one machine.
All give the same loss but PipeDream, which does not wait for updates: its weights are older.
"""

import playgrad as pg
from playgrad import nn
from playgrad.parallel.schedules import SCHEDULES, draw, make_schedule
from playgrad.runtime.timeline import timeline

DEVICES, PARTS = 2, 8
x, y = pg.data.spiral(512)

for schedule in SCHEDULES:
    chunks = 2 if schedule == "interleaved" else 1
    pg.reset_default_graph()
    model = pg.Sequential([
        nn.Dense(64, activation="tanh"),
        nn.Dense(64, activation="tanh"),
        nn.Dense(64, activation="tanh"),
        nn.Dense(2),
    ])
    model.compile(
        optimizer=pg.optim.Adam(0.01),
        loss=nn.SparseCategoricalCrossentropy(from_logits=True),
        strategy=pg.parallel.Pipeline(DEVICES, PARTS, schedule),
        device="cpu",
    )
    history = model.fit(x, y, batch_size=256, epochs=5, verbose=0)

    trace = pg.Trace()
    model.session.run(model.training_step, trace=trace)
    print(f"{schedule}: loss {history.losses[-1]:.4f}")
    print(draw(make_schedule(schedule, DEVICES, PARTS, chunks)))
    formula = pg.parallel.bubble_formula(schedule, DEVICES, PARTS, chunks)
    print(f"bubble {formula:.0%} by the formula, {timeline(trace).bubble:.0%} measured\n")
    model.close()
