"""The page's own modules and styles as a few files: ``static/bundled/``, which set-up makes.

A file there is sent for the source of the same path (tools/bundle.mjs). Once a source has changed,
the page consists of the sources, until set-up has bundled them again.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from playgrad import paths
from playgrad.assets.contents import DIGESTS

STYLES = "css/page.css"
"""All styles of the page."""
MANIFEST = "manifest.json"
"""The sources, with their digests, and the files to load at once."""
PANELS = ("js/panels/*/panel.js", "js/panels/*/*.css")
"""The files of the panels, which are part of the page because they are there."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PageBundle:
    """What was bundled.

    Attributes:
        folder: where the files are.
        files: their paths in it.
        sources: the paths in ``static/`` of their sources.
        preload: scripts that the page needs at once.
    """

    folder: Path
    files: frozenset[str]
    sources: frozenset[str]
    preload: tuple[str, ...]


def page_bundle() -> PageBundle | None:
    """Return the bundle, or None if there is none or a source has changed."""
    static = paths.static()
    folder = static / "bundled"
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except FileNotFoundError:
        return _chosen(static, None)
    bundled: dict[str, str] = manifest["sources"]
    if not all(path in bundled for path in _panels(static)) or any(
        digest != _digest(static / path) for path, digest in bundled.items()
    ):
        return _chosen(static, None)
    files = (path.relative_to(folder).as_posix() for path in folder.rglob("*.*"))
    names = frozenset(name for name in files if not name.endswith((".gz", MANIFEST)))
    return _chosen(
        static, PageBundle(folder, names, frozenset(bundled), tuple(manifest["preload"]))
    )


def folder_of(name: str) -> Path:
    """Return the folder from which a file of the page is sent: as the last page was."""
    static = paths.static()
    bundle = _CHOSEN[static] if static in _CHOSEN else page_bundle()
    return bundle.folder if bundle and name in bundle.files else static


_CHOSEN: dict[Path, PageBundle | None] = {}
"""How the last page was sent, by the folder of its files. Its parts must be of the same kind."""


def _chosen(static: Path, bundle: PageBundle | None) -> PageBundle | None:
    if bundle is None and _CHOSEN.get(static, bundle) is not None:
        _log.info(
            "The page's sources have changed: it is sent file by file. `make setup` bundles it"
        )
    _CHOSEN[static] = bundle
    return bundle


def _panels(static: Path) -> Iterator[str]:
    for pattern in PANELS:
        for path in static.glob(pattern):
            yield path.relative_to(static).as_posix()


def _digest(path: Path) -> str | None:
    try:
        return DIGESTS.sha256(path)
    except OSError:
        return None
