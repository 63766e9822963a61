"""Networks of integers on a GPU: the bits of the processor."""

from __future__ import annotations

import numpy as np
import pytest

import playgrad as pg
from tests.compression.networks import NETWORKS, network


@pytest.mark.gpu
@pytest.mark.parametrize(
    "name",
    [n if n in ("dense", "images") else pytest.param(n, marks=pytest.mark.slow) for n in NETWORKS],
)
@pytest.mark.parametrize("bits", ["int8", pytest.param("int4", marks=pytest.mark.slow)])
def test_a_gpu_computes_the_same_bits(name: str, bits: str) -> None:
    model, x = network(name)
    small = pg.quantize(model, x, weights=bits)
    twin = small.clone()
    twin.set_device("gpu")
    assert twin.session.device.startswith("gpu")
    assert np.array_equal(twin.predict(x), small.predict(x))
