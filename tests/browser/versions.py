"""A server whose page has versions: it serves a copy of static/ that tests change."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from playgrad import paths

_PROGRAM = """
import sys
from pathlib import Path
from playgrad import paths
static = Path(sys.argv[1])
paths.static = lambda: static
from playgrad.server import serve
serve("127.0.0.1", int(sys.argv[2]))
"""
_IGNORED = shutil.ignore_patterns("*.gz", "*.d.ts")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


class VersionedServer:
    """The real server, in a process that stops and starts at the same address.

    The page's first and last files, and one that it loads on demand only, name the version.
    """

    def __init__(self, folder: Path) -> None:
        self.static = folder / "static"
        shutil.copytree(paths.static(), self.static, ignore=_IGNORED)
        self._originals = {
            name: (self.static / name).read_text(encoding="utf-8")
            for name in ("index.html", "js/main.js", "engine/python-boot.js")
        }
        self._port = free_port()
        self.address = f"http://127.0.0.1:{self._port}"
        self._process: subprocess.Popen[str] | None = None
        self.publish("one")
        self.start()

    def publish(self, name: str) -> None:
        """Change the page's files: its document, scripts of the page and of Python's worker, and a
        file that nothing has asked for."""
        marks: dict[str, Callable[[str], str]] = {
            "index.html": lambda text: text.replace("<body>", f'<body data-version="{name}">'),
            "js/main.js": lambda text: f'{text}\ndocument.body.dataset.script = "{name}";\n',
            "engine/python-boot.js": lambda text: f'{text}\nconsole.info("worker {name}");\n',
        }
        for path, mark in marks.items():
            (self.static / path).write_text(mark(self._originals[path]), encoding="utf-8")
        (self.static / "js" / "later.js").write_text(f'export const version = "{name}";\n')

    def start(self) -> None:
        command = [sys.executable, "-c", _PROGRAM, str(self.static), str(self._port)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout
        assert re.search(r"http://\S+(?=/ )", self._process.stdout.readline())

    def stop(self) -> None:
        """End the process, if it runs."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            assert self._process.stdout
            self._process.stdout.close()
            self._process = None
