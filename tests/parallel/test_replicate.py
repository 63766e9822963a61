"""``replicate``: copies of a part of a graph on several devices."""

from __future__ import annotations

import numpy as np
import pytest

import playgrad as pg


def test_each_replica_has_its_device_its_names_and_its_variables() -> None:
    with pg.Graph().as_default() as graph:
        shared = pg.Variable(np.float32(3), name="shared")

        def build(number: int) -> tuple[pg.Variable, pg.Tensor]:
            weight = pg.Variable(np.float32(number + 1), name="weight")
            return weight, pg.mul(weight, shared, name="product")

        replicas = pg.replicate(build, ["cpu:0", "gpu:0", "cpu:0"])
        after = pg.constant(1.0, name="after")
    assert [weight.variable_name for weight, _ in replicas] == [
        f"replica_{i}/weight" for i in range(3)
    ]
    assert [y.node.name for _, y in replicas] == [f"replica_{i}/product" for i in range(3)]
    assert [y.node.device for _, y in replicas] == ["cpu:0", "gpu:0", "cpu:0"]
    assert [weight.node.device for weight, _ in replicas] == ["cpu:0", "gpu:0", "cpu:0"]
    assert (after.node.name, after.node.device) == ("after", None)
    pg.verify(graph)


@pytest.mark.gpu
def test_replicas_compute_on_their_device() -> None:
    with pg.Graph().as_default() as graph:
        x = pg.constant([1.0, 2.0])
        results = pg.replicate(lambda number, more=2: x * float(number + more), ["cpu:0", "gpu:0"])
    with pg.Session(graph, "cpu") as session:
        np.testing.assert_array_equal(session.run(results), [[2, 4], [3, 6]])
        devices = {node.device for node in session.compiled(results).compiled.order}
    assert devices == {"cpu:0", "gpu:0"}


def test_functions_may_ignore_the_replica_number() -> None:
    with pg.Graph().as_default():
        names = [t.node.name for t in pg.replicate(lambda: pg.constant(1, name="c"), ["cpu:0"] * 2)]
        again = pg.replicate(lambda scale=2: pg.constant(scale), ["cpu:0"])
    assert names == ["replica_0/c", "replica_1/c"]
    assert again[0].node.attrs["value"] == 2
    with pytest.raises(pg.GraphError, match="at least one device"):
        pg.replicate(lambda: None, [])
