"""playgrad on the desktop: ``wgpu`` (wgpu-py) or ``cpu``; ``matmul`` measures a product."""

from __future__ import annotations

import json
import sys
from typing import Any

from bench.paths import DATA
from bench.peers.common import main
from bench.peers.playgrad_program import PlaygradTrainer, product_gflops


def open_trainer(workload: str, device: str) -> Any:
    name = {"wgpu": "gpu", "cpu": "cpu"}[device]
    trainer = PlaygradTrainer(lambda file: (DATA / file).read_bytes(), workload, name)
    trainer.backend = {"gpu": "wgpu", "cpu": "cpu"}[trainer.backend]
    return trainer


if __name__ == "__main__":
    if sys.argv[2] == "matmul":
        print("RESULT" + json.dumps({"backend": "wgpu", "gflops": product_gflops()}))
    else:
        main(open_trainer)
