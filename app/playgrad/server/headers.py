"""The headers every response carries, whatever it is, errors included."""

from __future__ import annotations

from flask import Response

# Pyodide compiles WebAssembly, which 'wasm-unsafe-eval' allows; it needs no eval of JavaScript.
# Nothing inline, neither scripts nor styles; nothing from another origin.
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
CONTENT_SECURITY_POLICY = "; ".join(f"{name} {value}" for name, value in _POLICY.items())

# The first three make the page cross-origin isolated: without that, no SharedArrayBuffer.
SECURITY_HEADERS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def add_security_headers(response: Response) -> Response:
    """An ``after_request`` function."""
    response.headers.update(SECURITY_HEADERS)
    return response
