"""Training in mixed precision: as accurate as in float32, said everywhere, and kept in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.cli.main import main
from playgrad.errors import CheckpointError, GraphError
from playgrad.runtime.options import Options, options_set

Array = np.ndarray[Any, Any]
PRECISIONS = ("float32", "mixed")


def digits(precision: str, loss_weight: float = 1.0) -> pg.Model:
    """Return a small convolutional network for digits, compiled."""
    with options_set(Options(seed=3)):
        model = pg.Sequential([
            nn.Reshape((28, 28, 1)),
            nn.Rescaling(1 / 255),
            nn.Conv2D(8, 5, strides=2, activation="relu"),
            nn.Flatten(),
            nn.Dense(32, activation="relu"),
            nn.Dense(10),
        ])  # fmt: skip
    model.compile(
        pg.optim.SGD(0.1 / loss_weight, momentum=0.9),
        nn.SparseCategoricalCrossentropy(from_logits=True),
        ["accuracy"],
        loss_weights=[loss_weight],
        precision=precision,
    )
    return model


def mnist() -> tuple[Array, Array, Array, Array]:
    (x, y), (x_test, y_test) = pg.data.mnist()
    return x[:3000], y[:3000], x_test[:1000], y_test[:1000]


def test_digits_are_learned_as_well_as_in_float32() -> None:
    x, y, x_test, y_test = mnist()
    accuracies = []
    for precision in PRECISIONS:
        model = digits(precision)
        loss = nn.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(pg.optim.Adam(0.003), loss, ["accuracy"], precision=precision)
        losses = model.fit(x, y, batch_size=50, epochs=3, verbose=0).losses
        accuracies.append(model.evaluate(x_test, y_test)[1])
        model.close()
    assert min(accuracies) > 0.85
    assert abs(accuracies[0] - accuracies[1]) < 0.02
    assert np.isfinite(losses).all()


def test_a_transformer_learns_as_in_float32() -> None:
    random = np.random.default_rng(0)
    tokens = np.cumsum(random.integers(1, 3, (128, 13)), 1).astype(np.int32) % 8
    losses = []
    for precision in PRECISIONS:
        with options_set(Options(seed=3)):
            inputs = pg.Input((12,), dtype="int32")
            x = nn.Embedding(8, 16)(inputs)
            x = nn.TransformerEncoder(32, 2)(x)
            model = pg.Model(inputs, nn.Dense(8)(x))
        loss = nn.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(pg.optim.Adam(0.01), loss, precision=precision)
        history = model.fit(tokens[:, :-1], tokens[:, 1:], batch_size=32, epochs=15, verbose=0)
        losses.append(history.losses)
        model.close()
    before, after = np.mean(losses[0][:4]), np.mean(losses[0][-4:])
    assert after < 0.6 * before
    assert abs(np.mean(losses[1][-4:]) - after) < 0.05 * after
    assert not np.array_equal(*losses)


@pytest.mark.gpu
def test_a_gpu_computes_what_a_processor_does() -> None:
    x = np.random.default_rng(1).normal(size=(64, 6)).astype(np.float32)
    losses = []
    for device in ("cpu", "gpu"):
        with options_set(Options(seed=3)):
            model = pg.Sequential([nn.Dense(5, activation="tanh"), nn.Dense(3)])
        model.compile("sgd", "mse", device=device, precision="mixed")
        losses.append(model.fit(x, x[:, :3] * x[:, 3:], batch_size=16, verbose=0).losses)
        model.close()
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-3)


def test_small_gradients_do_not_underflow() -> None:
    """A factor of the loss that the learning rate makes up for changes nothing."""
    x, y = mnist()[:2]
    weights = []
    for loss_weight in (1.0, 2.0**-40):
        model = digits("mixed", loss_weight=loss_weight)
        model.fit(x[:500], y[:500], batch_size=50, epochs=1, verbose=0)
        weights.append(model.get_weights())
        model.close()
    for first, second in zip(*weights, strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_data_beyond_float16_leaves_the_weights_finite(device: str, activation: str) -> None:
    """Where relu or tanh hides a large number, its infinity would be NaN in the gradient."""
    x = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)
    x[60] = -7e4
    model = pg.Sequential([nn.Dense(8, activation=activation), nn.Dense(1)])
    model.predict(x[:1])
    model.set_weights([np.abs(weight) for weight in model.get_weights()])
    model.compile("adam", "mse", precision="mixed", device=device)
    losses = model.fit(x, np.ones((64, 1)), batch_size=16, epochs=3, verbose=0).losses
    assert losses[-4:].mean() < losses[:4].mean()
    assert all(np.isfinite(weight).all() for weight in model.get_weights())
    model.close()


def test_weights_stay_float32() -> None:
    model = digits("mixed")
    x, y = mnist()[:2]
    model.fit(x[:100], y[:100], epochs=1, verbose=0)
    for weight in model.get_weights():
        assert weight.dtype == np.float32
        assert not np.array_equal(weight, weight.astype(np.float16)) or not weight.any()
    model.close()


def test_compiling_again_changes_the_precision() -> None:
    x = mnist()[0][:8]
    model = digits("float32")
    exact = model.predict(x)
    model.compile("sgd", "mse", precision="mixed")
    rounded = model.predict(x)
    model.compile("sgd", "mse")
    again = model.predict(x)
    model.close()
    np.testing.assert_array_equal(exact, again)
    assert 0 < np.abs(exact - rounded).max() < 0.01 * np.abs(exact).max()


def test_an_unknown_precision_changes_nothing() -> None:
    model = digits("mixed")
    with pytest.raises(GraphError, match="precision must be 'float32' or 'mixed', got 'half'"):
        model.compile("sgd", "mse", precision="half")
    assert model.precision == "mixed"


def test_files_and_copies_keep_it(tmp_path: Path) -> None:
    x, y = mnist()[:2]
    model = digits("mixed")
    model.fit(x[:100], y[:100], epochs=1, verbose=0)
    model.save(tmp_path / "m.playgrad")
    loaded = pg.load(tmp_path / "m.playgrad")
    copy = model.clone()
    assert loaded.precision == copy.precision == "mixed"
    np.testing.assert_array_equal(loaded.predict(x[:8]), model.predict(x[:8]))
    copy.set_weights(model.get_weights())
    np.testing.assert_array_equal(copy.predict(x[:8]), model.predict(x[:8]))
    for each in (model, loaded, copy):
        each.close()


def test_the_summary_says_so() -> None:
    lines: list[str] = []
    digits("mixed").summary(lines.append)
    assert lines[-1] == "mixed precision: products of float16 (f16), everything else float32"
    lines.clear()
    digits("float32").summary(lines.append)
    assert "precision" not in "".join(lines)


def test_the_command_line_overrides_the_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\nimport playgrad as pg\nfrom playgrad import nn\n"
        "model = pg.Sequential([nn.Dense(3)])\n"
        'model.compile("sgd", "mse")\n'
        "x = np.ones((8, 5), np.float32)\n"
        "for _ in range(2):\n    model.fit(x, x[:, :3], epochs=1, verbose=0)\n"
        "print(model.precision)\n"
    )
    assert main(["train", str(program), "--precision", "mixed", "--device", "cpu", "--json"]) == 0
    captured = capsys.readouterr()
    assert "mixed\n" in captured.out
    assert '"precision": "mixed"' in captured.out
    assert captured.err.count("mixed precision: products of float16") == 1


@pytest.mark.parametrize("layer", [nn.LSTM(4), nn.GRU(4), nn.SimpleRNN(4), nn.Conv1D(4, 3)])
def test_layers_of_sequences_have_products_in_float16(layer: nn.Layer) -> None:
    with options_set(Options(precision="mixed")):
        model = pg.Sequential([layer, nn.Flatten(), nn.Dense(2)])
        x = np.random.default_rng(0).normal(size=(4, 6, 3)).astype(np.float32)
        rounded = model.predict(x)
        with options_set(Options(precision="float32")):
            exact = model.predict(x)
        model.close()
    assert 0 < np.abs(rounded - exact).max() < 0.01


X = np.random.default_rng(0).normal(size=(64, 6)).astype(np.float32)
Y = np.random.default_rng(1).normal(size=(64, 3)).astype(np.float32)


def two_models(precision: str, of_other: str) -> tuple[pg.Model, pg.Model]:
    """Return two models of one graph, with the same weights, compiled in these precisions."""
    with options_set(Options(seed=3)):
        model = pg.Sequential([nn.Dense(5, activation="tanh"), nn.Dense(3)])
    model.predict(X[:2])
    other = model.clone(deep=False)
    assert other.graph is model.graph
    for each, name in ((model, precision), (other, of_other)):
        each.compile("sgd", "mse", precision=name, device="cpu")
    return model, other


def losses_of(model: pg.Model, callback: nn.Callback | None = None, epochs: int = 3) -> Array:
    result: Array = model.fit(
        X, Y, batch_size=16, epochs=epochs, verbose=0, callbacks=callback and [callback]
    ).losses
    model.close()
    return result


@pytest.mark.parametrize("precisions", [("float32", "mixed"), ("mixed", "float32")])
def test_a_model_of_the_same_graph_does_not_change_it(precisions: tuple[str, str]) -> None:
    expected = [losses_of(two_models(each, each)[0]) for each in precisions]
    model, other = two_models(*precisions)
    predictions: list[tuple[Array, Array]] = []

    def predict(epoch: int, logs: Any) -> None:
        predictions.append((model.predict(X), other.predict(X)))

    losses = losses_of(model, nn.LambdaCallback(on_epoch_end=predict))
    np.testing.assert_array_equal(losses, expected[0])
    assert not np.array_equal(losses, expected[1])
    assert not any(np.array_equal(*pair) for pair in predictions)


def test_a_model_that_shares_layers_stays_in_float32() -> None:
    inputs = pg.Input((6,))
    hidden = nn.Dense(5)(inputs)
    extractor, whole = pg.Model(inputs, hidden), pg.Model(inputs, nn.Dense(3)(hidden))
    before = extractor.predict(X)
    whole.compile("sgd", "mse", precision="mixed")
    whole.predict(X)
    np.testing.assert_array_equal(extractor.predict(X), before)
    whole.close()


def test_an_option_within_a_running_fit_ends_with_its_block() -> None:
    def other_option(epoch: int, logs: Any) -> None:
        with options_set(Options(precision="mixed")):
            predictions.append(model.predict(X))

    expected = losses_of(two_models("float32", "float32")[0])
    predictions: list[Array] = []
    model = two_models("float32", "float32")[0]
    exact = model.predict(X)
    losses = losses_of(model, nn.LambdaCallback(on_epoch_begin=other_option))
    np.testing.assert_array_equal(losses, expected)
    assert not np.array_equal(predictions[0], exact)


def test_an_option_is_not_an_argument_of_compile_in_a_file(tmp_path: Path) -> None:
    model = two_models("float32", "float32")[0]
    with options_set(Options(precision="mixed")):
        model.fit(X, Y, epochs=1, verbose=0)
        model.save(tmp_path / "m.playgrad")
        assert pg.load(tmp_path / "m.playgrad").precision == "mixed"
    assert pg.load(tmp_path / "m.playgrad").precision == "float32"
    assert model.clone().precision == "float32"
    model.close()


@pytest.mark.parametrize("precisions", [("float32", "mixed"), ("mixed", "float32")])
def test_a_training_resumes_only_in_its_precision(
    tmp_path: Path, precisions: tuple[str, str]
) -> None:
    before, now = precisions
    model = two_models(before, before)[0]

    def save(epoch: int, logs: Any) -> None:
        if epoch == 0:
            model.save(tmp_path / "m.playgrad")

    expected = losses_of(model, nn.LambdaCallback(on_epoch_end=save))
    loaded = pg.load(tmp_path / "m.playgrad")
    with (
        options_set(Options(precision=now)),
        pytest.raises(CheckpointError, match=f"{now} instead of {before}.*--precision {before}"),
    ):
        loaded.fit(X, Y, batch_size=16, epochs=3, verbose=0, resume=True)
    losses = loaded.fit(X, Y, batch_size=16, epochs=3, verbose=0, resume=True).losses
    np.testing.assert_array_equal(losses, expected)
    loaded.close()


def test_asynchronous_replicas_have_the_precision_of_the_model() -> None:
    losses = []
    for precision in PRECISIONS:
        with options_set(Options(seed=3)):
            model = pg.Sequential([nn.Dense(5, activation="tanh"), nn.Dense(3)])
        strategy = pg.parallel.AsynchronousDataParallel(["cpu:0"])
        model.compile("sgd", "mse", precision=precision, strategy=strategy, device="cpu")
        losses.append(losses_of(model, epochs=1))
    np.testing.assert_allclose(*losses, rtol=1e-2)
    assert not np.array_equal(*losses)
