"""Generators and pipelines are read by one member, and parts by the member that has them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from playgrad.data.pipeline.failures import FailureLog
from playgrad.data.pipeline.shares import Share
from playgrad.training.drawn_batches import DrawnBatches, Rows
from tests.cluster.conftest import PATIENCE, Launcher

PROGRAM = Path(__file__).with_name("drawn_program.py").read_text()
SETTINGS = "PARTS, STRATEGY = 2, pg.parallel.DataParallel(2)"


def read_by(folder: Path, who: object) -> dict[str, int]:
    """Return what a process has read."""
    lines = (folder / f"read_{who}").read_text().splitlines()
    return {name: int(count) for name, _, count in (line.partition(": ") for line in lines)}


@pytest.mark.parametrize(
    ("members", "parts", "strategy"),
    [
        (2, 2, "DataParallel(2)"),
        pytest.param(2, 3, "Pipeline(2, micro_batches=2)", marks=pytest.mark.slow),
        pytest.param(3, 2, "DataParallel(3)", marks=pytest.mark.slow),
    ],
)
def test_each_element_is_read_once_and_the_numbers_are_those_of_one_process(
    launcher: Launcher, members: int, parts: int, strategy: str
) -> None:
    assert PROGRAM.count(SETTINGS) == 1
    chosen = SETTINGS.replace("2,", f"{parts},").replace("DataParallel(2)", strategy)
    program = launcher.program(PROGRAM.replace(SETTINGS, chosen))
    run = launcher.start(program, f"localhost:{members}")
    alone = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=PATIENCE
    )
    assert alone.returncode == 0, alone.stderr[-2000:]
    assert run.wait() == 0, run.err[-2000:]
    printed = run.out[: run.out.index("the end")].splitlines()
    assert printed == alone.stdout.splitlines()[:-1]
    expected = read_by(program.parent, "alone")
    of_each = [read_by(program.parent, rank) for rank in range(members)]
    for name, count in expected.items():
        readers = [rank for rank, read in enumerate(of_each) if read.get(name)]
        assert len(readers) == 1, f"{name} was read by {readers}"
        assert of_each[readers[0]][name] <= count + 3 * 16  # parts end a batch before or after
        if "part" not in name:
            assert readers == [0]
    assert {re.sub(r"\d", "", name) for name in expected} >= {"generator", "map", "part "}


FAILS = """
import os
import numpy as np
import playgrad as pg
from playgrad import nn

rank = int(os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", "0")))


def batches():
    for number in range(8):
        if number == 5:
            raise OSError("the tape is torn")
        yield np.ones((8, 4), np.float32), np.ones((8, 1), np.float32)


def part(number):
    for row in range(8 if number == 0 else 20):
        shape = (3 + WIDER * number,)
        yield np.ones(shape, np.float32), np.ones(1, np.float32)


model = pg.Sequential([nn.Dense(1)])
model.compile(pg.optim.SGD(0.01), loss="mse", strategy=pg.parallel.DataParallel(2))
model.fit(DATA, epochs=1, verbose=0)
print("steps", int(model.optimizer.iterations.numpy()))
"""


def failing(data: str, wider: int = 0) -> str:
    return FAILS.replace("DATA", data).replace("WIDER", str(wider))


def test_an_error_of_the_reader_ends_all_and_is_told_once(launcher: Launcher) -> None:
    text = failing("pg.data.Dataset.from_generator(batches)")
    run = launcher.start(launcher.program(text), "localhost:2")
    assert run.wait() == 1
    assert run.err.count("the tape is torn") == 1


def test_a_round_ends_with_its_shortest_part(launcher: Launcher) -> None:
    text = failing("pg.data.Dataset.from_parts(part, parts=2, batch_size=4)")
    run = launcher.start(launcher.program(text), "localhost:2")
    assert run.wait() == 0, run.err
    assert "steps 4" in run.out


def test_parts_that_cannot_make_up_a_batch_are_an_error(launcher: Launcher) -> None:
    text = failing("pg.data.Dataset.from_parts(part, parts=2, batch_size=4)", wider=1)
    run = launcher.start(launcher.program(text), "localhost:2")
    assert run.wait() == 1
    assert "the parts of a data set yield elements that differ in structure" in run.err
    assert "float32 of shape (3,)" in run.err and "float32 of shape (4,)" in run.err


def test_parts_that_are_transformed_together_are_an_error(launcher: Launcher) -> None:
    data = "pg.data.Dataset.from_parts(part, parts=2, batch_size=4).map(lambda x, y: (x, y))"
    run = launcher.start(launcher.program(failing(data)), "localhost:2")
    assert run.wait() == 1
    assert "the batches of from_parts are transformed" in run.err


def test_only_the_rows_that_a_member_computes_are_sent() -> None:
    sent: dict[int, list[object]] = {}

    class First:
        """The first of three members, whose messages are kept."""

        rank, size = 0, 3

        def exchange(self, outgoing: list[object]) -> list[object]:
            sent.update(enumerate([each] for each in outgoing))
            return [None] * self.size

    batch = (np.arange(24.0).reshape(8, 3), np.arange(8))
    drawn = DrawnBatches(First(), None)  # type: ignore[arg-type]
    drawn.need([Share(0, 1, 4), Share(1, 2, 4), Share(2, 4, 4)])
    assert drawn.next(lambda: batch, FailureLog()) is batch
    assert sent[0] == [None]
    for rank, rows in ((1, slice(2, 4)), (2, slice(4, 8))):
        (piece,) = sent[rank]
        assert isinstance(piece, Rows) and (piece.start, piece.size) == (rows.start, 8)
        for part, whole in zip(piece.content, batch, strict=True):
            np.testing.assert_array_equal(part, whole[rows])
    drawn.next(lambda: ([[1, 2]], [3]), FailureLog())  # lists are handed whole
    assert sent[1] == [Rows(0, None, ([[1, 2]], [3]))]
