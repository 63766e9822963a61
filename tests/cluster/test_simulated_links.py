"""``playgrad simulate --links``: predictions from links that ``playgrad hosts`` has measured."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from playgrad.cluster.saved_links import EAGER_BYTES, read_links
from playgrad.errors import DataError
from playgrad.parallel.simulator import Interconnect, Job, Machine, simulate_jobs
from playgrad.parallel.step_jobs import StageCost, data_parallel_jobs
from playgrad.runtime.timeline import timeline
from tests.cli.conftest import PROGRAM
from tests.cli.running import run

SAVED: dict[str, Any] = {
    "hosts": [{"cores": 2, "slots": 1}, {"cores": 4, "slots": 1}],
    "members": 2,
    "links": [
        {"hosts": ["a", "b"], "latency": 1e-4, "bandwidth": 1e8, "both_ways": 1.5e8},
        {"hosts": ["b", "b"], "latency": 1e-5, "bandwidth": 1e9, "both_ways": 1e9},
    ],
    "together": {"latency": 2e-4, "bandwidth": 1.2e8, "agreement": 1e-3},
}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    file = tmp_path / "links.json"
    file.write_text(json.dumps(SAVED))
    return file


def test_the_slowest_link_counts(saved: Path) -> None:
    links = read_links(saved)
    assert links.interconnect("central") == Interconnect(1e-4, 1e8, True, EAGER_BYTES, True)
    assert links.interconnect("ring") == Interconnect(1e-4, 0.75e8, True, EAGER_BYTES, True)
    assert replace(links, members=4).interconnect("ring").bandwidth == 0.6e8
    assert links.agreement(1) == 0
    assert links.agreement(8) == pytest.approx(3e-3)
    assert links.model(64).at_once == 64 * links.model(2).at_once // 2


def test_members_of_one_machine_share_its_cores(tmp_path: Path) -> None:
    file = tmp_path / "links.json"
    file.write_text(json.dumps(SAVED | {"hosts": [{"cores": 2, "slots": 4}], "members": 4}))
    links = read_links(file)
    assert links.rates(4) == pytest.approx((1.0, 1.0, 2 / 3, 0.5))
    assert links.cores_of(8) == 2
    assert links.interconnect("ring").eager == math.inf
    # Two that compute are measured to slow each other down, and others wait for their cores.
    slow = replace(links, together=replace(links.together, rate=0.8))
    assert slow.rates(4) == pytest.approx((1.0, 0.8, 0.8 * 2 / 3, 0.4))
    assert replace(slow, cores=((8, 4),)).rates(4)[1:] == pytest.approx(
        (1 - 0.2 / 3, 1 - 0.4 / 3, 0.8)
    )
    file.write_text(json.dumps(SAVED | {"hosts": [{"cores": 2, "slots": 4}] * 2, "members": 8}))
    assert read_links(file).rates(8) == (0.5,) * 8
    assert [read_links(file).cores_of(count) for count in (8, 16)] == [4, 8]
    file.write_text(json.dumps(SAVED | {"together": {**SAVED["together"], "rate": 0.8}}))
    assert read_links(file).rates(3) == (0.8,) * 3


def test_only_the_receiver_waits_for_what_is_sent_aside() -> None:
    jobs = [
        Job("send", "a", 1.0, "forward", sent=100),
        Job("go on", "a", 1.0, "forward", (0,)),
        Job("receive", "b", 1.0, "forward", (0,), received=100),
    ]
    seconds = [
        timeline(simulate_jobs(jobs, Interconnect(0.5, 50.0, aside))).seconds
        for aside in (False, True)
    ]
    # 1 s of work, 2 s to send, 0.5 s on the way, 2 s to receive, 1 s of work.
    assert seconds == [6.5, 4.5]


def test_messages_arrive_while_their_receiver_computes_and_in_both_directions_at_once() -> None:
    jobs = [
        Job("first", "a", 1.0, "forward", sent=100),
        Job("work", "b", 4.0, "forward", sent=100),
        Job("receive", "b", 1.0, "forward", (0, 1), received=100),
        Job("second", "a", 2.0, "forward", (0,), sent=100),
        Job("answer", "a", 1.0, "forward", (1, 3), received=100),
        Job("last", "b", 1.0, "forward", (2, 3), received=100),
    ]
    link = Interconnect(0.5, 50.0, sends_aside=True, eager=100, arrives_aside=True)
    trace = simulate_jobs(jobs, link)
    end = {event.name: event.end for event in trace.events if event.kind == "forward"}
    # The first message is there at 3.5 s, the second leaves at 3 s and is there at 5.5 s.
    assert end == {"first": 1, "work": 4, "second": 3, "receive": 5, "answer": 7.5, "last": 6.5}
    larger = [replace(job, received=101 * (job.received > 0)) for job in jobs]
    trace = simulate_jobs(larger, link)
    end = {event.name: event.end for event in trace.events if event.kind == "forward"}
    assert end["receive"] > 7 and end["last"] > 10  # the receiver has to come to it


def test_who_has_waited_for_long_wakes_up_late() -> None:
    def seconds(work: float) -> float:
        jobs = [Job("a", "a", work, "forward", sent=1), Job("b", "b", 1.0, "forward", (0,))]
        return timeline(simulate_jobs(jobs, machine=Machine(waking=0.25))).seconds - work

    assert seconds(1e-4) == pytest.approx(1.0)
    assert seconds(1.0) == pytest.approx(1.25)


def test_messages_and_starts_take_longer_on_cores_that_compute() -> None:
    jobs = [Job(name, name, 1.0, "forward") for name in "abc"]
    jobs.append(Job("receive", "d", 1.0, "forward", (0,), received=100))

    def end(cores: float, is_network: bool = False) -> float:
        link = Interconnect(0.5, 50.0, sends_aside=True, arrives_aside=is_network)
        trace = simulate_jobs(jobs, link, Machine(overhead=0.25, cores=cores))
        return timeline(trace).seconds

    # 1 s of work, 0.5 s on the way, 0.25 s to start, 2 s to receive, 1 s of work.
    assert end(3) == pytest.approx(4.75)
    assert Machine(cores=2).slowness(3) == 1.5 and Machine(cores=2).slowness(1) == 1
    # Two still compute when the first one ends: three of them share the core.
    assert end(1) == pytest.approx(4.75 + 2 * 0.75)
    # Over a network, a message arrives meanwhile, without anybody's work.
    assert end(1, is_network=True) == end(3, is_network=True) == pytest.approx(4.5)


def test_central_sends_the_next_bucket_while_the_sum_of_the_last_comes_back() -> None:
    cost = StageCost(0.0, 0.0, 0.0, parameters=4 << 20)
    link = Interconnect(0.0, 1 << 20, True, math.inf, arrives_aside=True)
    jobs = data_parallel_jobs(cost, 2, "central")
    # Four buckets of a second each way: the first sum comes back while the second one is sent.
    assert timeline(simulate_jobs(jobs, link)).seconds == pytest.approx(5.0)
    # A device that can do only one thing at a time sends, or receives.
    turns = replace(link, sends_aside=False, arrives_aside=False)
    assert timeline(simulate_jobs(jobs, turns)).seconds > 8


def test_large_messages_wait_until_their_sender_has_computed() -> None:
    jobs = [
        Job("send", "a", 1.0, "forward", sent=100),
        Job("go on", "a", 3.0, "forward", (0,)),
        Job("receive", "b", 1.0, "forward", (0,), received=100),
    ]
    seconds = [
        timeline(simulate_jobs(jobs, Interconnect(0.5, 50.0, True, eager))).seconds
        for eager in (100, 99)
    ]
    # 1 s of work, 0.5 s on the way, then 2 s to receive beside the sender's work, or after its 3 s.
    assert seconds == [4.5, 7.0]


def test_what_a_device_receives_from_itself_waits_for_nothing() -> None:
    link = Interconnect(0.0, 50.0, True, 10)
    jobs = [
        Job("one", "a", 1.0, "forward"),
        Job("two", "b", 5.0, "forward"),
        Job("three", "a", 1.0, "forward", (0,), received=100),
    ]
    assert timeline(simulate_jobs(jobs, link)).seconds == 5.0
    assert simulate_jobs(jobs[:1] + jobs[2:], link) is not None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"links": []}, "has no measured links"),
        ({"together": None}, "has no measured links"),
        ({"members": "many"}, "is not the output of"),
        ({"hosts": [{"slots": 1}]}, "KeyError: 'cores'"),
        ({"together": {**SAVED["together"], "bandwidth": -1}}, "bandwidth is -1.0"),
        ({"together": {**SAVED["together"], "bandwidth": float("nan")}}, "bandwidth is nan"),
        ({"together": {**SAVED["together"], "rate": 0}}, "rate is 0.0"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    file = tmp_path / "links.json"
    file.write_text(json.dumps(SAVED | change))
    with pytest.raises(DataError, match=words):
        read_links(file)


@pytest.mark.parametrize("content", ["", "[]", "{", "\x00"])
def test_files_that_hold_no_object_are_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "links.json"
    file.write_text(content)
    with pytest.raises(DataError, match="is not the output of `playgrad hosts --json`"):
        read_links(file)


def test_predictions_follow_the_links(capsys: pytest.CaptureFixture[str], saved: Path) -> None:
    program = saved.with_name("program.py")
    program.write_text(PROGRAM)
    words = ["simulate", program, "--device", "cpu", "--devices", 1, 2, "--json", "--links", saved]
    code, out, err = run(capsys, *words)
    assert code == 0, err
    alone, two = json.loads(out.splitlines()[-1])
    assert alone["communication"] == 0
    assert two["seconds"] > 1e-3 + 2 * 1e-4  # the agreement, and two messages
    refused = run(capsys, *words, "--here")
    assert refused[0] == 2 and "--links has no effect" in refused[2]
    assert run(capsys, *words[:-1], saved.parent / "none")[0] == 2


def test_members_that_share_cores_are_predicted_with_a_caution(
    capsys: pytest.CaptureFixture[str], saved: Path
) -> None:
    program = saved.with_name("program.py")
    program.write_text(PROGRAM)
    words = ["simulate", program, "--device", "cpu", "--devices", 1, 2, "--links", saved]
    code, out, err = run(capsys, *words)
    assert code == 0, err
    assert "more members than cores" not in out
    saved.write_text(json.dumps(SAVED | {"hosts": [{"cores": 1, "slots": 2}]}))
    code, out, err = run(capsys, *words)
    assert code == 0, err
    assert "with more members than cores, steps were measured to take 0.7 to 1.9 times" in out
