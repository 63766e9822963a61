"""Pyodide in ``var/pyodide``: the runtime from npm, and the NumPy wheel its lock file names.

The npm package has no NumPy. The wheel comes from Pyodide's own CDN or, where that does not answer,
out of a Python package that carries the same file; its SHA-256 must be the lock file's either way.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools.setup.node import MODULES
from tools.setup.python import PYTHON
from tools.setup.steps import ROOT, VAR, SetupError, Step, run, sha256, write_compressed, write_file

TARGET = VAR / "pyodide"
_PACKAGE = MODULES / "pyodide"
_COMPRESSED = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json")
_AS_IS = ("python_stdlib.zip", "package.json")
_CDN = "https://cdn.jsdelivr.net/pyodide/v{version}/full/{name}"
_CDN_TIMEOUT_SECONDS = 10
_CARRIER = "open-webui==0.12.4"
_CARRIER_FOLDER = "open_webui/frontend/pyodide/"


@dataclass(frozen=True)
class Wheel:
    """A wheel as Pyodide's lock file names it; ``sha256`` in hexadecimal."""

    name: str
    sha256: str

    def check(self, content: bytes) -> None:
        """Raises SetupError unless ``content`` is this very wheel."""
        found = hashlib.sha256(content).hexdigest()
        if found != self.sha256:
            raise SetupError(f"{self.name} has SHA-256 {found}, the lock file says {self.sha256}")


def locked_wheel(lock_file: Path, package: str) -> Wheel:
    """The wheel of ``package`` that belongs to this Pyodide."""
    entry = json.loads(lock_file.read_text())["packages"][package]
    return Wheel(entry["file_name"], entry["sha256"])


def _from_cdn(wheel: Wheel) -> bytes:
    version = json.loads((_PACKAGE / "package.json").read_text())["version"]
    address = _CDN.format(version=version, name=wheel.name)
    with urllib.request.urlopen(address, timeout=_CDN_TIMEOUT_SECONDS) as response:
        content: bytes = response.read()
    return content


def _from_carrier(wheel: Wheel) -> bytes:
    with tempfile.TemporaryDirectory(dir=VAR) as folder:
        run(
            PYTHON, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
            "--no-deps", "--ignore-requires-python", "--only-binary=:all:",
            "--dest", folder, _CARRIER,
        )  # fmt: skip
        (carrier,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(carrier) as archive:
            return archive.read(_CARRIER_FOLDER + wheel.name)


SOURCES: dict[str, Callable[[Wheel], bytes]] = {
    "Pyodide's CDN": _from_cdn,
    f"the package {_CARRIER}": _from_carrier,
}


def fetch_wheel(
    wheel: Wheel, target: Path, sources: dict[str, Callable[[Wheel], bytes]] = SOURCES
) -> None:
    """Puts ``wheel`` at ``target`` from the first source that has it with the right SHA-256.

    A file that is already there and right is kept. Raises SetupError if no source has it; a file
    with another SHA-256 is refused, never written.
    """
    if target.is_file() and sha256(target) == wheel.sha256:
        return
    failures = []
    for name, fetch in sources.items():
        try:
            content = fetch(wheel)
            wheel.check(content)
        except Exception as error:  # whatever goes wrong with one source, the next may work
            failures.append(f"{name}: {error}")
            print(f"set-up: no NumPy wheel from {name} ({error})", flush=True)
            continue
        write_file(target, content)
        return
    target.unlink(missing_ok=True)
    raise SetupError("no usable NumPy wheel for Pyodide:\n  " + "\n  ".join(failures))


def _make() -> None:
    for name in _COMPRESSED:
        write_compressed(TARGET / name, (_PACKAGE / name).read_bytes())
    for name in _AS_IS:
        write_file(TARGET / name, (_PACKAGE / name).read_bytes())
    wheel = locked_wheel(TARGET / "pyodide-lock.json", "numpy")
    fetch_wheel(wheel, TARGET / wheel.name)


def step() -> Step:
    outputs = [TARGET / name for name in (*_COMPRESSED, *_AS_IS)]
    lock = TARGET / "pyodide-lock.json"
    if lock.is_file():
        outputs.append(TARGET / locked_wheel(lock, "numpy").name)
    return Step("pyodide", [ROOT / "package-lock.json", Path(__file__)], outputs, _make)
