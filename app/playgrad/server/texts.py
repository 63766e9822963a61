"""Texts as responses: compressed for browsers that accept it, with an ETag of their content."""

from __future__ import annotations

import base64
import gzip
import hashlib
import threading
from dataclasses import dataclass
from pathlib import Path

from flask import Response, request
from werkzeug.wrappers import Response as AnyResponse

from playgrad.assets.contents import DIGESTS

_LEVEL = 9
# Compressed copies are kept in memory: those of the page and of some pages of the documentation.
_MOST_TEXTS = 512
_MOST_BYTES = 2 << 20
# A file of this size is of no use before it is whole.
_MOST_AT_ONCE = 1 << 19
_SUFFIXES = frozenset(
    {".css", ".html", ".js", ".json", ".map", ".mjs", ".py", ".svg", ".ts", ".txt", ".webmanifest",
     ".wgsl"}
)  # fmt: skip


@dataclass(frozen=True)
class Text:
    """Bytes of a text, also compressed, and the SHA-256 of the text in hex."""

    plain: bytes
    packed: bytes
    sha256: str

    @classmethod
    def of(cls, plain: bytes) -> Text:
        packed = gzip.compress(plain, _LEVEL, mtime=0)
        return cls(plain, packed, hashlib.sha256(plain).hexdigest())


class TextCache:
    """Caches the compressed copies of files, by the SHA-256 of their content."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._texts: dict[str, Text] = {}

    def get(self, path: Path) -> Text:
        """Return the content of a file. Raises OSError if it cannot be read."""
        digest = DIGESTS.sha256(path)
        with self._lock:
            text = self._texts.pop(digest, None)
            if text is not None:
                self._texts[digest] = text  # the most recently used is last
                return text
        text = Text.of(path.read_bytes())
        with self._lock:
            self._texts[text.sha256] = text
            if len(self._texts) > _MOST_TEXTS:
                del self._texts[next(iter(self._texts))]
        return text


TEXTS = TextCache()
"""The compressed copies of this process."""


def is_text(path: Path) -> bool:
    """Return whether a file is worth compressing, and small enough to be kept in memory."""
    return path.suffix in _SUFFIXES and path.stat().st_size <= _MOST_BYTES


def accepts_gzip() -> bool:
    """Return whether the client takes a compressed answer. A range is always of the plain file."""
    return "Range" not in request.headers and request.accept_encodings["gzip"] > 0


def send_text(text: Text, mimetype: str, cache_control: str, etag_of: str = "") -> Response:
    """Respond to the current request with a text.

    Args:
        etag_of: what the ETag depends on besides the content.
    """
    packed = accepts_gzip()
    content = text.packed if packed else text.plain
    response = Response(content, mimetype=mimetype)
    if packed:
        response.headers["Content-Encoding"] = "gzip"
    response.vary.add("Accept-Encoding")
    response.headers["Cache-Control"] = cache_control
    describe_content(response, text.sha256, len(text.plain))
    etag = hashlib.sha256(f"{text.sha256} {packed} {etag_of}".encode()).hexdigest()
    response.set_etag(etag[:32])
    response.make_conditional(request)
    return response


def describe_content(response: AnyResponse, sha256: str, size: int) -> None:
    """Tell the page what it will have after decompression, so that it can check it.

    ``Unencoded-Digest``, from an Internet-Draft of the HTTP working group, is checked by browsers.
    They do so before they hand over the first byte, so large files, of which the page shows how
    much has arrived, have the page's own header only.

    Args:
        sha256: in hex.
        size: in bytes.
    """
    digest = f"sha-256=:{base64.b64encode(bytes.fromhex(sha256)).decode()}:"
    response.headers["Playgrad-Digest"] = digest
    if size <= _MOST_AT_ONCE:
        response.headers["Unencoded-Digest"] = digest
    response.headers["Unencoded-Length"] = str(size)
