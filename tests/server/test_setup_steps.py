"""Steps of set-up: their order, what they print, and two set-ups at once."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from playgrad.assets import PYODIDE
from tools.setup import __main__ as setup
from tools.setup import steps
from tools.setup.steps import SetupError, Step, run, run_steps

ROOT = Path(__file__).resolve().parents[2]
TOGETHER_SECONDS = 300


@pytest.fixture(autouse=True)
def var(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of generated files, of which the stamps and the lock are part."""
    monkeypatch.setattr(steps, "_STAMPS", tmp_path / "stamps")
    monkeypatch.setattr(setup, "VAR", tmp_path)
    return tmp_path


def test_independent_steps_run_side_by_side() -> None:
    both = threading.Barrier(2)

    def meet() -> None:
        both.wait(TOGETHER_SECONDS)

    run_steps([Step("pip", [], [], meet), Step("npm", [], [], meet)])


def test_step_waits_for_its_dependencies() -> None:
    done: list[str] = []

    def step(name: str, *after: str) -> Step:
        return Step(name, [], [], lambda: done.append(name), after=after)

    run_steps([step("c", "a", "b"), step("b", "a"), step("d", "c"), step("a")])
    assert done == ["a", "b", "c", "d"]


def test_step_that_removes_the_output_of_a_later_one_makes_that_run_again(var: Path) -> None:
    output, done = var / "out", []
    for version in ("1", "2"):
        empty = Step("empty", [version], [], lambda: output.unlink(missing_ok=True))
        fill = Step(
            "fill", [], [output], lambda: (done.append(1), output.touch())[1], after=["empty"]
        )
        run_steps([fill, empty])
    assert len(done) == 2


def test_failure_ends_the_steps_that_run_and_starts_no_other() -> None:
    both = threading.Barrier(2)
    finished: list[str] = []

    def fail() -> None:
        both.wait(TOGETHER_SECONDS)
        raise SetupError("no network")

    def go_on() -> None:
        both.wait(TOGETHER_SECONDS)
        time.sleep(0.1)  # to be the last
        finished.append("npm")

    with pytest.raises(SetupError, match="no network"):
        run_steps(
            [
                Step("pip", [], [], fail),
                Step("npm", [], [], go_on),
                Step("assets", [], [], lambda: finished.append("assets"), after=["npm", "pip"]),
            ]
        )
    assert finished == ["npm"]


def test_step_prints_one_line_with_its_time(capfd: pytest.CaptureFixture[str]) -> None:
    step = Step("pip", [], [], lambda: run("sh", "-c", "echo WARNING: a mirror; echo chatter >&2"))
    run_steps([step])
    run_steps([step])
    out, err = capfd.readouterr()
    assert re.fullmatch(r"set-up: pip \(\d+\.\d s\)\n", out)
    assert err == ""


def test_failure_shows_all_that_the_command_wrote(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SetupError) as raised:
        run("sh", "-c", "seq 500; echo cause >&2; exit 3")
    lines = str(raised.value).splitlines()
    assert lines[0].startswith("exit 3 from: sh -c seq 500")
    assert lines[1:] == [*map(str, range(1, 501)), "cause"]


def test_order_of_the_scopes_names_steps() -> None:
    every = {step.name: step for scope in setup.SCOPES for step in setup.steps(scope)}
    for step in every.values():
        assert set(step.after) <= every.keys(), step.name


def test_page_needs_neither_documentation_nor_driver() -> None:
    names = [step.name for step in setup.steps("run")]
    assert names == [
        "npm packages", "browser modules", "records of the library", "page bundle",
        "virtual environment", "python packages", "playgrad", "assets", "ONNX messages",
    ]  # fmt: skip
    assert "system packages for test" in {step.name for step in setup.steps("test")}


def test_failed_set_up_shows_the_output_once(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    step = Step("npm packages", [], [], lambda: run("sh", "-c", "echo cause; false"))
    monkeypatch.setattr(setup, "steps", lambda scope: [step])
    assert setup.main(["run"]) == 1
    out, err = capfd.readouterr()
    assert (out, err) == ("", "\nset-up failed: exit 1 from: sh -c echo cause; false\ncause\n\n")


def test_assets_are_fetched_before_the_requirements_are_installed() -> None:
    program = (
        "import sys; from tools.setup import light; light.make_importable()\n"
        "from playgrad.assets import PYODIDE, fetch; print(fetch(PYODIDE))\n"
        "assert 'numpy' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{program}"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (f"{PYODIDE.folder()}\n", "")


@pytest.fixture
def other(var: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process, as in another terminal, that has the lock until it is killed."""
    program = (
        "from pathlib import Path; from tools.lock import locked\n"
        f"with locked(Path({str(var / '.setup.lock')!r}), ''): print(flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        process.stdout.readline()
        yield process
        process.kill()


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list to which the only step of set-up adds its name."""
    names: list[str] = []
    step = Step("pip", [], [], lambda: names.append("pip"))
    monkeypatch.setattr(setup, "steps", lambda scope: [step])
    return names


def test_start_with_nothing_to_do_waits_for_nobody(
    other: subprocess.Popen[str], done: list[str]
) -> None:
    run_steps(setup.steps("run"))
    assert setup.main(["run"]) == 0
    assert done == ["pip"]


def test_set_ups_in_two_terminals_take_turns(
    other: subprocess.Popen[str], done: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    with ThreadPoolExecutor() as pool:
        code = pool.submit(setup.main, ["run"])
        while "waiting for the set-up in another terminal" not in capfd.readouterr().out:
            assert not code.done()
            time.sleep(0.01)
        assert done == []
        run_steps(setup.steps("run"))  # as the other one does
        other.kill()
        assert code.result() == 0
    assert done == ["pip"]


BACKGROUND = """
import sys
from pathlib import Path
from tools.setup import __main__ as setup, steps
from tools.setup.steps import Step, run

setup.VAR = steps._STAMPS = Path(sys.argv[1])
command = f"exec sleep 1000 > {sys.argv[1]}/alive"
setup.steps = lambda scope: [Step("documentation", [], [], lambda: run("sh", "-c", command))]
sys.exit(setup.main(["background"]))
"""


def test_build_in_the_background_ends_with_the_server(var: Path) -> None:
    """The server holds the other end of standard input: if it is killed, the pipe is closed."""
    os.mkfifo(var / "alive")
    command = [sys.executable, "-c", BACKGROUND, str(var)]
    with (
        subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, process_group=0) as process,
        (var / "alive").open() as alive,  # once a command of the build has opened it, too
    ):
        assert process.stdin
        process.stdin.close()
        assert process.wait() == -signal.SIGTERM
        assert alive.read() == ""  # once no command of the build has it open
