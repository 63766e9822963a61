"""Mixed precision in the page: what a GPU computes there, and the badge that says so."""

from __future__ import annotations

import pytest

from tests.browser.playground import Playground

pytestmark = pytest.mark.browser

PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad import nn

random = np.random.default_rng(0)
with pg.Graph().as_default() as graph:
    a, b = (random.normal(size=(160, 160)).astype(np.float32) for _ in range(2))
    x = pg.placeholder("float32", a.shape)
    with pg.Session(graph, "{device}", precision="mixed") as session:
        product = session.run(pg.matmul(x, pg.Variable(b)), {{x: a}})
rounded = a.astype(np.float16).astype(np.float32) @ b.astype(np.float16).astype(np.float32)
print("product", np.abs(product - rounded).max() < 1e-4, np.abs(product - a @ b).max() > 1e-3)

model = pg.Sequential([nn.Dense(6, activation="tanh"), nn.Dense(1)])
model.compile(pg.optim.SGD(0.1), "mse", precision="mixed")
x = random.normal(size=(64, 3)).astype(np.float32)
losses = model.fit(x, x[:, :1] * 0.5, epochs=10, verbose=0).losses
print("learns", losses[-1] < 0.5 * losses[0])
model.summary()
"""


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_products_are_rounded_and_the_badge_says_so(playground: Playground, device: str) -> None:
    playground.choose_device(device)
    output = playground.finish(PROGRAM.format(device=device))
    assert "product True True" in output
    assert "learns True" in output
    assert "mixed precision: products of float16 (f16), everything else float32" in output
    assert "mixed precision (f16)" in playground.text("backend-badge")
