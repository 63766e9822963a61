"""Wrong usage and failures: exit codes and messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Run, run


def test_failures_are_reported_on_stderr(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, program: Path
) -> None:
    def failing(text: str) -> Run:
        path = tmp_path / "wrong.py"
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
        return run(capsys, "train", path, "--device", "cpu")

    code, out, err = failing("import playgrad as pg\npg.nn.Dense(-1)\n")
    assert (code, out) == (1, "")
    assert err.startswith("playgrad: ShapeError: units of a Dense layer")
    assert "wrong.py, line 2" in err
    assert "Traceback" not in err
    code, _, err = failing("x = 1\n\nprint(y)\n")
    assert code == 1
    assert "NameError: name 'y' is not defined" in err
    assert "wrong.py, line 3)" in err
    code, _, err = failing("x = (\n")
    assert (code, "SyntaxError" in err) == (1, True)
    code, _, err = failing("import numpy as np\nnp.zeros(3).reshape(2)\n")
    assert (code, "wrong.py, line 2)" in err) == (1, True)
    code, _, err = failing("import sys\nsys.exit(3)\n")
    assert (code, err) == (1, "playgrad: PlaygradError: wrong.py exited with status 3.\n")
    code, _, err = failing("x = '\udcff'\n")
    assert (code, "SyntaxError" in err) == (1, True)
    code, _, err = failing("raise KeyboardInterrupt\n")
    assert (code, err) == (130, "playgrad: stopped\n")
    (tmp_path / "w.npz").write_bytes(b"PK nonsense")
    code, _, err = run(capsys, "export", tmp_path / "w.npz")
    assert (code, "CheckpointError: w.npz: not an npz file" in err) == (1, True)
    code, _, err = run(capsys, "train", program, "--device", "gpu:99")
    assert (code, "DeviceError: there is no gpu:99 here" in err) == (1, True)
    code, _, err = run(capsys, "--debug", "train", tmp_path / "wrong.py")
    assert (code, "Traceback" in err) == (130, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "required: COMMAND"),
        (("trian",), "invalid choice"),
        (("train",), "required: EXAMPLE|FILE"),
        (("train", "no-such"), "no example or file 'no-such': see `playgrad examples`"),
        (("train", "../examples/mnist-mlp"), "no example or file"),
        (("train", "mnist-mlp", "--steps", "0"), "'0' is not a whole number of at least 1"),
        (("train", "mnist-mlp", "--epochs", "1.5"), "'1.5' is not a whole number"),
        (("train", "mnist-mlp", "--steps", "5", "--epochs", "1"), "not allowed with"),
        (("train", "mnist-mlp", "--device", "tpu"), "not one of auto, cpu, gpu, reference, gpu:N"),
        (("train", "mnist-mlp", "--export", "w.pt"), "no format has the ending of"),
        (("train", "mnist-mlp", "--export", "/none/w.npz"), "the folder '/none' does not exist"),
        (("train", "mnist-mlp", "--trace", "."), "'.' is a folder"),
        (("serve", "--port", "99999"), "'99999' is not a port number"),
        (("serve", "--host", ""), "the address is empty"),
    ],
)
def test_wrong_usage_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert words in err


def test_host_and_port_come_from_the_environment(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, int]] = []
    monkeypatch.setattr("playgrad.server.serve", lambda host, port, *_: calls.append((host, port)))
    monkeypatch.delenv("HOST", raising=False)
    monkeypatch.delenv("PORT", raising=False)
    assert run(capsys, "serve")[0] == 130
    monkeypatch.setenv("HOST", "0.0.0.0")
    monkeypatch.setenv("PORT", "8123")
    assert run(capsys, "serve")[0] == 130
    assert run(capsys, "serve", "--port", 80)[0] == 130
    monkeypatch.setenv("HOST", "")
    monkeypatch.setenv("PORT", "")
    assert run(capsys, "serve")[0] == 130
    assert calls == [
        ("127.0.0.1", 8000), ("0.0.0.0", 8123), ("0.0.0.0", 80), ("127.0.0.1", 8000)
    ]  # fmt: skip
    monkeypatch.setenv("PORT", "http")
    assert run(capsys, "serve")[0] == 2
