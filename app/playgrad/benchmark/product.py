"""The matrix product of the benchmark: 1024 x 1024, float32, several in a row."""

from __future__ import annotations

import time

import numpy as np

from playgrad.errors import KernelError
from playgrad.graph.graph import Graph
from playgrad.ops import matmul
from playgrad.ops.state import Variable
from playgrad.runtime.session import Session

SIZE = 1024
"""Rows and columns of each matrix."""
TIMES = 5
"""Number of products in a row. The one wait for all of them counts, as in the known card's row."""
FLOPS = 2 * SIZE**3
"""Floating-point operations of a product."""
_ROW = 7
_ACCURACY = 1e-4


class ProductTrainer:
    """Products of two matrices on a device, in a graph and a session that nothing else uses.

    Args:
        device: "cpu", "gpu" or "gpu:1".

    Raises:
        PlaygradError: the device cannot be opened, or its memory does not suffice.
    """

    def __init__(self, device: str) -> None:
        random = np.random.default_rng(0)
        self._values = random.random((2, SIZE, SIZE), dtype=np.float32)
        graph = Graph()
        with graph.as_default():
            a, b = (Variable(value, trainable=False) for value in self._values)
            self._result = Variable(np.zeros((SIZE, SIZE), np.float32), trainable=False)
            self._multiply = self._result.assign(matmul(a, b))
        self._session = Session(graph, device)

    def gflops(self) -> float:
        """Return the speed in 10⁹ operations a second."""
        self._session.repeat(self._multiply, 1)
        started = time.perf_counter()
        self._session.repeat(self._multiply, TIMES)
        return FLOPS * TIMES / (time.perf_counter() - started) / 1e9

    def check(self) -> None:
        """Compare a row of the product with NumPy.

        Raises:
            KernelError: it differs.
        """
        a, b = self._values
        expected = a[_ROW].astype(np.float64) @ b.astype(np.float64)
        row = self._session.value(self._result)[_ROW]
        worst = float(np.max(np.abs(row - expected)) / np.max(np.abs(expected)))
        if not worst <= _ACCURACY:
            raise KernelError(
                f"the product of two matrices, {SIZE} × {SIZE}, is wrong: it differs from NumPy's "
                f"by {worst:.1e} of its largest number.",
                hint="Its speed is not reported. Update the browser or the GPU's driver.",
            )

    def close(self) -> None:
        """Free everything on the device."""
        self._session.close()
