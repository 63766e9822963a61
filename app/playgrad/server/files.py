"""Files as responses: safe paths, content types, strong ETags, ranges, compression."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path, PurePosixPath

from flask import Response, request, send_file
from werkzeug.exceptions import NotFound

# The browser asks on every load, and gets 304 while the content is the same.
REVALIDATE = "no-cache"
# The URL contains a version, so the content never changes.
IMMUTABLE = "public, max-age=31536000, immutable"
# Data sets: fixed in practice, but the URL does not contain a version.
ONE_DAY = "public, max-age=86400"

# Flask adds the character set (UTF-8) to text types.
_TYPES = {
    ".css": "text/css",
    ".gz": "application/gzip",
    ".html": "text/html",
    ".ico": "image/x-icon",
    ".js": "text/javascript",
    ".json": "application/json",
    ".map": "application/json",
    ".mjs": "text/javascript",
    ".png": "image/png",
    ".py": "text/x-python",
    ".svg": "image/svg+xml",
    ".ts": "text/plain",
    ".txt": "text/plain",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".wgsl": "text/plain",
    ".whl": "application/zip",
    ".woff2": "font/woff2",
    ".zip": "application/zip",
}
_UNKNOWN_TYPE = "application/octet-stream"


def resolve(root: Path, name: str) -> Path:
    """Return the path of the file ``name`` under ``root``.

    Raises:
        NotFound: no such file; a folder; a hidden file; or a path that leaves ``root`` through
            ``..``, a leading slash or a symbolic link.
    """
    parts = PurePosixPath(name).parts
    if not parts or "\0" in name or "\\" in name or any(part.startswith(".") for part in parts):
        raise NotFound(f"no file {name!r}")
    folder = root.resolve()
    path = folder.joinpath(*parts).resolve()
    if not path.is_relative_to(folder) or not path.is_file():
        raise NotFound(f"no file {name!r}")
    return path


@lru_cache(maxsize=1024)
def _content_hash(path: Path, modified_ns: int, size: int) -> str:
    """SHA-256 of a file's content, cached until its modification time or size changes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]


def _etag(path: Path) -> str:
    status = path.stat()
    return _content_hash(path, status.st_mtime_ns, status.st_size)


def send(root: Path, name: str, cache_control: str) -> Response:
    """Respond to the current request with a file under ``root``.

    If there is a ``name.gz`` next to the file and the client accepts gzip, that is sent with
    ``Content-Encoding: gzip``. Range requests always get the uncompressed file.
    """
    path = resolve(root, name)
    compressed = path.with_name(f"{path.name}.gz")
    has_compressed = compressed.is_file()
    use_compressed = (
        has_compressed and "Range" not in request.headers and request.accept_encodings["gzip"] > 0
    )
    sent = compressed if use_compressed else path
    response = send_file(
        sent,
        mimetype=_TYPES.get(path.suffix, _UNKNOWN_TYPE),
        conditional=True,
        etag=_etag(sent),
    )
    del response.headers["Content-Disposition"]  # it would contain the name of the compressed file
    response.headers["Cache-Control"] = cache_control
    if has_compressed:
        response.vary.add("Accept-Encoding")
    if use_compressed:
        response.headers["Content-Encoding"] = "gzip"
    return response
