"""The application: both interfaces, measurements and the page, for those who may call it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from playgrad.server.hosts import Hosts, host_name
from playgrad.serving import open_inference, tensorflow_rest
from playgrad.serving.access_log import log_request
from playgrad.serving.answers import VERSION_HEADER
from playgrad.serving.errors import AnswerError
from playgrad.serving.manager import ModelManager
from playgrad.serving.metrics import NO_VERSION
from playgrad.serving.overview import overview
from playgrad.serving.page_files import PAGE_POLICY, page_file
from playgrad.serving.samples import to_json
from playgrad.serving.tokens import Tokens

_log = logging.getLogger("playgrad.serving")
_OPEN = ("/v2/health/live", "/v2/health/ready")
"""Addresses that need no token: they tell nothing, and whatever restarts servers asks them."""
_MOST_HOSTS = 100
"""Hosts that are remembered as allowed."""
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class ServingApp:
    """The application, in the ASGI form.

    Args:
        hosts: the names by which requests may call the server.
        tokens: None if requests need none.
    """

    def __init__(self, manager: ModelManager, hosts: Hosts, tokens: Tokens | None = None) -> None:
        self._manager = manager
        self._hosts = hosts
        self._tokens = tokens
        self._allowed_hosts: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # there are neither web sockets nor, with uvicorn's settings, a lifespan
        begin = time.perf_counter()
        request = Request(scope, receive)
        try:
            response = await self._answer(request)
        except AnswerError as error:
            response = _error(error)
        except asyncio.CancelledError:
            raise
        except Exception:
            _log.exception("%s %.200s", scope["method"], scope["path"])
            response = _error(AnswerError(500, "the server failed; its log says why."))
        response.headers.update({k: v for k, v in _HEADERS.items() if k not in response.headers})
        self._measure(scope, response, time.perf_counter() - begin)
        await response(scope, receive, send)

    def _measure(self, scope: Scope, response: Response, seconds: float) -> None:
        answered_by = scope.get("state", {}).get("answered_by", NO_VERSION)
        interface = {"/v1/": "tensorflow", "/v2/": "v2"}.get(scope["path"][:4], "")
        metrics = self._manager.metrics
        metrics.requests.labels(*answered_by, interface, str(response.status_code)).inc()
        if VERSION_HEADER in response.headers and "rows" in scope.get("state", {}):
            metrics.latency.labels(*answered_by).observe(seconds)
        log_request(dict(scope), response.status_code, seconds, len(response.body))

    def _is_allowed(self, host: str) -> bool:
        if host not in self._allowed_hosts:
            name = host_name(host)
            if name is None or not self._hosts.allow(name):
                return False
            if len(self._allowed_hosts) < _MOST_HOSTS:
                self._allowed_hosts.add(host)
        return True

    def _has_token(self, request: Request) -> bool:
        authorization = request.headers.get("authorization", "")
        return self._tokens is None or self._tokens.allow(authorization)

    async def _answer(self, request: Request) -> Response:
        path = request.scope["path"]
        if not self._is_allowed(request.headers.get("host", "")):
            raise AnswerError(421, "the server does not answer to this name; see --allow-host.")
        page = page_file(path)
        if page is not None:
            if request.method not in ("GET", "HEAD"):
                raise AnswerError(405, f"{request.method} is not for this address: use GET.")
            return Response(
                page.content,
                media_type=page.media_type,
                headers={"Content-Security-Policy": PAGE_POLICY},
            )
        if path not in _OPEN and not self._has_token(request):
            raise AnswerError(401, "the request needs a header `Authorization: Bearer TOKEN`.")
        answers: dict[str, Callable[[Request, ModelManager], Awaitable[Response]]] = {
            "v1": tensorflow_rest.answer, "v2": open_inference.answer,
        }  # fmt: skip
        answer = answers.get(path.split("/", 2)[1]) if path.startswith("/v") else None
        if answer is not None:
            return await answer(request, self._manager)
        if path not in ("/metrics", "/overview"):
            raise AnswerError(404, "there is nothing at this address.")
        if request.method != "GET":
            raise AnswerError(405, f"{request.method} is not for this address: use GET.")
        if path == "/metrics":
            text = self._manager.metrics.text()
            return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")
        return Response(to_json(overview(self._manager)), media_type="application/json")


def _error(error: AnswerError) -> Response:
    headers = {}
    if error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    if error.closes:
        headers["Connection"] = "close"
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return Response(
        to_json({"error": str(error)}), error.status, headers, media_type="application/json"
    )
