"""The archive with the message classes of ONNX, from the page's server."""

from __future__ import annotations

import tempfile
from pathlib import Path

from playgrad.devices import _browser as host
from playgrad.interchange.onnx.messages import NAME
from playgrad.io.whole_files import write_whole

URL = f"/static/vendor/{NAME}"


def onnx_archive() -> Path:
    """Return the path of the archive in Python's file system; fetch it if it is not there.

    Raises:
        OSError: the server cannot deliver it.
        KeyboardInterrupt: a stop was requested, which ends the wait.
    """
    path = Path(tempfile.gettempdir(), NAME)
    if not path.is_file():
        write_whole(path, host.fetch_data(URL))
    return path
