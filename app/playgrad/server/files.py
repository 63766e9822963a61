"""Files as responses: safe paths, content types, strong ETags, ranges, compression."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import re
from pathlib import Path, PurePosixPath

from flask import Response, request
from werkzeug.exceptions import NotFound, RequestedRangeNotSatisfiable, ServiceUnavailable
from werkzeug.http import quote_etag
from werkzeug.wsgi import wrap_file

from playgrad.assets import File
from playgrad.assets.codings import CODINGS, compressed
from playgrad.assets.contents import DIGESTS
from playgrad.server.texts import TEXTS, accepted_codings, describe_content, is_text, send_text

# The browser asks on every load, and gets 304 while the content is the same.
REVALIDATE = "no-cache"
# The URL contains a hash of the content, so the content never changes.
IMMUTABLE = "public, max-age=31536000, immutable"

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
    ".webp": "image/webp",
    ".wgsl": "text/plain",
    ".whl": "application/zip",
    ".woff2": "font/woff2",
    ".zip": "application/zip",
}
_UNKNOWN_TYPE = "application/octet-stream"
PLAIN = "application/vnd.playgrad.plain"
"""Pages name it in ``Accept`` if large files are to come uncompressed."""
_LONGEST_NAME_SHOWN = 100
# One range, RFC 9110 section 14.1.2. More digits than this exceed any file.
_RANGE = re.compile(r"bytes=[ \t]*([0-9]{0,30})-([0-9]{0,30})[ \t]*", re.IGNORECASE)
_log = logging.getLogger(__name__)


class Section(io.RawIOBase):
    """Some bytes of an open file, as a file.

    The server sends it without a thread of its own, so it must never end early: reading raises
    OSError if the file was cut, and the server then closes the connection.
    """

    def __init__(self, descriptor: int, start: int, stop: int) -> None:
        self._descriptor = descriptor
        self._start = start
        self._length = stop - start
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        origins = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._length}
        self._at = origins[whence] + offset
        return self._at

    def read(self, size: int = -1) -> bytes:
        left = max(0, self._length - self._at)
        size = left if size is None or size < 0 else min(size, left)
        content = os.pread(self._descriptor, size, self._start + self._at)
        if size and not content:
            raise OSError("the file was cut while it was being sent")
        self._at += len(content)
        return content

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()


def _not_found(name: str) -> NotFound:
    shown = name if len(name) <= _LONGEST_NAME_SHOWN else f"{name[:_LONGEST_NAME_SHOWN]}..."
    return NotFound(f"no file {shown!r}")


def resolve(root: Path, name: str) -> Path:
    """Return the path of the file ``name`` under ``root``.

    Raises:
        NotFound: no such file; a folder; a hidden file; a name that no file can have; or a path
            that leaves ``root`` through ``..``, a leading slash or a symbolic link.
    """
    parts = PurePosixPath(name).parts
    if not parts or "\0" in name or "\\" in name or any(part.startswith(".") for part in parts):
        raise _not_found(name)
    try:
        folder = root.resolve()
        path = folder.joinpath(*parts).resolve()
        if path.is_relative_to(folder) and path.is_file():
            return path
    except (OSError, ValueError, RuntimeError):  # too long, not encodable, a circle of links
        pass
    raise _not_found(name)


def send(root: Path, name: str, cache_control: str, pinned: File | None = None) -> Response:
    """Respond to the current request with a file under ``root``.

    If there are compressed copies next to the file (``name.br``, ``name.gz``), the smallest that
    the client accepts is sent. Texts without any are compressed in memory. Range requests always
    get the uncompressed file.

    Args:
        pinned: the file's known size and SHA-256, if it has one.

    Raises:
        NotFound: as `resolve` does.
        ServiceUnavailable: the content is not the pinned one.
        RequestedRangeNotSatisfiable: the range begins after the end of the file.
    """
    path = resolve(root, name)
    copies = {ending: copy for ending in CODINGS if (copy := compressed(path, ending)).is_file()}
    is_packable = pinned is None and not copies and is_text(path)
    if is_packable and accepted_codings():
        return _send_packed(path, cache_control)
    best = _best(path, copies, pinned)
    if pinned is not None and best is None and not pinned.is_at(path):
        raise _damaged(path)
    coding, sent = best or ("", path)
    response = _respond(sent)
    response.mimetype = _type(path)
    response.headers["Cache-Control"] = cache_control
    if pinned is None:
        describe_content(response, DIGESTS.sha256(path), path.stat().st_size)
    else:
        describe_content(response, pinned.sha256, pinned.size)
    if copies or is_packable:
        response.vary.add("Accept-Encoding")
    if coding:
        response.headers["Content-Encoding"] = coding
    return response


def _best(path: Path, copies: dict[str, Path], pinned: File | None) -> tuple[str, Path] | None:
    """Return coding and path of the compressed copy to send, by their endings; None for none.

    A copy that the client has is preferred to a smaller one, which would be sent in vain. Without
    one, a client that asks for `PLAIN` gets the file itself.
    """
    fitting = [
        (coding, copy)
        for coding in accepted_codings()
        for ending, copy in copies.items()
        if CODINGS[ending] == coding
    ]
    held = [each for each in fitting if _is_held(each[1])]
    if not held and fitting and (PLAIN in request.headers.get("Accept", "") or _is_held(path)):
        return None
    for coding, copy in [*held, *fitting]:
        if _is_undamaged(copy, pinned):
            return coding, copy
    return None


def _is_held(path: Path) -> bool:
    """Return whether the client has this file in its cache, by the ETags that it sends."""
    try:
        return request.if_none_match.contains_weak(DIGESTS.sha256(path)[:32])
    except OSError:
        return False


def _type(path: Path) -> str:
    return _TYPES.get(path.suffix, _UNKNOWN_TYPE)


def _send_packed(path: Path, cache_control: str) -> Response:
    try:
        return send_text(TEXTS.get(path), _type(path), cache_control)
    except OSError:
        raise _not_found(path.name) from None


def _is_undamaged(packed: Path, pinned: File | None) -> bool:
    """Return whether a compressed copy is right; delete a damaged one: it can be made again."""
    if pinned is None or DIGESTS.sha256_unpacked(packed) == pinned.sha256:
        return True
    _log.warning("%s is damaged: deleted. The next start of the server makes it again", packed)
    with contextlib.suppress(OSError):  # of a folder that cannot be written
        packed.unlink()
    return False


def _damaged(path: Path) -> ServiceUnavailable:
    _log.error(
        "%s is damaged: its content is not the published one. "
        "Restart `playgrad serve`, which fetches it again",
        path,
    )
    return ServiceUnavailable(
        f"{path.name} is damaged on the server: its content is not the published one. "
        "Restart `playgrad serve`, which fetches it again; then run again here."
    )


def _open(path: Path) -> tuple[int, str]:
    """Return a descriptor of the file and the ETag of exactly that version of it."""
    while True:
        try:
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        except OSError:
            raise _not_found(path.name) from None
        try:
            etag = DIGESTS.sha256(path)[:32]
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                return descriptor, etag
        except OSError:
            os.close(descriptor)
            raise _not_found(path.name) from None
        os.close(descriptor)  # replaced in the meantime


def _respond(path: Path) -> Response:
    """Respond with a file, or the range of it that the request asks for, or 304."""
    response = Response(direct_passthrough=True)
    descriptor, etag = _open(path)
    length = os.fstat(descriptor).st_size
    response.set_etag(etag)
    response.headers["Accept-Ranges"] = "bytes"
    response.make_conditional(request)
    is_whole = response.status_code == 200
    section = _requested_range(length, etag) if is_whole else None
    start, stop = section or (0, length)
    if not is_whole or request.method == "HEAD" or start >= stop:
        os.close(descriptor)
        if section is not None:
            raise RequestedRangeNotSatisfiable(length)
    else:
        file = Section(descriptor, start, stop)
        # `wrap_file` is the server's own: waitress sends the file without holding a thread.
        response.response = wrap_file(request.environ, file)  # type: ignore[arg-type]
        response.call_on_close(file.close)
    if section is not None:
        response.status_code = 206
        response.headers["Content-Range"] = f"bytes {start}-{stop - 1}/{length}"
    if is_whole:
        response.headers["Content-Length"] = str(stop - start)
    return response


def _requested_range(length: int, etag: str) -> tuple[int, int] | None:
    """Return start and stop of the requested range, None for the whole file.

    A request for several ranges gets the whole file, as RFC 9110 allows: answers can never be
    larger than the file. An ``If-Range`` that is not the current ETag makes the range void. An
    empty range (start not before stop) cannot be satisfied.
    """
    match = _RANGE.fullmatch(request.headers.get("Range", ""))
    if request.method != "GET" or match is None or match.groups() == ("", ""):
        return None
    if request.headers.get("If-Range", quote_etag(etag)).strip() != quote_etag(etag):
        return None
    first, last = match.groups()
    if not first:
        return max(0, length - int(last)), length
    start, stop = int(first), int(last) + 1 if last else length
    if last and stop <= start:
        return None  # malformed: its end is before its start
    return start, min(stop, length)
