"""Programs and strangers that once broke runs of several processes."""

from __future__ import annotations

import selectors
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from playgrad.cluster.hosts import HostSlots
from playgrad.cluster.supervisor import MOST_STRANGERS, RunOfMembers
from tests.cluster.conftest import PATIENCE, Launcher

PROGRAM = Path(__file__).with_name("reviewed_program.py")


def results(text: str) -> list[str]:
    """Return what the program itself has printed."""
    return text[: text.index("the end")].splitlines()


def test_programs_print_the_same_as_on_one_process(launcher: Launcher, tmp_path: Path) -> None:
    program = Path(shutil.copy(PROGRAM, tmp_path))  # it writes files beside it
    several = launcher.start(program, "localhost:2", "--explain")
    assert several.wait() == 0, several.err[-2000:]
    alone = subprocess.run(
        [sys.executable, "-m", "playgrad", "train", str(program)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert alone.returncode == 0, alone.stderr[-2000:]
    assert results(several.out) == results(alone.stdout)
    assert "lines 10" in several.out


def test_a_program_that_catches_an_interruption_goes_on(launcher: Launcher) -> None:
    text = launcher.trains(100_000).read_text()
    fit = next(line for line in text.splitlines() if line.startswith("model.fit"))
    caught = f"try:\n    {fit}\nexcept KeyboardInterrupt:\n    print(model.evaluate(x, y))"
    program = launcher.program(f"{text.replace(fit, caught)}print('continued')\n")
    run = launcher.start(program, "localhost:2")
    run.wait_for("epoch 3/")
    run.process.send_signal(signal.SIGINT)
    assert run.wait() == 0, run.err
    assert run.out.count("continued") == 1


@contextmanager
def connected(
    job: RunOfMembers, count: int
) -> Iterator[tuple[list[socket.socket], Callable[[], None]]]:
    """Connect to the supervisor of ``job`` so often; it reads when the function is called."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        selectors.DefaultSelector() as selector,
        ExitStack() as stack,
    ):
        connections = []
        for _ in range(count):
            connections.append(stack.enter_context(socket.create_connection(server.getsockname())))
            connections[-1].settimeout(PATIENCE)
            job._accept(server, selector)

        def read() -> None:
            while ready := selector.select(0.2):
                for key, _ in ready:
                    job._read(key.data, selector)

        yield connections, read
        for key in list(selector.get_map().values()):
            key.data.socket.close()


def has_ended(connection: socket.socket) -> bool:
    """Return whether the other end was closed, with or without all that was sent to it read."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.fixture
def strangers_job() -> RunOfMembers:
    return RunOfMembers([HostSlots("localhost", 2)], [], None)


@pytest.mark.parametrize(
    "line",
    [b'{"rank": Infinity}', b"[" * 100_000, b"[]", b"\xff{", b'{"rank": 0, "token": "x"}', b"1"],
)
def test_what_strangers_send_ends_only_their_connection(
    strangers_job: RunOfMembers, line: bytes
) -> None:
    with connected(strangers_job, 1) as (strangers, read):
        strangers[0].sendall(line + b"\n")
        read()
        assert has_ended(strangers[0])
    assert not strangers_job.members


def test_strangers_keep_no_member_away(strangers_job: RunOfMembers) -> None:
    with connected(strangers_job, 3 * MOST_STRANGERS) as (connections, read):
        token = strangers_job._token
        connections[-1].sendall(b'{"rank": 1, "token": "%s"}\n' % token.encode())
        read()
        assert list(strangers_job.members) == [1]
        assert has_ended(connections[0])
