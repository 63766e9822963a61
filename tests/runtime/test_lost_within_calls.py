"""A GPU that another thread loses at any moment of a training is a DeviceLostError, and no more."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.devices import registry
from playgrad.errors import DeviceLostError
from tests.sweeps import budget, dice

pytestmark = [pytest.mark.gpu, pytest.mark.survival("Lost devices on the desktop")]

X = np.random.default_rng(0).normal(size=(64, 8)).astype(np.float32)
Y = (X.sum(1) > 0).astype(np.int32)
_PATHS = ("/playgrad/devices/", "/playgrad/runtime/")
_WAIT_SECONDS = 0.01
"""For a thread that has to wait for the call to end: it then loses the device right afterwards."""

WAYS: dict[str, Callable[[], object]] = {
    "its host is destroyed": lambda: registry.gpu(0).host.destroy(),
    "all are closed": registry.close_gpus,
}


@pytest.fixture(autouse=True)
def fresh_devices() -> Iterator[None]:
    registry.close_gpus()
    yield
    registry.close_gpus()


class Moments:
    """Counts the calls of the runtime's functions, and lets a thread act at one of them."""

    def __init__(self, moment: int = 0, act: Callable[[], object] = lambda: None) -> None:
        self.count = 0
        self._moment = moment
        self._thread = threading.Thread(target=act)

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event != "call" or not any(path in frame.f_code.co_filename for path in _PATHS):
            return
        self.count += 1
        if self.count == self._moment:
            self._thread.start()
            self._thread.join(_WAIT_SECONDS)

    @contextmanager
    def watched(self) -> Iterator[None]:
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(None)
            if self._thread.ident is not None:
                self._thread.join()


def trained() -> pg.Model:
    pg.reset_default_graph(1)
    model = pg.Sequential([nn.Dense(4, activation="relu"), nn.Dense(2)])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.01), loss, device="gpu")
    fit(model)
    return model


def fit(model: pg.Model) -> Any:
    return model.fit(X, Y, batch_size=16, verbose=0)


def steps(model: pg.Model) -> int:
    assert model.optimizer is not None
    return int(model.session.value(model.optimizer.iterations))


@pytest.mark.filterwarnings("ignore:.*was lost:RuntimeWarning")
@pytest.mark.parametrize("way", WAYS)
def test_a_device_lost_within_any_call_is_a_lost_device(
    way: str, record_property: Callable[[str, object], None]
) -> None:
    draw, tried = dice(way), budget(4, night=300)
    model = trained()
    whole = Moments()
    with whole.watched():
        fit(model)
    model.close()
    for _ in range(tried):
        moment = draw.randrange(1, whole.count)
        model = trained()
        before = model.named_weights()
        model.session.keep_copy()
        try:
            with Moments(moment, WAYS[way]).watched():
                fit(model)
        except DeviceLostError as error:
            assert "Call fit again" in str(error) or "Run again" in str(error), moment
        except Exception as error:
            raise AssertionError(f"{way}, {moment}: {type(error).__name__} {error}") from error
        reached = steps(model)
        assert reached >= 4, moment
        if reached == 4:
            for name, array in model.named_weights().items():
                np.testing.assert_array_equal(array, before[name])
        try:
            fit(model)
        except DeviceLostError:  # lost at the very end of the one before
            fit(model)
        assert steps(model) == reached + 4, moment
        model.close()
    record_property("tried", tried)
