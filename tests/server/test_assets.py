"""Downloads of the page: the library bundle, Pyodide, MNIST, the examples."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from flask.testing import FlaskClient

from playgrad import paths
from playgrad.assets import (
    DATA_SETS,
    FASHION_MNIST,
    PACKAGE_FILES,
    PACKAGES,
    PYODIDE,
    PYODIDE_URL,
    PYODIDE_VERSION,
)
from playgrad.server import bundle, create_app
from playgrad.server.examples import list_examples


def _zip(content: bytes) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(content))


def test_bundle_has_library_kernels_and_player_but_no_desktop_parts(client: FlaskClient) -> None:
    response = client.get("/bundle/playgrad.zip")
    assert response.headers["Content-Type"] == "application/zip"
    with _zip(response.data) as archive:
        names = archive.namelist()
    assert "playgrad/paths.py" in names
    assert "playgrad/graph/graph.py" in names
    kernels = paths.kernels()
    expected = {path.relative_to(kernels).as_posix() for path in kernels.rglob("*.wgsl")}
    prefix = "playgrad/kernels/"
    assert {name.removeprefix(prefix) for name in names if name.startswith(prefix)} == expected
    for left_out in ("server/", "cli/", "assets/", "static/"):
        assert not [name for name in names if name.startswith(f"playgrad/{left_out}")]
    others = {name for name in names if not name.endswith((".py", ".wgsl"))}
    assert others == {"playgrad/player/player.css", "playgrad/player/player.js"}


def test_bundle_is_the_same_bytes_each_time() -> None:
    first, second = (create_app().test_client().get("/bundle/playgrad.zip") for _ in range(2))
    assert first.data == second.data
    assert first.headers["ETag"] == second.headers["ETag"]


def test_bundle_answers_304(client: FlaskClient) -> None:
    etag = client.get("/bundle/playgrad.zip").headers["ETag"]
    again = client.get("/bundle/playgrad.zip", headers={"If-None-Match": etag})
    assert (again.status_code, again.data) == (304, b"")


def test_bundle_follows_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "playgrad"
    package.mkdir()
    (package / "one.py").write_text("a = 1")
    monkeypatch.setattr(bundle, "_PACKAGE", package)
    monkeypatch.setattr(paths, "kernels", lambda: tmp_path / "kernels")
    monkeypatch.setattr(paths, "player", lambda: tmp_path / "player")
    client = create_app().test_client()
    first = client.get("/bundle/playgrad.zip")
    (package / "two.py").write_text("b = 2")
    second = client.get("/bundle/playgrad.zip")
    assert first.headers["ETag"] != second.headers["ETag"]
    with _zip(second.data) as archive:
        assert archive.namelist() == ["playgrad/one.py", "playgrad/two.py"]
        assert archive.read("playgrad/two.py") == b"b = 2"


def test_pyodide_is_cached_for_good_under_a_hash_of_its_content(client: FlaskClient) -> None:
    lock = client.get(f"{PYODIDE_URL}pyodide-lock.json")
    assert lock.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    wheel = json.loads(lock.data)["packages"]["numpy"]["file_name"]
    assert client.head(f"{PYODIDE_URL}{wheel}").status_code == 200
    unhashed = client.head(f"/pyodide/{PYODIDE_VERSION}/pyodide.mjs")
    assert unhashed.headers["Cache-Control"] == "no-cache"
    other = client.get("/pyodide/0.1.0/pyodide.mjs")
    assert (other.status_code, other.headers["Cache-Control"]) == (404, "no-store")
    assert f"this server has Pyodide {PYODIDE_URL.split('/')[2]}, not 0.1.0" in other.text


def test_page_requests_pyodide_by_its_content_hash() -> None:
    versions = (paths.static() / "vendor" / "versions.js").read_text()
    assert f'"{PYODIDE_URL}"' in versions


def test_hash_of_pyodide_changes_with_any_content() -> None:
    first, *others = PYODIDE.files
    changed = [
        replace(PYODIDE, files=(replace(first, sha256="0" * 64), *others)),
        replace(PYODIDE, files=tuple(others)),
        replace(PYODIDE, generated={"pyodide-lock.json": b"{}"}),
    ]
    assert len({asset.fingerprint for asset in (PYODIDE, *changed)}) == 4


def test_missing_pyodide_answers_404_with_advice(
    client: FlaskClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "var", lambda: tmp_path)
    response = client.get(f"{PYODIDE_URL}pyodide.mjs")
    assert response.status_code == 404
    assert "restart `playgrad serve`, which fetches it" in response.text


@pytest.mark.parametrize(("part", "count"), [("train", 60_000), ("test", 10_000)])
def test_mnist_is_served_compressed_and_in_ranges(
    client: FlaskClient, part: str, count: int
) -> None:
    packed = client.get(f"/data/mnist/{part}-images", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["Cache-Control"] == "no-cache"
    header = client.get(f"/data/mnist/{part}-images", headers={"Range": "bytes=0-15"}).data
    assert np.frombuffer(header, ">u4").tolist() == [2051, count, 28, 28]
    labels = client.get(f"/data/mnist/{part}-labels").data
    assert np.frombuffer(labels[:8], ">u4").tolist() == [2049, count]
    assert len(labels) == 8 + count
    assert max(labels[8:]) == 9


def test_unknown_part_of_mnist_answers_404(client: FlaskClient) -> None:
    response = client.get("/data/mnist/validation-images")
    assert response.status_code == 404
    assert "mnist/train-images, mnist/train-labels, mnist/test-images, mnist/test-" in response.text


def test_fashion_mnist_is_fetched_when_it_is_first_asked_for(
    client: FlaskClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a folder whose files are not the pinned ones, so that the server must refuse them."""
    (tmp_path / "fashion-mnist").mkdir()
    monkeypatch.setenv("PLAYGRAD_VAR", str(tmp_path / "var"))
    monkeypatch.setenv("PLAYGRAD_ASSETS", str(tmp_path))
    for _ in range(2):  # the second time without trying again
        response = client.get("/data/fashion_mnist/test-labels")
        assert response.status_code == 503
        assert "cannot fetch Fashion-MNIST" in response.text
    content = b"labels"
    fake = replace(
        FASHION_MNIST,
        files=tuple(
            replace(file, size=6, sha256=hashlib.sha256(content).hexdigest())
            for file in FASHION_MNIST.files
        ),
    )
    monkeypatch.setitem(DATA_SETS, "fashion-mnist", fake)
    monkeypatch.setenv("PLAYGRAD_VAR", str(tmp_path / "other"))
    for file in fake.files:
        (tmp_path / "fashion-mnist" / file.name).write_bytes(content)
    assert client.get("/data/fashion_mnist/test-labels").data == content
    assert (tmp_path / "other" / "fashion-mnist" / "train-images-idx3-ubyte").is_file()


def test_a_python_package_is_served_as_its_wheel(client: FlaskClient) -> None:
    response = client.get("/packages/cycler")
    assert hashlib.sha256(response.data).hexdigest() == PACKAGE_FILES["cycler"].sha256
    assert response.headers["Cache-Control"] == "no-cache"
    listed = client.get("/version.json").json
    assert listed is not None
    assert listed["extras"]["/packages/cycler"] == PACKAGE_FILES["cycler"].sha256
    assert not [path for path in listed["files"] if path.startswith("/packages/")]
    libraries = client.get("/names.json").get_json()["bridge"]["libraries"]
    assert "pandas" not in libraries and "sklearn" in libraries
    for path in ("/packages/numpy", f"/packages/{PACKAGE_FILES['cycler'].name}", "/packages/.."):
        assert client.get(path).status_code == 404


def test_python_packages_are_fetched_when_one_is_first_asked_for(
    client: FlaskClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / PACKAGES.path
    folder.mkdir(parents=True)
    monkeypatch.setenv("PLAYGRAD_VAR", str(tmp_path / "var"))
    monkeypatch.setenv("PLAYGRAD_ASSETS", str(tmp_path))
    response = client.get("/packages/six")
    assert response.status_code == 503
    assert "cannot fetch the Python packages of the page" in response.text
    monkeypatch.setenv("PLAYGRAD_VAR", str(tmp_path / "other"))
    for file in PACKAGES.files:
        (folder / file.name).symlink_to(
            Path(__file__).parents[2] / "var" / PACKAGES.path / file.name
        )
    assert client.get("/packages/six").status_code == 200
    assert PACKAGE_FILES["matplotlib"].is_in(tmp_path / "other" / PACKAGES.path)


def test_examples_are_described_by_their_docstrings(tmp_path: Path) -> None:
    source = '"""A title.\n\nWhat it\nshows.\n"""\nprint(1)\n'
    (tmp_path / "b-example.py").write_text(source)
    (tmp_path / "a-example.py").write_text("print(2)\n")
    first, second = list_examples(tmp_path)
    assert first["title"] == first["id"] == "a-example"
    assert second == {
        "id": "b-example",
        "title": "A title",
        "description": "What it shows.",
        "source": source,
    }


def test_examples_answer_304(client: FlaskClient) -> None:
    etag = client.get("/examples.json").headers["ETag"]
    again = client.get("/examples.json", headers={"If-None-Match": etag})
    assert again.status_code == 304
