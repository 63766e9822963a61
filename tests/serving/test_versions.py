"""Versions: taken up beside the one that answers, swapped, refused, and freed."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import shutil
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.serving import servable as servable_module
from playgrad.serving.batching import VersionRunner
from playgrad.serving.choice import ServingChoice, write_choice
from playgrad.serving.errors import AnswerError
from playgrad.serving.manager import ModelManager
from playgrad.serving.metrics import ServingMetrics
from playgrad.serving.settings import ServingSettings
from playgrad.serving.store import MANIFEST, ModelStore
from tests.serving.serving import Array, awaited, content, model, put, samples


@pytest.fixture
def manager(store: ModelStore) -> Iterator[ModelManager]:
    manager = ModelManager(store, ServingSettings(max_batch=4), ServingMetrics())
    yield manager
    manager.close()


def answer(manager: ModelManager, **which: object) -> tuple[int, Array]:
    runner = manager.held("digits", **which)  # type: ignore[arg-type]
    try:
        (output,) = awaited(runner.outputs([samples(2)]))
    finally:
        runner.release()
    return runner.version, output


def expected(seed: int) -> Array:
    network = model(seed)
    try:
        return np.asarray(network.predict(samples(2)))
    finally:
        network.close()


def served(manager: ModelManager) -> list[int]:
    return list(manager.model("digits").runners)


def test_a_new_version_is_taken_up_and_rolled_back(
    store: ModelStore, manager: ModelManager
) -> None:
    put(store, "digits", content(model(1)))
    manager.update()
    assert answer(manager)[0] == 1
    put(store, "digits", content(model(2)))
    assert answer(manager)[0] == 1
    manager.update()
    version, output = answer(manager)
    np.testing.assert_allclose(output, expected(2), rtol=1e-5)
    assert (version, served(manager)) == (2, [2])
    write_choice(store, "digits", ServingChoice().rolled_back([1, 2]))
    manager.update()
    version, output = answer(manager)
    np.testing.assert_allclose(output, expected(1), rtol=1e-5)
    assert (version, served(manager)) == (1, [1])


def test_a_request_finishes_on_its_version_which_is_then_freed(
    store: ModelStore, manager: ModelManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[weakref.ref[pg.Model]] = []
    load = servable_module.model_of

    def remember(*arguments: object) -> pg.Model:
        network = load(*arguments)  # type: ignore[arg-type]
        loaded.append(weakref.ref(network))
        loaded.append(weakref.ref(network.graph))  # type: ignore[arg-type]
        return network

    put(store, "digits", content(model(1)))
    put(store, "digits", content(model(2)))
    monkeypatch.setattr(servable_module, "model_of", remember)
    write_choice(store, "digits", ServingChoice(withdrawn=[2]))
    manager.update()
    held = manager.held("digits")
    write_choice(store, "digits", ServingChoice())
    manager.update()
    assert answer(manager)[0] == 2
    assert [each.version for each in manager.freeing] == [1]
    (output,) = awaited(held.outputs([samples(2)]))
    np.testing.assert_allclose(output, expected(1), rtol=1e-5)
    assert loaded[0]() is not None
    runner = weakref.ref(held)
    held.release()
    del held
    assert manager.wait_until_freed(60)
    gc.collect()  # what the thread of the version had in its hands at its end
    assert [each() for each in loaded[:2]] == [None, None]
    assert runner() is None
    assert loaded[2]() is not None
    text = manager.metrics.text().decode()
    assert 'playgrad_version_bytes{model="digits",version="2"}' in text
    assert 'playgrad_version_bytes{model="digits",version="1"}' not in text


def nan_weights() -> bytes:
    network = model(2)
    weights = network.get_weights()
    weights[0][1, 2] = np.nan
    network.set_weights(weights)
    return content(network)


def manifest_of(store: ModelStore, version: int) -> Path:
    return store.version_folder("digits", version) / MANIFEST


def truncate(store: ModelStore) -> None:
    path = store.version_folder("digits", 2) / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def corrupt(store: ModelStore) -> None:
    path = store.version_folder("digits", 2) / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"!")


def no_model(store: ModelStore) -> None:
    shutil.rmtree(store.version_folder("digits", 2))
    store.add("digits", "model.safetensors", b"no model at all", {"inputs": [], "outputs": []})


def truncated_before_it_was_added(store: ModelStore) -> None:
    shutil.rmtree(store.version_folder("digits", 2))
    manifest = store.manifest("digits", 1)
    store.add("digits", "model.safetensors", content(model(2))[:-40], manifest.signature)


def not_a_number(store: ModelStore) -> None:
    shutil.rmtree(store.version_folder("digits", 2))
    signature = store.manifest("digits", 1).signature
    store.add("digits", "model.safetensors", nan_weights(), signature)


def other_shape(store: ModelStore) -> None:
    shutil.rmtree(store.version_folder("digits", 2))
    put(store, "digits", content(model(2, features=7)))


def false_manifest(store: ModelStore) -> None:
    shutil.rmtree(store.version_folder("digits", 2))
    signature = store.manifest("digits", 1).signature
    store.add("digits", "model.safetensors", content(model(2, features=7)), signature)


def half_copied(store: ModelStore) -> None:
    manifest_of(store, 2).unlink()


FAULTS = {
    truncate: "should have",
    corrupt: "differs from its digest",
    no_model: "safetensors",
    truncated_before_it_was_added: "the file is truncated",
    not_a_number: "are NaN in 1 of 48 places",
    other_shape: "its signature differs: the inputs are input: float32 (?, 7)",
    false_manifest: "the signature in its manifest is not that of the model",
    half_copied: "version.json cannot be read",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_version_that_cannot_be_used_leaves_the_old_one_serving(
    store: ModelStore,
    manager: ModelManager,
    fault: Callable[[ModelStore], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    put(store, "digits", content(model(1)))
    manager.update()
    put(store, "digits", content(model(2)))
    fault(store)
    with caplog.at_level(logging.INFO, "playgrad.serving"):
        manager.update()
        manager.update()
    assert answer(manager)[0] == 1
    assert served(manager) == [1]
    reason = manager.model("digits").refusals[2].reason
    assert FAULTS[fault] in reason
    told = [record.message for record in caplog.records if "not taken up" in record.message]
    assert told == [f"digits: version 2 is not taken up: {reason}"]  # once
    metrics = manager.metrics.text().decode()
    assert 'playgrad_refused_versions_total{model="digits",reason="' in metrics
    # The same with a server that starts now.
    other = ModelManager(store, manager.settings, ServingMetrics())
    other.update()
    assert served(other) == [1]
    other.close()


def test_a_version_is_tried_again_when_it_is_whole(
    store: ModelStore, manager: ModelManager
) -> None:
    put(store, "digits", content(model(1)))
    put(store, "digits", content(model(2)))
    text = manifest_of(store, 2).read_text()
    manifest_of(store, 2).unlink()
    manager.update()
    assert (served(manager), list(manager.model("digits").refusals)) == ([1], [2])
    manifest_of(store, 2).write_text(text)
    manager.update()
    assert (served(manager), list(manager.model("digits").refusals)) == ([2], [])


def test_a_new_signature_is_taken_up_if_it_is_allowed(
    store: ModelStore, manager: ModelManager
) -> None:
    put(store, "digits", content(model(1)))
    put(store, "digits", content(model(2, features=7)))
    manager.update()
    assert served(manager) == [1]
    put(store, "digits", content(model(3, features=7)))  # it is refused like the one before it
    manager.update()
    assert served(manager) == [1]
    put(store, "digits", content(model(4, features=7)), allow=True)
    put(store, "digits", content(model(5, features=7)))
    manager.update()
    assert served(manager) == [5]


def test_policies_labels_and_shares_decide_who_answers(
    store: ModelStore, manager: ModelManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in (1, 2, 3):
        put(store, "digits", content(model(seed)))
    choice = ServingChoice(labels={"stable": 1, "canary": 3}, shares={"canary": 0.25})
    write_choice(store, "digits", choice)
    manager.update()
    assert served(manager) == [1, 3]
    for ticket, version in ((0.0, 3), (0.24, 3), (0.26, 1), (0.99, 1)):
        monkeypatch.setattr("random.random", lambda ticket=ticket: ticket)
        assert answer(manager)[0] == version
    assert answer(manager, label="canary")[0] == 3
    assert answer(manager, version=1)[0] == 1
    for which in ({"version": 2}, {"version": 9}, {"label": "none"}):
        with pytest.raises(AnswerError) as error:
            manager.held("digits", **which)  # type: ignore[arg-type]
        assert error.value.status == 404
    write_choice(store, "digits", ServingChoice("all"))
    manager.update()
    assert served(manager) == [1, 2, 3]
    write_choice(store, "digits", ServingChoice("specific", versions=[2]))
    manager.update()
    assert served(manager) == [2]


def test_a_damaged_choice_changes_nothing(
    store: ModelStore, manager: ModelManager, caplog: pytest.LogCaptureFixture
) -> None:
    put(store, "digits", content(model(1)))
    manager.update()
    (store.model_folder("digits") / "serving.json").write_text("{")
    with caplog.at_level(logging.INFO, "playgrad.serving"):
        manager.update()
    assert served(manager) == [1]
    assert "serving.json cannot be used" in manager.model("digits").problem
    assert "The choice before it stays." in caplog.text


def test_a_model_whose_folder_is_removed_is_freed(store: ModelStore, manager: ModelManager) -> None:
    put(store, "digits", content(model(1)))
    put(store, "others", content(model(2)))
    manager.update()
    shutil.rmtree(store.model_folder("digits"))
    manager.update()
    assert [each.name for each in manager.models()] == ["others"]
    assert manager.wait_until_freed(60)


def test_folders_that_are_no_models_are_ignored(store: ModelStore, manager: ModelManager) -> None:
    put(store, "digits", content(model(1)))
    (store.folder / "empty").mkdir()
    (store.folder / "a.file").write_text("")
    (store.model_folder("digits") / "2").write_text("a file, not a folder")
    (store.model_folder("digits") / "3").symlink_to(store.version_folder("digits", 1))
    (store.model_folder("digits") / "04").mkdir()
    manager.update()
    assert [each.name for each in manager.models()] == ["digits"]
    assert (served(manager), manager.model("digits").refusals) == ([1], {})


def test_models_of_all_formats_are_served(
    store: ModelStore, manager: ModelManager, tmp_path: Path
) -> None:
    network = model(1)
    network.save_weights(tmp_path / "model.safetensors")
    network.export(tmp_path / "model.onnx")
    network.export(tmp_path / "model.keras")
    network.close()
    for ending in (".safetensors", ".onnx", ".keras"):
        put(store, ending[1:], (tmp_path / f"model{ending}").read_bytes(), ending)
    manager.update()
    for name in ("safetensors", "onnx", "keras"):
        runner = manager.held(name)
        (output,) = awaited(runner.outputs([samples(2)]))
        runner.release()
        np.testing.assert_allclose(output, expected(1), rtol=1e-4, atol=1e-5)
        assert runner.is_warm
        assert runner.batches


def test_a_warm_version_compiles_nothing_under_load(
    store: ModelStore, manager: ModelManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "digits", content(model(1)))
    manager.update()
    from playgrad.runtime import programs

    def unexpected(*arguments: object) -> None:
        raise AssertionError("a program was compiled")

    monkeypatch.setattr(programs, "compile_program", unexpected)
    runner = manager.held("digits")
    for rows in range(1, 20):
        awaited(runner.outputs([samples(rows)]))
    runner.release()


def test_a_model_that_keeps_states_is_refused(store: ModelStore) -> None:
    with pg.Graph().as_default():
        x = pg.Input((4, 2), batch_size=3)
        network = pg.Model(x, nn.LSTM(5, stateful=True)(x))
    with pytest.raises(pg.DataError, match="keeps states from batch to batch"):
        put(store, "states", content(network))


def test_a_model_that_mixes_samples_is_not_batched(
    store: ModelStore, manager: ModelManager
) -> None:
    """The mean over a batch would depend on the requests of others."""
    with pg.Graph().as_default():
        x = pg.Input((3,))
        mixed = nn.Dense(2)(x)
        network = pg.Model(x, mixed - pg.mean(mixed, axis=0, keepdims=True))
    path = store.folder.parent / "mixed.onnx"
    network.export(path)
    network.close()
    put(store, "mixed", path.read_bytes(), ".onnx")
    manager.update()
    runner: VersionRunner = manager.held("mixed")
    assert not runner.batches
    x = samples(3, features=3)

    async def together() -> list[list[Array]]:
        return await asyncio.gather(runner.outputs([x[:1]]), runner.outputs([x[1:]]))

    (one,), (two,) = awaited(together())
    runner.release()
    np.testing.assert_allclose(one, np.zeros((1, 2)), atol=1e-6)
    np.testing.assert_allclose(two.sum(0), np.zeros(2), atol=1e-5)


def test_the_manifest_has_the_signature(store: ModelStore) -> None:
    put(store, "digits", content(model(1)))
    data = json.loads(manifest_of(store, 1).read_text())
    assert data["signature"] == {
        "inputs": [{"name": "input", "dtype": "float32", "shape": [None, 6]}],
        "outputs": [{"name": "dense_2", "dtype": "float32", "shape": [None, 3]}],
    }


@pytest.mark.gpu
def test_versions_are_swapped_on_a_gpu(store: ModelStore) -> None:
    manager = ModelManager(store, ServingSettings("gpu", max_batch=2), ServingMetrics())
    for seed in (1, 2):
        put(store, "digits", content(model(seed)))
        manager.update()
        version, output = answer(manager)
        np.testing.assert_allclose(output, expected(seed), rtol=1e-4, atol=1e-5)
        runner = manager.model("digits").runners[seed]
        assert (version, runner.device, runner.bytes > 0) == (seed, "gpu:0", True)
    assert manager.wait_until_freed(60)
    manager.close()


def test_a_label_stays_until_the_version_that_it_moves_to_answers(
    store: ModelStore, manager: ModelManager
) -> None:
    put(store, "digits", content(model(1)))
    write_choice(store, "digits", ServingChoice(labels={"canary": 1}))
    manager.update()
    signature = store.manifest("digits", 1).signature
    store.add("digits", "model.safetensors", b"damaged", signature)
    put(store, "digits", content(model(3)))
    write_choice(store, "digits", ServingChoice(labels={"canary": 2}, shares={"canary": 1.0}))
    manager.update()
    assert served(manager) == [1, 3]
    assert answer(manager, label="canary")[0] == answer(manager)[0] == 1
    write_choice(store, "digits", ServingChoice(labels={"canary": 3}))
    manager.update()
    assert served(manager) == [3]
    assert answer(manager, label="canary")[0] == 3
