"""Models, stores and servers for the tests of the model server."""

from __future__ import annotations

import asyncio
import io
import socket
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import orjson

import playgrad as pg
from playgrad import nn
from playgrad.server.hosts import Hosts
from playgrad.serving.manager import ModelManager
from playgrad.serving.metrics import ServingMetrics
from playgrad.serving.servable import servable_of
from playgrad.serving.serve import make_server
from playgrad.serving.settings import ServingSettings
from playgrad.serving.store import ModelStore
from playgrad.serving.tokens import Tokens

Array = np.ndarray[Any, Any]
T = TypeVar("T")
FEATURES = 6
CLASSES = 3


def model(seed: int, features: int = FEATURES) -> pg.Sequential:
    """Return a model whose weights depend on ``seed``."""
    with pg.Graph(seed=seed).as_default():
        built = pg.Sequential([nn.Dense(8, activation="relu"), nn.Dense(CLASSES)])
        built.build((features,))
    weights = np.random.default_rng(seed)
    built.set_weights(
        [weights.normal(size=v.spec.static_shape).astype("float32") for v in built.weights]
    )
    return built


def content(network: pg.Model) -> bytes:
    """Return the model's safetensors file, and free the model."""
    file = io.BytesIO()
    network.save_weights(file)
    network.close()
    return file.getvalue()


def put(
    store: ModelStore, name: str, file: bytes, ending: str = ".safetensors", allow: bool = False
) -> int:
    """Add a version without the checks of ``playgrad models add`` that only the server repeats."""
    servable = servable_of(file, f"model{ending}", "cpu")
    signature = servable.signature.to_json()
    servable.close()
    return store.add(name, f"model{ending}", file, signature, allow)


def samples(rows: int, seed: int = 0, features: int = FEATURES) -> Array:
    return np.random.default_rng(seed).normal(size=(rows, features)).astype("float32")


def awaited(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine, run by an event loop in a thread of its own.

    Playwright, which other tests of the process use, keeps one in the main thread.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


@dataclass
class Answered:
    """An answer of HTTP."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


@dataclass
class RunningServer:
    """A model server in threads of this process."""

    port: int
    manager: ModelManager

    def send(self, raw: bytes) -> socket.socket:
        """Return a connection on which ``raw`` was sent."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=300)
        connection.sendall(raw)
        return connection

    def request(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> Answered:
        import http.client

        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answered(response.status, found, response.read())
        finally:
            connection.close()

    def predict(self, path: str, **data: Any) -> Answered:
        body = orjson.dumps(data, option=orjson.OPT_SERIALIZE_NUMPY)
        return self.request("POST", f"/v1/models/{path}:predict", body)


@contextmanager
def serving(
    folder: Path, token_file: Path | None = None, **settings: Any
) -> Iterator[RunningServer]:
    """Serve a folder; `ModelManager.update` takes up its changes when a test says so."""
    manager = ModelManager(ModelStore(folder), ServingSettings(**settings), ServingMetrics())
    tokens = Tokens(token_file) if token_file else None
    with socket.create_server(("127.0.0.1", 0)) as listening:
        manager.update()
        server = make_server(manager, Hosts.of("127.0.0.1"), tokens)
        thread = threading.Thread(target=server.run, args=[[listening]])
        thread.start()
        try:
            yield RunningServer(listening.getsockname()[1], manager)
        finally:
            server.should_exit = True
            thread.join()
            manager.close()
