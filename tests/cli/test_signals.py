"""Signals to the command line, at any moment: the shell's exit code, one line, no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cli.processes import Ended, end_of, environment, run_process, running, wait_for_handlers
from tests.sweeps import budget, dice, slow

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

ENDLESS = """
import numpy as np
import playgrad as pg

x = np.random.default_rng(0).normal(size=(4000, 30))
y = (x.sum(1) > 0).astype(int)
model = pg.Sequential([pg.nn.Dense(64, activation="relu"), pg.nn.Dense(2)])
loss = pg.nn.SparseCategoricalCrossentropy(from_logits=True)
model.compile(pg.optim.Adam(0.05), loss, ["accuracy"])
model.fit(x, y, batch_size=10, epochs=100000, validation_data=(x, y))
"""
_CATCHES = """
class Tell(pg.nn.Callback):
    def on_steps_end(self, step, logs):
        print("fits", flush=True)

try:
"""
COMMANDS: dict[str, tuple[str, ...]] = {
    "train on cpu": ("train", "PROGRAM", "--device", "cpu"),
    "train on gpu": ("train", "PROGRAM", "--device", "gpu"),
    "train on two": ("train", "PROGRAM", "--device", "cpu", "--parallel", "async"),
    "simulate": ("simulate", "PROGRAM", "--device", "cpu"),
    "devices": ("devices",),
    "tune": ("tune",),
    "tune --list": ("tune", "--list"),
    "examples": ("examples", "--json"),
    "serve": ("serve", "--port", "0"),
    "help": ("--help",),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("programs") / "endless.py"
    path.write_text(ENDLESS)
    return path


def attempt(
    command: str, program: Path, seconds: float | None, signals: tuple[signal.Signals, ...]
) -> Ended:
    """Send ``signals`` to ``command``, ``seconds`` after its handlers are installed; None for after
    its first line on stderr, the line of an epoch."""
    arguments = [str(program) if part == "PROGRAM" else part for part in COMMANDS[command]]
    with running(*arguments) as process:
        wait_for_handlers(process)
        if seconds is None:
            assert process.stderr and process.stderr.readline().startswith(b"epoch ")
        else:
            time.sleep(seconds)
        for number in signals:
            if process.poll() is None:
                process.send_signal(number)
        return end_of(process)


def check(ended: Ended, expected: int, label: str) -> None:
    """Check that a process ended with one line, or had finished before the signal came."""
    lines = [line for line in ended.err.splitlines() if not line.startswith("epoch ")]
    if (ended.code, lines) != (0, []):
        assert (ended.code, lines) == (expected, ["playgrad: stopped"]), f"{label}: {ended}"


def attempts(count: int) -> list[tuple[str, float, int]]:
    """Return ``count`` commands with a moment from 0 to 5 s, most of them early, where most
    happens, and a number of signals."""
    draw = dice("signals")
    names = list(COMMANDS)
    return [
        (names[i % len(names)], 5 * draw.random() ** 3, draw.choice((1, 1, 1, 2)))
        for i in range(count)
    ]


@pytest.mark.gpu
@pytest.mark.survival("Signals to the command line")
def test_interrupts_at_any_moment_end_the_command_cleanly(
    program: Path, record_property: Callable[[str, object], None]
) -> None:
    count = budget(8, night=230)
    record_property("tried", count)

    def interrupt(chosen: tuple[str, float, int]) -> None:
        command, seconds, times = chosen
        ended = attempt(command, program, seconds, (signal.SIGINT,) * times)
        check(ended, 130, f"{command} after {seconds:.3f} s, {times} times")

    with ThreadPoolExecutor(4) as pool:  # they sleep most of the time
        list(pool.map(interrupt, attempts(count)))


@pytest.mark.survival("Signals to the command line")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=["SIGTERM", "SIGHUP"]
)
@pytest.mark.parametrize("seconds", [0.0, None], ids=["at once", "in training"])
def test_other_signals_end_the_command_cleanly(
    number: signal.Signals, code: int, seconds: float | None, program: Path
) -> None:
    check(attempt("train on cpu", program, seconds, (number,)), code, number.name)


def test_signal_handlers_are_installed_before_other_imports() -> None:
    """Ctrl+C cannot be caught only while Python starts."""

    def least(measure: Callable[[], float]) -> float:
        return min(measure() for _ in range(5))

    def python() -> float:
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import runpy"], check=True)
        return time.perf_counter() - begin

    def handlers() -> float:
        with running("--help") as process:
            return wait_for_handlers(process)

    assert least(handlers) < 3 * least(python) + 0.05


@pytest.mark.survival("Signals to the command line")
def test_a_program_may_catch_the_interrupt(tmp_path: Path, program: Path) -> None:
    """A program that saves its weights after Ctrl+C runs to its own end."""
    text = program.read_text().replace(
        "model.fit(x, y,", f"{_CATCHES}    model.fit(x, y, 10, 99999,"
    )
    text = text.partition(" batch_size")[0]
    path = tmp_path / "catches.py"
    path.write_text(f"{text} callbacks=Tell())\nexcept KeyboardInterrupt:\n    print('saved')\n")
    with running("train", str(path), "--device", "cpu") as process:
        assert process.stdout
        assert process.stdout.readline() == b"fits\n"
        process.send_signal(signal.SIGINT)
        ended = end_of(process)
    assert ended.code == 0, ended
    assert "saved\n" in ended.out


@pytest.mark.survival("Signals to the command line")
@pytest.mark.parametrize(
    "place", ["class X:\n    def __del__(self): hold()\nX()", "weakref.finalize(C(), hold)"]
)
def test_an_interrupt_counts_where_python_ignores_exceptions(tmp_path: Path, place: str) -> None:
    path = tmp_path / "ignores.py"
    path.write_text(
        "import time, weakref\n"
        "class C: pass\n"
        "def hold():\n    print('holds', flush=True)\n    time.sleep(60)\n"
        f"{place}\ntime.sleep(60)\n"
    )
    with running("train", str(path)) as process:
        assert process.stdout
        assert process.stdout.readline() == b"holds\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        check(end_of(process, 30), 130, place)


@pytest.mark.survival("Signals to the command line")
def test_an_ignored_interrupt_stays_ignored() -> None:
    """``nohup`` and shells that start a command in the background ignore signals for it."""

    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    with running("examples", "--json", prepare=ignore) as process:
        for _ in range(20):
            process.send_signal(signal.SIGINT)
            time.sleep(0.02)
        ended = end_of(process)
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.survival("Signals to the command line")
@pytest.mark.parametrize(
    "arguments", ["examples", "train --help", *slow("examples --json", "--help")]
)
def test_a_closed_pipe_ends_the_command_quietly(arguments: str) -> None:
    def close_reader() -> None:
        reader, writer = os.pipe()
        os.dup2(writer, 1)
        os.close(writer)
        os.close(reader)

    ended = run_process(arguments.split(), prepare=close_reader)
    assert (ended.code, ended.err) == (141, "")


@pytest.mark.survival("Signals to the command line")
def test_importing_the_library_changes_no_handler() -> None:
    program = (
        "import signal, playgrad\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
        "assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL\n"
    )

    def default() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    command = [sys.executable, "-c", program]
    subprocess.run(command, check=True, env=environment(), preexec_fn=default)
