"""The executor: any legal order, real concurrency, errors and stops that end a run cleanly."""

from __future__ import annotations

import json
import random
import threading
import time
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playgrad import ops
from playgrad.devices.pending import Delay
from playgrad.runtime import run
from playgrad.runtime.executor import Executor
from playgrad.runtime.session import Session
from playgrad.runtime.tasks import SegmentTask, Task
from playgrad.runtime.trace import Event, Trace
from tests.sweeps import examples

PATIENCE = 300.0  # seconds that tasks wait for each other before the test fails


@st.composite
def dags(draw) -> list[tuple[int, ...]]:
    """Draw a graph: for each task, the earlier tasks that it waits for."""
    size = draw(st.integers(0, 14))
    return [
        tuple(sorted(draw(st.sets(st.integers(0, i - 1), max_size=4)))) if i else ()
        for i in range(size)
    ]


def mixing_tasks(
    edges: list[tuple[int, ...]], heavy: list[bool]
) -> tuple[list[Task], dict[int, int]]:
    """Return tasks whose results depend only on their predecessors' results, and the results."""
    results: dict[int, int] = {}

    def work(number: int) -> None:
        assert number not in results
        value = number + 1
        for before in edges[number]:
            value = (value * 1_000_003 + results[before]) % (2**61 - 1)
        results[number] = value

    tasks = [
        Task(f"t{i}", "cpu:0", lambda i=i: work(i), after, heavy[i])
        for i, after in enumerate(edges)
    ]
    return tasks, results


def check_order(tasks: list[Task], trace: Trace) -> None:
    """Check that each task ran once, after all of its predecessors."""
    done = [event for event in trace.events if event.kind != "delay"]
    events = {event.name: event for event in done}
    assert set(events) == {task.name for task in tasks} and len(done) == len(tasks)
    for task in tasks:
        event = events[task.name]
        assert event.queued <= event.start <= event.end
        for before in task.after:
            assert events[tasks[before].name].end <= event.queued


class TestOrder:
    @given(dags(), st.integers(0, 2**16))
    def test_any_legal_order_gives_the_same_results(self, edges, seed):
        tasks, expected = mixing_tasks(edges, [False] * len(edges))
        Executor(threads=1).run(tasks)
        assert len(expected) == len(edges)
        tasks, results = mixing_tasks(edges, [False] * len(edges))
        Executor(threads=1, choose=random.Random(seed).choice).run(tasks)
        assert results == expected

    @examples(50)
    @given(dags(), st.data())
    def test_threads_give_the_same_results(self, edges, data):
        tasks, expected = mixing_tasks(edges, [False] * len(edges))
        Executor(threads=1).run(tasks)
        heavy = data.draw(st.lists(st.booleans(), min_size=len(edges), max_size=len(edges)))
        tasks, results = mixing_tasks(edges, heavy)
        executor = Executor(threads=3)
        try:
            for _ in range(3):
                results.clear()
                executor.run(tasks)
                assert results == expected
        finally:
            executor.close()

    @examples(50)
    @given(dags(), st.integers(0, 3))
    def test_recorded_events_follow_the_dependencies(self, edges, threads):
        tasks, _ = mixing_tasks(edges, [i % 2 == 0 for i in range(len(edges))])
        executor, trace = Executor(threads), Trace()
        executor.run(tasks, trace)
        executor.close()
        check_order(tasks, trace)

    def test_circular_dependencies_are_refused(self):
        tasks = [Task("a", "cpu:0", list, (1,)), Task("b", "cpu:0", list, (0,))]
        with pytest.raises(RuntimeError, match="the tasks have a circular dependency"):
            Executor().run(tasks)


class TestConcurrency:
    def test_two_heavy_tasks_run_at_the_same_time(self):
        """Each task waits for the other: in sequence, they would never end."""
        meeting = threading.Barrier(2, timeout=PATIENCE)
        tasks = [Task(name, "cpu:0", lambda: meeting.wait() and None, heavy=True) for name in "ab"]
        executor = Executor(threads=2)
        try:
            executor.run(tasks)
        finally:
            executor.close()

    def test_light_tasks_continue_beside_a_heavy_one(self):
        done = threading.Event()
        tasks = [
            Task("heavy", "cpu:0", lambda: done.wait(PATIENCE) or pytest.fail("alone"), heavy=True),
            Task("light", "cpu:0", list),
            Task("last", "cpu:0", done.set, (1,)),
        ]
        executor = Executor(threads=2)
        try:
            executor.run(tasks)
        finally:
            executor.close()

    def test_tasks_becoming_ready_beside_a_busy_thread_start(self):
        """The first task ends only after tasks that become ready while it runs."""
        done = threading.Event()
        tasks = [
            Task("long", "cpu:0", lambda: done.wait(PATIENCE) or pytest.fail("alone"), heavy=True),
            Task("short", "cpu:0", list, heavy=True),
            Task("light", "cpu:0", list, (1,)),
            Task("heavy", "cpu:0", list, (2,), heavy=True),
            Task("last", "cpu:0", done.set, (3,)),
        ]
        executor = Executor(threads=2)
        try:
            for order in (tasks, [tasks[1], tasks[0], *tasks[2:]]):
                done.clear()
                first = order.index(tasks[1])
                light = replace(tasks[2], after=(first,))
                executor.run([*order[:2], light, *order[3:]])
        finally:
            executor.close()

    def test_all_free_threads_start_ready_tasks(self):
        """Two tasks that become ready together meet, and the first task waits for both."""
        meeting, done = threading.Barrier(2, timeout=PATIENCE), threading.Event()
        tasks = [
            Task("long", "cpu:0", lambda: done.wait(PATIENCE) or pytest.fail("alone"), heavy=True),
            Task("short", "cpu:0", list, heavy=True),
            Task("a", "cpu:0", lambda: meeting.wait() and None, (1,), heavy=True),
            Task("b", "cpu:0", lambda: meeting.wait() and None, (1,), heavy=True),
            Task("last", "cpu:0", done.set, (2, 3)),
        ]
        executor = Executor(threads=3)
        try:
            executor.run(tasks)
        finally:
            executor.close()

    def test_light_tasks_stay_on_the_calling_thread(self):
        names = []
        tasks = [
            Task(f"t{i}", "cpu:0", lambda: names.append(threading.current_thread().name))
            for i in range(5)
        ]
        Executor(threads=4).run(tasks)
        assert names == [threading.current_thread().name] * 5

    @pytest.mark.parametrize("threads", [0, 1])
    def test_all_tasks_run_on_the_calling_thread_without_workers(self, threads):
        names = []
        tasks = [
            Task(f"t{i}", "cpu:0", lambda: names.append(threading.current_thread()), heavy=True)
            for i in range(3)
        ]
        Executor(threads).run(tasks)
        assert names == [threading.current_thread()] * 3

    def test_close_ends_the_threads(self):
        before = threading.active_count()
        executor = Executor(threads=3)
        meeting = threading.Barrier(3, timeout=PATIENCE)
        executor.run([Task(n, "cpu:0", lambda: meeting.wait() and None, heavy=True) for n in "abc"])
        assert threading.active_count() > before
        executor.close()
        executor.close()
        assert threading.active_count() == before

    def test_large_operations_of_a_session_share_the_work(self, graph):
        """Two independent products are heavy tasks, which may run at the same time."""
        x = ops.placeholder("float32", [400, 400], name="x")
        y, z = ops.matmul(x, x, name="y"), ops.matmul(x, x, transpose_a=True, name="z")
        with Session(graph, device="cpu", threads=2) as session:
            runnable = session.compiled([y, z], {x: _ones(400)})
            heavy = {task.name: task.heavy for task in runnable.tasks}
            assert heavy == {"y": True, "z": True}
            assert session.run([y, z], {x: _ones(400)})[0][0, 0] == 400


def _ones(size):
    return [[1.0] * size] * size


DEVICES = ["cpu:0", "cpu:1", "gpu:0"]


def segments_of(tasks: list[Task], devices: list[str]) -> list[Task]:
    """Return ``tasks``, where tasks with a device become its segments, each after the previous
    one."""
    last: dict[str, int] = {}
    segments: list[Task] = []
    for number, (task, device) in enumerate(zip(tasks, devices, strict=True)):
        if device == "":
            segments.append(task)
            continue
        after = {*task.after, last.get(device, number)} - {number}
        last[device] = number

        def coroutine(queued: float, trace: Trace | None, attend, task=task, device=device):
            start = time.perf_counter()
            yield Delay(0.0)
            task.work()
            if trace is not None:
                now = time.perf_counter()
                trace.events.append(Event(task.name, device, queued, start, now))

        segments.append(
            SegmentTask(task.name, device, after=tuple(sorted(after)), coroutine=coroutine)
        )
    return segments


class TestDevices:
    """Segments of several devices, with single operations in between."""

    @examples(150)
    @given(dags(), st.data())
    def test_devices_give_the_same_results_in_any_order(self, edges, data):
        size = len(edges)
        devices = data.draw(st.lists(st.sampled_from(["", *DEVICES]), min_size=size, max_size=size))
        heavy = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
        expected_of, expected = mixing_tasks(edges, [False] * size)
        Executor(threads=1).run(expected_of)
        tasks, results = mixing_tasks(edges, heavy)
        tasks = segments_of(tasks, devices)
        executor = Executor(data.draw(st.integers(0, 3)))
        executor.timeout = PATIENCE
        executor.choose = data.draw(st.sampled_from([None, random.Random(size).choice]))
        executor.delays = {device: data.draw(st.sampled_from([0.0, 0.001])) for device in DEVICES}
        try:
            for _ in range(3):
                results.clear()
                trace = Trace()
                executor.run(tasks, trace)
                assert results == expected
                check_order(tasks, trace)
        finally:
            executor.close()

    def test_independent_devices_work_at_the_same_time(self):
        """Each segment waits for the others."""
        meeting = threading.Barrier(3, timeout=PATIENCE)
        tasks = [Task(name, "", lambda: meeting.wait() and None) for name in "abc"]
        first = Task("first", "cpu:0", list)
        after = [Task(task.name, "", task.work, (0,)) for task in tasks]
        executor = Executor(threads=1)
        try:
            executor.run(segments_of(tasks, DEVICES))
            executor.run(segments_of([first, *after], ["cpu:1", *DEVICES]))
        finally:
            executor.close()

    def test_devices_are_woken_when_a_heavy_task_ends(self):
        done, ran = threading.Event(), []
        tasks = [
            Task("heavy", "cpu:0", lambda: done.wait(PATIENCE) and None, heavy=True),
            Task("light", "cpu:0", done.set),
            *(Task(name, "", partial(ran.append, name), (0,)) for name in "ab"),
        ]
        executor = Executor(threads=2)
        try:
            executor.run(segments_of(tasks, ["", "", *DEVICES[:2]]))
        finally:
            executor.close()
        assert sorted(ran) == ["a", "b"]

    def test_each_device_has_its_own_thread(self):
        names = []
        tasks = [
            Task(
                f"t{i}",
                "",
                lambda: names.append(threading.current_thread().name),
                (i - 1,) if i else (),
            )
            for i in range(9)
        ]
        executor = Executor(threads=1)
        try:
            executor.run(segments_of(tasks, DEVICES * 3))
        finally:
            executor.close()
        assert names == [f"playgrad-{device}" for device in DEVICES] * 3

    def test_running_segments_end_before_an_error_is_raised(self):
        ran, began, release = [], threading.Event(), threading.Event()

        def fail():
            began.wait(PATIENCE)
            release.set()
            raise ValueError("broken")

        def slow():
            began.set()
            release.wait(PATIENCE)
            ran.append("slow")

        tasks = [Task("fail", "", fail), Task("slow", "", slow), Task("last", "", fail, (0, 1))]
        tasks = segments_of(tasks, DEVICES)
        executor = Executor(threads=1)
        try:
            with pytest.raises(ValueError, match="broken"):
                executor.run(tasks)
            assert ran == ["slow"]
            executor.run(tasks[1:2])  # the executor can be used again
            assert ran == ["slow", "slow"]
        finally:
            executor.close()

    def test_computing_on_the_calling_thread_resumes_other_devices(self, monkeypatch):
        """In a page, a delayed segment of cpu:0 computes here, and attends to other devices."""
        monkeypatch.setattr(run, "sys", SimpleNamespace(platform="emscripten"))
        ran = []

        def here(queued, trace, attend):
            time.sleep(0.06)  # what the others wait for is over
            attend()
            ran.append("here")
            yield from ()

        def elsewhere(seconds):
            def coroutine(queued, trace, attend):
                yield Delay(seconds)
                ran.append(seconds)

            return coroutine

        tasks = [
            SegmentTask("here", "cpu:0", coroutine=here, here=True),
            SegmentTask("first", "cpu:1", coroutine=elsewhere(0.001)),
            # Waits when "here" does, and longer.
            SegmentTask("second", "cpu:2", coroutine=elsewhere(0.05), after=(1,)),
        ]
        executor = Executor(threads=1)
        executor.delays = {"cpu:0": 0.02}
        executor.run(tasks)
        assert ran == [0.001, 0.05, "here"]


class TestErrors:
    @pytest.mark.parametrize("heavy", [False, True])
    def test_errors_end_the_run(self, heavy):
        ran = []

        def fail():
            raise ValueError("broken")

        tasks = [
            Task("a", "cpu:0", fail, heavy=heavy),
            Task("b", "cpu:0", lambda: ran.append("b"), heavy=heavy),
            Task("c", "cpu:0", lambda: ran.append("c"), (0,)),
        ]
        executor = Executor(threads=2)
        try:
            with pytest.raises(ValueError, match="broken"):
                executor.run(tasks)
            assert "c" not in ran
            ran.clear()
            executor.run(tasks[1:2])  # the executor can be used again
            assert ran == ["b"]
        finally:
            executor.close()

    def test_errors_wait_for_running_tasks(self):
        began, release, ended = threading.Event(), threading.Event(), threading.Event()

        def slow():
            began.set()
            release.wait(PATIENCE)
            ended.set()

        def fail():
            began.wait(PATIENCE)
            release.set()
            raise ValueError("broken")

        executor = Executor(threads=2)
        try:
            with pytest.raises(ValueError, match="broken"):
                executor.run([Task("fail", "cpu:0", fail), Task("s", "cpu:0", slow, heavy=True)])
            assert ended.is_set()
        finally:
            executor.close()

    def test_stop_is_checked_between_tasks(self):
        ran = []
        tasks = [
            Task(f"t{i}", "cpu:0", lambda i=i: ran.append(i), (i - 1,) if i else ())
            for i in range(9)
        ]
        with pytest.raises(KeyboardInterrupt):
            Executor().run(tasks, stop=lambda: len(ran) == 4)
        assert ran == [0, 1, 2, 3]


class TestTraceFiles:
    def test_session_traces_are_valid(self, graph, tmp_path):
        x = ops.placeholder("float32", [4], name="x")
        with graph.device("gpu:0"):
            a = ops.exp(x, name="a")
        with graph.device("cpu:0"):
            b = ops.neg(a, name="b")
        trace = Trace()
        with Session(graph) as session:
            session.run(b, {x: [1, 2, 3, 4]}, trace=trace)
        path = tmp_path / "trace.json"
        trace.save(path)
        data = json.loads(path.read_text())
        events = [event for event in data["traceEvents"] if event["ph"] == "X"]
        tracks = {e["tid"]: e["args"]["name"] for e in data["traceEvents"] if e["ph"] == "M"}
        assert {tracks[event["tid"]] for event in events} == {"cpu:0", "gpu:0"}
        assert [e["name"] for e in events][-1] == "b"
        for event in events:
            assert event["ts"] >= 0 and event["dur"] >= 0 and event["args"]["waited_us"] >= 0
            assert isinstance(event["pid"], int) and isinstance(event["tid"], int)

    def test_events_of_one_track_do_not_overlap(self):
        """The format nests events that overlap, so concurrent tasks need separate tracks."""
        spans = [(0, 4), (1, 3), (2, 6), (4, 5), (7, 8)]
        trace = Trace([Event(f"t{i}", "cpu:0", 0, a, b) for i, (a, b) in enumerate(spans)])
        events = trace.as_chrome()["traceEvents"]
        tracks: dict[int, list[tuple[float, float]]] = {}
        for event in events:
            if event["ph"] == "X":
                tracks.setdefault(event["tid"], []).append((event["ts"], event["dur"]))
        assert len(tracks) == 3
        for track in tracks.values():
            ends = 0.0
            for ts, duration in sorted(track):
                assert ts >= ends
                ends = ts + duration

    def test_an_empty_trace_is_valid(self):
        assert Trace().as_chrome() == {"displayTimeUnit": "ms", "traceEvents": []}
