"""Sessions on several devices, adapters with other limits, and lost devices."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from playgrad import ops
from playgrad.devices import registry, webgpu
from playgrad.devices.null import NullHost
from playgrad.devices.target import Limits
from playgrad.errors import DeviceError, DeviceLostError, OutOfMemoryError, UnsupportedOpError
from playgrad.runtime.session import Session
from tests.compiler.programs import network


class TestMixedPlacement:
    """Parts of one graph on ``cpu:0`` and ``gpu:0`` in one run."""

    def test_values_travel_both_ways(self, graph):
        x = ops.placeholder("float32", [None, 4], name="x")
        with graph.device("gpu:0"):
            a = ops.matmul(x, ops.constant(np.eye(4) * 2))
        with graph.device("cpu:0"):
            b = ops.exp(a)
        with graph.device("gpu:0"):
            c = ops.reduce_sum(b * a)
        value = np.random.default_rng(0).uniform(-1, 1, (3, 4)).astype(np.float32)
        expected = np.sum(np.exp(2 * value) * 2 * value)
        for default in ("cpu", "gpu"):
            with Session(graph, device=default) as session:
                got = session.run([a, b, c], {x: value})
                np.testing.assert_allclose(got[2], expected, rtol=1e-5)
                np.testing.assert_allclose(got[1], np.exp(2 * value), rtol=1e-5)

    @pytest.mark.parametrize("dtype", ["int32", "uint32", "uint8", "int8", "bool"])
    def test_every_type_travels(self, graph, dtype):
        x = ops.placeholder(dtype, [3, 3], name="x")
        with graph.device("gpu:0"):
            there = ops.reshape(x, [9])
        with graph.device("cpu:0"):
            back = ops.identity(there)
        value = (np.arange(9).reshape(3, 3) % 2).astype(dtype)
        with Session(graph) as session:
            np.testing.assert_array_equal(session.run(back, {x: value}), value.reshape(9))

    def test_float64_is_computed_on_the_cpu(self, graph):
        w = ops.Variable([1.0, 2.0], name="w", dtype="float64")
        x = ops.Variable([1.0, 2.0], name="x")
        fetches = [w.assign_add(ops.cast(x, "float64") / 3.0), x.assign_sub(2.0), w, x]
        with Session(graph, device="gpu") as session:
            new_w, new_x, old_w, old_x = session.run(fetches)
        np.testing.assert_array_equal(new_w, np.array([1.0, 2.0]) + np.array([1.0, 2.0]) / 3.0)
        assert (new_x.tolist(), old_w.tolist(), old_x.tolist()) == ([-1, 0], [1, 2], [1, 2])

    def test_variables_on_both_devices_can_update_each_other(self, graph):
        with graph.device("cpu:0"):
            here = ops.Variable([1.0], name="here")
        with graph.device("gpu:0"):
            there = ops.Variable([10.0], name="there")
        step = ops.group(here.assign_add(there), there.assign_add(here))
        with Session(graph, device="gpu") as session:
            assert session.repeat(step, 2).steps_done == 2
            assert (session.value(here), session.value(there)) == (22, 22)

    def test_operations_unsupported_on_gpus_are_refused(self, graph):
        x = ops.placeholder("float64", [1], name="x")
        with graph.device("gpu:0"):
            y = ops.exp(x, name="y")
        with Session(graph) as session, pytest.raises(UnsupportedOpError) as caught:
            session.run(y, {x: [1.0]})
        assert "y: the operation 'exp' cannot run on gpu:0: no GPU has float64" in str(caught.value)

    def test_unknown_devices_are_refused(self, graph):
        with graph.device("gpu:5"):
            y = ops.exp(ops.constant([1.0]))
        with Session(graph) as session, pytest.raises(DeviceError, match="gpu:5, which does not"):
            session.run(y)


class TestLimits:
    """The same program on adapters with different limits."""

    def run(self, limits: Limits, memory: int | None = None) -> None:
        net = network(hidden=64)
        host = NullHost(limits, memory)
        with registry.attached(host) as name, Session(net.graph, device=name) as session:
            session.run(net.logits, net.feeds(batch=2))
            before = {v.node.name: session.value(v) for v in ops.global_variables(net.graph)}
            stats = host.stats()
            large = net.feeds(batch=64)
            try:
                session.run([net.loss, net.train], large)
            finally:
                after = {name: session.value(name) for name in before}
                for variable, value in before.items():
                    np.testing.assert_array_equal(after[variable], value)
                self.left = (stats, host.stats())

    def test_sufficient_limits_are_accepted(self):
        self.run(Limits())
        assert self.left[1]["programs"] == self.left[0]["programs"] + 1

    def test_the_binding_limit_is_enforced(self):
        with pytest.raises(OutOfMemoryError) as caught:
            self.run(Limits(max_storage_buffer_binding_size=8192))
        assert "the adapter binds at most 0 MiB" in str(caught.value) or "8,192" in str(
            caught.value
        )
        assert "Use a smaller batch" in str(caught.value)
        assert self.left[0]["buffers"] <= self.left[1]["buffers"]
        assert self.left[0]["programs"] == self.left[1]["programs"]

    def test_the_memory_limit_is_enforced(self):
        with pytest.raises(OutOfMemoryError, match="null has no room for a buffer of"):
            self.run(Limits(), memory=40_000)
        assert self.left[0]["programs"] == self.left[1]["programs"]

    def test_the_limit_for_a_variable_is_enforced(self, graph):
        ops.Variable(np.zeros(10), name="small")
        ops.Variable(np.zeros(5000), name="large")
        host = NullHost(Limits(max_storage_buffer_binding_size=8192))
        with registry.attached(host) as name, Session(graph, device=name) as session:
            with pytest.raises(OutOfMemoryError) as caught:
                session.initialize()
            text = str(caught.value)
            assert "the variable 'large' needs 20,224 bytes" in text and "8,192" in text
            assert __file__ in text and "device='cpu'" in text
            assert host.stats()["buffers"] == 0
            assert session.value("small").tolist() == [0] * 10

    def test_variables_are_spread_over_buffers(self, graph):
        values = {}
        for i in range(5):
            values[f"w{i}"] = np.full(1500, i, np.float32)
            ops.Variable(values[f"w{i}"], name=f"w{i}")
        host = NullHost(Limits(max_buffer_size=16384, max_storage_buffer_binding_size=8192))
        with registry.attached(host) as name, Session(graph, device=name) as session:
            session.initialize()
            assert host.stats()["buffers"] == 3
            for variable, value in values.items():
                np.testing.assert_array_equal(session.value(variable), value)

    def test_the_limit_of_a_real_adapter_is_enforced(self, graph):
        x = ops.placeholder("float32", [None, 1], name="x")
        with graph.name_scope("net"):
            big = ops.matmul(x, x, transpose_b=True, name="square")
        with Session(graph, device="gpu") as session:
            with pytest.raises(OutOfMemoryError) as caught:
                session.run(ops.reduce_sum(big), {x: np.ones((20_000, 1))})
            assert "net/square" in str(caught.value) and "MiB" in str(caught.value)
            assert session.run(ops.reduce_sum(big), {x: np.ones((20, 1))}) == 400


class TestBooks:
    """Requests of a session to its device, counted by the null device."""

    @pytest.fixture
    def counted(self):
        host = NullHost()
        net = network()
        with registry.attached(host) as name, Session(net.graph, device=name) as session:
            session.run(net.train, net.feeds())
            yield host, net, session

    def test_one_call_executes_one_step_or_many(self, counted):
        host, net, session = counted
        host.executed.clear()
        session.run([net.loss, net.train], net.feeds())
        session.repeat(net.train, 500, net.feeds())
        assert [steps for _, _, steps in host.executed] == [1, 500]

    def test_a_training_step_is_one_dispatch(self, counted):
        host, net, session = counted
        before = host.dispatches
        session.run(net.train, net.feeds())
        assert host.dispatches - before == session.dispatches(net.train, net.feeds()) == 1

    def test_only_feeds_are_written_and_only_fetches_read(self, counted):
        host, net, session = counted
        feeds = net.feeds()
        session.run([net.loss, net.train], feeds)
        host.bytes_written = host.bytes_read = 0
        session.run([net.loss, net.train], feeds)
        assert host.bytes_written == sum(array.nbytes for array in feeds.values())
        assert host.bytes_read == 4

    def test_programs_are_compiled_once_for_each_shape(self, counted):
        host, net, session = counted
        programs = host.stats()["programs"]
        for _ in range(5):
            session.run(net.train, net.feeds())
        assert host.stats()["programs"] == programs
        session.run(net.train, net.feeds(batch=7))
        assert host.stats()["programs"] == programs + 1


@pytest.mark.gpu
def test_a_step_takes_at_most_one_submit(monkeypatch):
    net = network()
    with Session(net.graph, device="gpu") as session:
        session.run([net.loss, net.train], net.feeds())
        queue = session.opened("gpu:0").host._device.queue
        submitted: list[int] = []
        submit, wait = queue.submit, queue.read_buffer

        def waiting(*arguments):
            """Do not count the submit by which wgpu-py waits."""
            before = len(submitted)
            data = wait(*arguments)
            del submitted[before:]
            return data

        monkeypatch.setattr(queue, "submit", lambda w: submitted.append(len(w)) or submit(w))
        monkeypatch.setattr(queue, "read_buffer", waiting)
        session.repeat(net.train, 20, net.feeds())
        assert submitted == [1] * len(submitted)
        assert 3 <= len(submitted) <= 20  # short steps share a submit, but at most eight


def test_variables_are_written_together(graph, monkeypatch):
    sizes = [(5,), (2, 3), (4096,), ()]
    variables = [
        ops.Variable(np.zeros(size, np.float32), name=f"v{n}") for n, size in enumerate(sizes)
    ]
    values = {
        v: np.random.default_rng(0).random(size, np.float32)
        for v, size in zip(variables, sizes, strict=True)
    }
    with Session(graph, device="gpu") as session:
        session.run(variables)
        host = session.opened("gpu:0").host
        calls, execute = [], host.execute
        monkeypatch.setattr(host, "execute", lambda e: calls.append(len(e.writes)) or execute(e))
        session.assign(values)
        assert calls == [4]
        monkeypatch.setattr(webgpu, "MOST_WRITTEN_BYTES", 100)
        session.assign(values)
        assert calls == [4, 2, 1, 1]
        for variable, value in values.items():
            assert np.array_equal(session.value(variable), value)


class TestLoss:
    """A lost device: an error at the next use that lost something, and everything works on."""

    @pytest.fixture(autouse=True)
    def fresh_devices(self):
        registry.close_gpus()
        yield
        registry.close_gpus()

    @pytest.mark.parametrize("way", ["driver", "host", "registry"])
    def test_a_lost_device_raises_an_error_once_and_is_replaced(self, graph, way):
        w = ops.Variable([1.0], name="w")
        update = w.assign_add(1.0)
        with Session(graph, device="gpu") as session:
            session.run(update)
            if way == "driver":
                session.opened("gpu:0").host._device.destroy()
            elif way == "host":
                session.opened("gpu:0").host.destroy()
            else:
                registry.close_gpus()
            with pytest.raises(DeviceLostError, match=r"lost|gone"):
                session.run(update)
            assert session.value(w) == 1  # from the copy
            assert session.run(w * 5.0) == 5  # on the device that was opened in its place
            with Session(graph, device="gpu") as other:
                assert other.run(update) == 2
            session.assign({w: [5.0]})
            assert session.run(update) == 6
        with Session(graph, device="gpu") as last:
            assert last.run(update) == 2

    def test_an_unnoticed_loss_does_not_disturb_closing(self, graph):
        w = ops.Variable([1.0], name="w")
        for way in ("driver", "host"):
            session = Session(graph, device="gpu")
            session.run(w)
            host = session.opened("gpu:0").host
            (host._device if way == "driver" else host).destroy()
            session.close()
            registry.close_gpus()
        with Session(graph, device="gpu") as session:
            assert session.run(w) == 1

    def test_session_and_device_can_be_collected_together(self, graph, monkeypatch):
        """Wgpu's objects are finalized before the session is closed, which must not call them."""
        with monkeypatch.context() as patch:
            patch.setattr(registry, "_gpus", {})
            session = Session(graph, device="gpu")
            session.run(ops.Variable([1.0], name="w"))
            session.cycle = session
        del session
        gc.collect()
        Session(graph, device="cpu").close()  # closes it


def test_attached_devices_exist_only_within_their_context(graph):
    count = len(registry.gpu_adapters())
    with registry.attached(NullHost()) as name:
        assert name == f"gpu:{count}" and name in registry.device_names()
        assert registry.gpu(count).adapter == "null"
    assert name not in registry.device_names()
    with pytest.raises(DeviceError, match=f"there is no gpu:{count}"):
        registry.gpu(count)
