"""The data cache: data sets stay on a device for the next session, never stale, bounded, freed."""

from __future__ import annotations

import numpy as np
import pytest

from playgrad import ops
from playgrad.devices import registry
from playgrad.devices.data_cache import MIN_BYTES, DataCache
from playgrad.devices.null import NullHost
from playgrad.errors import OutOfMemoryError
from playgrad.graph.graph import Graph
from playgrad.ops.state import Variable
from playgrad.runtime.session import Session

ROOM = 8 * MIN_BYTES
DATA = np.random.default_rng(0).integers(0, 256, MIN_BYTES, np.uint8)


class Copy:
    """A snapshot in Python memory."""

    def __init__(self, data: bytes | memoryview) -> None:
        self.content = bytes(data)

    def same(self, data: bytes | memoryview) -> bool:
        return self.content == bytes(data)


@pytest.fixture
def host():
    return NullHost(memory=2 * ROOM)


@pytest.fixture
def device(host):
    with registry.attached(host, DataCache(Copy, ROOM)) as name:
        yield registry.opened(name)


def variable(array: np.ndarray, name: str) -> Variable:
    return Variable(ops.fill(array.shape, 0, array.dtype.name), name, trainable=False)


def put(device, *arrays, close: bool = True) -> Session:
    """Return a session of a new graph, with ``arrays`` in its variables."""
    graph = Graph()
    with graph.as_default():
        variables = [variable(a, f"data/{i}") for i, a in enumerate(arrays)]
    session = Session(graph, device=device.name)
    session.assign_data(dict(zip(variables, arrays, strict=True)))
    for each, array in zip(variables, arrays, strict=True):
        assert np.array_equal(session.value(each), array)
    if close:
        session.close()
    return session


def counts(device) -> tuple[int, int]:
    stats = device.stats()
    return stats["buffers"], stats["cached_buffers"]


def test_the_same_data_is_sent_once(device, host):
    put(device, DATA)
    assert counts(device) == (0, 1) and not device.is_used()
    written = host.bytes_written
    session = put(device, DATA.copy(), close=False)
    assert host.bytes_written == written
    assert counts(device) == (1, 0) and device.is_used()
    session.close()
    assert counts(device) == (0, 1)


@pytest.mark.parametrize("place", [0, 12345, -1])
def test_one_byte_that_changed_is_noticed(device, host, place):
    put(device, DATA)
    written = host.bytes_written
    changed = DATA.copy()
    changed[place] ^= 1
    put(device, changed)
    assert host.bytes_written == written + len(DATA)
    put(device, DATA)


def test_an_array_changed_in_place_is_sent_again_in_the_same_session(device):
    array = DATA.copy()
    session = put(device, array, close=False)
    x = session.graph.tensor("data/0:0")
    array[7] ^= 1
    session.assign_data({x: array})
    assert np.array_equal(session.value(x), array)
    session.assign({x: DATA})
    assert np.array_equal(session.value(x), DATA)
    session.assign_data({x: array})
    assert np.array_equal(session.value(x), array)


def test_two_sessions_at_a_time_have_a_buffer_each(device):
    first = put(device, DATA, close=False)
    second = put(device, DATA[::-1], close=False)
    assert np.array_equal(first.value("data/0"), DATA)
    assert counts(device) == (2, 0)
    first.close()
    second.close()
    assert counts(device) == (0, 2)


def test_data_written_by_a_program_is_sent_again(device, host):
    numbers = DATA.astype(np.float32)
    graph = Graph()
    with graph.as_default():
        x = variable(numbers, "data/0")
        write = x.assign(x + 1.0).node
    with Session(graph, device=device.name) as session:
        session.assign_data({x: numbers}, soon=write)
        for _ in range(2):
            session.run(write)
            written = host.bytes_written
            session.assign_data({x: numbers})
            assert host.bytes_written == written + numbers.nbytes
        session.run(write)
    written = host.bytes_written
    put(device, numbers)
    assert host.bytes_written == written + numbers.nbytes
    put(device, numbers)
    assert host.bytes_written == written + numbers.nbytes


def test_the_cache_of_closed_sessions_drops_the_oldest_data(device, host):
    sizes = [MIN_BYTES + 4096 * number for number in range(10)]
    for size in sizes:
        put(device, np.resize(DATA, size))
        assert device.stats()["cached_bytes"] <= ROOM
        assert counts(device)[0] == 0
    written = host.bytes_written
    put(device, np.resize(DATA, sizes[-1]))
    assert host.bytes_written == written
    put(device, np.resize(DATA, sizes[0]))
    assert host.bytes_written == written + sizes[0]


def test_very_small_and_very_large_data_is_not_kept(device):
    put(device, DATA[:-256], np.resize(DATA, ROOM + 256))
    assert counts(device) == (0, 0)


def test_kept_data_is_dropped_to_make_room(device, host):
    put(device, np.resize(DATA, ROOM))
    size = host.info.limits.max_buffer_size
    buffer = device.create_buffer(min(size, ROOM + 256))
    assert counts(device) == (1, 0)
    with pytest.raises(OutOfMemoryError):
        device.create_buffer(min(size, ROOM + 256))
    device.destroy_buffer(buffer)


def test_clearing_the_cache_frees_only_unused_data(device, host):
    session = put(device, DATA, close=False)
    put(device, DATA[::-1])
    registry.clear_data_caches()
    assert counts(device) == (1, 0)
    assert np.array_equal(session.value("data/0"), DATA)
    session.close()
    registry.clear_data_caches()
    assert host.stats()["buffers"] == host.stats()["bytes"] == 0
