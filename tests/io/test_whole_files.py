"""Files are written whole or not at all: full disks, signals, permissions, links."""

from __future__ import annotations

import errno
import os
import re
import resource
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from playgrad.errors import CheckpointError
from playgrad.io import load, save, whole_files
from playgrad.io.whole_files import write_whole
from playgrad.runtime.trace import Event, Trace
from tests.sweeps import budget, dice

ACCIDENTS = pytest.mark.survival("Files under full disks and signals")
OLD = b"old " * 1000


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_content_and_permissions_are_written(tmp_path: Path) -> None:
    path = tmp_path / "w"
    write_whole(path, b"one")
    before = os.umask(0)
    os.umask(before)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"one", 0o666 & ~before)
    for mode in (0o600, 0o640, 0o755):
        path.chmod(mode)
        write_whole(str(path), memoryview(OLD))
        assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (OLD, mode)
    longest = tmp_path / ("é" * 127)  # 254 bytes
    write_whole(longest, OLD)
    assert longest.read_bytes() == OLD
    assert names(tmp_path) == ["w", longest.name]


def test_a_link_still_points_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "link").symlink_to("runs/w")
    (tmp_path / "second").symlink_to(tmp_path / "link")
    for content in (b"new", b"newer"):  # at first it points to nothing
        write_whole(tmp_path / "second", content)
        assert (tmp_path / "runs" / "w").read_bytes() == content
    assert (tmp_path / "link").is_symlink() and (tmp_path / "second").is_symlink()
    assert names(tmp_path / "runs") == ["w"] and names(tmp_path) == ["link", "runs", "second"]


def test_pipes_and_devices_are_written_to(tmp_path: Path) -> None:
    write_whole("/dev/null", OLD)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    script = "from playgrad.io.whole_files import write_whole; write_whole('/dev/stdout', b'hi')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout == b"hi"
    with open(tmp_path / "out", "wb") as file:
        subprocess.run([sys.executable, "-c", script], stdout=file, check=True)
    assert (tmp_path / "out").read_bytes() == b"hi"


def test_unwritable_paths_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(OLD)
    (tmp_path / "loop").symlink_to("loop")
    for name in (".", "none/w", "file/w", "loop", "x" * 300):
        with pytest.raises(OSError) as caught:
            write_whole(tmp_path / name, b"new")
        assert str(tmp_path / name) in str(caught.value)
    assert names(tmp_path) == ["file", "loop"]


def test_read_only_files_are_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rename would replace them, since it asks the folder only."""
    path = tmp_path / "w"
    path.write_bytes(OLD)
    path.chmod(0o444)
    if os.geteuid() == 0:  # may write to everything
        monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match=r"Permission denied: '.*w'"):
        write_whole(path, b"new")
    assert path.read_bytes() == OLD


def test_leftovers_of_killed_writers_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "w"
    abandoned, busy, others = (
        tmp_path / f".{name}.0123abcd.partial" for name in ("w", "w.npz", "x")
    )
    recent = tmp_path / ".w.76543210.partial"
    for file in (abandoned, busy, others, recent):
        file.write_bytes(b"part")
    os.utime(abandoned, (0, 0))
    os.utime(others, (0, 0))
    write_whole(path, b"new")
    assert names(tmp_path) == sorted(["w", busy.name, others.name, recent.name])


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """Let writes beyond ``size`` bytes of a file fail with EFBIG."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def _save_weights(path: Path) -> None:
    save({"w": np.zeros(10_000)}, path)


def _save_trace(path: Path) -> None:
    Trace([Event("matmul", "cpu:0", 0.0, 0.0, 1.0)] * 1000).save(path)


WRITERS: dict[str, Callable[[Path], None]] = {
    "w.safetensors": _save_weights,
    "w.npz": _save_weights,
    "trace.json": _save_trace,
    "w": lambda path: write_whole(path, bytes(100_000)),
}


@ACCIDENTS
@pytest.mark.parametrize("name", WRITERS)
def test_a_failure_at_any_byte_keeps_the_old_file(
    tmp_path: Path, name: str, record_property: Callable[[str, object], None]
) -> None:
    path = tmp_path / name
    path.write_bytes(OLD)
    sizes = [0, 1, 4095, 4096, 20_000, 70_000]
    for size in sizes:
        with file_size_limit(size), pytest.raises((OSError, CheckpointError)) as caught:
            WRITERS[name](path)
        assert "File too large" in str(caught.value) and name in str(caught.value)
        assert path.read_bytes() == OLD
        assert names(tmp_path) == [name]
    WRITERS[name](path)
    assert path.read_bytes() != OLD
    record_property("tried", len(sizes))


@ACCIDENTS
@pytest.mark.parametrize("step", ["write", "fsync", "rename"])
def test_interrupted_writers_leave_nothing(
    tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl+C, or an error of the disk that is reported late."""
    path = tmp_path / "w"
    path.write_bytes(OLD)

    def fail(*_: object) -> None:
        raise error

    target = {"write": (os, "chown"), "fsync": (os, "fsync"), "rename": (Path, "replace")}[step]
    for error in (KeyboardInterrupt(), OSError(errno.EIO, "Input/output error")):
        with monkeypatch.context() as patch, pytest.raises(type(error)):
            patch.setattr(*target, fail)
            write_whole(path, b"new")
        assert (path.read_bytes(), names(tmp_path)) == (OLD, ["w"])


@ACCIDENTS
def test_a_full_disk_keeps_the_old_file(tmp_path: Path) -> None:
    """A disk of one megabyte, if this user may mount one."""
    options = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(tmp_path)]
    try:
        mounted = subprocess.run(options, capture_output=True).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("mounting needs the superuser; the limit of a file's size is tested anyway")
    try:
        path = tmp_path / "w.safetensors"
        save({"w": np.arange(100_000)}, path)
        for count in (60_000, 100_000, 1_000_000):
            with pytest.raises(CheckpointError, match=r"No space left on device.*\n?.*unchanged"):
                save({"w": np.zeros(count)}, path)
            assert load(path)["w"].tolist() == list(range(100_000))
            assert names(tmp_path) == [path.name]
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


# Saves two versions of a file in turn until it is killed, each time in a new process.
LOOP = """
import os, sys
import numpy as np
from playgrad.io import save
versions = [{"w": np.full(500_000, value)} for value in (1.0, 2.0)]
for _ in sys.stdin:
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        print("ended", flush=True)
        continue
    save(versions[0], sys.argv[1])
    print(os.getpid(), flush=True)
    while True:
        for version in versions:
            save(version, sys.argv[1])
"""


@ACCIDENTS
@pytest.mark.parametrize("name", ["w.safetensors", "w.npz"])
def test_signals_at_random_moments_leave_a_whole_file(
    tmp_path: Path, name: str, record_property: Callable[[str, object], None]
) -> None:
    path = tmp_path / name
    times = budget(6, night=56)
    moments = dice(name)
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", LOOP, str(path)]
    process = subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdin and process.stdout
    for number in range(times):
        print("go", file=process.stdin, flush=True)
        child = int(process.stdout.readline())
        time.sleep(moments.uniform(0, 0.2))
        os.kill(child, (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)[number % 3])
        assert process.stdout.readline() == "ended\n"
        values = load(path)["w"]
        assert len(values) == 500_000 and values[0] in (1, 2)
        assert (values == values[0]).all()
    process.communicate()
    leftovers = [each for each in names(tmp_path) if each != name]
    assert all(each.startswith(f".{name}.") for each in leftovers)
    for each in leftovers:
        os.utime(tmp_path / each, (0, 0))
    save({"w": np.zeros(3)}, path)
    assert names(tmp_path) == [name]
    record_property("tried", times)


def test_every_file_is_written_by_this_function() -> None:
    """No other module of the library opens files for writing."""
    modes = r"[\"'][wax]b?\+?[\"']"
    ways = (r"\.write_(bytes|text)\(", rf"(?<![.\w])open\([^)]*{modes}", rf"\.open\({modes}")
    writing = re.compile("|".join((*ways, r"np\.save", r"\.tofile\(")))
    package = Path(whole_files.__file__).parents[1]
    found = {
        str(file.relative_to(package))
        for file in package.rglob("*.py")
        if writing.search(file.read_text(encoding="utf-8"))
    }
    # The text of the scripts that are exported has np.save, and so have a hint and an example.
    # Versions of models are written whole as folders, and a graph to memory before it is written.
    texts = {"interchange/script/export.py", "data/absent.py", "io/writing.py"}
    assert found == {"io/whole_files.py", "serving/store.py", "data/named_graph.py", *texts}
