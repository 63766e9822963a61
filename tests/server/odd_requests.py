"""Requests that no browser sends, from a seed: odd targets, headers, framing and bytes."""

from __future__ import annotations

import random
from collections.abc import Callable

_PATHS = [
    "/", "/static/js/main.js", "/data/mnist/test-labels", "/bundle/playgrad.zip", "/healthz",
    "/examples.json", "/docs/", "/docs/index.html", "/static/index.html", "/image/python.bin",
    "/pyodide/314.0.3/pyodide.mjs", "/static/", "/pyodide/", "/data/mnist/",
]  # fmt: skip
_PIECES = [
    "%00", "%ff", "%ed%a0%80", "%c0%af", "..", "%2e%2e", "%2f", "\\", "%5c", "//", "./", "%", "%zz",
    "é", "\u202e", "a" * 256, "a" * 300, "%41" * 100, "a/" * 500, "../" * 50, "?", "??", "#", ";",
    "?a=%00", "&", "{}", "<b>", "%0d%0aX:1", "%20", "+", ".git", ".gz", "~", ":", "@", "con", "|",
]  # fmt: skip
_NUMBERS = [
    "0",
    "1",
    "-1",
    "+1",
    "00",
    "1e3",
    "0x10",
    "9" * 20,
    "9" * 400,
    "9" * 5000,
    "",
    " ",
    "1 ",
]
_METHODS = [
    "GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "get", "Get",
    "PROPFIND", "BREW", "G" * 300, "GE\0T", "", "GET GET", "()", "\u00e9",
]  # fmt: skip
_HOSTS = [
    "localhost", "LOCALHOST.", "127.0.0.1:1", "[::1]", "[::1", "evil.example", "", "a b", "a,b",
    "localhost@evil.example", "localhost:99999999", "localhost:x", "\0", "[fe80::1%25eth0]",
    "x" * 5000, "..", "é.example", "localhost/..", "[v1.x]", "0x7f.1", "127.1",
]  # fmt: skip
_CODINGS = [
    "chunked", "Chunked", "gzip, chunked", "chunked, gzip", "identity", " chunked", "chunked;a=b",
    "\x0bchunked", "xchunked", "", ",", "chunked, chunked",
]  # fmt: skip
_VERSIONS = ["HTTP/1.1"] * 8 + ["HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "HTTP/1.10", "HTP/1.1", "", "x"]


def odd_request(seed: int) -> bytes:
    """Return the bytes of one request, or of something like one."""
    draw = random.Random(seed)
    method = "GET" if draw.random() < 0.6 else draw.choice(_METHODS)
    lines = [f"{method} {_target(draw)} {draw.choice(_VERSIONS)}"]
    if draw.random() < 0.85:
        lines.append("Host: localhost")
    lines += [draw.choice(_HEADERS)(draw) for _ in range(draw.choice([0, 1, 1, 2, 3, 6]))]
    end = draw.choice(["\r\n"] * 12 + ["\n", "\r", "\r\n\r\n", "\n\r"])
    text = end.join(lines) + end * 2
    request = text.encode("utf-8", "surrogatepass")
    kind = draw.random()
    if kind < 0.1:
        request += b"5\r\nhello\r\n0\r\n\r\n" + b"x" * draw.choice([0, 10, 20_000])
    elif kind < 0.2:
        request += odd_request(seed + 1_000_003)
    elif kind < 0.3:
        request = request[: draw.randrange(len(request))]
    elif kind < 0.4:
        spoiled = bytearray(request)
        for _ in range(draw.choice([1, 3, 30])):
            spoiled[draw.randrange(len(spoiled))] = draw.randrange(256)
        request = bytes(spoiled)
    elif kind < 0.43:
        request = draw.randbytes(draw.choice([1, 100, 20_000]))
    return request


def _target(draw: random.Random) -> str:
    path = draw.choice(_PATHS)
    for _ in range(draw.choice([0, 0, 1, 1, 2, 4])):
        piece = draw.choice(_PIECES)
        path = path + piece if draw.random() < 0.7 else f"/{piece}{path}"
    form = draw.random()
    if form < 0.05:
        return f"http://{draw.choice(_HOSTS)}{path}"
    if form < 0.08:
        return draw.choice(["*", "http:", "http://", "http://[", "localhost:80", "", "file:///x"])
    if form < 0.1:
        return "/" + "x" * draw.choice([8_000, 15_000, 20_000])
    return path


def _range(draw: random.Random) -> str:
    unit = draw.choice(["bytes", "Bytes", "byte", "lines", ""])
    parts = [
        f"{draw.choice(_NUMBERS)}-{draw.choice(_NUMBERS)}"
        for _ in range(draw.choice([1, 1, 2, 900]))
    ]
    return f"Range: {unit}={','.join(parts)}"


def _named(name: str, values: list[str]) -> Callable[[random.Random], str]:
    return lambda draw: f"{name}: {draw.choice(values)}"


_TAGS = ["*", '"a"', 'W/"a"', '"', "W/", '"' * 99, "a" * 5000, '"a", "b"', "", "\x80"]
_DATES = ["Sun, 22 Nov 2026 12:00:00 GMT", "yesterday", "9" * 50, "Mon, 99 Foo 99999 99:99:99 GMT"]
_HEADERS: list[Callable[[random.Random], str]] = [
    _range,
    _range,
    _named("If-Range", _TAGS + _DATES),
    _named("If-None-Match", _TAGS),
    _named("If-Match", _TAGS),
    _named("If-Modified-Since", _DATES),
    _named("If-Unmodified-Since", _DATES),
    _named("Accept-Encoding", ["gzip", "gzip;q=0", "gzip;q=x", "*;q=9" + "9" * 400, ",;,", "\x01"]),
    _named("Host", _HOSTS),
    _named("Content-Length", _NUMBERS),
    _named("Transfer-Encoding", _CODINGS),
    _named("Expect", ["100-continue", "100-Continue", "200-ok", ""]),
    _named("Connection", ["close", "keep-alive", "upgrade", "close, x", "\t"]),
    _named("Upgrade", ["websocket", "h2c"]),
    _named("Cookie", ["a=b", "a" * 10_000, "=;=;\x7f"]),
    _named("X-Forwarded-Host", ["evil.example"]),
    _named("Content-Type", ["multipart/form-data; boundary=", "application/json", "x" * 3000]),
    lambda draw: f"{'X' * draw.choice([1, 9000, 17_000])}: y",
    lambda draw: draw.choice(
        ["no colon", ": no name", " folded", "A B: c", "A\0: b", "A: \0", "é: 1"]
    ),
]
