"""Texts as responses: compressed for browsers that accept it, with an ETag of their content."""

from __future__ import annotations

import base64
import gzip
import hashlib
import threading
from pathlib import Path

from flask import Response, request
from werkzeug.wrappers import Response as AnyResponse

from playgrad.assets.codings import CODINGS, brotli_compressed
from playgrad.assets.contents import DIGESTS

_LEVEL = 9
# Compressed copies of the page and of some pages of the documentation are kept in memory.
_MOST_TEXTS = 512
_MOST_BYTES = 2 << 20
# A file of this size is of no use before it is whole.
_MOST_AT_ONCE = 1 << 19
_SUFFIXES = frozenset(
    {".css", ".html", ".js", ".json", ".map", ".mjs", ".py", ".svg", ".ts", ".txt", ".webmanifest",
     ".wgsl"}
)  # fmt: skip


_QUALITY = 9


class Text:
    """Bytes, and their compressed forms, which are made when they are first asked for.

    Attributes:
        sha256: of the bytes, in hex.
    """

    def __init__(self, plain: bytes, quality: int = _QUALITY) -> None:
        """Args:
        quality: Brotli's, 0 to 11.
        """
        self.plain = plain
        self.sha256 = hashlib.sha256(plain).hexdigest()
        self._quality = quality
        self._lock = threading.Lock()
        self._packed: dict[str, bytes] = {"": plain}

    @property
    def etag(self) -> str:
        return self.sha256[:32]

    def packed(self, coding: str) -> bytes:
        """Return the bytes in a content coding: "br", "gzip", or "" for none."""
        with self._lock:
            if coding not in self._packed:
                self._packed[coding] = self._pack(coding)
            return self._packed[coding]

    def pack_best(self) -> None:
        """Compress once more with Brotli, as small as possible: it takes seconds for a megabyte."""
        best = brotli_compressed([self.plain], 11)
        with self._lock:
            self._packed["br"] = best

    def _pack(self, coding: str) -> bytes:
        if coding == "br":
            return brotli_compressed([self.plain], self._quality)
        return gzip.compress(self.plain, _LEVEL, mtime=0)


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
        text = Text(path.read_bytes())
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


def accepted_codings() -> list[str]:
    """Return the content codings that the client accepts, best first.

    None for a range: it is always of the plain file.
    """
    if "Range" in request.headers:
        return []
    qualities = {coding: request.accept_encodings[coding] for coding in CODINGS.values()}
    accepted = [coding for coding, quality in qualities.items() if quality > 0]
    return sorted(accepted, key=lambda coding: -qualities[coding])  # equal ones as in CODINGS


def send_text(text: Text, mimetype: str, cache_control: str, etag_of: str = "") -> Response:
    """Respond to the current request with a text.

    Args:
        etag_of: what the ETag depends on besides the content.
    """
    coding = next(iter(accepted_codings()), "")
    response = Response(text.packed(coding), mimetype=mimetype)
    if coding:
        response.headers["Content-Encoding"] = coding
    response.vary.add("Accept-Encoding")
    response.headers["Cache-Control"] = cache_control
    describe_content(response, text.sha256, len(text.plain))
    etag = hashlib.sha256(f"{text.sha256} {coding} {etag_of}".encode()).hexdigest()
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
