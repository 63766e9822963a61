"""TensorFlow Serving's REST interface."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.serving.choice import ServingChoice, write_choice
from playgrad.serving.store import ModelStore
from tests.serving.serving import RunningServer, content, model, put, samples, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Two versions of "digits", and a model with two inputs and two outputs."""
    store = ModelStore(tmp_path_factory.mktemp("models"))
    put(store, "digits", content(model(1)))
    put(store, "digits", content(model(2)))
    put(store, "digits", content(model(3, features=9)))  # is refused
    write_choice(store, "digits", ServingChoice("all", labels={"canary": 2}))
    with pg.Graph(seed=1).as_default():
        a, b = pg.Input((2,), name="a"), pg.Input((3,), dtype="int32", name="b")
        h = nn.Concatenate()([nn.Dense(4)(a), nn.Flatten()(nn.Embedding(5, 2)(b))])
        put(store, "pair", content(pg.Model([a, b], [nn.Dense(2)(h), nn.Dense(1)(h)])))
    with serving(store.folder) as server:
        yield server


def expected(seed: int) -> np.ndarray:
    network = model(seed)
    try:
        return np.asarray(network.predict(samples(2)))
    finally:
        network.close()


@pytest.mark.parametrize(
    ("path", "version"),
    [
        ("digits", 2),
        ("digits/versions/1", 1),
        ("digits/versions/2", 2),
        ("digits/labels/canary", 2),
    ],
)
def test_rows_and_columns_are_predicted(server: RunningServer, path: str, version: int) -> None:
    rows = server.predict(path, instances=samples(2))
    columns = server.predict(path, inputs=samples(2), signature_name="serving_default")
    named = server.predict(path, inputs={"input": samples(2)})
    objects = server.predict(path, instances=[{"input": row} for row in samples(2)])
    for answer in (rows, columns, named, objects):
        assert (answer.status, answer.headers["model-version"]) == (200, str(version))
    np.testing.assert_allclose(rows.json["predictions"], expected(version), rtol=1e-5)
    assert columns.json == named.json == {"outputs": rows.json["predictions"]}
    assert objects.json == rows.json


def test_answers_have_the_bits_of_the_model(server: RunningServer) -> None:
    answer = server.predict("digits/versions/1", instances=samples(2))
    np.testing.assert_array_equal(np.float32(answer.json["predictions"]), expected(1))


def test_models_with_several_inputs_and_outputs(server: RunningServer) -> None:
    columns = server.predict("pair", inputs={"a": [[1, 2], [3, 4]], "b": [[0, 1, 2], [4, 4, 4]]})
    rows = server.predict(
        "pair", instances=[{"a": [1, 2], "b": [0, 1, 2]}, {"a": [3, 4], "b": [4, 4, 4]}]
    )
    outputs = columns.json["outputs"]
    assert {name: np.shape(value) for name, value in outputs.items()} == {
        "dense_2": (2, 2), "dense_3": (2, 1),
    }  # fmt: skip
    assert rows.json["predictions"] == [
        {name: value[i] for name, value in outputs.items()} for i in (0, 1)
    ]


def test_the_status_names_versions_and_why_one_was_refused(server: RunningServer) -> None:
    states = server.request("GET", "/v1/models/digits").json["model_version_status"]
    assert [(each["version"], each["state"]) for each in states] == [
        ("3", "END"), ("2", "AVAILABLE"), ("1", "AVAILABLE"),
    ]  # fmt: skip
    assert states[0]["status"]["error_code"] == "FAILED_PRECONDITION"
    assert "its signature differs" in states[0]["status"]["error_message"]
    (one,) = server.request("GET", "/v1/models/digits/versions/1").json["model_version_status"]
    assert one["status"] == {"error_code": "OK", "error_message": ""}
    (two,) = server.request("GET", "/v1/models/digits/labels/canary").json["model_version_status"]
    assert two["version"] == "2"


def test_metadata_has_the_signature(server: RunningServer) -> None:
    data = server.request("GET", "/v1/models/digits/metadata").json
    assert data["model_spec"] == {"name": "digits", "signature_name": "", "version": "2"}
    definition = data["metadata"]["signature_def"]["signature_def"]["serving_default"]
    assert definition["inputs"]["input"] == {
        "dtype": "DT_FLOAT",
        "tensor_shape": {
            "dim": [{"size": "-1", "name": ""}, {"size": "6", "name": ""}], "unknown_rank": False,
        },
        "name": "input",
    }  # fmt: skip
    assert list(definition["outputs"]) == ["dense_2"]


@pytest.mark.parametrize(
    ("method", "path", "status", "words"),
    [
        ("GET", "/v1/models/none", 404, "no model 'none'"),
        ("POST", "/v1/models/none:predict", 404, "no model 'none'"),
        (
            "POST",
            "/v1/models/digits/versions/9:predict",
            404,
            "version 9 of 'digits' is not served",
        ),
        (
            "POST",
            "/v1/models/digits/versions/3:predict",
            404,
            "version 3 of 'digits' is not served",
        ),
        ("POST", "/v1/models/digits/versions/x:predict", 404, "not the number of a version"),
        ("POST", "/v1/models/digits/labels/x:predict", 404, "no label 'x'"),
        ("GET", "/v1/models/digits:predict", 405, "use POST"),
        ("DELETE", "/v1/models/digits", 405, "use GET"),
        ("POST", "/v1/models/digits:classify", 404, "nothing at this address"),
        ("GET", "/v1/models/../../etc/passwd", 404, "nothing at this address"),
        ("GET", "/v1/models/..%2f..%2fetc", 404, "nothing at this address"),
        ("GET", "/nothing", 404, "nothing at this address"),
    ],
)
def test_unknown_addresses_are_errors_in_json(
    server: RunningServer, method: str, path: str, status: int, words: str
) -> None:
    body = b'{"instances": [[0, 0, 0, 0, 0, 0]]}' if method == "POST" else None
    answer = server.request(method, path, body)
    assert (answer.status, answer.headers["content-type"]) == (status, "application/json")
    assert words in answer.json["error"]


def test_outputs_that_json_cannot_express_are_an_error(server: RunningServer) -> None:
    answer = server.predict("digits", instances=np.full((1, 6), 3e38))
    assert answer.status == 422
    assert "is NaN or infinite" in answer.json["error"]
