"""The benchmark of the model server, against onnxruntime behind the smallest FastAPI application.

    python -m bench.serving                 a few minutes on two cores
    python -m bench.serving --seconds 1     a short run
    python -m bench.serving --swaps FILE    the picture of latencies across ten swaps, instead

Each client asks for one sample at a time and waits for the answer, over a connection of its own.
All servers run at the same time, and one of them is asked at a time, in turns.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson

import playgrad as pg
from bench.install import install
from bench.paths import PYTHON
from playgrad import nn
from playgrad.serving.choice import ServingChoice, write_choice
from playgrad.serving.servable import servable_of
from playgrad.serving.store import ModelStore

CLIENTS = (1, 8, 64)
SHAPES = {"mlp": (784,), "cnn": (28, 28, 1)}
WARM_UP = 0.5
"""Seconds of asking before each measurement."""


class Server(NamedTuple):
    """A running server, and the path to ask."""

    name: str
    port: int
    path: str


class Load(NamedTuple):
    """What clients measured."""

    seconds: float
    latencies: Sequence[float]
    begins: Sequence[float]
    versions: Sequence[str]

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds

    def percentile(self, share: float) -> float:
        """Return a percentile of the latencies, in milliseconds."""
        return float(np.percentile(self.latencies, share)) * 1e3


def network(kind: str, seed: int = 0) -> pg.Sequential:
    """Return the MLP of the MNIST example (784-128-10), or a small convolutional network."""
    with pg.Graph(seed=seed).as_default():
        layers = {
            "mlp": [nn.Dense(128, activation="relu"), nn.Dense(10, activation="softmax")],
            "cnn": [
                nn.Conv2D(8, 3, activation="relu"), nn.MaxPool2D(2),
                nn.Conv2D(16, 3, activation="relu"), nn.MaxPool2D(2),
                nn.Flatten(), nn.Dense(10, activation="softmax"),
            ],
        }[kind]  # fmt: skip
        model = pg.Sequential(layers)
        model.build(SHAPES[kind])
    return model


def add(store: ModelStore, kind: str, model: pg.Sequential, folder: Path) -> None:
    """Add a version, and write ``kind.onnx`` to ``folder``."""
    file = folder / f"{kind}.safetensors"
    model.save_weights(file)
    model.export(folder / f"{kind}.onnx")
    model.close()
    servable = servable_of(file.read_bytes(), file.name, "cpu")
    store.add(kind, "model.safetensors", file.read_bytes(), servable.signature.to_json())
    servable.close()


# Clients


async def _client(server: Server, body: bytes, end: float, results: list[Any]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    request = (
        f"POST {server.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body
    while (begin := time.perf_counter()) < end:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        headers = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
        answer = await reader.readexactly(int(headers[b"content-length"]))
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"{server.name}: {head + answer!r:.300}")
        version = headers.get(b"model-version", b"").decode()
        results.append((begin, time.perf_counter() - begin, version))
    writer.close()


async def _clients(server: Server, count: int, body: bytes, seconds: float) -> Load:
    results: list[Any] = []
    begin = time.perf_counter()
    asking = [_client(server, body, begin + seconds, results) for _ in range(count)]
    await asyncio.gather(*asking)
    begins, latencies, versions = zip(*results, strict=True)
    return Load(time.perf_counter() - begin, latencies, [b - begin for b in begins], versions)


def load(server: Server, count: int, kind: str, seconds: float) -> Load:
    """Ask ``server`` for ``seconds`` with ``count`` clients."""
    sample = np.random.default_rng(0).random(SHAPES[kind]).round(3).tolist()
    return asyncio.run(_clients(server, count, orjson.dumps({"instances": [sample]}), seconds))


# Servers


@contextlib.contextmanager
def _process(name: str, command: Sequence[str], port: int, path: str) -> Iterator[Server]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(PYTHON)])}
    process = subprocess.Popen([sys.executable, *command], env=environment, stdout=subprocess.PIPE)
    try:
        while process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield Server(name, port, path)
    finally:
        process.terminate()
        process.communicate()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    return port


def _playgrad(name: str, folder: Path, kind: str, *options: str) -> Any:
    port = _free_port()
    command = ["-m", "playgrad", "models", "serve", str(folder), "--port", str(port)]
    command += ["--device", "cpu", "--no-access-log", *options]
    return _process(name, command, port, f"/v1/models/{kind}:predict")


def _fastapi(name: str, file: Path, how: str) -> Any:
    port = _free_port()
    command = ["-m", "bench.peers.fastapi_app", str(file), str(port), how]
    return _process(name, command, port, "/predict")


def measure(kind: str, seconds: float, repeats: int) -> list[str]:
    """Return the rows of the table for a model."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store = ModelStore(folder / "models")
        add(store, kind, network(kind), folder)
        servers: list[Server] = [
            stack.enter_context(each)
            for each in (
                _playgrad("playgrad", store.folder, kind),
                _playgrad("playgrad, no batching", store.folder, kind, "--max-batch", "1"),
                _fastapi("FastAPI, threads", folder / f"{kind}.onnx", "threads"),
                _fastapi("FastAPI, loop", folder / f"{kind}.onnx", "loop"),
            )
        ]
        rows: list[str] = []
        for count in CLIENTS:
            runs: dict[str, list[Load]] = {server.name: [] for server in servers}
            for _ in range(repeats):
                for server in servers:
                    load(server, count, kind, WARM_UP)
                    runs[server.name].append(load(server, count, kind, seconds))
            best = min(_median(runs[s.name], 99) for s in servers if s.name.startswith("FastAPI"))
            rows += [_row(kind, count, name, loads, best) for name, loads in runs.items()]
    return rows


def _median(loads: Sequence[Load], share: float) -> float:
    return float(np.median([each.percentile(share) for each in loads]))


def _row(kind: str, count: int, name: str, loads: Sequence[Load], best: float) -> str:
    rate = float(np.median([each.rate for each in loads]))
    p50, p99 = _median(loads, 50), _median(loads, 99)
    return f"| {kind} | {count} | {name} | {rate:.0f} | {p50:.1f} | {p99:.1f} | {p99 / best:.2f} |"


# Swaps


def swaps(file: Path, count: int = 10, seconds: float = 2.0, clients: int = 8) -> None:
    """Write a picture of the latencies of clients while versions are swapped."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store = ModelStore(folder / "models")
        for seed in (1, 2):
            add(store, "mlp", network("mlp", seed), folder)
        server = stack.enter_context(_playgrad("playgrad", store.folder, "mlp"))
        load(server, clients, "mlp", WARM_UP)
        asking = asyncio.run(_while_swapping(server, store, count, seconds, clients))
    file.write_text(_picture(asking), encoding="utf-8")
    slowest = max(asking.latencies) * 1e3
    print(f"{len(asking.latencies)} answers, p99 {asking.percentile(99):.1f} ms, slowest")
    print(f"{slowest:.1f} ms; load average {os.getloadavg()[0]:.1f}")


async def _while_swapping(
    server: Server, store: ModelStore, count: int, seconds: float, clients: int
) -> Load:
    sample = np.random.default_rng(0).random(SHAPES["mlp"]).round(3).tolist()
    body = orjson.dumps({"instances": [sample]})
    asking = asyncio.ensure_future(_clients(server, clients, body, (count + 1) * seconds))
    for number in range(count):
        await asyncio.sleep(seconds)
        withdrawn = [2] if number % 2 == 0 else []
        write_choice(store, "mlp", ServingChoice(withdrawn=withdrawn))
    return await asking


def _picture(asking: Load) -> str:
    """Return an SVG: p50 and p99 of each tenth of a second, in the colour of the version."""
    width, height, left, bottom, step = 720, 220, 44, 26, 0.1
    begins, latencies = np.array(asking.begins), np.array(asking.latencies) * 1e3
    span = float(begins.max())
    top = float(np.percentile(latencies, 99.9)) * 1.1
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="11" fill="#777">'
    ]
    versions = np.array(asking.versions)
    for share, stroke in ((50, 2), (99, 1)):
        for start in np.arange(0, span, step):
            inside = (begins >= start) & (begins < start + step)
            if not inside.any():
                continue
            version = max(set(versions[inside]), key=list(versions[inside]).count)
            value = min(top, float(np.percentile(latencies[inside], share)))
            x = left + (width - left) * start / span
            y = (height - bottom) * (1 - value / top)
            color = {"1": "#3d6fd9", "2": "#c8641b"}[version]
            end = x + (width - left) * step / span
            parts.append(
                f'<path d="M{x:.1f} {y:.1f}H{end:.1f}" stroke="{color}" stroke-width="{stroke}"/>'
            )
    for value in (0, round(top / 2, 1), round(top, 1)):
        y = (height - bottom) * (1 - value / top)
        parts.append(
            f'<text x="{left - 6}" y="{max(9, y + 4):.1f}" text-anchor="end">{value}</text>'
        )
    parts.append(f'<text x="{left}" y="{height - 6}">0 s</text>')
    parts.append(f'<text x="{width - 2}" y="{height - 6}" text-anchor="end">{span:.0f} s</text>')
    parts.append(
        f'<text x="{width / 2}" y="{height - 6}" text-anchor="middle">latency in ms: median '
        "(thick) and 99 % (thin) of each 0.1 s; version 1 blue, version 2 orange</text></svg>\n"
    )
    return "\n".join(parts)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.serving", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="length of a measurement")
    parser.add_argument("--repeats", type=int, default=3, help="measurements of each server")
    parser.add_argument("--no-install", action="store_true", help="the peers are installed")
    parser.add_argument("--swaps", type=Path, metavar="FILE", help="write a picture of ten swaps")
    options = parser.parse_args(arguments)
    if options.swaps:
        swaps(options.swaps)
        return 0
    if not options.no_install:
        install()
    print("| model | clients | server | answers/s | p50 ms | p99 ms | p99 / best FastAPI |")
    print("|---|---|---|---|---|---|---|")
    for kind in SHAPES:
        print("\n".join(measure(kind, options.seconds, options.repeats)), flush=True)
        print(f"load average {os.getloadavg()[0]:.1f}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
