"""``playgrad train --watch`` serves a training, and ``playgrad watch`` shows it."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.cli.processes import end_of, running
from tests.cli.running import result_of, run
from tests.page.answers import check_event
from tests.watching.readers import Received, frames, reading

GATED = """
import os, sys, time
import numpy as np
import playgrad as pg
from playgrad import nn


class Gate(nn.Callback):
    def on_epoch_end(self, epoch, logs):
        while epoch == 1 and not os.path.exists({gate!r}):
            time.sleep(0.01)


x = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)
model = pg.Sequential([nn.Dense(3, activation="tanh"), nn.Dense(2)])
model.compile(
    optimizer=pg.optim.SGD(learning_rate=0.1),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
print("four inputs")
print("a warning", file=sys.stderr)
model.fit(x, (x[:, 0] > 0).astype(np.int32), batch_size=4, epochs=3, verbose=0, callbacks=[Gate()])
{last}
"""
"""A training that waits after its second epoch until there is a file."""


def gated(folder: Path, last: str = "") -> tuple[Path, Path]:
    """Write the program; return its path, and that of the file for which it waits."""
    program, gate = folder / "net.py", folder / "gate"
    program.write_text(GATED.format(gate=str(gate), last=last))
    return program, gate


def invitation(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Return the port and the token that a training prints."""
    assert process.stderr
    lines = [process.stderr.readline().decode() for _ in range(2)]
    found = re.search(r"playgrad watch 127\.0\.0\.1:(\d+)#(\S+)", lines[1])
    assert found, lines
    return int(found[1]), found[2]


def test_a_reader_gets_the_whole_training(tmp_path: Path) -> None:
    program, gate = gated(tmp_path)
    command = ("train", str(program), "--watch", "0", "--device", "cpu", "--seed", "1")
    with running(*command) as process:
        port, token = invitation(process)
        with reading(port, token=token) as response:
            received: list[Received] = []
            for each in frames(response):
                received.append(each)
                if each.event.get("kind") == "epoch_end" and each.event["epoch"] == 2:
                    gate.touch()
        ended = end_of(process)
    assert ended.code == 0, ended.err
    assert received[0].name == "first" and received[-1].name == "end"
    events = [each.event for each in received[1:-1]]
    assert events[0]["kind"] == "watched"
    assert (events[0]["program"], events[0]["source"]) == ("net", program.read_text())
    for event in events[1:]:
        check_event(event)
    kinds = [event["kind"] for event in events]
    assert kinds.index("lab_fit") < kinds.index("fit_begin") < kinds.index("trace")
    assert kinds.count("epoch_end") == 3 and kinds.count("fit_end") == 1
    points = [point for event in events for point in event.get("points", ())]
    assert [step for step, *_ in points] == list(range(1, 49))
    states = [event["state"] for event in events if event["kind"] == "status"]
    assert states == ["running", "done"]
    output = "".join(event["text"] for event in events if event["kind"] == "stdout")
    assert output.startswith("four inputs\n") and ended.out in output
    assert "a warning\n" in "".join(e["text"] for e in events if e["kind"] == "stderr")


@pytest.mark.parametrize(
    ("last", "how", "state"), [("1 / 0", None, "error"), ("", signal.SIGTERM, "stopped")]
)
def test_a_reader_hears_how_it_ends(
    tmp_path: Path, last: str, how: signal.Signals | None, state: str
) -> None:
    program, gate = gated(tmp_path, last)
    with running("train", str(program), "--watch", "0", "--device", "cpu") as process:
        port, token = invitation(process)
        with reading(port, token=token) as response:
            events = []
            for each in frames(response):
                events.append(each.event)
                if each.event.get("kind") == "epoch_end" and each.event["epoch"] == 2:
                    gate.touch() if how is None else process.send_signal(how)
        process.wait(60)
    assert events[-2] == {"kind": "status", "state": state}
    errors = [event for event in events if event.get("kind") == "error"]
    assert [(each["type"], each["line"]) for each in errors] == (
        [("ZeroDivisionError", len(GATED.splitlines()))] if how is None else []
    )


def test_watching_changes_no_number(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    program, gate = gated(tmp_path)
    gate.touch()
    command = ("train", program, "--json", "--parallel", "sync", "--device", "cpu", "--seed", "3")
    alone, watched = (result_of(run(capsys, *command, *more)) for more in ((), ("--watch", "0")))
    for result in (alone, watched):
        for name in ("seconds", "ms_per_step", "timeline"):
            del result[name]
    assert alone == watched


def test_an_unusable_port_is_an_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    program = tmp_path / "net.py"
    program.write_text("print('ran')\n")
    with socket.create_server(("127.0.0.1", 0)) as place:
        port = place.getsockname()[1]
        code, out, err = run(capsys, "train", program, "--watch", port)
    assert (code, out) == (1, "")
    assert f"--watch cannot use port {port} on 127.0.0.1" in err and "0 for any" in err


def test_a_token_from_a_file_is_not_printed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    program, token = tmp_path / "net.py", tmp_path / "token"
    program.write_text("print('ran')\n")
    token.write_text("0123456789abcdef\n")
    code, out, err = run(
        capsys, "train", program, "--watch", "0", "--token-file", token, "--device", "cpu"
    )
    assert (code, out.splitlines()[0]) == (0, "ran")
    assert "--token-file FILE" in err and "0123456789abcdef" not in err
    assert "ssh -N -L" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("train", "--watch", "mnist-mlp"), "the program's name comes before --watch"),
        (("train", "mnist-mlp", "--watch", "far:"), "'far:' is not PORT or ADDRESS:PORT"),
        (("train", "mnist-mlp", "--watch", "70000"), "is not PORT or ADDRESS:PORT"),
        (("train", "mnist-mlp", "--watch", ":80"), "is not PORT or ADDRESS:PORT"),
        (("train", "mnist-mlp", "--token-file", "/dev/null"), "a token has 16 to 200"),
        (("train", "mnist-mlp", "--token-file", "/no/file"), "cannot read /no/file"),
        (("watch",), "required: HOST[:PORT][#TOKEN]"),
        (("watch", "far"), "the token is missing"),
        (("watch", "far/path"), "is not HOST:PORT"),
        (("watch", "far#short"), "a token has 16 to 200"),
    ],
)
def test_wrong_usage(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert words in err


def test_two_tokens_and_a_token_for_nothing_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("0123456789abcdef")
    code, _, err = run(capsys, "watch", "far#fedcba9876543210", "--token-file", token)
    assert (code, "different tokens" in err) == (2, True)
    code, _, err = run(capsys, "train", "mnist-mlp", "--token-file", token)
    assert (code, "no effect without --watch" in err) == (2, True)
