"""Brotli copies that the server makes in the background."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import brotli
import pytest
from flask.testing import FlaskClient

from playgrad import paths
from playgrad.assets import MNIST, File
from playgrad.assets.codings import compressed
from playgrad.server import packing
from playgrad.server.packing import pack, pack_in_background
from playgrad.server.pixels import TYPE, pack_images
from playgrad.server.texts import Text

REAL = MNIST.folder()
LABELS = MNIST.pinned["t10k-labels-idx1-ubyte"]


@pytest.fixture
def labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of MNIST, in a folder that has no other file."""
    content = (MNIST.folder() / LABELS.name).read_bytes()
    monkeypatch.setattr(paths, "var", lambda: tmp_path)
    MNIST.folder().mkdir()
    path = MNIST.folder() / LABELS.name
    path.write_bytes(content)
    return path


def test_what_is_there_gets_two_copies_and_the_smaller_is_sent(
    client: FlaskClient, labels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "_BEGIN_SECONDS", 0)
    before = os.getpriority(os.PRIO_PROCESS, 0)
    library = Text(b"".join(b"%d, " % (number**2) for number in range(5000)), quality=1)
    quickly = library.packed("br")
    pack_in_background(library).join()
    assert brotli.decompress(library.packed("br")) == library.plain
    assert len(library.packed("br")) < len(quickly)
    assert os.getpriority(os.PRIO_PROCESS, 0) == before, "only its thread yields"
    quick, best = (compressed(labels, ending) for ending in (".br", ".max.br"))
    assert {path.name for path in labels.parent.iterdir()} == {labels.name, quick.name, best.name}
    assert best.stat().st_size < quick.stat().st_size < LABELS.size / 2
    response = client.get("/data/mnist/test-labels", headers={"Accept-Encoding": "gzip, br"})
    assert response.data == best.read_bytes()
    assert brotli.decompress(response.data) == labels.read_bytes()


def test_who_has_a_copy_does_not_get_a_smaller_one(client: FlaskClient, labels: Path) -> None:
    asset = replace(MNIST, files=(LABELS,))
    accepted = {"Accept-Encoding": "gzip, br"}
    etags = []
    for ending in (None, ".br", ".max.br"):
        if ending:
            pack([asset], ending)
        first = client.get("/data/mnist/test-labels", headers=accepted)
        etags.append(first.headers["ETag"])
    assert len(set(etags)) == 3
    for etag in etags:
        again = client.get("/data/mnist/test-labels", headers=accepted | {"If-None-Match": etag})
        assert (again.status_code, again.data) == (304, b"")
        assert again.headers["ETag"] == etag
        assert "Content-Encoding" not in again.headers  # browsers keep that of their copy
    # A copy in a coding that this client does not take is of no use to it.
    plain = {"Accept-Encoding": "identity", "If-None-Match": etags[1]}
    assert client.get("/data/mnist/test-labels", headers=plain).status_code == 200


def test_only_missing_and_damaged_copies_are_made(labels: Path) -> None:
    asset = replace(MNIST, files=(LABELS,))
    copy = compressed(labels, ".br")
    pack([asset], ".br")
    made = copy.stat()
    pack([asset], ".br")
    assert os.path.samestat(copy.stat(), made)
    whole = copy.read_bytes()
    copy.write_bytes(whole[:-1])
    pack([asset], ".br")
    assert copy.read_bytes() == whole


def test_damaged_file_is_not_packed(labels: Path) -> None:
    labels.write_bytes(labels.read_bytes()[:-1] + b"x")
    pack([replace(MNIST, files=(LABELS,))], ".br")
    assert not compressed(labels, ".br").exists()


def test_images_are_packed_for_pages_that_unpack_them(
    client: FlaskClient, labels: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = MNIST.pinned["t10k-images-idx3-ubyte"]
    path = labels.with_name(file.name)
    os.link(REAL / file.name, path)
    accepting = {"Accept": f"{TYPE}, */*", "Accept-Encoding": "gzip, br"}
    plain = client.get("/data/mnist/test-images", headers=accepting)
    pack_images([MNIST])
    packed = client.get("/data/mnist/test-images", headers=accepting)
    assert plain.data == client.get("/data/mnist/test-images").data == path.read_bytes()
    assert packed.mimetype == TYPE
    assert packed.headers["Playgrad-Unpacked-Digest"] == file.sha256
    assert "Accept" in packed.vary and "Accept" in plain.vary
    # The service worker takes other files from the browser's cache, whatever it accepts.
    assert "Accept" not in client.get("/data/mnist/test-labels", headers=accepting).vary
    assert len(packed.data) < 1_100_000 < len(brotli.compress(path.read_bytes(), quality=5))

    # A damaged copy is not sent, and made again.
    copy = path.with_name(path.name + ".pixels16")
    copy.write_bytes(packed.data[:-1])
    assert client.get("/data/mnist/test-images", headers=accepting).data == plain.data
    pack_images([MNIST])
    again = client.get("/data/mnist/test-images", headers=accepting)
    assert again.data == packed.data and not caplog.records


def test_images_that_cannot_be_packed_are_sent_as_they_are(
    labels: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    content = b"no images"
    file = File("x-images-idx", len(content), hashlib.sha256(content).hexdigest())
    labels.with_name(file.name).write_bytes(content)
    pack_images([replace(MNIST, files=(file,))])
    assert "not an IDX file" in caplog.text
    monkeypatch.setenv("PATH", "")
    pack_images([replace(MNIST, files=(file,))])
    assert "No such file" in caplog.text
    assert {path.name for path in labels.parent.iterdir()} == {labels.name, file.name}
