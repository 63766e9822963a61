"""Odd environments: the command line works in them, or says in one line why it does not."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from playgrad import paths
from playgrad.errors import PlaygradError
from playgrad.io import load
from tests.cli.processes import Ended, environment, run_process
from tests.cli.running import run
from tests.sweeps import dice, slow, sweep

PROGRAM = """
import numpy as np
import playgrad as pg

x = np.random.default_rng(0).normal(size=(40, 3))
y = (x.sum(1) > 0).astype(int)
model = pg.Sequential([pg.nn.Dense(4, activation="relu"), pg.nn.Dense(2)])
loss = pg.nn.SparseCategoricalCrossentropy(from_logits=True)
model.compile(pg.optim.Adam(0.05), loss, ["accuracy"])
model.fit(x, y, batch_size=10, epochs=2, validation_data=(x, y))
model.summary()
print("3 × 4 … – ≥ 𝛼 \\udc80 done")
"""
survival = pytest.mark.survival("Odd environments")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("programs") / "small.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def limit(kind: int, most: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(kind, (most, most))


def close(*numbers: int) -> Callable[[], None]:
    def prepare() -> None:
        for number in numbers:
            os.close(number)

    return prepare


def connect(number: int, path: str) -> Callable[[], None]:
    def prepare() -> None:
        os.dup2(os.open(path, os.O_WRONLY), number)

    return prepare


def delete_folder() -> None:
    folder = Path(f"/tmp/playgrad-test-{os.getpid()}")
    folder.mkdir()
    os.chdir(folder)
    folder.rmdir()


ENVIRONMENTS: dict[str, tuple[dict[str, str | None], Callable[[], Any] | None]] = {
    "no HOME": ({"HOME": None}, None),
    "HOME does not exist": ({"HOME": "/nonexistent"}, None),
    "HOME is relative": ({"HOME": "here", "PLAYGRAD_CACHE": None}, None),
    "HOME cannot be written to": ({"HOME": "/proc", "PLAYGRAD_CACHE": None}, None),
    "ASCII output": ({"PYTHONIOENCODING": "ascii"}, None),
    "ASCII locale": ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, None),
    "unknown locale": ({"LC_ALL": "xx_YY.nonsense"}, None),
    "code page of 1981": ({"PYTHONIOENCODING": "cp437"}, None),
    "dumb terminal": ({"TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "1"}, None),
    "odd numbers": ({"COLUMNS": "x", "OPENBLAS_NUM_THREADS": "x", "OMP_NUM_THREADS": "-1"}, None),
    "no folder for temporary files": ({"TMPDIR": "/nonexistent"}, None),
    "warnings are errors": ({"PYTHONWARNINGS": "error"}, None),
    "optimized Python": ({"PYTHONOPTIMIZE": "2"}, None),
    "no permissions for others": ({}, lambda: os.umask(0o077)),
    "a deleted folder": ({}, delete_folder),
    "few files": ({}, limit(resource.RLIMIT_NOFILE, 24)),
    "no output": ({}, close(1)),
    "no error stream": ({}, close(2)),
    "no streams": ({}, close(0, 1, 2)),
    "errors on a full disk": ({}, connect(2, "/dev/full")),
}


def train(program: Path, name: str, *more: str) -> Ended:
    changes, prepare = ENVIRONMENTS[name]
    arguments = ("train", str(program), "--device", "cpu", *more)
    return run_process(arguments, env=environment(**changes), prepare=prepare)


OFTEN = dice("environments").sample(sorted(ENVIRONMENTS), 4)
"""Those of this commit."""


@survival
@pytest.mark.parametrize("name", sweep(ENVIRONMENTS, OFTEN))
def test_training_works(program: Path, name: str, tmp_path: Path) -> None:
    weights = tmp_path / "w.npz"
    ended = train(program, name, "--export", str(weights))
    assert ended.code == 0, ended
    assert "Traceback" not in ended.err
    assert len(load(weights)) == 4
    if "stream" not in name and "output" not in name.replace("ASCII output", ""):
        assert "done" in ended.out


@survival
@pytest.mark.parametrize(
    ("name", "line"),
    [
        *slow(("ASCII output", "3 x 4 ... - >= \\U0001d6fc")),
        ("ASCII locale", "3 x 4 ... - >= \\U0001d6fc"),
        ("code page of 1981", "3 x 4 ... - \ufffd \\U0001d6fc"),  # it has ≥, as a byte of its own
    ],
)
def test_characters_that_an_encoding_lacks_are_replaced(
    program: Path, name: str, line: str
) -> None:
    out = train(program, name).out
    assert line in out or "3 × 4" in out, out


@survival
def test_an_unwritable_output_is_reported() -> None:
    ended = run_process(["examples"], prepare=connect(1, "/dev/full"))
    words = "playgrad: cannot write the output: No space left on device\n"
    assert (ended.code, ended.err) == (1, words)


@survival
def test_impossible_program_names_are_refused_briefly(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run_process(["train", "a\udcff.py"])  # a byte that is not UTF-8
    runs = [(code, err)]
    for name in ("/tmp/" + "x/" * 5000 + "a.py", "x" * 5000, ""):
        code, _, err = run(capsys, "train", name)
        runs.append((code, err))
    for code, err in runs:
        assert code == 2
        assert len(err) < 600 and "no example or file" in err


# Damaged tunings


def _file(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


DAMAGED: dict[str, Callable[[Path], object]] = {
    "garbage": _file(bytes(range(256))),
    "truncated": _file(b'{"adapter": {"matm'),
    "empty": _file(b""),
    "a list": _file(b"[1, 2]"),
    "deep": _file(b"[" * 200_000),
    "large": lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 1 << 33),
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
}


@survival
@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_tunings_are_put_aside(
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    from playgrad.devices._wgpu.measurements import recall_tunings, remember_tunings

    monkeypatch.setenv("PLAYGRAD_CACHE", str(tmp_path))
    DAMAGED[kind](tmp_path / "tunings.json")
    assert recall_tunings() == ""
    assert [path.name for path in tmp_path.iterdir()] == ["tunings.json.damaged"]
    (line,) = caplog.messages
    assert "are damaged" in line and "renamed to tunings.json.damaged" in line
    remember_tunings('{"a": {}}\n')
    assert recall_tunings() == '{"a": {}}\n'
    assert len(caplog.messages) == 1


@survival
def test_unreachable_tunings_are_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from playgrad.devices._wgpu.measurements import recall_tunings, remember_tunings

    file = tmp_path / "file"
    file.write_text("not a folder")
    for cache in (str(file), "/proc/none", "/tmp/" + "x" * 5000, f"{tmp_path}/none"):
        monkeypatch.setenv("PLAYGRAD_CACHE", cache)
        assert recall_tunings() == ""
    monkeypatch.setenv("PLAYGRAD_CACHE", str(file))
    with pytest.raises(OSError):
        remember_tunings("{}")
    assert caplog.messages == []


@pytest.mark.gpu
@survival
def test_the_command_line_reports_damaged_tunings_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "tunings.json").write_text("{")
    ended = run_process(["tune", "--list"], env=environment(PLAYGRAD_CACHE=str(tmp_path)))
    assert ended.code == 0
    (line,) = ended.err.splitlines()
    assert line.startswith(f"the tunings in {tmp_path}/tunings.json are damaged (")


# The place of the cache


def cache_with(monkeypatch: pytest.MonkeyPatch, **changes: str | None) -> Path:
    for name in ("PLAYGRAD_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in changes.items():
        if value is not None:
            monkeypatch.setenv(name, value)
    return paths.cache()


def test_the_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert cache_with(monkeypatch, PLAYGRAD_CACHE="/a", XDG_CACHE_HOME="/b") == Path("/a")
    assert cache_with(monkeypatch, XDG_CACHE_HOME="/b", HOME="/c") == Path("/b/playgrad")
    assert cache_with(monkeypatch, XDG_CACHE_HOME="b", HOME="/c") == Path("/c/.cache/playgrad")
    assert cache_with(monkeypatch, HOME="c") == home / ".cache/playgrad"
    assert cache_with(monkeypatch, HOME="") == home / ".cache/playgrad"
    assert cache_with(monkeypatch) == home / ".cache/playgrad"


def test_a_user_without_a_home_folder_is_told_to_set_the_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unknown(number: int) -> None:
        raise KeyError(number)

    monkeypatch.setattr("pwd.getpwuid", unknown)
    with pytest.raises(PlaygradError, match=r"no home folder\. Set PLAYGRAD_CACHE to a folder"):
        cache_with(monkeypatch)
