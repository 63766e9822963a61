"""A training with each strategy is copied while it runs, with a timeline of its devices."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from playgrad.cli import main
from playgrad.training.strategies.registry import STRATEGIES, users_of
from tests.cli.test_watch import gated
from tests.page.answers import check_event
from tests.watching.readers import TOKEN
from tests.watching.test_mirror import copying, short_pauses

__all__ = ["short_pauses"]


@pytest.mark.parametrize("strategy", users_of("devices"))
def test_a_strategy_is_watched(strategy: str, tmp_path: Path) -> None:
    program, gate = gated(tmp_path)
    token = tmp_path / "token"
    token.write_text(TOKEN)
    with socket.create_server(("127.0.0.1", 0)) as place:
        port = place.getsockname()[1]
    command = [
        "train", str(program), "--device", "cpu", "--parallel", strategy, "--devices", "2",
        "--watch", str(port), "--token-file", str(token),
    ]  # fmt: skip

    with copying(port) as copy, ThreadPoolExecutor(1) as pool:

        def open_gate() -> None:
            copy.until(lambda: any(each["kind"] == "epoch_end" for each in copy.events))
            gate.touch()
            copy.until_state("ended")

        copied = pool.submit(open_gate)
        assert main(command) == 0
        copied.result()
    for event in copy.events[1:]:
        check_event(event)
    fit = next(event for event in copy.events if event["kind"] == "lab_fit")
    assert fit["title"].startswith(STRATEGIES[strategy].descriptor.title)
    assert (fit["devices"], fit["single"]) == (2, False)
    trace = next(event for event in copy.events if event["kind"] == "trace")
    assert {each["device"] for each in trace["timeline"]["devices"]} >= {"cpu:0", "cpu:1"}
    assert copy.events[-1] == {"kind": "status", "state": "done"}
