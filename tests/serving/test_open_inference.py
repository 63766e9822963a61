"""The Open Inference Protocol, by Triton's client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import orjson
import pytest
import tritonclient.http as triton
from tritonclient.utils import InferenceServerException

import playgrad as pg
from playgrad import nn
from playgrad.serving.choice import ServingChoice, write_choice
from playgrad.serving.store import ModelStore
from tests.serving.serving import RunningServer, content, model, put, samples, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    store = ModelStore(tmp_path_factory.mktemp("models"))
    put(store, "digits", content(model(1)))
    put(store, "digits", content(model(2)))
    write_choice(store, "digits", ServingChoice("all"))
    with pg.Graph(seed=1).as_default():
        a, b = pg.Input((2,), name="a"), pg.Input((3,), dtype="int32", name="b")
        h = nn.Concatenate()([nn.Dense(4)(a), nn.Flatten()(nn.Embedding(5, 2)(b))])
        put(store, "pair", content(pg.Model([a, b], [nn.Dense(2)(h), nn.Dense(1)(h)])))
    with serving(store.folder) as server:
        yield server


@pytest.fixture
def client(server: RunningServer) -> Iterator[triton.InferenceServerClient]:
    client = triton.InferenceServerClient(f"127.0.0.1:{server.port}")
    yield client
    client.close()


def test_the_server_and_its_models_are_described(client: triton.InferenceServerClient) -> None:
    assert client.is_server_live()
    assert client.is_server_ready()
    assert client.is_model_ready("digits")
    assert client.is_model_ready("digits", "1")
    assert not client.is_model_ready("digits", "9")
    assert not client.is_model_ready("none")
    assert client.get_server_metadata()["extensions"] == ["binary_tensor_data"]
    assert client.get_model_metadata("pair") == {
        "name": "pair",
        "versions": ["1"],
        "platform": "playgrad",
        "inputs": [
            {"name": "a", "datatype": "FP32", "shape": [-1, 2]},
            {"name": "b", "datatype": "INT32", "shape": [-1, 3]},
        ],
        "outputs": [
            {"name": "dense_2", "datatype": "FP32", "shape": [-1, 2]},
            {"name": "dense_3", "datatype": "FP32", "shape": [-1, 1]},
        ],
    }


@pytest.mark.parametrize("binary_in", [False, True])
@pytest.mark.parametrize("binary_out", [False, True])
@pytest.mark.parametrize("version", ["1", "2"])
def test_inference_has_the_bits_of_the_model(
    client: triton.InferenceServerClient, binary_in: bool, binary_out: bool, version: str
) -> None:
    x = triton.InferInput("input", [2, 6], "FP32")
    x.set_data_from_numpy(samples(2), binary_data=binary_in)
    wanted = [triton.InferRequestedOutput("dense_2", binary_data=binary_out)]
    result = client.infer("digits", [x], version, outputs=wanted, request_id="mine")
    response = result.get_response()
    assert (response["id"], response["model_version"]) == ("mine", version)
    network = model(int(version))
    np.testing.assert_array_equal(result.as_numpy("dense_2"), network.predict(samples(2)))
    network.close()


def test_several_inputs_and_outputs_in_both_forms(client: triton.InferenceServerClient) -> None:
    a, b = triton.InferInput("a", [2, 2], "FP32"), triton.InferInput("b", [2, 3], "INT32")
    a.set_data_from_numpy(np.float32([[1, 2], [3, 4]]), binary_data=False)
    b.set_data_from_numpy(np.int32([[0, 1, 2], [4, 4, 4]]))
    result = client.infer("pair", [b, a])  # all outputs, in binary form
    assert result.as_numpy("dense_2").shape == (2, 2)
    assert result.as_numpy("dense_3").shape == (2, 1)
    mixed = [
        triton.InferRequestedOutput("dense_3", binary_data=True),
        triton.InferRequestedOutput("dense_2", binary_data=False),
    ]
    again = client.infer("pair", [a, b], outputs=mixed)
    for name in ("dense_2", "dense_3"):
        np.testing.assert_array_equal(again.as_numpy(name), result.as_numpy(name))


def test_errors_reach_the_client(client: triton.InferenceServerClient) -> None:
    x = triton.InferInput("input", [1, 7], "FP32")
    x.set_data_from_numpy(np.zeros((1, 7), np.float32))
    with pytest.raises(InferenceServerException, match=r"has shape \(1, 7\)"):
        client.infer("digits", [x])
    with pytest.raises(InferenceServerException, match="no model 'none'"):
        client.infer("none", [x])


def infer(server: RunningServer, data: Any, binary: bytes = b"", **headers: str) -> Any:
    head = orjson.dumps(data)
    if binary:
        headers["Inference-Header-Content-Length"] = str(len(head))
    return server.request("POST", "/v2/models/digits/infer", head + binary, **headers)


def tensor(**changes: Any) -> dict[str, Any]:
    whole = {"name": "input", "datatype": "FP32", "shape": [1, 6], "data": [1, 2, 3, 4, 5, 6]}
    return {name: value for name, value in {**whole, **changes}.items() if value is not None}


def test_flat_and_nested_data_are_the_same(server: RunningServer) -> None:
    flat = infer(server, {"inputs": [tensor()]})
    nested = infer(server, {"inputs": [tensor(data=[[1, 2, 3, 4, 5, 6]])]})
    assert (flat.status, flat.json) == (200, nested.json)
    assert flat.json["outputs"][0]["shape"] == [1, 3]
    assert flat.headers["model-version"] == "2"


BAD = [
    {"inputs": None}, {"inputs": []}, {"inputs": [3]}, {"inputs": [tensor(name="other")]},
    {"inputs": [tensor(name=7)]}, {"inputs": [tensor(), tensor()]}, {"inputs": {}},
    {"inputs": [tensor(datatype="FP64")]}, {"inputs": [tensor(datatype=None)]},
    {"inputs": [tensor(shape=[1, 5])]}, {"inputs": [tensor(shape=[2, 3])]},
    {"inputs": [tensor(shape=[1, 2, 3])]}, {"inputs": [tensor(shape=[6])]},
    {"inputs": [tensor(shape=[-1, -6])]}, {"inputs": [tensor(shape="1,6")]},
    {"inputs": [tensor(shape=[1.0, 6])]}, {"inputs": [tensor(shape=[True, 6])]},
    {"inputs": [tensor(shape=[1 << 40, 1 << 40])]}, {"inputs": [tensor(shape=[10**6, 6])]},
    {"inputs": [tensor(data=[1, 2, 3])]}, {"inputs": [tensor(data=[[1, 2, 3], [4, 5, 6]])]},
    {"inputs": [tensor(data=["a"] * 6)]}, {"inputs": [tensor(data=None)]},
    {"inputs": [tensor(data={})]}, {"inputs": [tensor(parameters=3)]},
    {"inputs": [tensor(parameters={"binary_data_size": 24})]},
    {"inputs": [tensor(parameters={"binary_data_size": -24})]},
    {"inputs": [tensor()], "outputs": 3}, {"inputs": [tensor()], "outputs": [{"name": "x"}]},
    {"inputs": [tensor()], "outputs": [{"name": ["dense_2"]}]},
    {"inputs": [tensor()], "outputs": [{"name": "dense_2"}] * 2}, {"inputs": [tensor()], "id": 3},
    {"inputs": [tensor()], "parameters": []},
    {"inputs": [tensor()], "outputs": [{"name": "dense_2", "parameters": {"classification": 2}}]},
]  # fmt: skip


@pytest.mark.parametrize("data", BAD, ids=lambda data: orjson.dumps(data).decode()[:60])
def test_wrong_requests_are_refused(server: RunningServer, data: Any) -> None:
    answer = infer(server, data)
    assert answer.status in (400, 413)
    assert answer.json["error"]


@pytest.mark.parametrize("size", [0, 23, 25, 1 << 40, True, "24", None])
@pytest.mark.parametrize("binary", [b"", bytes(23), bytes(25), bytes(48)])
def test_binary_data_of_another_length_is_refused(
    server: RunningServer, size: Any, binary: bytes
) -> None:
    parameters = {} if size is None else {"binary_data_size": size}
    answer = infer(server, {"inputs": [tensor(data=None, parameters=parameters)]}, binary)
    assert answer.status == 400
    assert answer.json["error"]


@pytest.mark.parametrize("length", ["-1", "1e2", "999999", "x", "9" * 30, "0"])
def test_a_wrong_length_of_the_header_is_refused(server: RunningServer, length: str) -> None:
    headers = {"Inference-Header-Content-Length": length}
    answer = infer(server, {"inputs": [tensor()]}, **headers)
    assert (answer.status, bool(answer.json["error"])) == (400, True)


def test_binary_numbers_that_are_not_finite_are_refused(server: RunningServer) -> None:
    binary = np.float32([1, 2, np.nan, 4, 5, 6]).tobytes()
    data = {"inputs": [tensor(data=None, parameters={"binary_data_size": 24})]}
    answer = infer(server, data, binary)
    assert "NaN or infinite" in answer.json["error"]


def test_outputs_that_overflow_can_be_had_in_binary_form_only(server: RunningServer) -> None:
    large = tensor(data=[3e38] * 6)
    assert infer(server, {"inputs": [large]}).status == 422
    binary = infer(server, {"inputs": [large], "parameters": {"binary_data_output": True}})
    head = int(binary.headers["inference-header-content-length"])
    assert not np.isfinite(np.frombuffer(binary.body[head:], "<f4")).all()
