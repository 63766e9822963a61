"""The Open Inference Protocol, version 2, with the extension for binary tensors.

https://github.com/kserve/open-inference-protocol and, for the extension, Triton's
``extension_binary_data``. Tensors in shared memory, sequences and classification are not here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

import playgrad
from playgrad.serving.answers import Answer, answered, version_header
from playgrad.serving.body import read_body
from playgrad.serving.errors import AnswerError
from playgrad.serving.manager import ModelManager
from playgrad.serving.names import version_of
from playgrad.serving.samples import check_finite, check_rows, fitting, parsed, to_array, to_json
from playgrad.serving.signature import ModelSignature, TensorSignature

Array = np.ndarray[Any, Any]
_PATH = re.compile(
    r"/v2/models/(?P<name>[^/]+)(?:/versions/(?P<version>[^/]+))?(?P<verb>/ready|/infer)?"
)
DATATYPES = {
    "float16": "FP16", "float32": "FP32", "float64": "FP64", "int32": "INT32", "uint32": "UINT32",
    "uint8": "UINT8", "int8": "INT8", "bool": "BOOL",
}  # fmt: skip
_LENGTH_HEADER = "Inference-Header-Content-Length"
_BINARY = "binary_data_size"


async def answer(request: Request, manager: ModelManager) -> Response:
    """Answer a request to ``/v2`` or below it.

    Raises:
        AnswerError: as its status says.
    """
    path = request.scope["path"].rstrip("/")
    match = _PATH.fullmatch(path)
    wanted = "POST" if match and match["verb"] == "/infer" else "GET"
    if request.method != wanted:
        raise AnswerError(405, f"{request.method} is not for this address: use {wanted}.")
    if path == "/v2":
        return _json(
            {
                "name": "playgrad",
                "version": playgrad.__version__,
                "extensions": ["binary_tensor_data"],
            }
        )
    if path == "/v2/health/live":
        return _json({"live": True})
    if path == "/v2/health/ready":
        return _json({"ready": manager.is_ready}, 200 if manager.is_ready else 503)
    if match is None:
        raise AnswerError(404, "there is nothing at this address.")
    name, version = match["name"], None
    if match["version"] is not None:
        version = version_of(match["version"])
        if version is None:
            raise AnswerError(404, f"{match['version']!r:.80} is not the number of a version.")
    if match["verb"] == "/infer":
        return await _infer(request, manager, name, version)
    if match["verb"] == "/ready":
        manager.held(name, version).release()
        return _json({"name": name, "ready": True})
    return _metadata(manager, name, version)


def _metadata(manager: ModelManager, name: str, version: int | None) -> Response:
    runner = manager.held(name, version)
    try:
        served = list(manager.model(name).runners)
        data = {
            "name": name,
            "versions": [str(number) for number in served],
            "platform": "playgrad",
            "inputs": [_described(tensor) for tensor in runner.signature.inputs],
            "outputs": [_described(tensor) for tensor in runner.signature.outputs],
        }
        return _json(data, version=runner.version)
    finally:
        runner.release()


def _described(tensor: TensorSignature) -> dict[str, Any]:
    shape = [-1 if dim is None else dim for dim in tensor.shape]
    return {"name": tensor.name, "datatype": DATATYPES[tensor.dtype], "shape": shape}


async def _infer(
    request: Request, manager: ModelManager, name: str, version: int | None
) -> Response:
    body = await read_body(request, manager.settings)
    length = request.headers.get(_LENGTH_HEADER)
    binary = memoryview(b"")
    if length is not None:
        if not length.isdecimal() or len(length) > 12 or int(length) > len(body):
            raise AnswerError(400, f"{_LENGTH_HEADER} is not a length within the body.")
        binary = memoryview(body)[int(length) :]
    data = parsed(memoryview(body)[: len(body) - len(binary)])
    del body
    identifier = data.get("id", "")
    if not isinstance(identifier, str):
        raise AnswerError(400, "'id' must be a text.")
    most = manager.settings.max_instances
    requested: list[tuple[str, bool]] = []

    def inputs(signature: ModelSignature) -> list[Array]:
        nonlocal binary
        requested.extend(_requested(data, [tensor.name for tensor in signature.outputs]))
        arrays = _inputs(data, signature, binary, most)
        # Requests wait with their arrays alone, the bytes of which are limited.
        data.clear()
        binary = memoryview(b"")
        return arrays

    answer = await answered(request, manager, name, version, None, inputs)
    return _answer(requested, name, identifier, answer)


# Inputs


def _inputs(
    data: Mapping[str, Any], signature: ModelSignature, binary: memoryview, most: int
) -> list[Array]:
    given = data.get("inputs")
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise AnswerError(400, "'inputs' must be a list of objects.")
    names = [name if isinstance(name := each.get("name"), str) else "" for each in given]
    wanted = [tensor.name for tensor in signature.inputs]
    if sorted(names) != sorted(wanted):
        raise AnswerError(
            400, f"the inputs must be {', '.join(wanted)}, got {', '.join(names)[:200] or 'none'}."
        )
    arrays: dict[str, Array] = {}
    signatures = {tensor.name: tensor for tensor in signature.inputs}
    position = 0
    for tensor in given:
        name = tensor["name"]
        shape = _shape(tensor, signatures[name], most)
        size = _parameters(tensor).get(_BINARY)
        if size is None:
            arrays[name] = _from_json(tensor, signatures[name], shape)
        else:
            left = len(binary) - position
            arrays[name] = _from_binary(binary[position:], size, left, signatures[name], shape)
            position += size
    if position != len(binary):
        raise AnswerError(400, f"{len(binary) - position} bytes follow the last binary input.")
    ordered = [arrays[name] for name in wanted]
    check_rows(ordered, most)
    return ordered


def _shape(tensor: Mapping[str, Any], signature: TensorSignature, most: int) -> list[int]:
    """Return the shape of an input, after a check of it and of its datatype."""
    datatype = DATATYPES[signature.dtype]
    got = tensor.get("datatype")
    if got != datatype:
        raise AnswerError(
            400,
            f"the input '{signature.name}' must have the datatype {datatype}, got "
            f"{got[:20] if isinstance(got, str) else 'no text'}.",
        )
    shape = tensor.get("shape")
    if not isinstance(shape, list) or not all(
        type(dim) is int and 0 < dim < 1 << 31 for dim in shape
    ):
        raise AnswerError(400, f"the shape of the input '{signature.name}' is not a list of sizes.")
    if shape and shape[0] > most:
        raise AnswerError(413, f"{shape[0]:,} instances are too many: at most {most:,}.")
    return shape


def _from_json(tensor: Mapping[str, Any], signature: TensorSignature, shape: list[int]) -> Array:
    """Return an input of nested lists, or of a flat one, which the protocol permits."""
    data = tensor.get("data")
    is_flat = isinstance(data, list) and bool(data) and not isinstance(data[0], list)
    flat = TensorSignature(signature.name, signature.dtype, (None,))
    array = to_array(data, flat if is_flat else signature)
    if array.size != math.prod(shape) or (not is_flat and list(array.shape) != shape):
        raise AnswerError(400, f"the data of the input '{signature.name}' has another shape.")
    return fitting(array.reshape(shape), signature)


def _from_binary(
    binary: memoryview, size: Any, left: int, signature: TensorSignature, shape: list[int]
) -> Array:
    kind = np.dtype(signature.dtype).newbyteorder("<")
    if type(size) is not int or size != math.prod(shape) * kind.itemsize or size > left:
        raise AnswerError(
            400,
            f"{_BINARY} of the input '{signature.name}' must be the bytes of its shape, within "
            "the body.",
        )
    array = np.frombuffer(binary[:size], np.uint8 if signature.dtype == "bool" else kind)
    array = array.astype(bool) if signature.dtype == "bool" else array.copy()
    return fitting(array.reshape(shape), signature)


def _parameters(data: Mapping[str, Any]) -> dict[str, Any]:
    parameters = data.get("parameters", {})
    if not isinstance(parameters, dict):
        raise AnswerError(400, "'parameters' must be an object.")
    return parameters


# Outputs


def _answer(
    requested: Sequence[tuple[str, bool]], name: str, identifier: str, answer: Answer
) -> Response:
    tensors = dict(zip((t.name for t in answer.signature.outputs), answer.outputs, strict=True))
    signatures = {tensor.name: tensor for tensor in answer.signature.outputs}
    described: list[dict[str, Any]] = []
    binary: list[bytes] = []
    for output, is_binary in requested:
        array, signature = tensors[output], signatures[output]
        entry: dict[str, Any] = {
            "name": output, "datatype": DATATYPES[signature.dtype], "shape": list(array.shape),
        }  # fmt: skip
        if is_binary:
            kind = np.dtype(signature.dtype).newbyteorder("<")
            content = np.ascontiguousarray(array, kind).tobytes()
            entry["parameters"] = {_BINARY: len(content)}
            binary.append(content)
        else:
            check_finite([array], ModelSignature((), (signature,)))
            entry["data"] = np.ascontiguousarray(array).reshape(-1)
        described.append(entry)
    head = {"model_name": name, "model_version": str(answer.version), "outputs": described}
    if identifier:
        head["id"] = identifier
    content = to_json(head)
    headers = version_header(answer.version)
    if not binary:
        return Response(content, headers=headers, media_type="application/json")
    headers[_LENGTH_HEADER] = str(len(content))
    return Response(
        b"".join([content, *binary]), headers=headers, media_type="application/octet-stream"
    )


def _requested(data: Mapping[str, Any], tensors: Sequence[str]) -> list[tuple[str, bool]]:
    """Return which of the outputs to send, and whether as binary data."""
    by_default = _parameters(data).get("binary_data_output") is True
    outputs = data.get("outputs")
    if outputs is None:
        return [(name, by_default) for name in tensors]
    if not isinstance(outputs, list) or not all(isinstance(each, dict) for each in outputs):
        raise AnswerError(400, "'outputs' must be a list of objects.")
    requested: dict[str, bool] = {}
    for output in outputs:
        name, parameters = output.get("name"), _parameters(output)
        if not isinstance(name, str) or name not in tensors or name in requested:
            raise AnswerError(
                400, f"'outputs' must name each of {', '.join(tensors)} at most once."
            )
        if "classification" in parameters:
            raise AnswerError(400, "the extension for classification is not supported.")
        requested[name] = parameters.get("binary_data", by_default) is True
    return list(requested.items())


def _json(data: Mapping[str, Any], status: int = 200, version: int | None = None) -> Response:
    headers = {} if version is None else version_header(version)
    return Response(to_json(data), status, headers, media_type="application/json")
