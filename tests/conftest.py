"""Fixtures shared by several test folders: the real server, and one Chromium."""

from __future__ import annotations

import gc
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest
from hypothesis import HealthCheck, settings

from playgrad.assets.node import node_environment
from playgrad.graph.graph import Graph, get_default_graph, reset_default_graph
from tests import files, rotation, survival, sweeps
from tests.seconds import COMMITTED, Seconds, Stopwatch
from tools.setup import system

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# A shell has the commands that it starts in the background ignore SIGINT, and so would the programs
# that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests that run Node find the one that set-up installed.
os.environ["PATH"] = node_environment()["PATH"]

# Most of a kernel test is llvmpipe's compiler, which takes a third less time if it optimises less.
os.environ.setdefault("GALLIVM_PERF", "nopt")

# The processor is NumPy, the reference of all devices. Tests of compiled steps ask for them.
os.environ.setdefault("PLAYGRAD_SIMD", "0")

# Tests must not fail because a machine is slow. In CI, Hypothesis would try the same cases always.
settings.register_profile(
    "patient",
    parent=sweeps.examples(100),
    deadline=None,
    derandomize=False,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("patient")
hypothesis.core.global_force_seed = sweeps.SEED

_CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# The software adapter everywhere, so that results do not depend on the machine's GPU.
_WEBGPU_FLAGS = ("--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--measure", action="store_true", help="write var/seconds.json, see tests/seconds.py"
    )
    parser.addoption(
        "--part",
        choices=["all", "commit", *map(str, range(1, rotation.PARTS + 1))],
        default="all",
        help="which of the tests that take turns to run; see tests/rotation.py",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("measure"):
        config.pluginmanager.register(Stopwatch(config, Seconds.read(COMMITTED).files))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Exempt what is there after the collection from the garbage collector.

    It stays until the end, and looking through a million objects again and again takes minutes.
    """
    gc.disable()
    yield
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files that have their turn in other commits: each worker would import them all."""
    return rotation.rests(collection_path, config.getoption("part")) or None


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say on which GPUs the tests run: results differ between a card and a software adapter."""
    from playgrad.devices.registry import gpu_adapters

    adapters = [
        f"gpu:{index}: {info.name}, {info.backend}, {info.driver}"
        for index, info in enumerate(gpu_adapters())
    ] or ["no GPU"]
    return [*adapters, *rotation.header(config.getoption("part"))]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    rotation.deselect(config, items)
    survival.remember_class(items)
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=files.in_turn(items, Seconds.read(COMMITTED).files))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = survival.table(terminalreporter.stats)
    if lines:
        terminalreporter.section("Tried and survived")
    for line in lines:
        terminalreporter.write_line(line)
    if terminalreporter.stats.keys() & {"failed", "error"}:
        terminalreporter.section("Random tests")
        terminalreporter.write_line(f"PLAYGRAD_SEED={sweeps.SEED} tries the same cases again")


@pytest.fixture(scope="session", autouse=True)
def empty_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Use an empty cache, so that earlier measurements do not choose the kernels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAYGRAD_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def pinned_device(empty_cache: None) -> Iterator[None]:
    """Let "auto" be the processor, so that no test depends on how fast a machine is.

    A test of the GPU names it: a software adapter compiles for seconds what NumPy computes at once.
    By night "auto" is the GPU (`make nightly` sets ``PLAYGRAD_DEVICE``).
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAYGRAD_DEVICE", os.environ.get("PLAYGRAD_DEVICE", "cpu"))
        yield


@pytest.fixture(autouse=True)
def default_seed() -> Iterator[None]:
    """Leave a default graph with the default seed: a program that a test runs may set another, and
    the weights of all later models would be other ones."""
    yield
    if get_default_graph().seed != 0:
        reset_default_graph()


@pytest.fixture(autouse=True)
def weights_of_peers(request: pytest.FixtureRequest) -> None:
    """Have PyTorch and Keras draw weights by the seed of all random tests."""
    seed = sweeps.dice(request.node.nodeid).getrandbits(32)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(seed)
    if keras := sys.modules.get("keras"):
        keras.utils.set_random_seed(seed)


@pytest.fixture(scope="session")
def launch_chromium() -> Iterator[Callable[[bool], Browser]]:
    """Return a function that starts a headless Chromium, with WebGPU on the software adapter or
    without WebGPU."""
    from playwright.sync_api import sync_playwright

    executable = system.chromium()
    assert executable, "no Chromium on PATH: `make test` installs it"
    with sync_playwright() as playwright:

        def launch(webgpu: bool) -> Browser:
            flags = [*_CHROMIUM_FLAGS, *(_WEBGPU_FLAGS if webgpu else ())]
            return playwright.chromium.launch(executable_path=executable, args=flags)

        yield launch


@pytest.fixture(scope="session")
def chromium(launch_chromium: Callable[[bool], Browser]) -> Iterator[Browser]:
    """A headless Chromium with WebGPU on the software adapter; make contexts and pages from it."""
    browser = launch_chromium(True)
    yield browser
    browser.close()


@contextmanager
def _serving(*arguments: str) -> Iterator[str]:
    """Run a server in a process of its own; yield the address that it prints."""
    command = [sys.executable, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        address = re.search(r"http://\S+(?=/ )", process.stdout.readline())
        assert address, "the server did not print its address"
        yield address[0]
        process.terminate()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of the real server, on a free port, without a trailing slash."""
    with _serving("-c", "from playgrad.server import serve; serve('127.0.0.1', 0)") as address:
        yield address


@pytest.fixture(scope="session")
def desk_server() -> Iterator[str]:
    """The address of the real server, for which the desktop's Python takes the place of Pyodide."""
    with _serving("-m", "tests.browser.desk.server") as address:
        yield address


@pytest.fixture
def graph() -> Iterator[Graph]:
    """A new graph, which is the default graph during the test."""
    with Graph().as_default() as graph:
        yield graph
