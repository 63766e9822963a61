"""Images of Python's memory: created by Node from the current library, or the reason for
failure."""

from __future__ import annotations

import json
import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, get_ident

import pytest
from flask.testing import FlaskClient

from playgrad import paths
from playgrad.assets.codings import compressed, unpacked
from playgrad.server import image
from playgrad.server.bundle import BundleCache
from playgrad.server.image import ImageCache, ImageError
from playgrad.server.texts import Text


def test_image_holds_the_library_and_is_made_once(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = ImageCache(BundleCache()).make()
    content = path.read_bytes()
    (length,) = struct.unpack_from("<I", content)
    header = json.loads(content[4 : 4 + length])
    names = {name.removeprefix("/lib/python3.14/site-packages/") for name, _ in header["files"]}
    assert {"playgrad/__init__.py", "playgrad/kernels/matmul_register.wgsl"} <= names
    assert not any(name.startswith("playgrad/server") for name in names)
    pages = sum(count for _, count in header["pages"])
    files = sum(size for _, size in header["files"])
    assert len(content) == 4 + length + header["state"] + files + 4096 * pages
    for ending in (".br", ".gz"):
        assert b"".join(unpacked(compressed(path, ending))) == content

    monkeypatch.setenv("PATH", "")  # without Node: the cached image is used
    assert ImageCache(BundleCache()).make() == path
    response = client.get("/image/python.bin", headers={"Accept-Encoding": "identity"})
    assert response.data == content
    again = client.get("/image/python.bin", headers={"If-None-Match": response.headers["ETag"]})
    assert again.status_code == 304


def test_each_library_has_an_image_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    class Edited(BundleCache):
        def get(self) -> Text:
            return Text(b"another")

    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(image, "_members", lambda bundle: [])
    with pytest.raises(ImageError, match="node is not on PATH"):
        ImageCache(Edited()).make()


def test_failed_import_of_the_library_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(BundleCache):
        def get(self) -> Text:
            return Text(b"broken")

    monkeypatch.setattr(image, "_members", lambda bundle: [])
    with pytest.raises(ImageError, match="No module named 'numpy'"):
        ImageCache(Broken()).make()


def test_missing_image_answers_404(
    client: FlaskClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "var", lambda: tmp_path)
    response = client.get("/image/python.bin")
    assert response.status_code == 404
    assert "not ready, or cannot be made" in response.text
    with pytest.raises(ImageError, match="Pyodide has not been fetched"):
        ImageCache(BundleCache()).make()


@pytest.mark.survival("Damaged files on the server")
@pytest.mark.parametrize("name", ["{}.bin", "{}.bin.br", "{}.bin.gz", "{}.sha256"])
@pytest.mark.parametrize("damage", ["one bit", "cut"])
def test_damaged_image_is_not_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, damage: str
) -> None:
    monkeypatch.setattr(image, "_make", lambda *_: bytes(range(256)) * 40)
    monkeypatch.setattr(image, "_path", lambda bundle: tmp_path / "images" / "a.bin")
    images = ImageCache(BundleCache())
    path = images.make()
    assert images.get() == path
    file = path.with_name(name.format("a"))
    content = bytearray(file.read_bytes())
    content[20] ^= 1
    file.write_bytes(content if damage == "one bit" else content[:-1])
    assert images.get() is None  # a thread makes it again
    assert images._working
    images._working.join()
    assert images.get() == path
    assert path.read_bytes() == bytes(range(256)) * 40


def test_servers_of_a_checkout_make_one_image_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times_made = 0
    servers: set[int] = set()
    both_need_it = Barrier(2)
    whole = image._is_whole

    def look(path: Path) -> bool:
        is_there = whole(path)
        if get_ident() not in servers:
            servers.add(get_ident())
            both_need_it.wait(60)
        return is_there

    def make(*_: object) -> bytes:
        nonlocal times_made
        times_made += 1
        return b"an image"

    monkeypatch.setattr(image, "_is_whole", look)
    monkeypatch.setattr(image, "_make", make)
    monkeypatch.setattr(image, "_path", lambda bundle: tmp_path / "images" / "a.bin")
    with ThreadPoolExecutor(2) as pool:
        images = [pool.submit(ImageCache(BundleCache()).make) for _ in range(2)]
        assert {each.result().read_bytes() for each in images} == {b"an image"}
    assert times_made == 1


def test_failure_is_logged_once(
    client: FlaskClient,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(image, "_path", lambda bundle: tmp_path / "a.bin")
    monkeypatch.setattr(image, "_RETRY_SECONDS", -1)
    images = ImageCache(BundleCache())
    for _ in range(20):
        assert images.get() is None
        assert images._working
        images._working.join()
    (record,) = caplog.records
    assert "node is not on PATH: install Node.js 20 or newer" in record.getMessage()
