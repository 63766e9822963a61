"""Collective algorithms are chosen by the links that the members of a run have measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from playgrad.parallel.collectives import choose, get
from playgrad.parallel.collectives.choice import (
    LinkModel,
    TransportSums,
    current_links,
    links_set,
    transport_is_faster,
)
from playgrad.parallel.collectives.links import MeasuredLink, Together, link_model
from tests.cli.processes import run_process

MIB = 1 << 20
GIGABIT = 1.2e8
PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad.parallel.collectives.choice import HOST, current_links
from playgrad.runtime.members import current_members

members = current_members()
links = members.all_of(current_links())
assert len(links) == 3 and len(set(links)) == 1 and links[0] != HOST, links
assert 1e-4 < links[0].sums.latency < 60 and links[0].sums.bandwidth > 1e4, links
model = pg.Sequential([pg.nn.Dense(1)])
model.compile("sgd", "mse", strategy=pg.parallel.DataParallel(3, "fastest"))
model.fit(np.ones((6, 2), np.float32), np.ones((6, 1), np.float32), epochs=1, verbose=0)
"""


def model_of(duplex: float, members: int, share: float) -> LinkModel:
    """Return the model of a link with twice the bandwidth both ways for a ``duplex`` of 2.

    Args:
        share: of that bandwidth, what each member gets when all exchange at once.
    """
    link = MeasuredLink(1e-4, GIGABIT, duplex * GIGABIT)
    return link_model(link, Together(2e-4, share * duplex * GIGABIT, 1e-3), members)


def test_a_ring_is_chosen_for_links_of_two_directions() -> None:
    """Members of a ring send and receive at once, those of a star take turns."""
    assert choose(MIB, 2, link=model_of(2.0, 2, 1.0)).algorithm.name == "ring"
    assert choose(MIB, 2, link=model_of(1.0, 2, 1.0)).algorithm.name == "central"
    assert choose(100, 2, link=model_of(2.0, 2, 1.0)).algorithm.name == "central"


def test_members_that_share_a_link_take_turns() -> None:
    assert model_of(2.0, 8, 1.0).at_once == 8
    assert model_of(2.0, 8, 0.25).at_once == 2
    assert model_of(2.0, 8, 0.001).at_once == 1
    assert choose(MIB, 8, link=model_of(1.0, 8, 1.0)).algorithm.name == "ring"
    assert choose(MIB, 8, link=model_of(1.0, 8, 1 / 8)).algorithm.name == "central"


def test_the_transport_adds_up_where_it_is_faster_and_bits_do_not_matter() -> None:
    exact = model_of(2.0, 2, 1.0)  # a ring takes 0.8 ms and some 9 ms for a MiB
    quick, slow = (replace(exact, sums=TransportSums(1e-3, speed)) for speed in (1e9, 5e7))
    assert transport_is_faster([MIB, MIB], 2, quick)
    assert not transport_is_faster([MIB, MIB], 2, slow)
    assert not transport_is_faster([100], 2, quick)
    assert not transport_is_faster([MIB], 2, exact)  # not measured
    chosen = {}
    for link in (quick, slow):
        with links_set(link):
            for name in ("auto", "fastest"):
                chosen[name, link is quick] = get(name).for_sums([MIB], 2)
            assert choose(MIB, 2).algorithm.name == "ring"
    assert {key for key, each in chosen.items() if each.starts_early} == {("fastest", True)}


def test_links_are_those_of_the_run_within_a_block() -> None:
    before = current_links()
    with links_set(model_of(2.0, 2, 1.0)):
        assert choose(MIB, 2).algorithm.name == "ring"
        with pytest.raises(ZeroDivisionError), links_set(before):
            raise ZeroDivisionError
        assert choose(MIB, 2).algorithm.name == "ring"
    assert current_links() is before


def test_all_members_have_the_same_links(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    ended = run_process(["train", str(program), "--device", "cpu", "--hosts", "localhost:3"])
    assert ended.code == 0, ended.err
