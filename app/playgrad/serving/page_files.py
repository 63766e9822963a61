"""The files of the server's own page, in ``static/serving/``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from playgrad import paths

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}


@dataclass(frozen=True)
class PageFile:
    """A file that is sent as it is."""

    content: bytes
    media_type: str


@cache
def _files() -> dict[str, PageFile]:
    """Return the files by their addresses. No address is ever made into a path."""
    folder = paths.static() / "serving"
    files = {
        f"/page/{path.name}": PageFile(path.read_bytes(), _KINDS[path.suffix])
        for path in folder.iterdir()
        if path.suffix in _KINDS
    }
    files["/"] = files.pop("/page/index.html")
    return files


def page_file(address: str) -> PageFile | None:
    """Return the file at an address; None if it is not one of the page."""
    return _files().get(address)
