"""Security headers, added to every response, including errors."""

from __future__ import annotations

from collections.abc import Iterable

from flask import Response

# 'wasm-unsafe-eval' lets Pyodide compile WebAssembly; JavaScript's eval stays forbidden. So do
# inline scripts and styles other than the page's early ones, and everything from other origins.
_POLICY = {
    "default-src": "'none'",
    "script-src": "'self' 'wasm-unsafe-eval'",
    "worker-src": "'self'",
    "connect-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data: blob:",
    "font-src": "'self'",
    "manifest-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}


def content_security_policy(
    scripts: Iterable[str] = (), styles: Iterable[str] = (), ancestors: Iterable[str] = ()
) -> str:
    """Return the policy, with the hashes of inline scripts and styles that it allows.

    Args:
        ancestors: sites that may show the answer in a frame; none by default.
    """
    allowed = {"script-src": scripts, "style-src": styles}
    policy = {**_POLICY, "frame-ancestors": " ".join(ancestors) or "'none'"}
    return "; ".join(
        " ".join([name, value, *allowed.get(name, ())]) for name, value in policy.items()
    )


CONTENT_SECURITY_POLICY = content_security_policy()

# The first three make the page cross-origin isolated, which SharedArrayBuffer requires.
SECURITY_HEADERS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def add_security_headers(response: Response) -> Response:
    """Add the headers that ``response`` does not have yet, as an ``after_request`` function."""
    for name, value in SECURITY_HEADERS.items():
        response.headers.setdefault(name, value)
    return response
