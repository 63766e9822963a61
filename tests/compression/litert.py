"""Running files of TensorFlow Lite by LiteRT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

Array = np.ndarray[Any, Any]


def run_tflite(content: bytes, feeds: Sequence[Array], batch: int) -> Array:
    """Return the first output, computed batch by batch, without a delegate.

    A delegate rounds by rules of its own.
    """
    interpreter = Interpreter(
        model_content=content,
        experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    )
    inputs = interpreter.get_input_details()
    for detail, feed in zip(inputs, feeds, strict=True):
        interpreter.resize_tensor_input(detail["index"], [batch, *feed.shape[1:]])
    interpreter.allocate_tensors()
    results = []
    for start in range(0, len(feeds[0]), batch):
        for detail, feed in zip(inputs, feeds, strict=True):
            interpreter.set_tensor(detail["index"], feed[start : start + batch])
        interpreter.invoke()
        results.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
    return np.concatenate(results)
