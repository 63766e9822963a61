"""The version of the page: every file that it is made of, with a hash of them all.

The page's service worker keeps the files of one version together
(docs/decisions/022-offline.md). Versions depend on contents only.
"""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from playgrad import paths
from playgrad.assets import DATA_SETS, PACKAGE_FILES, PYODIDE, PYODIDE_URL
from playgrad.assets.contents import DIGESTS
from playgrad.data.source import FILES
from playgrad.server.embedding import PATH, FramePolicy
from playgrad.server.examples import examples_text
from playgrad.server.headers import SECURITY_HEADERS
from playgrad.server.image import ImageCache
from playgrad.server.names import names_content
from playgrad.server.page import compose
from playgrad.server.page_bundle import MANIFEST, page_bundle

VERSION_HEADER = "Playgrad-Version"
"""The header with which the page says of which version it is."""

IMAGE = "/image/python.bin"
"""The image of Python's memory."""

# Files under static/ for which the page never asks: examples.json contains the examples, the early
# files are part of the page, and the rest is for tools or the documentation.
_UNUSED_SUFFIXES = (".gz", ".map", ".mjs", ".ts", ".txt")
_UNUSED_FOLDERS = (
    "bundled/", "examples/", "js/start/early-", "css/early", "css/docs-state", "standalone/",
    "vendor/player/", "js/start/site-files.js",
)  # fmt: skip
_PICTURES = re.compile(r"/static/gallery/[\w-]+\.webp")
"""The gallery's pictures, which are fetched when they are seen."""

_LATER = "/python_stdlib_later.zip"
"""The part of the standard library that is fetched when a program imports one of its modules."""

_Digests = dict[str, str]


@dataclass(frozen=True)
class Version:
    """The files of the page, by path, with the SHA-256 of each.

    Attributes:
        files: what the page is made of.
        extras: files that the page can do without, or fetch when a program reads them.
        embedding: the sites that may show the page in a frame.
    """

    files: _Digests
    extras: _Digests
    embedding: FramePolicy

    @cached_property
    def headers(self) -> str:
        """A hash of the headers that are sent with every file, which a copy of it contains."""
        headers = [SECURITY_HEADERS, self.embedding.headers, self.embedding.ancestors]
        return hashlib.sha256(json.dumps(headers).encode()).hexdigest()[:16]

    @cached_property
    def name(self) -> str:
        """A hash of the files and their headers."""
        text = json.dumps([self.headers, sorted(self.files.items())])
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def as_json(self) -> dict[str, object]:
        return {
            "version": self.name,
            "headers": self.headers,
            "files": self.files,
            "extras": self.extras,
        }


def describe_version(images: ImageCache, embedding: FramePolicy, packages: bool = True) -> Version:
    """Return the version of the current files.

    Args:
        packages: whether programs can import the Python packages.
    """
    files = {
        "/": compose().text.sha256,
        "/bundle/playgrad.zip": images.bundles.get().sha256,
        "/examples.json": examples_text().sha256,
        "/names.json": names_content(packages).sha256,
    }
    if embedding.is_allowed:
        files[PATH] = compose(embedding).text.sha256
    static = {f"/static/{name}": digest for name, digest in _static_files()}
    pictures = {path for path in static if _PICTURES.fullmatch(path)}
    files |= {path: digest for path, digest in static.items() if path not in pictures}
    python = {f"{PYODIDE_URL}{name}": file.sha256 for name, file in PYODIDE.pinned.items()}
    later = {path: digest for path, digest in python.items() if path.endswith(_LATER)}
    files |= {path: digest for path, digest in python.items() if path not in later}
    extras = later
    extras |= {path: static[path] for path in sorted(pictures)}
    extras |= {f"/data/{name}": _data_digest(path) for name, path in FILES.items()}
    if packages:
        extras |= {f"/packages/{name}": file.sha256 for name, file in PACKAGE_FILES.items()}
    image = images.get()
    if image is not None:
        extras[IMAGE] = DIGESTS.sha256(image)
    return Version(files, extras, embedding)


def _data_digest(path: str) -> str:
    folder, name = path.split("/")
    return DATA_SETS[folder].pinned[name].sha256


def _static_files() -> list[tuple[str, str]]:
    bundle = page_bundle()
    files = _files(paths.static())
    if bundle:
        # Modules without a bundled file only have types.
        rest = {
            name: path
            for name, path in files.items()
            if name not in bundle.sources and not name.startswith(("js/", "engine/"))
        }
        files = rest | _files(bundle.folder)
        files.pop(MANIFEST, None)
    found = []
    for name, path in sorted(files.items()):
        with suppress(OSError):  # deleted in the meantime
            found.append((name, DIGESTS.sha256(path)))
    return found


def _files(folder: Path) -> dict[str, Path]:
    """Return the files that the page can ask for, by their names in the folder."""
    found = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        unused = name.endswith(_UNUSED_SUFFIXES) or name.startswith(_UNUSED_FOLDERS)
        if not hidden and not unused and path.is_file():
            found[name] = path
    return found
