"""The page as files for any static host (docs/decisions/032-a-static-host.md).

Below the folder are ``index.html``, which starts the service worker, and what that answers with:
``version.json`` and ``files/``, named by the SHA-256 of their contents, so that a version never
mixes with the next. Every content, and its headers, equals the server's.
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

from flask.testing import FlaskClient

from playgrad import paths
from playgrad.assets import FASHION_MNIST, MNIST, PACKAGES, PYODIDE, fetch
from playgrad.assets.contents import DIGESTS
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
_RECORD = ".playgrad-site.json"
_SENT = (
    "Content-Type", "Content-Security-Policy", "Playgrad-Digest", "Unencoded-Length",
)  # fmt: skip
_LITTLE_GAIN = 0.95
_LEVEL = 6  # of gzip: 9 takes three times as long, for a hundredth
_NO_FRAMES = FramePolicy.of(["none"])
# What a first visit needs until Python is up, with the image of its memory or without.
_LATER = re.compile(
    r"/(data|image)/|/static/(gallery|weights|icons|vendor/onnx-messages)"
    r"|/pyodide/[^/]+/python_stdlib_later"
)


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


def write_site(
    target: Path,
    lite: bool = False,
    packages: bool = False,
    say: Callable[[str], None] = print,
) -> Site:
    """Write the page into the folder ``target``: empty, missing, or an older version of a site.

    An older version stays readable for pages that are open, until the one after the next.

    Args:
        lite: leave out the documentation, Fashion-MNIST and the image of Python's memory, with
            which later visits start faster.
        packages: add the Python packages that programs may import (15 MB).
        say: reports slow steps.

    Raises:
        SiteError: the folder has other things in it, or the documentation is not built.
        DownloadError: Pyodide or a data set is missing and cannot be fetched.
        ImageError: the image of Python's memory cannot be made.
    """
    record = _Record.of(target)
    docs = target / "docs"
    if docs.exists() and not record.docs:
        raise SiteError(f"{docs} is in the way.", hint="Move it, or name another folder.")
    if not lite and not (paths.docs() / "index.html").is_file():
        raise SiteError(
            "the documentation is not built.", hint="Run `make docs`, or leave it out with --lite."
        )
    further = [*([] if lite else [FASHION_MNIST]), *([PACKAGES] if packages else [])]
    for asset in (PYODIDE, MNIST, *further):
        fetch(asset)
    images = ImageCache(BundleCache())
    if not lite:
        say("Making the image of Python's memory")
        images.make()
    client = create_app(images, embedding=_NO_FRAMES, packages=packages).test_client()
    version, page = _version(describe_version(images, _NO_FRAMES, packages), client, lite)
    say(f"Writing version {version.name[:8]}")
    (target / FILES).mkdir(parents=True, exist_ok=True)
    record.write(target)
    if record.docs:
        shutil.rmtree(docs, ignore_errors=True)
    record.docs = not lite
    listed = _write_contents(target / FILES, version, client, page, record)
    record.write(target)
    if not lite:
        shutil.copytree(paths.docs(), docs)
    write_whole(target / "index.html", compose_first_page())
    scripts = (
        paths.static() / "js" / name for name in ("start/site-files.js", "service-worker.js")
    )
    write_whole(target / "service-worker.js", b"\n".join(path.read_bytes() for path in scripts))
    write_whole(target / ".nojekyll", b"")  # GitHub Pages would leave out docs/_static
    write_whole(target / LIST, json.dumps(listed).encode())
    for digest in record.outdated():
        (target / FILES / digest).unlink(missing_ok=True)
    record.write(target)
    return _describe(target, version)


@dataclass
class _Record:
    """What `playgrad site` has written into a folder, and may replace; a file there keeps it.

    Attributes:
        versions: SHA-256 of the contents of each version, the newest last.
        packed: by SHA-256, whether the content is compressed.
        docs: whether the documentation is there.
    """

    versions: dict[str, list[str]]
    packed: dict[str, bool]
    docs: bool

    @classmethod
    def of(cls, folder: Path) -> _Record:
        """Return the record of a folder. Raises SiteError if it has other things in it."""
        if folder.exists() and not folder.is_dir():
            raise SiteError(f"{folder} is a file.", hint="Name a folder.")
        try:
            return cls(**json.loads((folder / _RECORD).read_bytes()))
        except FileNotFoundError:
            if not folder.exists() or all(path.name.startswith(".") for path in folder.iterdir()):
                return cls({}, {}, docs=False)
        except (ValueError, TypeError):
            pass
        raise SiteError(
            f"{folder} has files that are no version of a site.",
            hint="Name a new folder, or one that `playgrad site` has written.",
        )

    def write(self, folder: Path) -> None:
        write_whole(folder / _RECORD, json.dumps(vars(self)).encode())

    def add(self, version: str, digests: Iterable[str]) -> None:
        self.versions.pop(version, None)
        self.versions[version] = sorted(digests)

    def outdated(self) -> list[str]:
        """Forget all but the last two versions; return the files that only the older ones had."""
        self.versions = dict(list(self.versions.items())[-2:])
        wanted = {digest for digests in self.versions.values() for digest in digests}
        outdated = [digest for digest in self.packed if digest not in wanted]
        for digest in outdated:
            del self.packed[digest]
        return outdated

    def has(self, digest: str, path: Path) -> bool:
        """Return whether a content is there, undamaged."""
        if digest not in self.packed:
            return False
        sha256 = DIGESTS.sha256_unpacked if self.packed[digest] else DIGESTS.sha256
        try:
            return sha256(path) == digest
        except OSError:
            return False


def _version(version: Version, client: FlaskClient, lite: bool) -> tuple[Version, bytes]:
    """Return the files of the site for a server's version, and its page."""
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
    folder: Path, version: Version, client: FlaskClient, page: bytes, record: _Record
) -> dict[str, object]:
    """Write all contents that are new; return the list of the version, for its service worker."""
    sent: dict[str, dict[str, str]] = {}
    contents = {**version.files, **version.extras}
    for path, digest in contents.items():
        with client.get(path) as response:
            content = page if path == "/" else response.data
            describe_content(response, digest, len(content))
            headers = {name: response.headers[name] for name in _SENT if name in response.headers}
        if hashlib.sha256(content).hexdigest() != digest:
            raise SiteError(f"{path} changed while the site was being written.", hint="Try again.")
        sent[path] = headers
        if headers.get("Content-Security-Policy") == SECURITY_HEADERS["Content-Security-Policy"]:
            del headers["Content-Security-Policy"]
        if not record.has(digest, folder / digest):
            shorter = gzip.compress(content, _LEVEL, mtime=0)
            record.packed[digest] = len(shorter) < _LITTLE_GAIN * len(content)
            write_whole(folder / digest, shorter if record.packed[digest] else content)
    record.add(version.name, contents.values())
    packed = [path for path, digest in contents.items() if record.packed[digest]]
    return {**version.as_json(), "always": SECURITY_HEADERS, "sent": sent, "packed": packed}


def _describe(target: Path, version: Version) -> Site:
    sizes = {path: path.stat().st_size for path in target.rglob("*") if path.is_file()}
    early = {digest for path, digest in version.files.items() if not _LATER.match(path)}
    first = sum(
        size
        for path, size in sizes.items()
        if path.name in early or (path.parent == target and path.name[0] != ".")
    )
    return Site(version.name, len(sizes), sum(sizes.values()), first)
