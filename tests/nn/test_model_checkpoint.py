"""``ModelCheckpoint`` with all that training needs: continues as if it had not been interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from tests.nn.saved_models import LABELS, X, classifier, expect_equal, fit


@pytest.fixture(autouse=True)
def graph() -> None:
    pg.reset_default_graph()


def callbacks(path: Path, **options: Any) -> list[nn.Callback]:
    """`ModelCheckpoint` comes first, but what it saves has the state of the one after it."""
    saving = nn.ModelCheckpoint(path, save_weights_only=False, **options)
    stopping = nn.EarlyStopping(monitor="loss", patience=3, restore_best_weights=True)
    halving = nn.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=1, min_delta=0.05)
    return [saving, stopping, halving]


@pytest.mark.parametrize(("freq", "names"), [("epoch", range(6, 43, 6)), (4, range(4, 43, 4))])
def test_training_resumes_identically_from_each_file(
    freq: Any, names: range, tmp_path: Path
) -> None:
    (tmp_path / "whole").mkdir()
    (tmp_path / "again").mkdir()
    file = "run-{step:03d}.playgrad"
    whole = classifier(pg.optim.Adam(0.05))
    fit(whole, callbacks(tmp_path / "whole" / file, save_freq=freq), 7)
    files = sorted((tmp_path / "whole").iterdir())
    assert [each.name for each in files] == [file.format(step=step) for step in names]
    for each in files[::2]:
        loaded = pg.load(each, device="cpu")
        fit(loaded, callbacks(tmp_path / "again" / file, save_freq=freq), 7, resume=True)
        expect_equal(loaded, whole)
        loaded.close()


def test_only_the_best_epoch_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "best.playgrad"
    model = classifier(pg.optim.Adam(0.05))
    saving = nn.ModelCheckpoint(path, monitor="val_loss", save_best_only=True)
    validation = (X[:20], 1 - LABELS[:20])  # which gets worse and worse
    history = fit(model, [saving], 6, validation_data=validation)
    best = int(np.argmin(history.history["val_loss"]))
    loaded = pg.load(path, device="cpu")
    assert loaded.history.history["val_loss"] == history.history["val_loss"][: best + 1]
    assert loaded.evaluate(*validation, return_dict=True)["loss"] == pytest.approx(
        min(history.history["val_loss"]), rel=1e-5
    )


def test_weights_can_be_saved_every_few_steps(tmp_path: Path) -> None:
    model = classifier("sgd")
    saving = nn.ModelCheckpoint(tmp_path / "{step}.safetensors", save_freq=7)
    fit(model, [saving], 2)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["7.safetensors"]
