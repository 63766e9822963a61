"""The version of the page: a hash of all its files, and of nothing else."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import subprocess
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import brotli
import pytest
from flask.testing import FlaskClient

from playgrad import paths
from playgrad.server.version import VERSION_HEADER

UNPACK = {"gzip": gzip.decompress, "br": brotli.decompress}


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the page's folder, which is served in its place."""
    folder = tmp_path / "static"
    shutil.copytree(paths.static(), folder, ignore=shutil.ignore_patterns("*.gz", "vendor"))
    monkeypatch.setattr(paths, "static", lambda: folder)
    return folder


def described(client: FlaskClient) -> dict[str, Any]:
    response = client.get("/version.json")
    assert response.headers["Cache-Control"] == "no-cache"
    assert isinstance(response.json, dict)
    assert client.get("/").headers[VERSION_HEADER] == response.json["version"]
    return response.json


def test_listed_files_are_served_with_their_digest(client: FlaskClient) -> None:
    files = described(client)["files"]
    for path, sha256 in files.items():
        if path.endswith((".wasm", ".whl")):
            continue  # pinned, and large
        response = client.get(path)
        assert response.status_code == 200, path
        assert hashlib.sha256(response.data).hexdigest() == sha256, path


def test_every_file_that_the_page_names_is_part_of_the_version(client: FlaskClient) -> None:
    """Modules import each other, start workers and name styles by paths."""
    files = set(described(client)["files"])
    named = {f"/{path}" for path in re.findall(r'="(static/[^"]+)"', client.get("/").text)}
    scripts = [path for path in files if path.startswith("/static/") and path.endswith(".js")]
    for script in scripts:
        text = client.get(script).text
        for path in re.findall(r'\b(?:from|import|import\(|new URL\()["`](\.[^"`]+)["`]', text):
            named.add(os.path.normpath(f"{os.path.dirname(script)}/{path}"))
    assert len(named) > 50
    assert named - files == set()
    assert not [path for path in files if path.endswith((".gz", ".d.ts", ".mjs", ".py"))
                and "/pyodide/" not in path]  # fmt: skip


def test_the_version_depends_on_contents_only(client: FlaskClient, page: Path) -> None:
    before = described(client)
    script = page / "js" / "main.js"
    os.utime(script, (1_000_000_000, 1_000_000_000))
    assert described(client) == before
    script.write_text(script.read_text() + "\n")
    after = described(client)
    assert after["version"] != before["version"]
    changed = [path for path, digest in after["files"].items() if before["files"][path] != digest]
    assert changed == ["/static/js/main.js"]
    (page / "js" / "new.js").write_text("export {};\n")
    assert described(client)["version"] != after["version"]


def test_a_page_of_another_version_is_not_revalidated(client: FlaskClient, page: Path) -> None:
    """The header that names the version would stay the old one."""
    etag = client.get("/").headers["ETag"]
    assert client.get("/", headers={"If-None-Match": etag}).status_code == 304
    (page / "css" / "theme.css").write_text("/* other */")
    response = client.get("/", headers={"If-None-Match": etag})
    assert response.status_code == 200


def test_texts_are_compressed_for_clients_that_accept_it(client: FlaskClient, page: Path) -> None:
    (page / "a.wgsl").write_text("fn f() {}\n" * 100)
    names = ["a.wgsl", "js/main.js", "css/theme.css", "examples/spiral.py"]
    whole = ["/", "/version.json", "/examples.json", "/service-worker.js", "/bundle/playgrad.zip"]
    paths_and_codings = product([*whole, *(f"/static/{name}" for name in names)], UNPACK)
    for path, coding in paths_and_codings:
        plain = client.get(path)
        packed = client.get(path, headers={"Accept-Encoding": coding})
        assert "Content-Encoding" not in plain.headers, path
        assert packed.headers["Content-Encoding"] == coding, path
        assert UNPACK[coding](packed.data) == plain.data, path
        assert len(packed.data) < len(plain.data), path
        assert packed.headers["ETag"] != plain.headers["ETag"], path
        assert packed.headers["Vary"] == plain.headers["Vary"] == "Accept-Encoding", path
        for answer, encoding in ((plain, "identity"), (packed, coding)):
            asked = {"If-None-Match": answer.headers["ETag"], "Accept-Encoding": encoding}
            assert client.get(path, headers=asked).status_code == 304, path
    ranged = {"Range": "bytes=0-3", "Accept-Encoding": "gzip"}
    response = client.get("/static/a.wgsl", headers=ranged)
    assert (response.status_code, response.data) == (206, b"fn f")


def test_a_text_that_changes_is_compressed_again(client: FlaskClient, page: Path) -> None:
    for content in ("one " * 50, "two " * 50, "one " * 50):
        (page / "a.js").write_text(content)
        response = client.get("/static/a.js", headers={"Accept-Encoding": "gzip"})
        assert gzip.decompress(response.data).decode() == content


def test_the_page_can_be_installed(client: FlaskClient) -> None:
    """Chromium asks for a name, a start, a display mode, and icons of 192 and 512 pixels."""
    link = re.search(r'<link rel="manifest" href="([^"]+)">', client.get("/").text)
    assert link
    address = f"/{link[1]}"
    response = client.get(address)
    assert response.mimetype == "application/manifest+json"
    manifest = response.get_json(force=True)
    assert manifest["name"]
    assert urljoin(address, manifest["start_url"]) == urljoin(address, manifest["scope"]) == "/"
    assert manifest["display"] == "standalone"
    sizes = set()
    for icon in manifest["icons"]:
        image = client.get(urljoin(address, icon["src"]))
        assert image.status_code == 200 and image.mimetype == icon["type"]
        if icon["type"] == "image/png":
            width, height = (int.from_bytes(image.data[at : at + 4]) for at in (16, 20))
            assert icon["sizes"] == f"{width}x{height}"
            sizes.add((width, icon.get("purpose", "any")))
    assert sizes == {(192, "any"), (512, "any"), (512, "maskable")}
    worker = client.get("/service-worker.js")
    assert worker.mimetype == "text/javascript" and worker.headers["Cache-Control"] == "no-cache"


def test_a_changed_source_is_sent_in_place_of_the_bundle(
    client: FlaskClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "static"
    shutil.copytree(paths.static(), folder, ignore=shutil.ignore_patterns("bundled"))
    root = Path(__file__).resolve().parents[2]
    subprocess.run(["node", root / "tools" / "bundle.mjs", folder], check=True)
    monkeypatch.setattr(paths, "static", lambda: folder)
    script = folder / "js" / "state" / "store.js"
    panel = "static/js/panels/watch/panel.js"
    assert panel not in client.get("/").text
    assert "static/css/page.css" in client.get("/").text
    assert client.get("/static/js/state/store.js").data != script.read_bytes()

    script.write_text(script.read_text(encoding="utf-8") + "// changed\n", encoding="utf-8")
    assert client.get("/static/js/state/store.js").data != script.read_bytes(), (
        "mixed with an older page"
    )
    page = client.get("/").text
    assert panel in page
    assert "static/css/page.css" not in page
    assert client.get("/static/js/state/store.js").data == script.read_bytes()
    files = described(client)["files"]
    assert files["/static/js/state/store.js"] == hashlib.sha256(script.read_bytes()).hexdigest()
    assert not [path for path in files if "bundled" in path or "/chunks/" in path]
