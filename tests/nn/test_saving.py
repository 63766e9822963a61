"""``model.save`` and ``pg.load``: training continues as if it had never been interrupted."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import CheckpointError, GraphError
from playgrad.training.checkpoints.record import Checkpoint
from tests.nn.saved_models import (
    EPOCHS,
    LABELS,
    SaveAt,
    X,
    classifier,
    expect_equal,
    fit,
    interrupted,
)
from tests.sweeps import sweep


@pytest.fixture(autouse=True)
def graph() -> None:
    pg.reset_default_graph()


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "momentum": lambda: pg.optim.SGD(0.1, momentum=0.9, nesterov=True),
    "adam": lambda: pg.optim.Adam(pg.optim.ExponentialDecay(0.05, 7, 0.8), amsgrad=True),
    "adamw": lambda: pg.optim.AdamW(0.01, clipnorm=0.5, use_ema=True, ema_momentum=0.9),
    "rmsprop": lambda: pg.optim.RMSprop(0.01, momentum=0.5, centered=True),
    "adagrad": lambda: pg.optim.Adagrad(0.1),
    "accumulated": lambda: pg.optim.Lion(0.01, gradient_accumulation_steps=3),
    "steps": lambda: pg.optim.SGD(pg.optim.PiecewiseConstantDecay([4, 9], [0.3, 0.1, 0.01])),
}
WAYS: dict[str, Any] = {
    "data parallel": pg.parallel.DataParallel(2),
    "local SGD": pg.parallel.LocalSGD(2, every=5),
    "pipeline": pg.parallel.Pipeline(2, micro_batches=2),
    "overlap": pg.parallel.Overlap(3),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_loaded_training_continues_bit_for_bit(name: str, tmp_path: Path) -> None:
    whole = classifier(OPTIMIZERS[name]())
    fit(whole)
    path = tmp_path / "run.playgrad"
    for step in (1, 8, 12, 30):
        pg.reset_default_graph()
        interrupted(classifier(OPTIMIZERS[name]()), path, step)
        pg.reset_default_graph(99)  # the seed comes from the file
        loaded = pg.load(path, device="cpu")
        history = fit(loaded, resume=True)
        assert len(history.losses) == 30
        expect_equal(loaded, whole)
        loaded.close()


@pytest.mark.parametrize("name", WAYS)
def test_a_strategy_continues_bit_for_bit(name: str, tmp_path: Path) -> None:
    whole = classifier("adam", strategy=WAYS[name])
    fit(whole)
    path = tmp_path / "run.playgrad"
    saved = interrupted(classifier("adam", strategy=WAYS[name]), path, 8)
    loaded = pg.load(path, device="cpu")
    assert loaded.strategy == WAYS[name]
    assert len(loaded.history.losses) == saved
    fit(loaded, resume=True)
    expect_equal(loaded, whole)


@pytest.mark.gpu
@pytest.mark.parametrize("optimizer", sweep(["momentum", "adam"], often=["adam"]))
def test_a_training_continues_on_a_device_of_another_kind(optimizer: str, tmp_path: Path) -> None:
    path = tmp_path / "run.playgrad"
    for first, second in (("cpu", "gpu"), ("gpu", "cpu"), ("gpu", "gpu")):
        whole = classifier(OPTIMIZERS[optimizer](), second)
        fit(whole)
        interrupted(classifier(OPTIMIZERS[optimizer](), first), path, 8)
        loaded = pg.load(path, device=second)
        assert loaded.session.device.startswith(second)
        fit(loaded, resume=True)
        expect_equal(loaded, whole, 0.0 if first == second else 1e-5)
        loaded.close()
        whole.close()


def test_a_training_of_replicas_continues_on_one_device(tmp_path: Path) -> None:
    def made(**more: Any) -> pg.Sequential:
        model = pg.Sequential([nn.Dense(8, activation="relu"), nn.Dropout(0.3), nn.Dense(2)])
        loss = nn.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("adam", loss, ["accuracy"], device="cpu", **more)
        return model

    path = tmp_path / "run.playgrad"
    whole = made()
    fit(whole)
    interrupted(made(strategy=WAYS["data parallel"]), path, 8)
    loaded = pg.load(path, device="cpu")
    loaded.strategy = None
    fit(loaded, resume=True)
    expect_equal(loaded, whole, 1e-5)


def test_fit_after_load_begins_a_training_with_the_state_of_the_file(tmp_path: Path) -> None:
    whole = classifier("adam")
    fit(whole, epochs=2)
    whole.save(tmp_path / "run.playgrad")
    fit(whole, epochs=3)
    loaded = pg.load(tmp_path / "run.playgrad", device="cpu")
    fit(loaded, epochs=3)
    expect_equal(loaded, whole)


def test_a_loaded_training_can_be_extended(tmp_path: Path) -> None:
    whole = classifier("adam")
    fit(whole)
    shorter = classifier("adam")
    fit(shorter, epochs=2)
    shorter.save(tmp_path / "run.playgrad")
    loaded = pg.load(tmp_path / "run.playgrad", device="cpu")
    fit(loaded, resume=True)
    expect_equal(loaded, whole)
    again = pg.load(tmp_path / "run.playgrad", device="cpu")
    before = again.named_weights()
    assert fit(again, epochs=2, resume=True).epoch == [0, 1]
    for name, array in again.named_weights().items():
        assert np.array_equal(array, before[name])


def test_callbacks_continue_with_their_state(tmp_path: Path) -> None:
    def callbacks() -> list[nn.Callback]:
        halving = nn.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=1, min_delta=0.1)
        return [halving, nn.EarlyStopping(monitor="loss", patience=2, restore_best_weights=True)]

    def train(model: Any, first: nn.Callback, **more: Any) -> pg.History:
        validation = (X[:20], LABELS[:20])
        return fit(model, [first, *callbacks()], 12, validation_data=validation, **more)

    path = tmp_path / "run.playgrad"
    whole = classifier(pg.optim.Adam(0.1))
    save = SaveAt(path, 20)
    train(whole, save)
    loaded = pg.load(path, device="cpu")
    train(loaded, SaveAt(tmp_path / "other.playgrad", 10**6), resume=True)
    expect_equal(loaded, whole)


def test_data_sets_continue_with_their_next_batch(tmp_path: Path) -> None:
    def data() -> pg.data.Dataset:
        samples = pg.data.Dataset.from_tensor_slices((X, LABELS))
        return samples.shuffle(44, seed=3).batch(8)

    def train(model: Any, callbacks: Any = (), **more: Any) -> None:
        model.fit(data(), epochs=4, verbose=0, callbacks=list(callbacks), **more)

    path = tmp_path / "run.playgrad"
    whole = classifier("adam")
    train(whole)
    train(classifier("adam"), [SaveAt(path, 9)])
    loaded = pg.load(path, device="cpu")
    train(loaded, resume=True)
    expect_equal(loaded, whole)


def test_the_second_optimizer_of_a_graph_is_restored(tmp_path: Path) -> None:
    """A graph numbers its optimizers; in a loaded model, the only one is the first."""

    def second() -> pg.Model:
        pg.reset_default_graph()
        inputs = pg.Input((6,))
        hidden = nn.Dense(8, activation="tanh")(inputs)
        models = [pg.Model(inputs, nn.Dense(2)(nn.Dropout(0.2)(hidden))) for _ in range(2)]
        for model in models:
            loss = nn.SparseCategoricalCrossentropy(from_logits=True)
            model.compile("adam", loss, device="cpu")
            fit(model, epochs=1)
        return models[1]

    whole = second()
    whole.save(tmp_path / "run.playgrad")
    fit(whole, epochs=2)
    loaded = pg.load(tmp_path / "run.playgrad", device="cpu")
    fit(loaded, epochs=2)
    expect_equal(loaded, whole)


def test_an_untrained_model_can_be_saved(tmp_path: Path) -> None:
    model = pg.Sequential([nn.Dense(3, activation="relu"), nn.Dense(2)])
    with pytest.raises(GraphError, match="not built"):
        model.save(tmp_path / "run.playgrad")
    assert not list(tmp_path.iterdir())
    model.build((6,))
    model.save(tmp_path / "run.playgrad")
    loaded = pg.load(tmp_path / "run.playgrad")
    assert loaded.optimizer is None and loaded.history is None
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    loaded.compile("adam", "mse")
    with pytest.raises(CheckpointError, match="no training to resume"):
        loaded.fit(X, X[:, :2], verbose=0, resume=True)


def test_a_loaded_model_is_saved_as_it_was_loaded(tmp_path: Path) -> None:
    whole = classifier("adam", strategy=WAYS["local SGD"])
    fit(whole)
    interrupted(classifier("adam", strategy=WAYS["local SGD"]), tmp_path / "a.playgrad", 8)
    pg.load(tmp_path / "a.playgrad", device="cpu").save(tmp_path / "b.playgrad")
    loaded = pg.load(tmp_path / "b.playgrad", device="cpu")
    fit(loaded, resume=True)
    expect_equal(loaded, whole)


def test_functions_of_the_program_are_named_and_compile_brings_them_back(tmp_path: Path) -> None:
    def my_loss(y_true: Any, y_pred: Any) -> Any:
        return pg.reduce_mean(pg.square(y_pred - y_true), axis=-1)

    def made() -> pg.Sequential:
        model = pg.Sequential([nn.Dense(4, activation="tanh"), nn.Dense(6)])
        model.compile(pg.optim.Adam(0.1), my_loss, device="cpu")
        return model

    path = tmp_path / "run.playgrad"
    whole = made()
    whole.fit(X, X, 8, 4, verbose=0, callbacks=SaveAt(path, 9))
    with pytest.warns(RuntimeWarning, match=r"not compiled: loss is 'my_loss'.*Call compile\(\)"):
        loaded = pg.load(path, device="cpu")
    loaded.compile(pg.optim.Adam(0.1), my_loss, device="cpu")
    loaded.fit(X, X, 8, 4, verbose=0, resume=True)
    expect_equal(loaded, whole)


def test_layers_with_functions_are_loaded_by_the_program(tmp_path: Path) -> None:
    model = pg.Sequential([nn.Dense(4), nn.Lambda(lambda x: x * 2)])
    model.build((6,))
    model.save(tmp_path / "run.playgrad")
    with pytest.raises(CheckpointError, match=r"run.playgrad: .*functions.*load_weights"):
        pg.load(tmp_path / "run.playgrad")
    other = pg.Sequential([nn.Dense(4), nn.Lambda(lambda x: x * 2)])
    other.build((6,))
    other.load_weights(tmp_path / "run.playgrad")
    np.testing.assert_array_equal(other.predict(X), model.predict(X))


def test_weights_alone_are_loaded_from_paths_files_and_bytes(tmp_path: Path) -> None:
    model = classifier("adam")
    fit(model, epochs=1)
    path = tmp_path / "run.playgrad"
    model.save(path)
    content = path.read_bytes()
    for source in (path, str(path), content, BytesIO(content)):
        other = classifier("sgd")
        other.build((6,))
        other.load_weights(source)
        for name, array in other.named_weights().items():
            assert np.array_equal(array, model.named_weights()[name])
    wider = pg.Sequential([nn.Dense(9)])
    wider.build((6,))
    before = wider.named_weights()
    with pytest.raises(CheckpointError, match="do not belong to this model"):
        wider.load_weights(path)
    for name, array in wider.named_weights().items():
        assert np.array_equal(array, before[name])


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "another seed": ({"seed": 3}, "arguments of fit.. have changed.*seed=3 instead of seed=None"),
    "no shuffling": ({"shuffle": False}, "shuffle=False instead of shuffle=True"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_other_settings_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "run.playgrad"
    interrupted(classifier("adam"), path, 8)
    loaded = pg.load(path, device="cpu")
    more, message = CHANGES[name]
    with pytest.raises(CheckpointError, match=message):
        fit(loaded, resume=True, **more)
    with pytest.raises(CheckpointError, match="batch_size 8 before, 16 now"):
        loaded.fit(X, LABELS, 16, EPOCHS, verbose=0, resume=True)
    fit(loaded, resume=True)  # it still can


def test_the_file_contains_the_program_and_its_summary(tmp_path: Path) -> None:
    model = classifier("adam")
    fit(model, epochs=2)
    path = tmp_path / "My run.playgrad"
    model.save(path)
    with zipfile.ZipFile(path) as archive:
        about = json.loads(archive.read("project.json"))
        kept = json.loads(archive.read("parts/checkpoint.json"))
        (example,) = about["code"]
        source = archive.read(f"code/{example}.py").decode()
        checkpoint = Checkpoint.decode(archive.read("checkpoint.safetensors"))
    assert (about["format"], about["version"]) == ("playgrad project", 1)
    assert about["summary"]["name"] == "My run"
    assert (kept["step"], kept["totalSteps"], kept["finished"]) == (12, 12, True)
    assert source == kept["program"]["source"] == Path(fit.__code__.co_filename).read_text()
    np.testing.assert_array_equal(checkpoint.fits[0].steps, model.history.steps)


def test_other_endings_choose_another_format(tmp_path: Path) -> None:
    model = classifier("adam")
    fit(model, epochs=1)
    model.save(tmp_path / "net.safetensors")
    other = pg.load_model(tmp_path / "net.safetensors")
    np.testing.assert_allclose(other.predict(X), model.predict(X), atol=1e-6)
    with pytest.raises(CheckpointError, match="no format has the ending"):
        model.save(tmp_path / "net.xyz")


def test_load_model_reads_projects_as_well(tmp_path: Path) -> None:
    model = classifier("adam")
    fit(model, epochs=1)
    model.save(tmp_path / "run.playgrad")
    for source in (tmp_path / "run.playgrad", (tmp_path / "run.playgrad").read_bytes()):
        loaded = pg.load_model(source)
        np.testing.assert_allclose(loaded.predict(X), model.predict(X), atol=1e-6)
