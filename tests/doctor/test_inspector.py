"""The inspector leaves trainings as they are, stays within its time, and pauses what is lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.data.excerpt import Excerpt
from playgrad.doctor import inspector as inspector_module
from playgrad.doctor import thresholds
from playgrad.doctor.finding import Finding
from playgrad.doctor.inspector import Inspector
from playgrad.doctor.layer_probe import LayerProbe
from playgrad.doctor.words import in_words
from playgrad.runtime.hooks import Hooks, set_hooks
from playgrad.runtime.options import Options, options_set
from tests.doctor.programs import HEAD, ILL
from tests.doctor.watched import StrictInspector, Watched

DRAWS = """\
x, y = pg.data.moons(200, noise=0.1, seed=0)
model = pg.Sequential([
    nn.GaussianNoise(0.1), nn.Dense(16), nn.BatchNormalization(), nn.ReLU(), nn.Dropout(0.2),
    nn.Dense(2),
])
model.compile(pg.optim.Adam(0.01), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=6, verbose=0, validation_split=0.2)
second = nn.Dropout(0.5)(model.outputs[0], training=True)
"""


@pytest.fixture
def eager_eyes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the inspector look between any two chunks."""
    monkeypatch.setattr(inspector_module, "_CHECK_SECONDS", 0.0)
    monkeypatch.setattr(thresholds, "FIRST_EXAMINATION_SECONDS", 0.0)
    monkeypatch.setattr(thresholds, "EXAMINATION_SECONDS", 0.0)
    monkeypatch.setattr(thresholds, "LARGEST_SHARE", 1e9)


def test_looking_changes_no_loss(eager_eyes: None, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Any] = []
    before = LayerProbe.layers
    monkeypatch.setattr(
        LayerProbe, "layers", lambda self, *args: looks.append(args) or before(self, *args)
    )
    seen = Watched(f"{HEAD}{DRAWS}")

    class Blind(Inspector):
        def begin(self, loop: Any) -> None:
            pass

    count = len(looks)
    unseen = Watched(f"{HEAD}{DRAWS}", kind=Blind)
    assert count > 2 and len(looks) == count
    histories = [each.namespace["model"].history for each in (seen, unseen)]
    np.testing.assert_array_equal(histories[0].steps, histories[1].steps)
    assert histories[0].history == histories[1].history
    # What the program adds to its graph afterwards draws the same numbers, too.
    operations = [each.namespace["second"].graph.random_ops for each in (seen, unseen)]
    assert operations[0] == operations[1]
    seen.close()
    unseen.close()


def test_an_uninspectable_layer_is_reported_without_an_error() -> None:
    text = f"""{HEAD}
class Once(nn.Layer):
    kind = "once_only"
    calls = 0

    def call(self, *inputs, training=False):
        Once.calls += 1
        if Once.calls > 2:
            raise RuntimeError("that is enough")
        return inputs[0] * 2.0


x, y = pg.data.moons(96, noise=0.1, seed=0)
model = pg.Sequential([Once(), nn.Dense(2)])
model.compile(pg.optim.Adam(0.01), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=2, verbose=0)
"""
    program = Watched(text, kind=Inspector)
    assert program.namespace["Once"].calls > 2  # it was asked
    assert len(program.namespace["model"].history.epoch) == 2
    (finding,) = program.findings
    assert (finding.code, finding.edit) == ("not-seen", None)
    assert finding.values == {"error": "RuntimeError", "message": "that is enough"}
    assert finding.place.line == 1 + text.split("\n").index(
        '            raise RuntimeError("that is enough")'
    )
    assert [findings for findings, _ in program.reports].count([finding]) == 1
    assert in_words(finding) == (
        f"line {finding.place.line}: The doctor could not check everything "
        "(RuntimeError: that is enough). The training is not affected."
    )
    program.close()


def test_nan_weights_from_before_training_are_not_blamed_on_the_rate() -> None:
    text = f"""{HEAD}
x = random.normal(0, 1, (100, 2)).astype(np.float32)
model = pg.Sequential([pg.Input((2,)), nn.Dense(3, "relu"), nn.Dense(1)])
model.compile(pg.optim.SGD(0.1), "mse")
weights = model.get_weights()
weights[2][1] = np.nan
model.set_weights(weights)
model.fit(x, x[:, :1], epochs=3, verbose=0)
"""
    program = Watched(text)
    found = program.findings[0]
    assert found.code == "not-finite"
    assert found.place.node == "dense_2"
    assert found.edit is None
    assert found.values["weights"] == "dense_2"
    diagnosis = pg.diagnose(program.namespace["model"])
    assert "weights of “dense_2” were NaN or infinite before the training" in str(diagnosis)
    program.close()


def test_several_inputs_and_streams_are_watched_by_their_losses() -> None:
    text = f"""{HEAD}
a, b = pg.Input((2,)), pg.Input((2,))
model = pg.Model([a, b], nn.Dense(1)(nn.Concatenate()([a, b])))
model.compile(pg.optim.SGD(5.0), "mse")
x = random.normal(0, 1, (100, 2)).astype(np.float32)
model.fit([x, x], x[:, :1], epochs=30, verbose=0)
"""
    program = Watched(text)
    assert program.codes == ["not-finite", "rate-high"]
    assert program.findings[1].edit is not None
    program.close()
    text = f"""{HEAD}
x, y = pg.data.moons(200, noise=0.1, seed=0)
batches = pg.data.Dataset.from_tensor_slices((x, y)).shuffle(200, seed=1).batch(20)
model = pg.Sequential([nn.Dense(8, "tanh"), nn.Dense(2)])
model.compile(pg.optim.Adam(0.02), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(batches, epochs=20, verbose=0)
"""
    program = Watched(text)
    assert program.codes == []
    program.close()


class PausedHooks(Hooks):
    """Continues each pause after a while, and counts them."""

    def __init__(self) -> None:
        self.pauses = 0
        self._paused = False
        self._polls = 0

    def emit(self, event: dict[str, Any]) -> None:
        if event["kind"] == "status":
            self._paused = event["state"] == "paused"
            self.pauses += self._paused

    def poll(self) -> list[dict[str, Any]]:
        self._polls += self._paused
        return [{"kind": "resume"}] if self._paused and self._polls % 5 == 0 else []

    def wait(self, timeout: float) -> None:
        pass


def pauses_of(text: str) -> tuple[int, list[tuple[list[str], bool]], BaseException | None]:
    """Run a program whose inspector pauses. Return the pauses, the reports and the error."""
    reports: list[tuple[list[str], bool]] = []

    def report(findings: Sequence[Finding], lost: bool) -> None:
        reports.append(([each.code for each in findings], lost))

    hooks = PausedHooks()
    before = set_hooks(hooks)
    error: BaseException | None = None
    pg.reset_default_graph(0)
    inspector = StrictInspector(text, "paused.py", report, pauses=True)
    try:
        with options_set(Options(device="cpu", observer=inspector)):
            exec(compile(text, "paused.py", "exec"), {"__name__": "__main__"})
    except pg.NonFiniteError as raised:
        error = raised
    finally:
        set_hooks(before)
    return hooks.pauses, reports, error


def test_a_run_that_is_lost_pauses_once_and_continues(eager_eyes: None) -> None:
    text = ILL["exploding"].text
    pauses, reports, error = pauses_of(text)
    assert pauses == 1
    lost = [codes for codes, is_lost in reports if is_lost]
    assert lost == [["not-finite", "exploding"]]  # nor is it examined again in the pause
    assert error is not None  # Continue runs on, here to the error

    handled = text.replace("seed=1)", "seed=1, callbacks=[nn.TerminateOnNaN()])")
    pauses, reports, error = pauses_of(handled)
    assert (pauses, error) == (0, None)
    assert reports[-1][0] == ["not-finite", "exploding"]

    lines = text.rstrip("\n").split("\n")
    tried = [*lines[:-1], "try:", f"    {lines[-1]}", "except pg.NonFiniteError:", "    pass", ""]
    pauses, _, error = pauses_of("\n".join(tried))
    assert (pauses, error) == (0, None)


def test_a_loss_that_grows_without_end_pauses(eager_eyes: None) -> None:
    text = f"""{HEAD}
x = random.normal(0, 1, (200, 4)).astype(np.float32)
model = pg.Sequential([nn.Dense(1)])
model.compile(pg.optim.SGD(1.02), "mse")
model.fit(x, x[:, :1] * 2, epochs=60, verbose=0, seed=1, batch_size=200)
"""
    pauses, reports, error = pauses_of(text)
    assert (pauses, error) == (1, None)
    assert (["rate-high"], True) in reports


def test_looking_takes_a_twentieth_of_the_time() -> None:
    """By its own clock: it is asked whether it may look, with times that are made up."""
    inspector = Inspector(None, None, lambda findings, lost: None)

    class Loop:
        class progress:  # noqa: N801
            seconds = 10.0

    inspector._spent = 0.1
    assert inspector._can_spend(Loop, 0.3)  # type: ignore[arg-type]
    assert not inspector._can_spend(Loop, 0.5)  # type: ignore[arg-type]


def test_a_large_network_is_not_examined() -> None:
    x = np.zeros((40, 64, 64, 3), np.float32)
    model = pg.Sequential(
        [pg.Input((64, 64, 3)), nn.Conv2D(64, 5, padding="same"), nn.Flatten(), nn.Dense(2)]
    )
    model.compile("adam", "sparse_categorical_crossentropy", device="cpu")

    large = LayerProbe(model.recipe, Excerpt(x, np.zeros(40, np.int32), 40), None, None)
    assert not large.is_affordable
    small = pg.Sequential([pg.Input((2,)), nn.Dense(16), nn.Dense(2)])
    small.compile("adam", "mse", device="cpu")
    assert LayerProbe(small.recipe, Excerpt(x, x, 40), None, None).is_affordable
