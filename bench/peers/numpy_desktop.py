"""The step written by hand in NumPy, on the desktop."""

from __future__ import annotations

from bench.paths import DATA
from bench.peers.common import main
from bench.peers.numpy_by_hand import NumpyTrainer

if __name__ == "__main__":
    main(lambda workload, device: NumpyTrainer(lambda name: (DATA / name).read_bytes(), workload))
