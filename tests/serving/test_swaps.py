"""Versions are swapped back and forth while clients ask: no request fails, each answer has the bits
of the version that it names, and the memory of freed versions comes back."""

from __future__ import annotations

import http.client
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.serving.choice import ServingChoice, write_choice
from playgrad.serving.servable import servable_of
from playgrad.serving.settings import ServingSettings
from playgrad.serving.store import ModelStore
from tests.cli.processes import running
from tests.serving.serving import Array, content, put

CLIENTS = 20
SAMPLES = 8
FEATURES, UNITS, CLASSES = 64, 4096, 10
"""A megabyte of weights, so that one that stays shows in the memory of the process."""
MAX_BATCH = 16


def wide(seed: int) -> bytes:
    with pg.Graph(seed=seed).as_default():
        network = pg.Sequential([nn.Dense(UNITS, activation="tanh"), nn.Dense(CLASSES)])
        network.build((FEATURES,))
    return content(network)


def inputs() -> Array:
    return np.random.default_rng(0).normal(size=(SAMPLES, FEATURES)).astype("float32")


def possible_answers(file: bytes) -> list[set[bytes]]:
    """Return the bits that a version can answer each sample with.

    BLAS rounds differently in batches of other sizes and, at their ends, in other rows.
    """
    servable = servable_of(file, "model.safetensors", "cpu")
    answers: list[set[bytes]] = []
    for sample in inputs():
        rows: set[bytes] = set()
        for size in ServingSettings(max_batch=MAX_BATCH).batch_sizes:
            (outputs,) = servable.run([np.repeat(sample[None], size, axis=0)])
            rows |= {row.tobytes() for row in outputs}
        answers.append(rows)
    servable.close()
    return answers


class Clients:
    """Clients that ask again and again, each over one connection.

    Attributes:
        answers: how many answers have named each version.
        wrong: what was wrong with the first answers that were.
    """

    def __init__(self, port: int, expected: dict[str, list[set[bytes]]]) -> None:
        self.answers: dict[str, int] = dict.fromkeys(expected, 0)
        self.wrong: list[str] = []
        self._port = port
        self._expected = expected
        self._changed = threading.Condition()
        self._end = threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=[i]) for i in range(CLIENTS)]
        for thread in self._threads:
            thread.start()

    def wait_for(self, version: str, count: int) -> None:
        """Wait for ``count`` further answers of a version."""
        with self._changed:
            goal = self.answers[version] + count
            assert self._changed.wait_for(
                lambda: self.wrong or self.answers[version] >= goal, timeout=300
            )

    def stop(self) -> None:
        self._end.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, client: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        rows = inputs()
        bodies = [orjson.dumps({"instances": [row.tolist()]}) for row in rows]
        turn = client
        try:
            while not self._end.is_set() and not self.wrong:
                sample = turn % SAMPLES
                connection.request("POST", "/v1/models/digits:predict", bodies[sample])
                response = connection.getresponse()
                self._check(sample, response, response.read())
                turn += 1
        except Exception as error:
            self._note(f"{error!r}")
        finally:
            connection.close()

    def _check(self, sample: int, response: http.client.HTTPResponse, body: bytes) -> None:
        version = response.headers.get("Model-Version", "")
        if response.status != 200 or version not in self._expected:
            self._note(f"{response.status} {body[:200]!r}")
            return
        row = np.float32(orjson.loads(body)["predictions"][0]).tobytes()
        if row not in self._expected[version][sample]:
            others = [each for each, rows in self._expected.items() if row in rows[sample]]
            self._note(f"the answer of version {version} has the bits of {others}")
        with self._changed:
            self.answers[version] += 1
            self._changed.notify_all()

    def _note(self, problem: str) -> None:
        with self._changed:
            self.wrong.append(problem)
            self._changed.notify_all()


@contextmanager
def model_server(folder: Path, *options: str) -> Iterator[int]:
    """Run ``playgrad models serve`` in a process of its own; yield its port."""
    arguments = ["models", "serve", str(folder), "--port", "0", "--no-access-log", *options]
    with running(*arguments) as process:
        assert process.stdout
        line = process.stdout.readline().decode()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        assert found, line + process.stderr.read().decode()  # type: ignore[union-attr]
        threading.Thread(target=process.stderr.read, daemon=True).start()  # type: ignore[union-attr]
        yield int(found[1])
        process.terminate()
        assert process.wait(300) == 143


def get(port: int, path: str) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    connection.request("GET", path)
    body = connection.getresponse().read()
    connection.close()
    return body


def resident(port: int) -> float:
    text = get(port, "/metrics").decode()
    return float(re.search(r"^process_resident_memory_bytes (\S+)", text, re.MULTILINE)[1])  # type: ignore[index]


@pytest.mark.parametrize(
    ("swaps", "answers"),
    [
        (24, 60),
        pytest.param(50, 2500, marks=pytest.mark.slow),
        pytest.param(200, 500, marks=pytest.mark.slow),
    ],
)
def test_swaps_under_load(tmp_path: Path, swaps: int, answers: int) -> None:
    """The next swap comes when a version has given ``answers`` answers: 2500 take a minute."""
    store = ModelStore(tmp_path)
    files = {"1": wide(1), "2": wide(2)}
    for file in files.values():
        put(store, "digits", file)
    expected = {version: possible_answers(file) for version, file in files.items()}
    assert not any(one & two for one, two in zip(*expected.values(), strict=True))
    options = ("--poll-seconds", "0.05", "--max-batch", str(MAX_BATCH), "--device", "cpu")
    with model_server(tmp_path, *options) as port:
        clients = Clients(port, expected)
        memory: list[float] = []
        try:
            clients.wait_for("2", answers)
            for number in range(swaps):
                withdrawn, version = ([2], "1") if number % 2 == 0 else ([], "2")
                write_choice(store, "digits", ServingChoice(withdrawn=withdrawn))
                clients.wait_for(version, answers)
                assert not clients.wrong
                wait_until_freed(port)
                memory.append(resident(port))
        finally:
            clients.stop()
    assert clients.wrong == []
    assert min(clients.answers.values()) >= answers * (swaps // 2)
    # Half of the swaps later, memory is the same within 2 %, and within two versions in short runs.
    middle = len(memory) // 2
    before, after = np.median(memory[:middle]), np.median(memory[middle:])
    assert after - before < max(0.02 * before, 2 * len(files["1"])), memory


def wait_until_freed(port: int) -> None:
    while orjson.loads(get(port, "/overview"))["freeing"]:
        time.sleep(0.01)


def test_sigterm_answers_what_has_begun(tmp_path: Path) -> None:
    """The request waits in a batch that nobody fills: the end of its time is not awaited."""
    store = ModelStore(tmp_path)
    put(store, "digits", wide(1))
    with running(
        "models", "serve", str(tmp_path), "--port", "0", "--batch-timeout-ms", "1500"
    ) as p:
        assert p.stdout
        port = int(re.search(rb":(\d+)/", p.stdout.readline())[1])  # type: ignore[index]
        body = orjson.dumps({"instances": inputs()[:1].tolist()})
        with socket.create_connection(("127.0.0.1", port), timeout=300) as connection:
            connection.sendall(
                b"POST /v1/models/digits:predict HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
            )
            while not orjson.loads(get(port, "/overview"))["models"][0]["versions"][0]["waiting"]:
                pass
            p.terminate()
            answer = b""
            while data := connection.recv(1 << 16):
                answer += data
        assert answer.startswith(b"HTTP/1.1 200 OK")
        _, err = p.communicate(timeout=300)
    assert p.returncode == 143
    log = err.decode().splitlines()
    assert "digits: version 1 is freed" in log
    assert log[-1] == "playgrad: stopped"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))
