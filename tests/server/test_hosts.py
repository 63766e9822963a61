"""Only names that were meant reach the server: other sites cannot rebind theirs to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from playgrad.server.hosts import Hosts, host_name
from tests.cli.running import run
from tests.server.processes import ServerProcess, running_server

OWN = ["localhost", "LocalHost", "localhost.", "localhost:8000", "127.0.0.1", "127.0.0.1:80",
       "127.9.9.9", "[::1]", "[::1]:8000", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]",
       "play.localhost", "named.example", "NAMED.example.", "named.example:443"]  # fmt: skip
FOREIGN = ["evil.example", "localhost.evil.example", "evillocalhost", "127.0.0.1.evil.example",
           "192.168.1.5", "10.0.0.1:8000", "[fe80::1]", "[::ffff:10.0.0.1]", "other.named.example",
           "named.example.evil", "0.0.0.0", "2130706433", "0x7f.1", "127.1"]  # fmt: skip
MALFORMED = ["", " ", "a b", "a,b", "localhost, evil.example", "localhost@evil.example", "a/b",
             "http://localhost", "[::1", "::1", "[localhost]", "localhost:x", "localhost:123456",
             "..", "-a", "a..%00", "x" * 400]  # fmt: skip


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    log = tmp_path_factory.mktemp("server") / "log.txt"
    with running_server(log, "named.example") as server:
        yield server


def get(target: str = "/healthz", *lines: str, version: str = "1.1") -> bytes:
    head = [f"GET {target} HTTP/{version}", *lines, "Connection: close", "", ""]
    return "\r\n".join(head).encode()


@pytest.mark.parametrize(
    ("listening", "named", "others"),
    [
        ("127.0.0.1", [], False),
        ("::1", [], False),
        ("localhost", [], False),
        ("127.0.0.1", ["lab.example"], True),  # behind a proxy
        ("0.0.0.0", [], True),
        ("::", [], True),
        ("192.168.1.5", [], True),
    ],
)
def test_who_can_call_the_server(listening: str, named: list[str], others: bool) -> None:
    assert Hosts.of(listening, named).reach_others == others


@pytest.mark.survival("Requests against the server")
@pytest.mark.parametrize("host", OWN)
def test_own_names_are_answered(served: ServerProcess, host: str) -> None:
    assert served.status(get("/healthz", f"Host: {host}")) == 200


@pytest.mark.survival("Requests against the server")
@pytest.mark.parametrize("host", FOREIGN)
@pytest.mark.parametrize("target", ["/", "/healthz", "/docs", "/nothing"])
def test_foreign_names_are_refused(served: ServerProcess, host: str, target: str) -> None:
    answer = served.ask(get(target, f"Host: {host}")).decode()
    head, _, body = answer.partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 421 Misdirected Request")
    assert "does not answer to the name" in body and "playgrad serve --allow-host" in body
    assert "Cross-Origin-Resource-Policy: same-origin" in head
    assert "Cache-Control: no-store" in head


@pytest.mark.survival("Requests against the server")
@pytest.mark.parametrize("host", MALFORMED)
def test_malformed_names_are_refused(served: ServerProcess, host: str) -> None:
    assert served.status(get("/healthz", f"Host: {host}")) == 400


@pytest.mark.survival("Requests against the server")
@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (get("/healthz"), 400),
        (get("/healthz", version="1.0"), 200),
        (get("/healthz", "Host: evil.example", version="1.0"), 421),
        (get("/healthz", "Host: localhost", "Host: localhost"), 400),
        (get("/healthz", "Host: localhost", "Host: evil.example"), 400),
        (get("http://localhost/healthz", "Host: localhost"), 200),
        (get("http://named.example:8/healthz", "Host: localhost"), 200),
        (get("http://evil.example/healthz", "Host: localhost"), 421),
        (get("http://localhost/healthz", "Host: evil.example"), 421),
        (get("http://evil.example@localhost/healthz", "Host: localhost"), 400),
        (get("ftp://localhost/healthz", "Host: localhost"), 400),
        (get("/healthz", "Host: localhost", "X-Forwarded-Host: evil.example"), 200),
        (get("/healthz", "Host: evil.example", "X-Forwarded-Host: localhost"), 421),
        (get("/healthz", "Host: evil.example", "Forwarded: host=localhost"), 421),
        (get("/healthz", "Host : localhost"), 400),
    ],
)  # fmt: skip
def test_all_forms_of_requests_are_checked(
    served: ServerProcess, request_: bytes, status: int
) -> None:
    assert served.status(request_) == status


@pytest.mark.parametrize("everywhere", ["0.0.0.0", "::"])
def test_server_on_all_addresses_answers_to_each_but_not_to_names(everywhere: str) -> None:
    hosts = Hosts.of(everywhere)
    for address in ("192.168.1.5", "fe80::1", "127.0.0.1", "localhost"):
        assert hosts.allow(address)
    assert not hosts.allow("evil.example")


@pytest.mark.parametrize("listening", ["192.168.1.5", "fe80::1", "lab.example"])
def test_server_answers_to_the_address_that_it_listens_on(listening: str) -> None:
    hosts = Hosts.of(listening)
    assert hosts.allow(listening) and hosts.allow("localhost")
    assert not hosts.allow("192.168.1.6") and not hosts.allow("other.example")


def test_addresses_have_one_spelling() -> None:
    assert host_name("[2001:DB8:0:0::1]:80") == host_name("[2001:db8::1]") == "2001:db8::1"
    assert Hosts.of("127.0.0.1", ["2001:db8::1", "[2001:db8::2]"]).allow("2001:db8::2")


def test_command_line_checks_the_names(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[str]] = []
    monkeypatch.setattr("playgrad.server.serve", lambda *arguments: calls.append(arguments[2]))
    interrupted = 130  # the server ends in no other way
    names = ("--allow-host", "a.example", "--allow-host", "b:8000")
    assert run(capsys, "serve", *names)[0] == interrupted
    assert calls == [["a.example", "b:8000"]]
    code, _, errors = run(capsys, "serve", "--allow-host", "https://a.example/")
    assert code == 2 and "'https://a.example/' is not a host name" in errors


@pytest.mark.survival("Requests against the server")
def test_loopback_of_ipv6_is_served(tmp_path: Path) -> None:
    with running_server(tmp_path / "log.txt", host="::1") as served:
        assert served.status(get("/healthz", f"Host: {served.host}")) == 200
        assert served.status(get("/healthz", "Host: evil.example")) == 421
