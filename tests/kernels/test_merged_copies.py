"""Dispatches with the same code, merged by one function for all of them, as on hardware."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.devices import registry
from playgrad.devices.tuning import HARDWARE

pytestmark = [pytest.mark.gpu, pytest.mark.rotates]

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def hardware() -> Iterator[None]:
    """The GPU gets the kernels and groups of hardware."""
    device = registry.gpu(0)
    before = device.target
    device.target = replace(before, is_software=False, measured=HARDWARE)
    yield
    device.target = before


def test_equal_products_share_their_text() -> None:
    random = np.random.default_rng(0)
    arrays = [random.standard_normal((40, 30)).astype(np.float32) for _ in range(9)]
    b = random.standard_normal((30, 20)).astype(np.float32)
    with pg.Graph().as_default() as graph, pg.Session(graph, "gpu") as session:
        right = pg.Variable(b)
        results = [pg.matmul(pg.Variable(array), right) for array in arrays]
        actual = session.run(results)
        (loaded,) = session.compiled(results).plans.values()
    for array, result in zip(arrays, actual, strict=True):
        np.testing.assert_allclose(result, array @ b, rtol=1e-4, atol=1e-4)
    (kernel,) = [k for k in loaded.plan["kernels"] if k["family"] == "group"]
    assert [m["family"] for m in kernel["params"]["members"]] == ["matmul_shared"] * 9
    assert kernel["wgsl"].count("_at(group: u32") <= 2  # results may be in two buffers
