"""Refuses requests before the application sees them: foreign names, other methods, odd targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

from werkzeug import exceptions
from werkzeug.exceptions import BadRequest, HTTPException, MethodNotAllowed

from playgrad.server.headers import SECURITY_HEADERS
from playgrad.server.hosts import Hosts, host_name

Environment = dict[str, Any]
Application = Callable[[Environment, Any], Iterable[bytes]]

_SERVED = ("GET", "HEAD", "OPTIONS")
_KNOWN = frozenset({"CONNECT", "DELETE", "PATCH", "POST", "PUT", "TRACE"})


class MisdirectedRequest(HTTPException):
    """The request is for another server."""

    code = 421
    description = "this server does not answer to that name"


class Guard:
    """WSGI middleware that answers what the application need not see."""

    def __init__(self, application: Application, hosts: Hosts) -> None:
        self._application = application
        self._hosts = hosts

    def __call__(self, environ: Environment, start_response: Any) -> Iterable[bytes]:
        try:
            _check_method(environ["REQUEST_METHOD"])
            _check_host(environ, self._hosts)
        except HTTPException as error:
            return refuse(error, start_response)
        return self._application(environ, start_response)


def refuse(error: HTTPException, start_response: Any) -> list[bytes]:
    """Respond with ``error`` as plain text, which no cache may keep."""
    body = f"{error.code} {error.name}: {error.description}\n".encode()
    headers = {
        **SECURITY_HEADERS,
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Length": str(len(body)),
        "Cache-Control": "no-store",
    }
    if isinstance(error, MethodNotAllowed):
        headers["Allow"] = ", ".join(_SERVED)
    start_response(f"{error.code} {error.name}", list(headers.items()))
    return [body]


def _check_method(method: str) -> None:
    if method in _KNOWN:
        raise MethodNotAllowed(description=f"this server only answers {', '.join(_SERVED)}")
    if method not in _SERVED:
        raise exceptions.NotImplemented(f"this server does not know the method {method[:40]}")


def _check_host(environ: Environment, hosts: Hosts) -> None:
    """Raise an HTTPException unless the request calls the server by an allowed name.

    RFC 9112 section 3.2: the host of an absolute target overrides the header, and HTTP/1.1 without
    the header is malformed. A repeated header arrives here joined by commas, which no name has.
    """
    header = environ.get("HTTP_HOST")
    target = str(environ.get("REQUEST_URI", "/"))
    if header is None:
        if environ.get("SERVER_PROTOCOL") != "HTTP/1.0":
            raise BadRequest("the request has no Host header")
        header = "localhost"  # no browser sends such a request
    names = [header]
    if not target.startswith(("/", "*")):
        names.append(_authority(target))
    for text in names:
        name = host_name(text)
        if name is None:
            raise BadRequest(f"{text[:100]!r} is not a host name")
        if not hosts.allow(name):
            raise MisdirectedRequest(
                f"this server does not answer to the name {name[:100]!r}. If it is meant to, "
                f"start it with `playgrad serve --allow-host {name[:100]}`."
            )


def _authority(target: str) -> str:
    """Return host and port of an absolute target; an empty text if it has none."""
    try:
        parts = urlsplit(target)
    except ValueError:
        return ""
    return parts.netloc if parts.scheme in ("http", "https") else ""
