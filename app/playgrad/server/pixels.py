"""Packed copies of the images of data sets (static/engine/pixels.js), for pages that unpack them.

They are made in the background, by Node, for servers that other machines can call.
"""

from __future__ import annotations

import hashlib
import logging
import subprocess
from collections.abc import Iterable
from pathlib import Path

from flask import Response, request

from playgrad import paths
from playgrad.assets import Asset, File
from playgrad.assets.codings import compressed
from playgrad.assets.contents import DIGESTS
from playgrad.assets.node import node_environment
from playgrad.io.whole_files import write_whole
from playgrad.server.files import REVALIDATE, send

TYPE = "application/vnd.playgrad.pixels-16"
"""The type of a packed copy, which pages name in ``Accept``."""
UNPACKED_DIGEST = "Playgrad-Unpacked-Digest"
"""The header with the SHA-256, in hex, of what a packed copy unpacks to."""

IMAGES = "-images-"
"""In the names of files of images."""
_ENDING = ".pixels16"
_TIMEOUT_SECONDS = 600
_log = logging.getLogger(__name__)


def pack_images(assets: Iterable[Asset]) -> None:
    """Make the packed copies of images that are missing or damaged.

    Raises:
        OSError: one cannot be written.
    """
    for asset in assets:
        for file in asset.files:
            path = asset.folder() / file.name
            if IMAGES in file.name and not has_packed(path) and file.is_at(path):
                _pack(path)


def _pack(path: Path) -> None:
    script = paths.static() / "engine" / "pack-images.mjs"
    try:
        done = subprocess.run(
            ["node", script, path], capture_output=True, check=True, timeout=_TIMEOUT_SECONDS,
            env=node_environment(),
        )  # fmt: skip
    except (FileNotFoundError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", b"") or str(error).encode()
        _log.warning("%s is sent in a larger form: %s", path.name, said.decode(errors="replace"))
        return
    copy = compressed(path, _ENDING)
    write_whole(_digest_file(copy), hashlib.sha256(done.stdout).hexdigest().encode())
    write_whole(copy, done.stdout)


def has_packed(path: Path) -> bool:
    """Return whether a file has a packed copy that is as it was made."""
    copy = compressed(path, _ENDING)
    try:
        return DIGESTS.sha256(copy) == _digest_file(copy).read_text()
    except OSError:
        return False


def _digest_file(copy: Path) -> Path:
    """The file with the SHA-256 of a packed copy."""
    return copy.with_name(copy.name + ".sha256")


def send_images(asset: Asset, file: File) -> Response | None:
    """Respond with the packed copy of a file, if the client asks for it and there is one."""
    path = asset.folder() / file.name
    if TYPE not in request.headers.get("Accept", "") or "Range" in request.headers:
        return None
    if not has_packed(path):
        return None
    copy = compressed(path, _ENDING)
    response = send(copy.parent, copy.name, REVALIDATE)
    response.mimetype = TYPE
    response.headers[UNPACKED_DIGEST] = file.sha256
    return response
