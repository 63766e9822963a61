"""Answers to a page's requests that tests change on their way."""

from __future__ import annotations

import urllib.request
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Route

_OF_THE_OLD_BODY = {
    "content-length",
    "content-encoding",
    "etag",
    "unencoded-digest",
    "playgrad-digest",
}


def served(address: str) -> tuple[str, dict[str, str]]:
    """Return the text and the headers of the server's answer, without headers about the body.

    It is asked for before a route is made: a handler that waits for the server while its
    context closes raises in whatever test is running by then.
    """
    with urllib.request.urlopen(address, timeout=300) as response:
        headers = {name.lower(): value for name, value in response.headers.items()}
        text = response.read().decode()
    return text, {name: headers[name] for name in headers.keys() - _OF_THE_OLD_BODY}


def answer(body: str, headers: dict[str, str]) -> Callable[[Route], None]:
    """Return a handler of routes."""
    return lambda route: route.fulfill(body=body, headers=headers)


def without_modules(context: BrowserContext, server: str) -> None:
    """Have ``context`` see the page as a browser does that runs `nomodule` scripts, and knows no
    modules."""
    body, headers = served(f"{server}/")
    body = body.replace("<script nomodule>", "<script>")
    body = body.replace('<script type="module"', '<script type="unknown"')
    context.route(f"{server}/", answer(body, headers))


def close(context: BrowserContext) -> None:
    """Close a context, whether or not handlers of its routes are at work."""
    context.unroute_all(behavior="ignoreErrors")
    context.close()
