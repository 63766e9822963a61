"""An operation of your own, with its own GPU kernel.

A layer of radial basis functions: each unit has a centre, and its
output says how close a point is to it. The squared distances are an
operation that the library does not have. It is defined here by NumPy
(what the result is), WGSL (how a GPU computes it) and its gradient,
checked against finite differences, and trained on a spiral.
"""

import numpy as np

import playgrad as pg
from playgrad import nn

KERNEL = """
fn element(i: u32) -> f32 {
  let point = i / ${result_shape_1}u;
  let centre = i % ${result_shape_1}u;
  var sum = 0.0;
  for (var k = 0u; k < ${x_shape_1}u; k++) {
    let gap = x[point * ${x_shape_1}u + k] - centres[centre * ${x_shape_1}u + k];
    sum += gap * gap;
  }
  return sum;
}
"""


def squared_distances(x, centres):
    """From (points, features) and (units, features) to (points, units)."""
    return ((x[:, None, :] - centres) ** 2).sum(axis=2)


def gradient(g, y, x, centres):
    from_points = x * pg.sum(g, axis=1, keepdims=True) - g @ centres
    from_centres = centres * pg.expand_dims(pg.sum(g, axis=0), 1) - pg.transpose(g) @ x
    return 2.0 * from_points, 2.0 * from_centres


distances = pg.register_op(
    "squared_distances",
    reference=squared_distances,
    shape=lambda x, centres: (x[0], centres[0]),
    gradient=gradient,
    wgsl=KERNEL,
    samples=[(np.random.rand(5, 2).astype("f"), np.random.rand(3, 2).astype("f"))],
)
print(pg.check_op(distances))


class RadialBasis(nn.Layer):
    """How close each point is to each of ``units`` centres."""

    kind = "radial_basis"

    def __init__(self, units, width=0.25):
        super().__init__()
        self.units = units
        self.width = width

    def build(self, *shapes):
        shape = (self.units, self.known(shapes[0], -1))
        self.add_weight("centres", shape, nn.RandomUniform(-1.0, 1.0))

    def call(self, *inputs, training=False):
        return pg.exp(-distances(inputs[0], self.variables["centres"]) / self.width**2)


x, y = pg.data.spiral(600)
model = pg.Sequential([RadialBasis(40), nn.Dense(2)])
model.compile(
    optimizer=pg.optim.Adam(0.03),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x, y, batch_size=100, epochs=30, verbose=0)
print(f"accuracy {model.evaluate(x, y)[1]:.1%}")
