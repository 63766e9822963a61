"""Three hundred hostile requests: each is refused in JSON, and has no effect on others."""

from __future__ import annotations

import gc
import json
import random
import re
import socket
from collections.abc import Iterator

import numpy as np
import orjson
import pytest

from playgrad.serving.batching import VersionRunner
from playgrad.serving.choice import ServingChoice, write_choice
from playgrad.serving.store import ModelStore
from tests.serving.serving import RunningServer, content, model, put, samples, serving
from tests.sweeps import SEED

SECONDS = 2.0
"""The limit of the server for a head, for a body and for an answer."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    store = ModelStore(tmp_path_factory.mktemp("models"))
    put(store, "digits", content(model(1)))
    put(store, "digits", content(model(2)))
    write_choice(store, "digits", ServingChoice("all"))
    with serving(store.folder, request_seconds=SECONDS, max_body=1 << 20) as server:
        yield server


@pytest.fixture(autouse=True)
def others_are_answered(server: RunningServer) -> Iterator[None]:
    before = server.predict("digits", instances=samples(2))
    assert before.status == 200
    yield
    after = server.predict("digits", instances=samples(2))
    assert (after.status, after.body) == (200, before.body)


def bodies() -> list[bytes]:
    """Return bodies that are wrong for ``digits:predict``, which takes 6 numbers."""
    rows = [
        "null", "[]", "{}", "3", '"text"', "true", "[[]]", "[[[]]]", "[{}]", "[null]", "[[null]]",
        "[1, 2, 3, 4, 5, 6]", "[[1, 2, 3, 4, 5]]", "[[1, 2, 3, 4, 5, 6, 7]]",
        "[[1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5]]", "[[1, 2, 3, 4, 5, [6]]]", "[[[1, 2, 3, 4, 5, 6]]]",
        '[["1", "2", "3", "4", "5", "6"]]', "[[true, false, true, true, true, true]]",
        '[[{"b64": "AAAA"}, 2, 3, 4, 5, 6]]', '[{"input": [1, 2, 3, 4, 5]}]', '[{"other": [1]}]',
        '[{"input": [1, 2, 3, 4, 5, 6]}, [1, 2, 3, 4, 5, 6]]', "[[1, 2, 3, 4, 5, 1e39]]",
        "[[1, 2, 3, 4, 5, 1e400]]", "[[1, 2, 3, 4, 5, NaN]]", "[[1, 2, 3, 4, 5, Infinity]]",
        "[[1, 2, 3, 4, 5, -Infinity]]", f"[[1, 2, 3, 4, 5, {'9' * 400}]]",
        "[[1, 2, 3, 4, 5, 0x10]]",
        "[[1, 2, 3, 4, 5, 01]]", "[[1, 2, 3, 4, 5, 6,]]", "[[1, 2, 3, 4, 5, 6]",
        "[" * 60 + "]" * 60,
        "[" * 100 + "]" * 100, "[" * 900 + "1" + "]" * 900, "[" * 100_000,
        "[" * 65 + "1" + "]" * 65,
        f"[{','.join(['[1,2,3,4,5,6]'] * 1025)}]", f"[{','.join(['0'] * 500_000)}]",
    ]  # fmt: skip
    made = [f'{{"instances": {each}}}'.encode() for each in rows]
    made += [f'{{"inputs": {each}}}'.encode() for each in rows]
    made += [f'{{"inputs": {{"input": {each}}}}}'.encode() for each in rows]
    good = b'{"instances": [[1, 2, 3, 4, 5, 6]]}'
    made += [
        b"", b" ", b"{", b"}", b"null", b"[]", b"3", b'"instances"', b"\xff\xfe", b"\0" * 100,
        good + b"}", good[:-1], good.replace(b"instances", b"instance"), b"{}",
        b'{"instances": [[1,2,3,4,5,6]], "inputs": [[1,2,3,4,5,6]]}', b"--x\r\n\r\n",
        b'{"signature_name": "train", "instances": [[1,2,3,4,5,6]]}', "﻿{}".encode(),
        b'{"signature_name": ["serving_default"], "instances": [[1,2,3,4,5,6]]}',
        b'{"instances": [[1, 2, 3, 4, 5, "\\ud800"]]}', b"instances=1", b"<xml/>",
    ]  # fmt: skip
    random_bytes = random.Random(SEED)
    for _ in range(60):  # a good body with one bit flipped is no body, or one of other numbers
        damaged = bytearray(good)
        damaged[random_bytes.randrange(15)] ^= 1 << random_bytes.randrange(8)
        made.append(bytes(damaged))
    return made


def test_bodies(server: RunningServer) -> None:
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=300)
    statuses: list[int] = []
    with connection, connection.makefile("rb") as reader:
        for body in bodies():
            connection.sendall(
                b"POST /v1/models/digits:predict HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
            )
            status, answer = _read(reader)
            error = orjson.loads(answer)["error"]
            assert 400 <= status < 500, (status, body[:100], answer[:200])
            assert isinstance(error, str), (body[:100], answer[:200])
            assert len(answer) < 1000, body[:100]
            statuses.append(status)
    assert len(statuses) >= 200
    assert set(statuses) == {400, 413}


def _read(reader: object) -> tuple[int, bytes]:
    """Return status and body of the next answer on a connection."""
    line = reader.readline()  # type: ignore[attr-defined]
    length = 0
    while (header := reader.readline().strip()) != b"":  # type: ignore[attr-defined]
        name, _, value = header.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    return int(line.split()[1]), reader.read(length)  # type: ignore[attr-defined]


HEAD = b"POST /v1/models/digits:predict HTTP/1.1\r\nHost: localhost\r\n"
GOOD = b'{"instances": [[1, 2, 3, 4, 5, 6]]}'
WITH_LENGTH = HEAD + b"Content-Length: %d\r\n" % len(GOOD)
RAW = {
    "no HTTP": (b"hello\r\n\r\n", 400),
    "TLS": (bytes.fromhex("160301020001000200030303") + bytes(400), 400),
    "a wrong version of HTTP": (b"GET / HTTP/9.9\r\n\r\n", 400),
    "two lengths": (WITH_LENGTH + b"Content-Length: 3\r\n\r\n" + GOOD, 400),
    "a negative length": (HEAD + b"Content-Length: -5\r\n\r\n" + GOOD, 400),
    "a length and chunks": (WITH_LENGTH + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "a wrong chunk": (HEAD + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n", 400),
    "a name with a space": (HEAD + b"Content Length: 3\r\n\r\n", 400),
    "a folded header": (HEAD + b"X: 1\r\n 2\r\n\r\n", 400),
    "no host": (b"GET /v1/models/digits HTTP/1.1\r\n\r\n", 421),
    "a foreign host": (b"GET /v1/models/digits HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
    "a head without end": (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: 1\r\n" * 9000, 431),
    "an endless address": (b"GET /" + b"a" * 40_000, 431),
    "an address beyond ASCII": (b"GET /\xc3\xa4 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    "an unknown method": (b"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    "CONNECT": (b"CONNECT a:1 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    "OPTIONS *": (b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    "PUT": (b"PUT /v1/models/digits HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
    "a body too long": (HEAD + b"Content-Length: 99999999999\r\n\r\n", 413),
    "a compressed body": (WITH_LENGTH + b"Content-Encoding: gzip\r\n\r\n" + GOOD, 415),
    "a slow head": (b"GET / HTTP/1.1\r\nHost: local", 408),
    "a slow body": (WITH_LENGTH + b"\r\n" + GOOD[:-1], 408),
    "a chunk that never ends": (HEAD + b"Transfer-Encoding: chunked\r\n\r\nff\r\nabc", 408),
    "a path to a file": (b"GET /page/../../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    "an encoded path": (b"GET /v1/models/%2e%2e%2fx HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    "an encoded zero": (b"GET /v1/models/a%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    "a web socket": (
        b"GET /v1/models/none HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
        b"Upgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        b"Sec-WebSocket-Version: 13\r\n\r\n", 404,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", RAW)
def test_raw_bytes(server: RunningServer, case: str) -> None:
    raw, expected = RAW[case]
    with server.send(raw) as connection, connection.makefile("rb") as reader:
        status, answer = _read(reader)
    assert (status, bool(orjson.loads(answer)["error"])) == (expected, True), answer


def test_pipelined_requests_are_answered_in_order(server: RunningServer) -> None:
    many, one = 15, WITH_LENGTH + b"\r\n" + GOOD
    bad = HEAD + b"Content-Length: 2\r\n\r\n{}"
    with server.send((one + bad) * many) as connection, connection.makefile("rb") as reader:
        answers = [_read(reader) for _ in range(2 * many)]
    assert [status for status, _ in answers] == [200, 400] * many
    assert len({body for status, body in answers if status == 200}) == 1


def test_more_pipelined_requests_than_that_end_the_connection(server: RunningServer) -> None:
    with server.send((WITH_LENGTH + b"\r\n" + GOOD) * 400) as connection:
        received = b""
        try:
            while data := connection.recv(1 << 16):
                received += data
        except ConnectionError:
            pass
    assert received.count(b"HTTP/1.1 200 OK") < 40


def test_clients_that_go_away_leave_nothing(server: RunningServer) -> None:
    for length in range(0, len(WITH_LENGTH) + len(GOOD), 7):
        server.send((WITH_LENGTH + b"\r\n" + GOOD)[:length]).close()
    metrics = server.request("GET", "/metrics").body.decode()
    assert 'playgrad_queue_requests{model="digits",version="2"} 0.0' in metrics


def test_a_client_that_does_not_read_is_cut_off(server: RunningServer) -> None:
    """The answers to so many requests fill the buffers of both ends."""
    body = orjson.dumps({"instances": np.ones((1000, 6)).tolist()})
    ask = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(60)
        connection.connect(("127.0.0.1", server.port))
        with pytest.raises(ConnectionError):
            while True:
                connection.sendall(ask)


def test_names_that_clients_make_up_are_no_labels_of_metrics(server: RunningServer) -> None:
    for number in range(20):
        server.request("GET", f"/v1/models/made-up-{number}")
        server.predict(f"digits/versions/{1000 + number}", instances=samples(1))
    text = server.request("GET", "/metrics").body.decode()
    assert "made-up" not in text
    assert not re.search(r'version="10\d\d"', text)


def test_the_log_of_a_hostile_path_is_one_line_of_json(
    server: RunningServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", "playgrad.serving.access"):
        server.request("GET", "/v1/models/" + "%0a%22%5c%1b" * 50)
    (record,) = [each for each in caplog.records if each.name == "playgrad.serving.access"]
    assert "\n" not in record.message
    assert "\x1b" not in record.message
    entry = json.loads(record.message)
    assert (entry["status"], len(entry["path"])) == (404, 200)


def test_tokens(tmp_path: object, server: RunningServer) -> None:
    folder = server.manager.store.folder
    file = folder / "tokens.txt"
    file.write_text("# a comment\n\n" + "s" * 20 + "\n" + "t" * 20 + "\n")
    with serving(folder, token_file=file) as guarded:
        body = orjson.dumps({"instances": samples(1)}, option=orjson.OPT_SERIALIZE_NUMPY)
        path = "/v1/models/digits:predict"
        for token in (None, "", "Bearer", "Bearer x", "Basic " + "s" * 20, "Bearer " + "s" * 19):
            headers = {} if token is None else {"Authorization": token}
            answer = guarded.request("POST", path, body, **headers)
            assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
            assert guarded.request("GET", "/metrics", **headers).status == 401
            assert guarded.request("GET", "/overview", **headers).status == 401
            assert guarded.request("GET", "/v2/health/ready", **headers).status == 200
        for token in ("s" * 20, "t" * 20):
            headers = {"Authorization": f"Bearer {token}"}
            assert guarded.request("POST", path, body, **headers).status == 200


def test_values_at_the_edges_of_a_dtype_are_taken(server: RunningServer) -> None:
    edges = np.float32([[0, -0.0, 1e-45, 1.1754944e-38, 1, -1]])
    assert server.predict("digits", instances=edges).status == 200


def test_requests_wait_with_their_arrays_alone(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bytes of arrays are limited; lists of JSON have many times as many."""
    compute, kept = VersionRunner.outputs, []

    async def outputs(runner: VersionRunner, arrays: list[np.ndarray]) -> list[np.ndarray]:
        lists = (o for o in gc.get_objects() if type(o) is list and len(o) == 1)
        kept.extend(o for o in lists if isinstance(o[0], str) and o[0] == "ballast")
        assert all(array.base is None or array.base.nbytes == array.nbytes for array in arrays)
        return await compute(runner, arrays)

    monkeypatch.setattr(VersionRunner, "outputs", outputs)
    row, ballast = [1.0, 2, 3, 4, 5, 6], ["ballast"]
    assert server.predict("digits", instances=[row], ballast=ballast).status == 200
    named = {"name": "input", "datatype": "FP32", "shape": [1, 6], "ballast": ballast}
    path = "/v2/models/digits/infer"
    data = {"inputs": [{**named, "data": row}], "ballast": ballast}
    assert server.request("POST", path, orjson.dumps(data)).status == 200
    head = orjson.dumps({"inputs": [{**named, "parameters": {"binary_data_size": 24}}]})
    length = {"Inference-Header-Content-Length": str(len(head))}
    body = head + np.float32(row).tobytes()
    assert server.request("POST", path, body, **length).status == 200
    assert [each for each in kept if each is not ballast] == []


def test_more_connections_than_allowed_are_refused(server: RunningServer) -> None:
    ask = b"GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with serving(server.manager.store.folder, max_connections=3) as narrow:
        held = [narrow.send(ask) for _ in range(3)]
        for connection in held:
            with connection.makefile("rb") as reader:
                assert _read(reader)[0] == 200
        with narrow.send(ask) as connection, connection.makefile("rb") as reader:
            assert _read(reader) == (503, b'{"error":"too many connections."}')
        for connection in held:
            connection.close()
