"""Deep networks take hardly more kernels than shallow ones: adapters are slow to compile them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import playgrad as pg
from playgrad.devices import registry
from playgrad.devices.null import NullHost
from playgrad.graph.graph import Graph
from playgrad.runtime.session import Session


@pytest.fixture(params=[True, False], ids=["software", "hardware"])
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with registry.attached(NullHost(is_software=request.param)) as device:
        yield device


def kernels(layers: int, device: str) -> tuple[int, int]:
    """Return the number of a training step's kernels, and the length of the longest one."""
    with Graph().as_default() as graph:
        x = pg.placeholder("float32", (16, 16), name="x")
        y = x
        for _ in range(layers):
            y = pg.tanh(pg.matmul(y, pg.Variable(np.eye(16, dtype=np.float32))))
        train = pg.optim.Adam().minimize(pg.mean(y * y))
    with Session(graph, device) as session:
        runnable = session.compiled(train, {x: np.zeros((16, 16), np.float32)})
        assert runnable
        texts = [kernel["wgsl"] for kernel in runnable.plans[device].plan["kernels"]]
    return len(texts), max(map(len, texts))


def test_kernels_do_not_grow_with_the_number_of_layers(device: str) -> None:
    shallow, deep = kernels(40, device), kernels(80, device)
    assert deep[0] <= shallow[0] + 2 and deep[1] <= 1.1 * shallow[1]
