"""Files: confinement to the folder, ETags, ranges, compression, caching."""

from __future__ import annotations

import gzip
import os
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from playgrad.assets.codings import BROTLI, brotli_compressed, compressed
from playgrad.server.files import PLAIN

ESCAPES = [
    "../secret.txt",
    "..%2fsecret.txt",
    "%2e%2e/secret.txt",
    "%2e%2e%2fsecret.txt",
    "..%5csecret.txt",
    "..\\secret.txt",
    "sub/../../secret.txt",
    "./../secret.txt",
    "....//secret.txt",
    "%252e%252e/secret.txt",
    "..%c0%afsecret.txt",
    "//etc/passwd",
    "/etc/passwd",
    "%2fetc%2fpasswd",
    "sub%00.txt",
    "secret.txt%00.js",
]


@pytest.mark.parametrize("name", ESCAPES)
def test_no_path_leaves_the_folder(client: FlaskClient, static: Path, name: str) -> None:
    (static / "sub").mkdir()
    response = client.get(f"/static/{name}")
    assert response.status_code == 404
    assert "secret" not in response.text.replace(name, "").replace("secret.txt", "")


@pytest.mark.parametrize("name", ESCAPES)
def test_no_raw_request_leaves_the_folder(server: str, name: str) -> None:
    """Over a socket, because client libraries normalise paths."""
    target = f"/static/{name.replace('secret.txt', 'paths.py')}"
    address = urlsplit(server)
    with socket.create_connection((address.hostname, address.port), timeout=300) as connection:
        connection.sendall(
            f"GET {target} HTTP/1.1\r\nHost: {address.netloc}\r\nConnection: close\r\n\r\n".encode()
        )
        status = connection.makefile("rb").readline()
    assert status.split()[1] in {b"400", b"404"}


def test_no_link_leaves_the_folder(client: FlaskClient, static: Path) -> None:
    (static / "inside.txt").write_text("inside")
    os.symlink(static.parent / "secret.txt", static / "file.txt")
    os.symlink(static.parent, static / "folder")
    os.symlink(static / "inside.txt", static / "fine.txt")
    assert client.get("/static/file.txt").status_code == 404
    assert client.get("/static/folder/secret.txt").status_code == 404
    assert client.get("/static/fine.txt").text == "inside"


def test_hidden_files_and_folders_are_not_there(client: FlaskClient, static: Path) -> None:
    (static / ".git").mkdir()
    (static / ".git" / "config").write_text("hidden")
    assert client.get("/static/.git/config").status_code == 404
    (static / "folder").mkdir()
    assert client.get("/static/folder").status_code == 404
    assert client.get("/static/folder/").status_code == 404


def test_etag_answers_304_until_the_content_changes(client: FlaskClient, static: Path) -> None:
    (static / "a.js").write_text("one")
    first = client.get("/static/a.js")
    assert first.headers["Cache-Control"] == "no-cache"
    etag = first.headers["ETag"]
    assert not etag.startswith("W/")
    again = client.get("/static/a.js", headers={"If-None-Match": etag})
    assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", etag)
    assert "Content-Security-Policy" in again.headers
    (static / "a.js").write_text("other")
    changed = client.get("/static/a.js", headers={"If-None-Match": etag})
    assert (changed.status_code, changed.text) == (200, "other")


def test_same_content_has_the_same_etag_whenever_written(client: FlaskClient, static: Path) -> None:
    (static / "a.js").write_text("one")
    etag = client.get("/static/a.js").headers["ETag"]
    os.utime(static / "a.js", (1_000_000_000, 1_000_000_000))
    assert client.get("/static/a.js").headers["ETag"] == etag


@pytest.mark.parametrize(
    ("asked", "status", "content", "content_range"),
    [
        ("bytes=0-3", 206, b"0123", "bytes 0-3/10"),
        ("bytes=8-", 206, b"89", "bytes 8-9/10"),
        ("bytes=-2", 206, b"89", "bytes 8-9/10"),
        ("bytes=5-99", 206, b"56789", "bytes 5-9/10"),
        ("bytes=10-", 416, None, "bytes */10"),
    ],
)
def test_ranges_answer_with_their_part(
    client: FlaskClient,
    static: Path,
    asked: str,
    status: int,
    content: bytes | None,
    content_range: str,
) -> None:
    (static / "a.bin").write_bytes(b"0123456789")
    response = client.get("/static/a.bin", headers={"Range": asked, "Accept-Encoding": "gzip"})
    assert response.status_code == status
    assert response.headers["Content-Range"] == content_range
    if content is not None:
        assert response.data == content
        assert response.headers["Accept-Ranges"] == "bytes"


@pytest.mark.survival("Requests against the server")
@pytest.mark.parametrize(
    ("asked", "content"),
    [
        ("bytes=-10", b"0123456789"),
        ("bytes=-99999999999999999999999", b"0123456789"),
        ("bytes=0-99999999999999999999999", b"0123456789"),
        ("bytes=9-9", b"9"),
        ("BYTES=9-", b"9"),
    ],
)
def test_ranges_beyond_the_end_are_cut(
    client: FlaskClient, static: Path, asked: str, content: bytes
) -> None:
    (static / "a.bin").write_bytes(b"0123456789")
    response = client.get("/static/a.bin", headers={"Range": asked})
    assert (response.status_code, response.data) == (206, content)
    assert response.headers["Content-Length"] == str(len(content))


@pytest.mark.survival("Requests against the server")
@pytest.mark.parametrize(
    "asked",
    ["bytes=0-1,3-4", "bytes=0-,0-,0-", "bytes=-5,-6", "bytes=" + ",".join(["0-9"] * 1000),
     "bytes=5-3", "bytes=", "bytes=-", "bytes=a-b", "lines=0-3", "0-3", "bytes 0-3", "bytes=0-3;",
     "bytes=+1-2", "bytes=1-2-3", "bytes=0x0-0x3", "bytes=" + "9" * 5000 + "-"],
)  # fmt: skip
def test_several_and_malformed_ranges_get_the_whole_file(
    client: FlaskClient, static: Path, asked: str
) -> None:
    (static / "a.bin").write_bytes(b"0123456789")
    response = client.get("/static/a.bin", headers={"Range": asked})
    assert (response.status_code, response.data) == (200, b"0123456789")
    assert "Content-Range" not in response.headers


@pytest.mark.survival("Requests against the server")
@pytest.mark.parametrize("asked", ["bytes=10-", "bytes=-0", "bytes=99999999999999999999999-"])
def test_unsatisfiable_ranges_answer_416(client: FlaskClient, static: Path, asked: str) -> None:
    (static / "a.bin").write_bytes(b"0123456789")
    response = client.get("/static/a.bin", headers={"Range": asked})
    assert response.status_code == 416
    assert response.headers["Content-Range"] == "bytes */10"


def test_if_range_is_compared_strongly(client: FlaskClient, static: Path) -> None:
    (static / "a.bin").write_bytes(b"0123456789")
    etag = client.get("/static/a.bin").headers["ETag"]

    def answer(if_range: str) -> tuple[int, bytes]:
        headers = {"Range": "bytes=0-3", "If-Range": if_range}
        response = client.get("/static/a.bin", headers=headers)
        return response.status_code, response.data

    assert answer(etag) == (206, b"0123")
    for other in (f"W/{etag}", '"other"', etag.strip('"'), "Sun, 22 Nov 2026 12:00:00 GMT", "*"):
        assert answer(other) == (200, b"0123456789")


def test_conditions_come_before_the_range(client: FlaskClient, static: Path) -> None:
    (static / "a.bin").write_bytes(b"0123456789")
    etag = client.get("/static/a.bin").headers["ETag"]
    headers = {"Range": "bytes=0-3", "If-None-Match": f'"other", {etag}'}
    assert client.get("/static/a.bin", headers=headers).status_code == 304
    headers = {"Range": "bytes=0-3", "If-Match": '"other"'}
    assert client.get("/static/a.bin", headers=headers).status_code == 412
    head = client.head("/static/a.bin", headers={"Range": "bytes=0-3"})
    assert (head.status_code, head.headers["Content-Length"]) == (200, "10")


def test_empty_file_is_served(client: FlaskClient, static: Path) -> None:
    (static / "a.js").write_bytes(b"")
    response = client.get("/static/a.js")
    assert (response.status_code, response.headers["Content-Length"]) == (200, "0")
    assert client.get("/static/a.js", headers={"Range": "bytes=0-"}).status_code == 416


@pytest.mark.survival("Requests against the server")
def test_impossible_file_names_answer_404(client: FlaskClient, static: Path) -> None:
    os.symlink("loop", static / "loop")
    (static / "closed").mkdir(mode=0o000)
    for name in ("a" * 256, "a" * 10_000, "a/" * 5000, "loop", "loop/a", "closed/a", "%ed%a0%80"):
        response = client.get(f"/static/{name}")
        assert response.status_code == 404
        assert len(response.text) < 300


@pytest.fixture
def with_compressed_form(static: Path) -> bytes:
    content = bytes(range(256)) * 40
    (static / "a.wasm").write_bytes(content)
    (static / "a.wasm.gz").write_bytes(gzip.compress(content))
    return content


def test_compressed_form_goes_to_clients_that_accept_it(
    client: FlaskClient, with_compressed_form: bytes
) -> None:
    plain = client.get("/static/a.wasm")
    packed = client.get("/static/a.wasm", headers={"Accept-Encoding": "br, gzip"})
    refused = client.get("/static/a.wasm", headers={"Accept-Encoding": "gzip;q=0, br"})
    assert plain.data == refused.data == with_compressed_form
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == with_compressed_form
    assert packed.headers["Content-Type"] == "application/wasm"
    assert packed.headers["ETag"] != plain.headers["ETag"]
    for response in (plain, packed, refused):
        assert response.headers["Vary"] == "Accept-Encoding"
        assert "Content-Disposition" not in response.headers


def test_the_smallest_accepted_copy_is_sent(
    client: FlaskClient, static: Path, with_compressed_form: bytes
) -> None:
    for ending, quality in BROTLI.items():
        packed = brotli_compressed([with_compressed_form], quality)
        compressed(static / "a.wasm", ending).write_bytes(packed)
    best = compressed(static / "a.wasm", ".max.br").read_bytes()

    def answer(accepted: str, method: str = "GET", **headers: str) -> TestResponse:
        headers = {"Accept-Encoding": accepted} | headers
        response = client.open("/static/a.wasm", method=method, headers=headers)
        assert response.headers["Vary"] == "Accept-Encoding"
        return response

    for accepted in ("gzip, deflate, br, zstd", "br", "*", "gzip;q=0.5, br;q=0.8"):
        response = answer(accepted)
        assert (response.headers["Content-Encoding"], response.data) == ("br", best), accepted
    for accepted in ("gzip", "br;q=0.5, gzip", "br;q=0, gzip"):
        assert answer(accepted).headers["Content-Encoding"] == "gzip", accepted
    for accepted in ("identity", "br;q=0", "zstd"):
        assert answer(accepted).data == with_compressed_form, accepted

    page = f"{PLAIN}, */*"
    for accepted in ("gzip, br", "identity"):
        response = answer(accepted, Accept=page)
        assert response.data == with_compressed_form
        assert "Content-Encoding" not in response.headers
    held = answer("gzip, br", Accept="*/*").headers["ETag"]
    again = answer("gzip, br", Accept=page, **{"If-None-Match": held})
    assert (again.status_code, again.data) == (304, b"")

    head = answer("br", "HEAD")
    assert (head.data, head.headers["Content-Length"]) == (b"", str(len(best)))
    etags = [answer(accepted).headers["ETag"] for accepted in ("br", "gzip", "identity")]
    assert len(set(etags)) == 3
    for accepted, etag in zip(("br", "gzip", "identity"), etags, strict=True):
        assert answer(accepted, **{"If-None-Match": etag}).status_code == 304
    assert answer("br", **{"If-None-Match": etags[1]}).status_code == 200
    assert answer("br", Range="bytes=300-309").data == with_compressed_form[300:310]


def test_range_refers_to_the_uncompressed_form(
    client: FlaskClient, with_compressed_form: bytes
) -> None:
    headers = {"Accept-Encoding": "gzip", "Range": "bytes=300-309"}
    response = client.get("/static/a.wasm", headers=headers)
    assert response.status_code == 206
    assert "Content-Encoding" not in response.headers
    assert response.data == with_compressed_form[300:310]


def test_head_has_the_length_and_no_body(client: FlaskClient, static: Path) -> None:
    (static / "a.txt").write_text("ten bytes!")
    response = client.head("/static/a.txt")
    assert (response.headers["Content-Length"], response.data) == ("10", b"")
