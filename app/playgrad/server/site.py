"""The page as files for any static host (docs/decisions/032-a-static-host.md).

Below the folder are ``index.html``, which starts the service worker, and what that answers with:
``version.json`` and ``files/``, named by the SHA-256 of their contents, so that a version never
mixes with the next. Every content, and its headers, is what the server sends.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient

from playgrad import paths
from playgrad.assets import FASHION_MNIST, MNIST, PYODIDE, fetch
from playgrad.errors import PlaygradError
from playgrad.io.whole_files import write_whole
from playgrad.server.app import create_app
from playgrad.server.bundle import BundleCache
from playgrad.server.embedding import FramePolicy
from playgrad.server.headers import SECURITY_HEADERS
from playgrad.server.image import ImageCache
from playgrad.server.page import compose_first_page
from playgrad.server.texts import describe_content
from playgrad.server.version import IMAGE, Version, describe_version

LIST = "version.json"
FILES = "files"
_MARK = "packed"  # a key of the list, by which a site is recognised
_SENT = (
    "Content-Type", "Content-Security-Policy", "Playgrad-Digest", "Unencoded-Length",
)  # fmt: skip
_LITTLE_GAIN = 0.95
_LEVEL = 6  # of gzip: 9 takes three times as long, for a hundredth
_List = dict[str, Any]
_NO_FRAMES = FramePolicy.of(["none"])
# What a first visit needs until Python is up, with the image of its memory or without.
_LATER = re.compile(r"/(data|image)/|/static/(gallery|weights|icons|vendor/onnx-messages)")


class SiteError(PlaygradError):
    """The files of the page cannot be written there, or are not all here."""


@dataclass(frozen=True)
class Site:
    """What was written.

    Attributes:
        version: the name of the version.
        files: how many files there are below the folder.
        size: bytes of them all.
        first_visit: bytes that a visitor fetches until Python is up.
    """

    version: str
    files: int
    size: int
    first_visit: int


def write_site(target: Path, lite: bool = False, say: Callable[[str], None] = print) -> Site:
    """Write the page into the folder ``target``: empty, missing, or an older version of a site.

    An older version stays readable for pages that are open, until the one after the next.

    Args:
        lite: leave out the documentation, Fashion-MNIST and the image of Python's memory, with
            which later visits start faster.
        say: is told what takes long.

    Raises:
        SiteError: the folder has other things in it, or the documentation is not built.
        DownloadError: Pyodide or a data set is missing and cannot be fetched.
        ImageError: the image of Python's memory cannot be made.
    """
    before = _list_in(target)
    if not lite and not (paths.docs() / "index.html").is_file():
        raise SiteError(
            "the documentation is not built.", hint="Run `make docs`, or leave it out with --lite."
        )
    for asset in (PYODIDE, MNIST, *([] if lite else [FASHION_MNIST])):
        fetch(asset)
    images = ImageCache(BundleCache())
    if not lite:
        say("Making the image of Python's memory")
        images.make()
    client = create_app(images, embedding=_NO_FRAMES).test_client()
    version, page = _version(images, client, lite)
    say(f"Writing version {version.name[:8]}")
    listed = _write_contents(target / FILES, version, client, page, before)
    if not lite:
        shutil.copytree(paths.docs(), target / "docs", dirs_exist_ok=True)
    else:
        shutil.rmtree(target / "docs", ignore_errors=True)
    write_whole(target / "index.html", compose_first_page())
    scripts = (paths.static() / "js" / name for name in ("site-files.js", "service-worker.js"))
    write_whole(target / "service-worker.js", b"\n".join(path.read_bytes() for path in scripts))
    write_whole(target / ".nojekyll", b"")  # GitHub Pages would leave out docs/_static
    write_whole(target / LIST, json.dumps(listed).encode())
    _remove_all_but(target / FILES, [digest for _, digest in _digests(listed) + _digests(before)])
    return _describe(target, version)


def _list_in(target: Path) -> _List:
    """Return the list of the version that is in the folder; an empty one if it is empty."""
    if target.exists() and not target.is_dir():
        raise SiteError(f"{target} is a file.", hint="Name a folder.")
    try:
        listed: _List = json.loads((target / LIST).read_bytes())
        if _MARK in listed:
            return listed
    except FileNotFoundError:
        if not target.exists() or not any(target.iterdir()):
            return {_MARK: []}
    except ValueError:
        pass
    raise SiteError(
        f"{target} has files that are no version of a site.",
        hint="Name a new folder, or one that `playgrad site` has written.",
    )


def _version(images: ImageCache, client: FlaskClient, lite: bool) -> tuple[Version, bytes]:
    """Return what the site consists of, and its page."""
    version = describe_version(images, _NO_FRAMES)
    page = client.get("/").data
    extras = dict(version.extras)
    if lite:
        page = page.replace(b"<html ", b'<html data-docs="none" ', 1)
        left_out = [path for path in extras if path == IMAGE or "/fashion_mnist/" in path]
        for path in left_out:
            del extras[path]
    files = {**version.files, "/": hashlib.sha256(page).hexdigest()}
    return replace(version, files=files, extras=extras), page


def _write_contents(
    folder: Path, version: Version, client: FlaskClient, page: bytes, before: _List
) -> _List:
    """Write all contents that are new; return the list of the version, for its service worker."""
    folder.mkdir(parents=True, exist_ok=True)
    sent: dict[str, dict[str, str]] = {}
    written = {digest: path in before[_MARK] for path, digest in _digests(before)}
    for path, digest in {**version.files, **version.extras}.items():
        with client.get(path) as response:
            content = page if path == "/" else response.data
            describe_content(response, digest, len(content))
            headers = {name: response.headers[name] for name in _SENT if name in response.headers}
        if hashlib.sha256(content).hexdigest() != digest:
            raise SiteError(f"{path} changed while the site was being written.", hint="Try again.")
        sent[path] = headers
        if headers.get("Content-Security-Policy") == SECURITY_HEADERS["Content-Security-Policy"]:
            del headers["Content-Security-Policy"]
        if digest not in written or not (folder / digest).is_file():
            shorter = gzip.compress(content, _LEVEL, mtime=0)
            written[digest] = len(shorter) < _LITTLE_GAIN * len(content)
            write_whole(folder / digest, shorter if written[digest] else content)
    listed = {**version.as_json(), "always": SECURITY_HEADERS, "sent": sent}
    return {**listed, _MARK: [path for path, digest in _digests(listed) if written[digest]]}


def _digests(listed: _List) -> list[tuple[str, str]]:
    """Return path and SHA-256 of each file of a version."""
    return [*listed.get("files", {}).items(), *listed.get("extras", {}).items()]


def _remove_all_but(folder: Path, names: Iterable[str]) -> None:
    wanted = set(names)
    for path in folder.iterdir():
        if path.name not in wanted:
            path.unlink()


def _describe(target: Path, version: Version) -> Site:
    sizes = {path: path.stat().st_size for path in target.rglob("*") if path.is_file()}
    early = {digest for path, digest in version.files.items() if not _LATER.match(path)}
    first = sum(
        size
        for path, size in sizes.items()
        if path.name in early or (path.parent == target and path.name != ".nojekyll")
    )
    return Site(version.name, len(sizes), sum(sizes.values()), first)
