"""Networks that are too large are refused before any work; sessions left open do not pile up."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import playgrad as pg
from playgrad.devices.this_host import this_host
from playgrad.errors import OutOfMemoryError
from playgrad.runtime import programs
from playgrad.runtime.estimates import check_memory, size_text
from playgrad.runtime.open_sessions import close_sessions, open_sessions
from playgrad.runtime.session import Session

GIGABYTE = 10**9
survival = pytest.mark.survival("Networks too deep or too big")


@pytest.fixture
def page_of_3_gb(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A host with 3.1 GB left, as a page has."""
    monkeypatch.setattr(this_host(), "free_memory", lambda needed: 3_100_000_000)
    monkeypatch.setattr(this_host(), "MEMORY_OF", "the page")
    close_sessions()
    yield
    close_sessions()


def network(layers: int, units: int, optimizer: str = "adam", device: str = "cpu") -> pg.Sequential:
    """Return a model whose layers have ``4 * units**2`` bytes of weights each."""
    model = pg.Sequential([pg.nn.Dense(units, activation="relu") for _ in range(layers)])
    model.compile(optimizer, "mse", device=device)
    return model


@survival
@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
@pytest.mark.parametrize(("layers", "units"), [(20, 8660), (400, 1500), (2, 16_000)])
def test_training_is_refused_before_any_work(
    page_of_3_gb: None, layers: int, units: int, device: str
) -> None:
    model = network(layers, units, device=device)
    x = np.zeros((10, units), np.float32)
    begin = time.process_time()
    words = rf"training this network on {device}:0 \({layers} layers with .* takes about .* GB of "
    with pytest.raises(OutOfMemoryError, match=f"{words}memory, but the page has 3.1 GB left"):
        model.fit(x, x, epochs=1, verbose=0)
    assert time.process_time() - begin < 5
    model.close()


@survival
def test_the_message_names_sizes_of_network_and_memory(page_of_3_gb: None) -> None:
    with pytest.raises(OutOfMemoryError) as caught:
        network(20, 8660).fit(np.zeros((10, 8660)), np.zeros((10, 8660)), verbose=0)
    assert str(caught.value).startswith(
        "training this network on cpu:0 (20 layers with 6.0 GB of weights, 300 MB the largest) "
        "takes about 42.0 GB of memory, but the page has 3.1 GB left. Use fewer or smaller layers"
    )


@survival
def test_predictions_are_refused_too(page_of_3_gb: None) -> None:
    words = r"initializing 40 variables, the largest 'dense_1/kernel' with 300 MB, takes about 6"
    with pytest.raises(OutOfMemoryError, match=words):
        network(20, 8660).predict(np.zeros((1, 8660), np.float32))


@survival
def test_a_batch_may_be_too_large(page_of_3_gb: None) -> None:
    model = pg.Sequential([pg.nn.Conv2D(64, 3), pg.nn.Flatten(), pg.nn.Dense(1)])
    model.compile("sgd", "mse", device="cpu")
    x = np.zeros((2000, 64, 64, 1), np.uint8)
    with pytest.raises(OutOfMemoryError, match="a smaller batch_size"):
        model.fit(x, np.zeros((2000, 1)), batch_size=2000, verbose=0)


def test_training_that_fits_is_not_refused(page_of_3_gb: None) -> None:
    model = network(2, 500)
    x = np.zeros((10, 500), np.float32)
    assert len(model.fit(x, x, epochs=1, verbose=0).losses) == 1


@survival
def test_a_process_with_little_memory_refuses_large_networks(tmp_path: Path) -> None:
    """The limit is real: without the estimate, NumPy or the system would end the work."""
    program = """
        import resource
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        import numpy as np, playgrad as pg
        model = pg.Sequential([pg.nn.Dense(8660) for _ in range(20)])
        model.compile("adam", "mse", device="cpu")
        x = np.zeros((10, 8660), np.float32)
        for work in (lambda: model.fit(x, x, verbose=0), lambda: model.predict(x)):
            try:
                work()
            except pg.OutOfMemoryError as error:
                assert "this machine has" in str(error)
                print("refused")
    """
    path = tmp_path / "large.py"
    path.write_text(textwrap.dedent(program))
    command = [sys.executable, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["refused", "refused"], done.stderr


def test_initial_values_do_not_depend_on_their_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    def values() -> dict[str, np.ndarray]:
        model = network(3, 50)
        model.build((50,))
        weights = model.named_weights()
        model.close()
        return weights

    together = values()
    monkeypatch.setattr(programs, "INITIAL_BYTES", 1)
    apart = values()
    for name, array in together.items():
        np.testing.assert_array_equal(apart[name], array)


def test_the_peak_of_initialization_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    import tracemalloc

    monkeypatch.setattr(programs, "INITIAL_BYTES", 4_000_000)
    model = network(12, 1000)  # of 4 MB each
    model.build((1000,))
    tracemalloc.start(1)
    try:
        model.session.initialize()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        model.close()
    assert peak < 48_000_000 + 5 * 4_000_000 + 5_000_000


# Sessions


def sessions_left_open(count: int, device: str) -> None:
    for _ in range(count):
        graph = pg.Graph()
        with graph.as_default():
            pg.Variable(np.zeros(250_000, np.float32), name="v")
        session = Session(graph, device)
        session.initialize()


@survival
@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_sessions_that_were_lost_are_closed(
    device: str, record_property: Callable[[str, object], None]
) -> None:
    from playgrad.devices import registry

    record_property("tried", 300)
    close_sessions()  # of tests that failed, whose tracebacks hold them
    sessions_left_open(300, device)
    gc.collect()
    Session(pg.Graph(), device).close()
    assert len(open_sessions) == 0
    if device == "gpu":
        assert registry.gpu(0).bytes_in_use() == 0


@survival
def test_open_sessions_are_counted_in_the_error(page_of_3_gb: None) -> None:
    sessions = [Session(pg.Graph(), "cpu") for _ in range(3)]
    with pytest.raises(OutOfMemoryError, match=r"3 sessions are open: close\(\) the ones that are"):
        check_memory(4 * GIGABYTE, "this", "Use less.")
    for session in sessions:
        session.close()


def test_memory_is_freed_before_work_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that lost sessions hold counts as free."""
    close_sessions()
    sessions_left_open(3, "cpu")

    def free_memory(needed: int) -> int:
        return GIGABYTE if len(open_sessions) else 5 * GIGABYTE

    monkeypatch.setattr(this_host(), "free_memory", free_memory)
    check_memory(4 * GIGABYTE, "this", "Use less.")


def test_the_machine_tells_its_memory() -> None:
    free = this_host().free_memory(0)
    assert free is not None and 10**8 < free < 10**14


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 kB"), (9_999, "10 kB"), (3_000_000, "3 MB"), (6.2e9, "6.2 GB")]
)
def test_sizes_are_readable(size: float, text: str) -> None:
    assert size_text(int(size)) == text
