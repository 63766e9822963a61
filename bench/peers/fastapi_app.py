"""The smallest server of an ONNX file that people write: FastAPI, onnxruntime, uvicorn.

    python -m bench.peers.fastapi_app FILE PORT [threads|loop]

With "threads" the function is a plain one, which FastAPI calls in its pool of threads; with "loop"
it is a coroutine, which computes in the thread that answers.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import onnxruntime
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel


class Samples(BaseModel):
    instances: list[Any]


def main(file: str, port: str, kind: str) -> None:
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    app = FastAPI()

    def predict(samples: Samples) -> dict[str, Any]:
        x = np.asarray(samples.instances, np.float32)
        return {"predictions": session.run(None, {name: x})[0].tolist()}

    async def predict_in_loop(samples: Samples) -> dict[str, Any]:
        return predict(samples)

    app.post("/predict")(predict if kind == "threads" else predict_in_loop)
    uvicorn.run(app, port=int(port), log_level="warning")


if __name__ == "__main__":
    main(*sys.argv[1:])
