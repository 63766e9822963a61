"""A network with two branches, each on its own device.

Both branches classify the points of a spiral: one is deep, the
other wide. Neither needs the other until they are joined, so two
devices can compute them at the same time. Colour the graph by device
to see where it is cut and which tensors are sent.
"""

import playgrad as pg
from playgrad import nn

x, y = pg.data.spiral(600)

pg.set_logical_devices(cpu=2)  # or gpu=2, and "gpu:0" below

points = pg.Input((2,))
with pg.device("cpu:0"):
    deep = nn.Dense(32, activation="tanh")(points)
    deep = nn.Dense(32, activation="tanh")(deep)
with pg.device("cpu:1"):
    wide = nn.Dense(128, activation="relu")(points)
with pg.device("cpu:0"):
    scores = nn.Dense(2)(nn.Concatenate()([deep, wide]))

model = pg.Model(points, scores)
model.compile(
    optimizer=pg.optim.Adam(0.01),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
    device="cpu",
)
model.fit(x, y, batch_size=100, epochs=40, verbose=0)

second = [node.name for node in model.graph.nodes if node.device == "cpu:1"]
print(f"{len(second)} operations are on the second device, starting with {second[0]}")
print(f"accuracy {model.evaluate(x, y)[1]:.1%}")
