"""`fetch`: files from the first source that has them, checked by SHA-256, written atomically."""

from __future__ import annotations

import gzip
import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from playgrad import paths
from playgrad.assets.asset import Asset, File, Source
from playgrad.assets.codings import compressed, stored
from playgrad.assets.progress import DownloadProgress
from playgrad.assets.sources import Folder
from playgrad.errors import PlaygradError
from playgrad.io.whole_files import write_whole


class DownloadError(PlaygradError, RuntimeError):
    """Files that playgrad needs could not be fetched or stored."""


def fetch(
    asset: Asset, sources: Sequence[Source] | None = None, progress: DownloadProgress | None = None
) -> Path:
    """Return the folder of ``asset``, after fetching files that are missing or damaged.

    Files that have arrived are kept when a later one fails, so a second call continues from there.

    Args:
        sources: overrides the sources of ``asset``. If the environment variable
            ``PLAYGRAD_ASSETS`` names a folder, laid out like the cache, that is the only default.
        progress: on standard error by default.

    Raises:
        DownloadError: no source has all files with the right SHA-256, or they cannot be written.
    """
    folder = asset.folder()
    missing = [file for file in asset.files if not _is_there(file, folder)]
    if missing:
        progress = progress or DownloadProgress(sys.stderr)
        try:
            _fetch(missing, asset, _sources(asset) if sources is None else sources, progress)
        finally:
            progress.close()
    for part in asset.parts:
        if not part.is_in(folder):
            archive = (folder / part.archive).read_bytes()
            _write(folder / part.name, stored(archive, part.has), part.gzip_level)
    for file in asset.sent:
        if file.gzip_level is not None and not compressed(folder / file.name).is_file():
            _write(folder / file.name, (folder / file.name).read_bytes(), file.gzip_level)
    for name, content in asset.generated.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            _write(path, content, gzip_level=9)
    return folder


def _is_there(file: File, folder: Path) -> bool:
    """Return whether ``folder`` has the file, after making it if it has the original."""
    if file.is_in(folder):
        return True
    if file.original is None or not file.original.is_in(folder):
        return False
    _write(folder / file.name, stored((folder / file.name).read_bytes()), file.gzip_level)
    return file.is_in(folder)


def _sources(asset: Asset) -> Sequence[Source]:
    local = os.environ.get("PLAYGRAD_ASSETS")
    return [Folder(Path(local) / asset.path)] if local else asset.sources


def _fetch(
    missing: list[File], asset: Asset, sources: Sequence[Source], progress: DownloadProgress
) -> None:
    """Fetch ``missing`` and remove from it what arrived."""
    failures: dict[Source, str] = {}
    for source in sources:
        progress.begin(asset.title, str(source), sum(file.published.size for file in missing))
        try:
            by_name = {file.name: file for file in missing}
            published = tuple(file.published for file in missing)
            for found, content in source.read(published, progress):
                file = by_name[found.name]
                _write(asset.folder() / file.name, _checked(file, content), file.gzip_level)
                missing.remove(file)
                progress.finish(file.name, found.size)
        except DownloadError:
            raise
        except Exception as error:  # whatever goes wrong with one source, the next one may work
            failures[source] = f"{error}" or type(error).__name__
            progress.note(f"{source}: {failures[source]}")
        if not missing:
            return
        failures.setdefault(source, f"no file {missing[0].name}")
    for file in missing:  # a damaged one
        (asset.folder() / file.name).unlink(missing_ok=True)
    reasons = "; ".join(f"{source}: {reason}" for source, reason in failures.items())
    raise DownloadError(
        f"cannot fetch {asset.title}: {reasons}.",
        hint="Connect to the internet and try again, or copy the folder "
        f"{asset.path!r} of a machine that has it into {paths.var()}.",
    )


def _checked(file: File, content: bytes) -> bytes:
    """Return the content of ``file``, from that or from the published one.

    Raises:
        ValueError: it is neither.
    """
    if file.original and file.original.matches(content):
        content = stored(content)
    if not file.matches(content):
        actual = hashlib.sha256(content).hexdigest()
        raise ValueError(f"{file.name} has SHA-256 {actual}, expected {file.published.sha256}")
    return content


def _write(path: Path, content: bytes, gzip_level: int | None) -> None:
    """Write ``path``, after its compressed copy if it has one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if gzip_level is not None:
            write_whole(compressed(path), gzip.compress(content, gzip_level, mtime=0))
        write_whole(path, content)
    except OSError as error:
        raise DownloadError(
            f"cannot write {path}: {error.strerror}.",
            hint="Free some space, or choose another folder with PLAYGRAD_VAR.",
        ) from None
