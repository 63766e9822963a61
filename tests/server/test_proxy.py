"""The page behind a reverse proxy that ends TLS, under a name of its own."""

from __future__ import annotations

import http.client
import shutil
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.browser.playground import Playground
from tests.server.processes import ServerProcess, running_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAME = "lab.example.org"
_OF_ONE_CONNECTION = {"connection", "keep-alive", "transfer-encoding"}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServerProcess]:
    with running_server(tmp_path / "log.txt", NAME) as server:
        yield server


@pytest.fixture
def proxy(served: ServerProcess, tmp_path: Path) -> Iterator[str]:
    """The address of a proxy with a certificate that it signed itself."""
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    openssl = shutil.which("openssl")
    assert openssl, "no openssl on PATH"
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    names = ["-subj", f"/CN={NAME}", "-out", certificate, "-keyout", key]
    subprocess.run([*command, *names], check=True, capture_output=True)
    upstream = urlsplit(served.address)

    class Forward(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            connection = http.client.HTTPConnection(upstream.hostname or "", upstream.port)
            headers = {
                name: value
                for name, value in self.headers.items()
                if name.lower() not in _OF_ONE_CONNECTION | {"host"}
            }
            connection.request(self.command, self.path, headers={**headers, "Host": NAME})
            answer = connection.getresponse()
            self.send_response_only(answer.status, answer.reason)
            for name, value in answer.getheaders():
                if name.lower() not in _OF_ONE_CONNECTION:
                    self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                shutil.copyfileobj(answer, self.wfile)
            connection.close()

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    class Proxy(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            pass  # browsers close connections as they like

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with Proxy(("127.0.0.1", 0), Forward) as server:
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"https://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_headers_ranges_and_compression_pass_the_proxy(proxy: str) -> None:
    address = urlsplit(proxy)

    def get(path: str, **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
        connection = http.client.HTTPSConnection(
            address.netloc, context=ssl._create_unverified_context()
        )
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET", path, headers=names)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer, content

    page, _ = get("/")
    assert page.status == 200
    for name in ("Opener", "Embedder", "Resource"):
        assert page.headers[f"Cross-Origin-{name}-Policy"]
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    again, nothing = get("/", If_None_Match=page.headers["ETag"])
    assert (again.status, nothing) == (304, b"")
    packed, _ = get("/data/mnist/test-labels", Accept_Encoding="gzip")
    assert packed.headers["Content-Encoding"] == "gzip"
    part, content = get("/data/mnist/test-labels", Range="bytes=0-7")
    assert (part.status, content) == (206, bytes([0, 0, 8, 1, 0, 0, 39, 16]))


@pytest.mark.slow
@pytest.mark.browser
def test_page_works_behind_the_proxy(
    proxy: str, served: ServerProcess, launch_chromium: Callable[[bool], Browser]
) -> None:
    browser = launch_chromium(True)
    playground = Playground(browser, proxy, ignore_https_errors=True)
    try:
        playground.expect_status("ready")
        assert playground.page.evaluate("crossOriginIsolated")
        playground.runs_well()
    finally:
        playground.close()
        browser.close()
    assert served.log() == ""
