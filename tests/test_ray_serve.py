"""The model server as replicas on Ray, as a person starts it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from playgrad.serving.store import ModelStore
from tests.serving.serving import content, model, put, samples

pytestmark = pytest.mark.slow  # Ray alone is fifteen processes

TOKEN = "0123456789abcdef"


class Answer:
    """The answer to a request for predictions of `samples`."""

    def __init__(self, port: int, token: str = TOKEN) -> None:
        connection = HTTPConnection("127.0.0.1", port, timeout=300)
        body = json.dumps({"instances": samples(2).tolist()})
        headers = {"Authorization": f"Bearer {token}"}
        connection.request("POST", "/v1/models/digits:predict", body, headers)
        response = connection.getresponse()
        self.status = response.status
        self.version = int(response.headers.get("Model-Version", 0))
        self.json = json.loads(response.read())
        connection.close()


def listening(pids: list[int]) -> list[str]:
    """Return the addresses at which processes listen."""
    shown = subprocess.run(["ss", "-ltnpH"], capture_output=True, text=True, check=True).stdout
    owners = "|".join(f"pid={pid}," for pid in pids)
    return [line.split()[3] for line in shown.splitlines() if re.search(owners, line)]


def children(pid: int) -> list[int]:
    """Return a process and all of those that it has started."""
    shown = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True)
    parents = {int(each): int(parent) for each, parent in map(str.split, shown.stdout.splitlines())}
    found = [pid]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found


def named(pids: list[int], words: str) -> list[int]:
    return [pid for pid in pids if words in Path(f"/proc/{pid}/cmdline").read_text()]


def until(condition: Callable[[], Any]) -> None:
    end = time.monotonic() + 400
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    folder = tmp_path / "models"
    folder.mkdir()
    store = ModelStore(folder)
    put(store, "digits", content(model(1)))
    return store


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@pytest.fixture
def server(store: ModelStore, port: int, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    (tmp_path / "tokens").write_text(TOKEN)
    command = [sys.executable, "-m", "playgrad", "models", "serve", str(store.folder)]
    command += ["--port", str(port), "--ray", "--replicas", "2", "--replica-cpus", "0.5"]
    command += ["--token-file", str(tmp_path / "tokens"), "--poll-seconds", "0.1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert "by 2 replicas" in line, line
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(120)


def expected(seed: int) -> np.ndarray[Any, Any]:
    network = model(seed)
    try:
        return np.asarray(network.predict(samples(2)))
    finally:
        network.close()


def test_replicas_answer_through_swaps_and_the_death_of_one(
    store: ModelStore, server: subprocess.Popen[str], port: int
) -> None:
    weights = {1: expected(1), 2: expected(2)}
    processes = children(server.pid)
    assert {address.rpartition(":")[0] for address in listening(processes)} <= {
        "127.0.0.1", "[::ffff:127.0.0.1]"
    }  # fmt: skip
    assert Answer(port, token="wrong" * 4).status == 401
    ended = False

    def ask() -> list[Answer]:
        answers = []
        while not ended:
            answers.append(Answer(port))
        return answers

    with ThreadPoolExecutor(4) as pool:
        clients = [pool.submit(ask) for _ in range(4)]
        put(store, "digits", content(model(2)))
        until(lambda: all(Answer(port).version == 2 for _ in range(20)))
        ended = True
        answers = [answer for client in clients for answer in client.result()]
    assert {answer.status for answer in answers} == {200}
    assert {answer.version for answer in answers} == {1, 2}
    for answer in answers:
        np.testing.assert_allclose(
            answer.json["predictions"], weights[answer.version], rtol=1e-5, atol=1e-6
        )

    replicas = named(processes, "ServeReplica")
    assert len(replicas) == 2
    os.kill(replicas[0], signal.SIGKILL)
    until(
        lambda: (
            len(named(children(server.pid), "ServeReplica")) == 2
            and replicas[0] not in children(server.pid)
        )
    )
    until(lambda: all(Answer(port).status == 200 for _ in range(20)))
    server.send_signal(signal.SIGTERM)
    assert server.wait(120) == 130
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in processes))


def test_more_replicas_than_the_machine_holds_are_refused(store: ModelStore, port: int) -> None:
    command = [sys.executable, "-m", "playgrad", "models", "serve", str(store.folder)]
    command += ["--port", str(port), "--ray", "--replicas", "500"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "of 500 replicas" in done.stderr
