"""TensorFlow Serving's REST interface: predict, status and metadata.

https://www.tensorflow.org/tfx/serving/api_rest. Classify and regress take examples of TensorFlow's
own format, and are not here.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from playgrad.serving.answers import answered, version_header
from playgrad.serving.body import read_body
from playgrad.serving.errors import AnswerError
from playgrad.serving.manager import ModelManager, ServedModel
from playgrad.serving.names import version_of
from playgrad.serving.samples import check_finite, from_columns, from_rows, parsed, to_json
from playgrad.serving.signature import ModelSignature, TensorSignature

_PATH = re.compile(
    r"/v1/models/(?P<name>[^/:]+)(?:/versions/(?P<version>[^/:]+)|/labels/(?P<label>[^/:]+))?"
    r"(?P<verb>:predict|/metadata)?"
)
_DTYPES = {
    "float16": "DT_HALF", "float32": "DT_FLOAT", "float64": "DT_DOUBLE", "int32": "DT_INT32",
    "uint32": "DT_UINT32", "uint8": "DT_UINT8", "int8": "DT_INT8", "bool": "DT_BOOL",
}  # fmt: skip
_SIGNATURES = (None, "", "serving_default")


async def answer(request: Request, manager: ModelManager) -> Response:
    """Answer a request below ``/v1/models/``.

    Raises:
        AnswerError: as its status says.
    """
    match = _PATH.fullmatch(request.scope["path"])
    if match is None:
        raise AnswerError(404, "there is nothing at this address.")
    name, label = match["name"], match["label"]
    version = None
    if match["version"] is not None:
        version = version_of(match["version"])
        if version is None:
            raise AnswerError(404, f"{match['version']!r:.80} is not the number of a version.")
    wanted = "POST" if match["verb"] == ":predict" else "GET"
    if request.method != wanted:
        raise AnswerError(405, f"{request.method} is not for this address: use {wanted}.")
    if match["verb"] == ":predict":
        return await _predict(request, manager, name, version, label)
    if match["verb"] == "/metadata":
        return _metadata(manager, name, version, label)
    return _status(manager.model(name), version, label)


async def _predict(
    request: Request, manager: ModelManager, name: str, version: int | None, label: str | None
) -> Response:
    body = await read_body(request, manager.settings)
    data = parsed(body)
    del body
    if data.get("signature_name") not in _SIGNATURES:
        raise AnswerError(400, "the only signature is 'serving_default'.")
    if ("instances" in data) == ("inputs" in data):
        raise AnswerError(400, "the body needs either 'instances' or 'inputs'.")
    most = manager.settings.max_instances
    by_rows = "instances" in data

    def inputs(signature: ModelSignature) -> list[np.ndarray[Any, Any]]:
        values = data["instances" if by_rows else "inputs"]
        data.clear()  # requests wait with their arrays alone, the bytes of which are limited
        return (from_rows if by_rows else from_columns)(values, signature, most)

    answer = await answered(request, manager, name, version, label, inputs)
    check_finite(answer.outputs, answer.signature)
    named = {
        tensor.name: array
        for tensor, array in zip(answer.signature.outputs, answer.outputs, strict=True)
    }
    content: Any = named if len(named) > 1 else answer.outputs[0]
    if by_rows and len({len(array) for array in named.values()}) > 1:
        raise AnswerError(400, "the outputs differ in length, so they have no rows: use 'inputs'.")
    if by_rows and len(named) > 1:
        content = [dict(zip(named, row, strict=True)) for row in zip(*named.values(), strict=True)]
    return Response(
        to_json({"predictions" if by_rows else "outputs": content}),
        headers=version_header(answer.version),
        media_type="application/json",
    )


def _metadata(manager: ModelManager, name: str, version: int | None, label: str | None) -> Response:
    runner = manager.held(name, version, label)
    try:
        definition = {
            "inputs": {tensor.name: _tensor_info(tensor) for tensor in runner.signature.inputs},
            "outputs": {tensor.name: _tensor_info(tensor) for tensor in runner.signature.outputs},
            "method_name": "tensorflow/serving/predict",
        }
        number = runner.version
    finally:
        runner.release()
    data = {
        "model_spec": {"name": name, "signature_name": "", "version": str(number)},
        "metadata": {"signature_def": {"signature_def": {"serving_default": definition}}},
    }
    return Response(to_json(data), headers=version_header(number), media_type="application/json")


def _tensor_info(tensor: TensorSignature) -> dict[str, Any]:
    dims = [{"size": str(-1 if dim is None else dim), "name": ""} for dim in tensor.shape]
    return {
        "dtype": _DTYPES[tensor.dtype],
        "tensor_shape": {"dim": dims, "unknown_rank": False},
        "name": tensor.name,
    }


def _status(model: ServedModel, version: int | None, label: str | None) -> Response:
    if label is not None:
        version = model.labelled(label)
    states = dict.fromkeys(list(model.runners), ("AVAILABLE", "OK", ""))
    if model.loading is not None:
        states[model.loading] = ("LOADING", "OK", "")
    for number, refusal in dict(model.refusals).items():
        states[number] = ("END", "FAILED_PRECONDITION", refusal.reason)
    if version is not None:
        if version not in states:
            raise AnswerError(404, f"version {version} of '{model.name}' is not served.")
        states = {version: states[version]}
    listed = [
        {
            "version": str(number),
            "state": state,
            "status": {"error_code": code, "error_message": message},
        }
        for number, (state, code, message) in sorted(states.items(), reverse=True)
    ]
    return Response(to_json({"model_version_status": listed}), media_type="application/json")
