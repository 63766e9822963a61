"""Files that are damaged on the server: never sent, never cached, replaced at the next start."""

from __future__ import annotations

import base64
import gzip
import hashlib
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from playgrad import paths
from playgrad.assets import MNIST, PYODIDE, PYODIDE_URL, Asset, fetch
from playgrad.assets.codings import BROTLI, CODINGS, compressed, unpacked
from playgrad.server.packing import pack
from tests.server.processes import running_server
from tests.sweeps import sweep

LABELS = "t10k-labels-idx1-ubyte"
AT_ONCE = "python_stdlib_at_once.zip"
FILES: dict[str, tuple[Asset, str]] = {
    f"{PYODIDE_URL}pyodide.mjs": (PYODIDE, "pyodide.mjs"),
    f"{PYODIDE_URL}{AT_ONCE}": (PYODIDE, AT_ONCE),
    f"{PYODIDE_URL}pyodide.asm.wasm": (PYODIDE, "pyodide.asm.wasm"),
    f"{PYODIDE_URL}pyodide-lock.json": (PYODIDE, "pyodide-lock.json"),
    "/data/mnist/test-labels": (MNIST, LABELS),
}
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "one bit": lambda content: content[:100] + bytes([content[100] ^ 4]) + content[101:],
    "cut": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "longer": lambda content: content + b"\n",
    "zeros": lambda content: bytes(len(content)),
    "a page of a captive network": lambda content: b"<!doctype html><title>Log in</title>",
}
CASES = [(url, damage) for url in FILES for damage in DAMAGES]
OFTEN = [case for case in CASES if case[0].endswith("test-labels") or case[1] == "one bit"]
"""Each file and each damage, but large files not with all damages."""
HEADERS: list[dict[str, str]] = [
    {},
    {"Accept-Encoding": "gzip, br"},
    {"Range": "bytes=0-9"},
    {"If-None-Match": '"x"'},
]


@pytest.fixture
def var(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of Pyodide and MNIST that can be damaged; what is missing comes from the real one."""
    real = paths.var()
    for asset in (PYODIDE, MNIST):
        target = tmp_path / asset.path
        target.mkdir(parents=True)
        for file in (real / asset.path).iterdir():
            try:
                os.link(file, target / file.name)
            except OSError:  # on another file system
                shutil.copy(file, target)
    monkeypatch.setenv("PLAYGRAD_ASSETS", str(real))
    monkeypatch.setenv("PLAYGRAD_VAR", str(tmp_path))
    return tmp_path


def spoil(path: Path, damage: str) -> None:
    """Replace a file by a damaged one; the original is linked from elsewhere."""
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(DAMAGES[damage](content))


@pytest.mark.survival("Damaged files on the server")
@pytest.mark.parametrize(("url", "damage"), sweep(CASES, OFTEN))
def test_damaged_file_is_refused_and_mended(
    client: FlaskClient, var: Path, url: str, damage: str
) -> None:
    asset, name = FILES[url]
    path = asset.folder() / name
    whole = client.get(url)
    for ending in CODINGS:
        compressed(path, ending).unlink(missing_ok=True)
    spoil(path, damage)
    for headers in [*HEADERS, {"If-None-Match": whole.headers["ETag"]}]:
        for method in ("GET", "HEAD"):
            refused = client.open(url, method=method, headers=headers)
            assert refused.status_code == 503
            assert refused.headers["Cache-Control"] == "no-store"
            assert refused.headers["Content-Type"] == "text/plain; charset=utf-8"
            assert "ETag" not in refused.headers
    text = client.get(url).text
    assert f"{name} is damaged on the server" in text and "Restart `playgrad serve`" in text

    fetch(asset)  # as the next start does
    mended = client.get(url)
    assert (mended.status_code, mended.data) == (200, whole.data)


@pytest.mark.survival("Damaged files on the server")
@pytest.mark.parametrize("ending", CODINGS)
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_compressed_copy_is_not_used(
    client: FlaskClient, var: Path, damage: str, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    only = {"Accept-Encoding": CODINGS[ending]}
    for other in CODINGS:
        compressed(MNIST.folder() / LABELS, other).unlink(missing_ok=True)
    whole = (MNIST.folder() / LABELS).read_bytes()
    monkeypatch.setenv("PLAYGRAD_ASSETS", "/nowhere")  # the original suffices

    def make() -> None:
        fetch(MNIST)
        if ending in BROTLI:
            pack([replace(MNIST, files=(MNIST.pinned[LABELS],))], ending)

    make()
    packed = compressed(MNIST.folder() / LABELS, ending)
    spoil(packed, damage)
    response = client.get("/data/mnist/test-labels", headers=only)
    assert (response.status_code, response.data) == (200, whole)
    assert "Content-Encoding" not in response.headers
    make()
    assert b"".join(unpacked(packed)) == whole
    again = client.get("/data/mnist/test-labels", headers=only)
    assert again.headers["Content-Encoding"] == CODINGS[ending]
    assert again.data == packed.read_bytes()


@pytest.mark.survival("Damaged files on the server")
def test_whole_compressed_copy_is_served_beside_a_damaged_file(
    client: FlaskClient, var: Path
) -> None:
    spoil(MNIST.folder() / LABELS, "one bit")
    packed = client.get("/data/mnist/test-labels", headers={"Accept-Encoding": "gzip"})
    assert packed.status_code == 200
    content = gzip.decompress(packed.data)
    digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
    assert packed.headers["Playgrad-Digest"] == f"sha-256=:{digest}:"
    assert client.get("/data/mnist/test-labels").status_code == 503


def test_content_is_hashed_once(
    client: FlaskClient, var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.get("/data/mnist/test-labels").status_code == 200

    def hash_again(*_: Any) -> None:
        raise AssertionError("hashed again")

    monkeypatch.setattr("hashlib.file_digest", hash_again)
    assert client.get("/data/mnist/test-labels").status_code == 200


@pytest.mark.survival("Damaged files on the server")
def test_server_replaces_damaged_files_when_it_starts(var: Path, tmp_path: Path) -> None:
    for asset, name in FILES.values():
        spoil(asset.folder() / name, "one bit")
    with running_server(tmp_path / "log.txt") as served:
        for url in FILES:
            request = f"GET {url} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            assert served.status(request.encode()) == 200


@pytest.mark.survival("Damaged files on the server")
def test_file_cut_while_it_is_sent_ends_the_connection(var: Path, tmp_path: Path) -> None:
    images = MNIST.folder() / "train-images-idx3-ubyte"
    content = images.read_bytes()
    images.unlink()
    images.write_bytes(content)
    with running_server(tmp_path / "log.txt") as served:
        with served.connect() as connection:
            line = "GET /data/mnist/train-images HTTP/1.1\r\nHost: localhost\r\n\r\n"
            connection.sendall(line.encode())
            received = len(connection.recv(1000))
            os.truncate(images, 1000)
            while part := connection.recv(1 << 20):
                received += len(part)
        assert received < len(content)
        request = (
            b"GET /data/mnist/train-images HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        assert int(served.ask(request).split()[1]) == 503
        assert "Traceback" not in served.log()
        assert "train-images-idx3-ubyte is damaged" in served.log()
