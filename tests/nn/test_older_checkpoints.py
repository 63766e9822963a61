"""Checkpoints of versions that drew the samples in another order, or with other arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import CheckpointError
from playgrad.parallel import DataParallel, LocalSGD, Pipeline
from playgrad.training.checkpoints.record import Checkpoint
from tests.nn.resumed_runs import Trained, expect_same, run

rng = np.random.default_rng(0)
X = rng.normal(size=(10, 3)).astype(np.float32)
Y = (X @ np.array([[1.0], [-2], [3]])).astype(np.float32)
FILLS = pytest.mark.filterwarnings("ignore:with this strategy, the last batch:RuntimeWarning")


def of_earlier_version(content: bytes) -> bytes:
    """Return a checkpoint without what those lack whose batches were all full."""
    checkpoint = Checkpoint.decode(content)
    for fit in checkpoint.fits:
        fit.data.pop("last_batch", None)
        fit.settings.pop("drop_remainder", None)
        for name in [name for name in fit.step_state if name.startswith("samples from step")]:
            del fit.step_state[name]
    return checkpoint.encode()


def fits(*batches: int, **options: Any) -> Trained:
    """Train a model on ten samples, in a fit for each size of batches."""
    model = pg.Sequential([pg.Input((3,)), nn.Dense(1), nn.Dense(1)])
    model.compile(pg.optim.Adam(0.01), "mse", device="cpu", strategy=options.pop("strategy", None))
    return Trained([model], [model.fit(X, Y, size, 3, 0, **options) for size in batches])


@pytest.mark.parametrize(
    ("batches", "stop_at", "options"),
    [
        ([4], 5, {}),
        ([4], 5, {"drop_remainder": True}),
        ([10, 5], 5, {}),
        ([4], 5, {"shuffle": False}),
    ],
)
def test_checkpoints_of_another_order_of_samples_are_refused(
    batches: list[int], stop_at: int, options: dict[str, Any]
) -> None:
    """Batches of earlier versions went on from one epoch, and one fit, to the next."""
    stopped = run(lambda: fits(*batches, **options), stop_at=stop_at).checkpoints[-1]
    expect_same(
        run(lambda: fits(*batches, **options), stopped), run(lambda: fits(*batches, **options))
    )
    with pytest.raises(CheckpointError, match="another order: batches continued") as caught:
        run(lambda: fits(*batches, **options), of_earlier_version(stopped))
    assert "Train from the start" in str(caught.value)


@pytest.mark.parametrize(
    ("batches", "stop_at", "options"),
    [
        ([5], 3, {}),
        ([5, 5], 8, {}),
        ([16], 2, {}),
        ([5], 3, {"strategy": DataParallel(2)}),
        ([5], 3, {"strategy": LocalSGD(2, every=1)}),
        pytest.param([4], 5, {"strategy": Pipeline(2, 4)}, marks=FILLS),
    ],
)
def test_checkpoints_of_the_same_order_of_samples_continue(
    batches: list[int], stop_at: int, options: dict[str, Any]
) -> None:
    def program() -> Trained:
        return fits(*batches, **options)

    stopped = run(program, stop_at=stop_at).checkpoints[-1]
    expect_same(run(program, of_earlier_version(stopped)), run(program))


@pytest.mark.parametrize("size", [4, 5])
def test_another_drop_remainder_is_refused(size: int) -> None:
    for before in (False, True):
        stopped = run(lambda: fits(size, drop_remainder=before), stop_at=2).checkpoints[-1]  # noqa: B023
        with pytest.raises(CheckpointError, match=r"last_batch|arguments of fit\(\)"):
            run(lambda: fits(size, drop_remainder=not before), stopped)  # noqa: B023


def test_old_checkpoints_of_data_sets_are_refused_within_an_epoch() -> None:
    def program() -> Trained:
        model = pg.Sequential([pg.Input((3,)), nn.Dense(1)])
        model.compile("adam", "mse", device="cpu")
        data = pg.data.Dataset.from_tensor_slices((X, Y)).batch(4)
        return Trained([model], [model.fit(data, epochs=3, verbose=0)])

    stopped = run(program, stop_at=2).checkpoints[-1]
    with pytest.raises(CheckpointError, match="how many samples the batches had"):
        run(program, of_earlier_version(stopped))
