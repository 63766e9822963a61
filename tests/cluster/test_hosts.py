"""``playgrad train --hosts`` on one machine: what a user sees, and what goes wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from playgrad.cluster.hosts import parse_hosts
from tests.cluster.conftest import Launcher


@pytest.mark.parametrize("text", ["", "a:0", "a:-1", "a:4,a:2", "a b:1", "-x:1", "a:99999", "a,,b"])
def test_hosts_that_are_not_valid_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"host|processes"):
        parse_hosts(text)


def test_a_run_looks_like_one_on_a_single_process(launcher: Launcher, tmp_path: Path) -> None:
    weights = tmp_path / "w.safetensors"
    run = launcher.start(launcher.trains(2), "localhost:2", "--export", weights, "--trace", tmp_path / "t.json")
    assert run.wait() == 0, run.err
    assert run.out.count("weights [") == 1
    assert run.err.count("epoch 2/2: loss") == 1
    assert run.out.count("moving tensors") == 1
    assert weights.exists()
