"""Members that hang, fail or die: an error names them, and no run waits for ever."""

from __future__ import annotations

import pickle
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest

import playgrad as pg
from playgrad.compiler.split import TensorChannel, sender_of
from playgrad.devices import registry
from playgrad.errors import DeviceLostError, DeviceTimeoutError
from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import add_node
from playgrad.parallel import collectives
from playgrad.runtime.trace import Event
from playgrad.runtime.transport import LocalTransport

DEVICES = ["cpu:0", "cpu:1", "cpu:2", "cpu:3"]
PATIENCE = 300.0  # seconds after which a test that waits has failed


class Culprit:
    """The behaviour of the operation ``misbehave``: pass its input on, hang or raise."""

    def __init__(self) -> None:
        self.mode = "fine"
        self.woken = threading.Event()

    def __call__(self, inputs: list, attrs: dict) -> list:
        if self.mode == "hang":
            assert self.woken.wait(PATIENCE)
        elif self.mode == "raise":
            raise ZeroDivisionError("the culprit divides by zero")
        return [inputs[0]]


CULPRIT = Culprit()
MISBEHAVE = pg.OpDef("misbehave", lambda inputs, attrs: [inputs[0]], lambda *a: CULPRIT(*a))


@pytest.fixture
def culprit(monkeypatch: pytest.MonkeyPatch) -> Iterator[Culprit]:
    culprit = Culprit()
    monkeypatch.setitem(globals(), "CULPRIT", culprit)
    yield culprit
    culprit.woken.set()


@pytest.fixture
def session(graph: pg.Graph) -> Iterator[pg.Session]:
    """A session on four processors that leaves no threads behind."""
    pg.set_logical_devices(cpu=4)
    before = set(threading.enumerate())
    with pg.Session(graph, device="cpu") as session:
        yield session
    CULPRIT.woken.set()
    for thread in set(threading.enumerate()) - before:
        thread.join(PATIENCE)
        assert not thread.is_alive(), thread


@contextmanager
def impatient(session: pg.Session, seconds: float = 1.0) -> Iterator[None]:
    """Shorten the time limit for runs in the block, which hang; others may be slow."""
    usual, session.executor.timeout = session.executor.timeout, seconds
    yield
    session.executor.timeout = usual


def ring_of_four() -> list[Tensor]:
    """Return the sums of 1, 2, 3 and 4; the third member may misbehave."""
    tensors = []
    for number, device in enumerate(DEVICES, 1):
        with pg.device(device):
            x = pg.Variable(np.full(8, number, np.float32), name=f"x{number}") * 1.0
            tensors.append(add_node(MISBEHAVE, [x], name="misbehave").output if number == 3 else x)
    return collectives.get("ring").all_reduce(tensors, DEVICES)


def check_sums(session: pg.Session, sums: list[Tensor]) -> None:
    for value in session.run(sums):
        np.testing.assert_array_equal(value, np.full(8, 10.0))


class TestOnProcessors:
    def test_a_hanging_member_is_named_after_a_timeout(
        self, session: pg.Session, culprit: Culprit
    ) -> None:
        sums = ring_of_four()
        check_sums(session, sums)
        culprit.mode = "hang"
        start = time.perf_counter()
        with impatient(session), pytest.raises(DeviceTimeoutError) as caught:
            session.run(sums)
        assert time.perf_counter() - start < PATIENCE / 2
        text = str(caught.value)
        assert "no answer for 1 s from cpu:2 ('cpu:2 segment" in text
        assert "cpu:0" not in text and "cpu:1" not in text and "cpu:3" not in text
        culprit.mode = "fine"
        check_sums(session, sums)  # while the old thread still hangs
        culprit.woken.set()
        check_sums(session, sums)

    def test_a_late_member_does_not_disturb_later_runs(
        self, graph: pg.Graph, culprit: Culprit
    ) -> None:
        """Its late sends belong to a run that is over."""
        pg.set_logical_devices(cpu=2)
        x = pg.placeholder("float32", [2], name="x")
        with pg.device("cpu:0"):
            there = x + 1.0
        with pg.device("cpu:1"):
            seen = add_node(MISBEHAVE, [there]).output
            total = pg.reduce_sum(seen * 2.0)
        with pg.device("cpu:0"):
            back = total + 1.0
        with pg.Session(graph, device="cpu") as session:
            culprit.mode = "hang"
            with impatient(session, 0.2), pytest.raises(DeviceTimeoutError):
                session.run(back, {x: [100.0, 100.0]})
            culprit.mode = "fine"
            waker = threading.Timer(0.05, culprit.woken.set)
            waker.start()
            session.executor.delays = {"cpu:0": 0.05}
            for _ in range(5):
                assert session.run(back, {x: [1.0, 2.0]}) == 11.0
            waker.join()

    def test_an_error_of_a_member_names_its_device(
        self, session: pg.Session, culprit: Culprit
    ) -> None:
        sums = ring_of_four()
        culprit.mode = "raise"
        with pytest.raises(ZeroDivisionError, match="the culprit divides by zero") as caught:
            session.run(sums)
        assert caught.value.__notes__ == ["cpu:2 was computing 'misbehave'."]
        culprit.mode = "fine"
        check_sums(session, sums)

    def test_an_error_is_raised_while_another_member_hangs(
        self, session: pg.Session, culprit: Culprit
    ) -> None:
        """The caller gets the error, without waiting for the member that hangs."""
        culprit.mode = "hang"
        with pg.device("cpu:1"):
            hung = add_node(MISBEHAVE, [pg.Variable(np.zeros(1, np.float32)) * 1.0]).output
        raising = pg.OpDef("raising", lambda inputs, attrs: [inputs[0]], fail)
        with pg.device("cpu:2"):
            failed = add_node(raising, [pg.Variable(np.zeros(1, np.float32)) * 1.0]).output
        with impatient(session), pytest.raises(ArithmeticError, match="no such number"):
            session.run([hung, failed])
        culprit.woken.set()
        assert session.run(hung) == 0.0

    def test_stop_works_while_another_member_hangs(
        self, session: pg.Session, culprit: Culprit
    ) -> None:
        sums = ring_of_four()
        culprit.mode = "hang"
        end = time.perf_counter() + 0.3
        session.stop_check = lambda: time.perf_counter() > end
        with impatient(session), pytest.raises(KeyboardInterrupt):
            session.run(sums)
        session.stop_check = lambda: False
        culprit.mode = "fine"
        check_sums(session, sums)


def fail(inputs: list, attrs: dict) -> list:
    raise ArithmeticError("no such number")


@pytest.mark.gpu
@pytest.mark.parametrize("way", ["ring", "tree", "central"])
def test_a_gpu_lost_during_an_all_reduce_is_replaced(graph: pg.Graph, way: str) -> None:
    """No variable has changed since it was copied: the step is repeated on a new device."""
    registry.close_gpus()
    pg.set_logical_devices(gpu=3)
    devices = ["gpu:0", "gpu:1", "gpu:2"]
    tensors = []
    for number, device in enumerate(devices, 1):
        with pg.device(device):
            tensors.append(pg.Variable(np.full(4096, number, np.float32), name=f"x{number}") * 1.0)
    sums = collectives.get(way).all_reduce(tensors, devices)
    with pg.device("gpu:0"):
        step = pg.group(*(pg.reduce_sum(total) for total in sums))
        survivor = pg.reduce_mean(tensors[0]) + 1.0
    with pg.Session(graph, device="gpu") as session:
        session.run(step)
        session.executor.delays = dict.fromkeys(devices, 0.005)
        host = session.opened("gpu:1").host
        killer = threading.Timer(0.1, host.destroy)
        killer.start()
        end = time.perf_counter() + PATIENCE
        while session.opened("gpu:1").host is host:
            session.run(step)
            assert time.perf_counter() < end
        killer.join()
        assert session.run(survivor) == 2.0
        for value in session.run(sums):
            np.testing.assert_array_equal(value, np.full(4096, 6.0))
    registry.close_gpus()


class SocketTransport:
    """Sends every byte through a socket, as between machines; one connection per channel."""

    limit = 2.0

    def __init__(self) -> None:
        self.ends: dict[str, tuple[socket.socket, socket.socket]] = {}
        self.lock = threading.Lock()
        self.dead: set[str] = set()
        self.bytes = 0

    def _end(self, channel: str, number: int) -> socket.socket:
        with self.lock:
            if channel not in self.ends:
                self.ends[channel] = socket.socketpair()
                self.ends[channel][1].settimeout(self.limit)
            return self.ends[channel][number]

    def put(self, channel: str, array: np.ndarray) -> None:
        data = pickle.dumps(array)
        end = self._end(channel, 0)
        if sender_of(channel) in self.dead:
            end.close()
            return
        self.bytes += array.nbytes
        end.sendall(len(data).to_bytes(8, "little") + data)

    def get(self, channel: str) -> np.ndarray:
        file = self._end(channel, 1).makefile("rb")
        with file:
            size = int.from_bytes(file.read(8), "little")
            if not size:
                raise DeviceLostError(f"{sender_of(channel)} is gone: '{channel}' was closed.")
            return pickle.loads(file.read(size))

    def clear(self) -> None:
        for pair in self.ends.values():
            for end in pair:
                end.close()
        self.ends.clear()

    def events(self) -> list[Event]:
        return []


class TestTransport:
    """Another transport behind the same interface."""

    def test_sockets_can_replace_the_local_transport(
        self, graph: pg.Graph, culprit: Culprit
    ) -> None:
        pg.set_logical_devices(cpu=4)
        transports: list[SocketTransport] = []

        def new_transport(channels: Sequence[TensorChannel]) -> SocketTransport:
            transports.append(SocketTransport())
            return transports[-1]

        sums = ring_of_four()
        with pg.Session(graph, device="cpu", new_transport=new_transport) as session:
            check_sums(session, sums)
            check_sums(session, sums)
            used = max(transports, key=lambda transport: transport.bytes)
            assert used.bytes == 2 * collectives.get("ring").bytes_moved(32, 4)
            used.dead.add("cpu:1")
            others = len(transports)
            check_sums(session, sums)  # once more, by a new one
            assert len(transports) > others

    def test_receiving_from_an_empty_channel_raises_an_error(self) -> None:
        transport = LocalTransport()
        transport.put("x:0 cpu:0->gpu:1", np.zeros(1))
        transport.clear()
        with pytest.raises(DeviceLostError, match="cpu:0 sent nothing on the channel 'x:0 "):
            transport.get("x:0 cpu:0->gpu:1")
