"""A machine's account of itself: versions, cores, memory, GPUs, and its clock.

The source of this file is sent to each machine of a run, and executed there by the Python that the
members would run on. So it imports nothing of playgrad at its top, and works with any version
of playgrad, or none.

Protocol: the script is given the working folder as its argument. It prints one line of JSON, and
then a line with the time for each line that it reads, until there is no more.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
import time
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

MOST_FILES = 200
LARGEST_FILE = 1 << 20


def facts(folder: str) -> dict[str, object]:
    """Return the account of this machine.

    Args:
        folder: the working folder of the run, whose Python files are compared.
    """
    return {
        "python": platform.python_version(),
        **_versions(),
        "cores": _cores(),
        "memory": _free_memory(),
        "gpus": _gpus(),
        "folder": os.path.isdir(folder),
        "files": _files(folder),
    }


def _versions() -> dict[str, object]:
    """Return what is installed: None for what is not, or the error of what cannot be loaded."""
    found: dict[str, object] = {"playgrad": None, "source": None}
    errors: dict[str, str] = {}
    for name in ("numpy", "mpi4py"):
        found[name] = None
        try:
            found[name] = __import__(name).__version__
        except Exception as error:
            errors[name] = f"{type(error).__name__}: {error}"
    try:
        playgrad = __import__("playgrad")
        found["playgrad"] = playgrad.__version__
        found["source"] = source_digest(os.path.dirname(str(playgrad.__file__)))
    except Exception as error:
        errors["playgrad"] = f"{type(error).__name__}: {error}"
    found["wasmtime"] = None
    with suppress(PackageNotFoundError):
        found["wasmtime"] = version("wasmtime")
    found["mpi"] = None
    if found["mpi4py"] is not None:
        try:
            import mpi4py

            mpi4py.rc.initialize = False
            from mpi4py import MPI

            found["mpi"] = MPI.Get_library_version().split("\0")[0].split(",")[0].split("\n")[0]
        except Exception as error:
            errors["mpi"] = f"{type(error).__name__}: {error}"
    found["errors"] = errors
    return found


def source_digest(folder: str) -> str:
    """Return a digest of all Python files in ``folder``."""
    digest = hashlib.sha256()
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".py"):
                path = os.path.join(place, name)
                digest.update(os.path.relpath(path, folder).encode() + b"\0")
                with open(path, "rb") as file:
                    digest.update(hashlib.sha256(file.read()).digest())
    return digest.hexdigest()[:12]


def _files(folder: str) -> dict[str, str]:
    """Return a digest of each Python file in ``folder``."""
    digests: dict[str, str] = {}
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".py"))
        for name in names[:MOST_FILES]:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and os.path.getsize(path) <= LARGEST_FILE:
                with open(path, "rb") as file:
                    digests[name] = hashlib.sha256(file.read()).hexdigest()[:12]
    except OSError:
        pass
    return digests


def _cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _free_memory() -> int | None:
    """Return the bytes of memory that are free or can be freed; None if that is unknown."""
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return 1024 * int(line.split()[1])
    except OSError:
        pass
    return None


def _gpus() -> list[str] | None:
    """Return the names of the GPUs; None if they cannot be listed."""
    try:
        from playgrad.devices.logical import gpu_adapters

        return [adapter.name for adapter in gpu_adapters() if not adapter.is_software]
    except Exception:
        return None


def main() -> None:
    """Print the account, and answer with the time until the input ends."""
    folder = sys.argv[1]
    if os.path.isdir(folder):
        os.chdir(folder)  # as members do
    print(json.dumps(facts(folder)), flush=True)
    for _ in sys.stdin.buffer:
        print(repr(time.time()), flush=True)


if __name__ == "__main__":
    main()
