"""The examination of one training: its evidence, from losses, data and layers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from playgrad.data.excerpt import Excerpt
from playgrad.doctor import thresholds
from playgrad.doctor.checks import CLASSES, examine
from playgrad.doctor.course import has_learnt, was_patient
from playgrad.doctor.data_facts import agreement, baseline, compared_rows, spread
from playgrad.doctor.evidence import Evidence, Location, NotFinite, Outcome, Spread
from playgrad.doctor.finding import Finding
from playgrad.doctor.layer_probe import LayerEvidence, LayerProbe
from playgrad.doctor.rates import highest_rate
from playgrad.doctor.remedies import prescribe, shuffles_alone
from playgrad.nn.layer import record_of
from playgrad.nn.layer_calls import LayerCall
from playgrad.training.callbacks import History
from playgrad.training.recipe import Recipe


class Examination:
    """Examines one training.

    Args:
        excerpt: some of the training samples; None if nothing is known of them.
        steps_per_epoch: None if not known.
        source: file and line of the call of ``fit``.
        file: that of the program.
        text: the program; None if it is not known.
        test: some of the test samples.
    """

    def __init__(
        self,
        recipe: Recipe,
        history: History,
        excerpt: Excerpt | None,
        steps_per_epoch: int | None,
        source: tuple[str, int] | None,
        file: str | None,
        text: str | None,
        test: Excerpt | None = None,
    ) -> None:
        self._recipe = recipe
        self._history = history
        self._excerpt = excerpt
        self._steps_per_epoch = steps_per_epoch
        line = source[1] if source is not None and source[0] == file else None
        self._fit = Location(None, line)
        self.probe: LayerProbe | None = None
        network = recipe.network
        if excerpt is not None and len(network.inputs) == len(network.outputs) == 1:
            self.probe = LayerProbe(recipe, excerpt, line, file)
        self._facts: Evidence | None = None
        self._text = text
        self._test = test
        self._agreements: tuple[float | None, float | None] = (None, None)
        self._compared = False
        self._scheduled: tuple[int, float | None] = (0, None)
        self.measured: LayerEvidence | None = None
        self.origin: NotFinite | None = None

    def close(self) -> None:
        """Free the probe."""
        if self.probe is not None:
            self.probe.close()

    def findings(self, evidence: Evidence) -> list[Finding]:
        """Return the problems, with the edits of the program that cure them."""
        return prescribe(examine(evidence), evidence, self._text)

    def evidence(self, outcome: Outcome) -> Evidence:
        """Return the current evidence."""
        if self._facts is None:
            self._facts = self._unchanging()
        history = self._history.history
        evidence = replace(
            self._facts,
            losses=self._history.losses,
            train_losses=tuple(history.get("loss", ())),
            test_losses=tuple(history.get("val_loss", ())),
            rate=self._rate(),
            not_finite=self.origin,
            outcome=outcome,
        )
        if self.measured is not None:
            measured = self.measured
            evidence = replace(
                evidence,
                layers=measured.layers,
                sample_loss=measured.loss,
                ahead=measured.ahead,
                times=measured.times,
            )
        self._compare(evidence)
        agreement, test_agreement = self._agreements
        return replace(evidence, agreement=agreement, test_agreement=test_agreement)

    def _rate(self) -> float | None:
        """Return the learning rate, as it was written: float32 has no 0.05."""
        optimizer = self._recipe.optimizer
        if optimizer.schedule is not None:
            steps = len(self._history.losses)
            if steps >= 1.2 * self._scheduled[0]:  # to ask takes milliseconds
                self._scheduled = steps, highest_rate(optimizer.schedule, steps)
            return self._scheduled[1]
        value = float(self._recipe.network.session.value(optimizer.learning_rate))
        return float(f"{value:.6g}")

    def _unchanging(self) -> Evidence:
        """Return the evidence that does not change during the training."""
        recipe, excerpt = self._recipe, self._excerpt
        optimizer, objectives, network = recipe.optimizer, recipe.objectives, recipe.network
        limits = vars(optimizer.clipping).values()
        evidence = Evidence(
            fit=self._fit,
            rows=self._steps_per_epoch,
            optimizer=optimizer.kind,
            clipped=any(limit is not None for limit in limits),
            momentum=float(getattr(optimizer, "momentum", 0.0)),
            shuffles=shuffles_alone(self._text),
        )
        if self.probe is None or excerpt is None:
            return evidence
        loss: Any = objectives.loss_of(0)
        return replace(
            evidence,
            loss=loss.kind,
            from_logits=bool(getattr(loss, "from_logits", False)),
            baseline=baseline(loss.kind, excerpt.y),
            inputs=self._inputs(excerpt),
            targets=self._targets(excerpt),
            outputs=network.output_shape[-1] or 0,
        )

    def _inputs(self, excerpt: Excerpt) -> Spread | None:
        """Return the size of the inputs; None if the network brings them to scale, or may."""
        for item in self._recipe.network.structure.items:
            if not isinstance(item, LayerCall):
                return None
            record = record_of(item.layer.kind)
            if record.expects_unit_scale:
                return spread(excerpt.x)
            if not record.keeps_scale:
                return None
        return None

    def _targets(self, excerpt: Excerpt) -> Spread | None:
        """Return the size of the targets; None if the network may bring its results to scale."""
        item = self._recipe.network.structure.items[-1]
        if not isinstance(item, LayerCall):
            return None
        if not record_of(item.layer.kind).expects_unit_scale:
            return None
        return spread(excerpt.y)

    def _compare(self, evidence: Evidence) -> None:
        """Compare the targets of neighbours, once, if the network does not learn them."""
        excerpt, test = self._excerpt, self._test
        if self._compared or excerpt is None or self.probe is None:
            return
        tests = evidence.test_losses
        stuck = evidence.baseline is not None and len(tests) >= thresholds.FEWEST_ROUNDS
        doubt = stuck and min(tests) >= thresholds.FLAT * (evidence.baseline or 0.0)
        if doubt or (was_patient(evidence) and not has_learnt(evidence)):
            self._compared = True
            classes = evidence.loss in CLASSES
            tested = None if test is None else agreement(test.x, test.y, classes)
            if test is not None and tested is not None:
                tested *= (compared_rows(excerpt.x) / compared_rows(test.x)) ** 0.5
            self._agreements = (agreement(excerpt.x, excerpt.y, classes), tested)
