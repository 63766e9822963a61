"""Security headers, added to every response, including errors."""

from __future__ import annotations

from flask import Response

# 'wasm-unsafe-eval' lets Pyodide compile WebAssembly; JavaScript's eval stays forbidden. So do
# inline scripts, inline styles and everything from other origins.
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
    """Add the headers to ``response``, as an ``after_request`` function."""
    response.headers.update(SECURITY_HEADERS)
    return response
