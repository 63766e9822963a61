"""The illnesses: each a function of the evidence that returns a finding, or None.

Findings name node and line where the evidence does; the rest comes from the program (`remedies`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from playgrad.doctor import thresholds
from playgrad.doctor.course import course, has_diverged, has_learnt, knew, knows, limit, was_patient
from playgrad.doctor.evidence import Evidence, LayerFacts, Location, Spread
from playgrad.doctor.finding import Finding
from playgrad.doctor.median import median
from playgrad.nn.layer import record_of
from playgrad.optim.optimizer import RECORDED

REGRESSIONS = {
    "mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error", "huber",
    "log_cosh",
}  # fmt: skip
CLASSES = {"sparse_categorical_crossentropy", "categorical_crossentropy", "binary_crossentropy"}
_SATURATING = {"sigmoid", "tanh", "hard_sigmoid", "hard_tanh", "softsign"}


def not_finite(evidence: Evidence) -> Finding | None:
    """The loss is NaN or infinite."""
    if evidence.outcome != "not finite":
        return None
    origin = evidence.not_finite
    if origin is None or _has_grown(evidence):
        place, op, weights = Location(evidence.optimizer, None), "", ""
    else:
        place, op = origin.place, origin.op
        weights = "" if op else place.node or ""
    step = len(evidence.losses) + 1
    return Finding("not-finite", place, {"step": step, "op": op, "weights": weights})


def _has_grown(evidence: Evidence) -> bool:
    """Return whether the losses before a NaN were on their way to infinity."""
    losses = evidence.losses
    if evidence.outcome != "not finite" or not len(losses):
        return False
    usual = float(losses[0]) if evidence.baseline is None else evidence.baseline
    return bool(losses[-1] > thresholds.DIVERGED * max(usual, 1e-6))


def input_scale(evidence: Evidence) -> Finding | None:
    """The inputs are far larger or smaller than initial weights are made for."""
    return _scale("input-scale", evidence.inputs)


def target_scale(evidence: Evidence) -> Finding | None:
    """The numbers to be predicted are far larger or smaller than a network's first outputs."""
    if evidence.loss not in REGRESSIONS:
        return None
    return _scale("target-scale", evidence.targets)


def _scale(code: str, spread: Spread | None) -> Finding | None:
    if spread is None or not spread.size:
        return None
    if thresholds.TINY <= spread.size <= thresholds.LARGE:
        return None
    return Finding(code, values={"low": spread.low, "high": spread.high})


def activation_twice(evidence: Evidence) -> Finding | None:
    """The loss applies the softmax or the sigmoid that the last layer has applied already."""
    last = evidence.layers[-1] if evidence.layers else None
    if last is None or not evidence.from_logits or last.activation not in ("softmax", "sigmoid"):
        return None
    return Finding("activation-twice", last.place, {"activation": last.activation})


def rate_high(evidence: Evidence) -> Finding | None:
    """The learning rate is beyond the usual ones, and the loss does not fall, or units died."""
    usual = usual_rates(evidence)
    if usual is None or evidence.rate is None or evidence.rate <= usual[1]:
        return None
    known = course(evidence)
    lost = has_diverged(evidence) or evidence.outcome == "not finite"
    harms = not has_learnt(evidence) or _overshot(evidence) or dead_units(evidence) is not None
    if not lost and (known is None or not was_patient(evidence) or not harms):
        return None
    now = float(evidence.losses[-1]) if known is None and len(evidence.losses) else 0.0
    values: dict[str, float | str] = {
        "rate": evidence.rate,
        "usual": usual[1],
        "loss": now if known is None else known.now,
    }
    return Finding("rate-high", Location(evidence.optimizer, None), values)


def _overshot(evidence: Evidence) -> bool:
    """Return whether a step has gone far beyond its aim, wherever the training went after it."""
    losses = evidence.losses
    if not len(losses):
        return False
    return bool(losses.max() > thresholds.OVERSHOT * limit(evidence, float(losses[0])))


def rate_low(evidence: Evidence) -> Finding | None:
    """The learning rate is below the usual ones, and far longer steps would still go down; or it is
    far from the largest of them, and the training ended while the loss had hardly begun to fall."""
    usual = usual_rates(evidence)
    if usual is None or evidence.rate is None or not evidence.rate > 0:
        return None
    if evidence.rate >= usual[0]:
        return _slow(evidence, evidence.rate, usual[1])
    now, ahead = evidence.sample_loss, evidence.ahead
    if now is None or ahead is None or not was_patient(evidence):
        return None
    # Small steps are right at the end of a training, where there is little to be gained.
    learns, knows_already = has_learnt(evidence), knew(evidence)
    place = Location(evidence.optimizer, None)
    is_good = learns or knows_already
    gains = ahead < (thresholds.GAIN_AHEAD if is_good else thresholds.FLAT) * now
    if gains and not (learns and evidence.times > thresholds.AHEAD):
        values: dict[str, float | str] = {
            "rate": evidence.rate, "times": evidence.times, "loss": now, "ahead": ahead,
        }  # fmt: skip
        return Finding("rate-low", place, values)
    # A way that bends leads nowhere straight ahead, but nobody has gone it yet.
    moved = max((layer.moved for layer in evidence.weighted if not layer.frozen), default=1.0)
    if is_good or moved > thresholds.STILL:
        return _slow(evidence, evidence.rate, usual[1])
    return Finding("rate-low", place, {"rate": evidence.rate, "percent": 100 * moved})


def _slow(evidence: Evidence, rate: float, largest: float) -> Finding | None:
    """Return a finding if a training has ended with most of its way before it."""
    known = course(evidence)
    if evidence.outcome != "completed" or known is None or not was_patient(evidence):
        return None
    if knew(evidence) or rate > thresholds.FAR_BELOW * largest:
        return None
    falls = known.now < thresholds.STILL_FALLING * known.middle and known.middle < known.start
    if not falls or known.now < thresholds.HARDLY * known.start:
        return None
    values: dict[str, float | str] = {"rate": rate, "start": known.start, "loss": known.now}
    return Finding("rate-low", Location(evidence.optimizer, None), values)


def is_slow(finding: Finding) -> bool:
    """Return whether a learning rate is usual, but too small for the length of the training."""
    return finding.code == "rate-low" and "start" in finding.values


def usual_rates(evidence: Evidence) -> tuple[float, float] | None:
    """Return the usual learning rates of the optimizer, the least and the largest."""
    steps_add_up = evidence.momentum >= thresholds.MOMENTUM
    kind = "momentum" if evidence.optimizer == "sgd" and steps_add_up else evidence.optimizer
    return RECORDED[kind].record.usual_rates if kind in RECORDED else None


def exploding(evidence: Evidence) -> Finding | None:
    """Gradients replace the weights rather than change them."""
    lost = has_diverged(evidence) or _has_grown(evidence)
    layers = [layer for layer in evidence.weighted if layer.gradient_norm is not None]
    if evidence.clipped or (len(layers) < thresholds.FEWEST_LAYERS and not _recurrent(layers)):
        return None
    if has_learnt(evidence) and not lost:
        return None
    # They grow on their way back, so that the first layer is where they end.
    beyond = (layer for layer in layers if _relative_gradient(layer) > thresholds.EXPLODING)
    worst = next(beyond, None)
    if worst is None:
        return None
    values: dict[str, float | str] = {"times": _relative_gradient(worst)}
    return Finding("exploding", worst.place, values)


def _recurrent(layers: list[LayerFacts]) -> bool:
    return any(record_of(layer.kind).is_recurrent for layer in layers)


def _relative_gradient(layer: LayerFacts) -> float:
    norm = layer.gradient_norm or 0.0
    if not np.isfinite(norm):
        return float("inf")
    return norm / max(layer.weight_norm, 1e-12)


def vanishing(evidence: Evidence) -> Finding | None:
    """The gradients of the first layers are negligible beside the gradients of the last."""
    layers = [layer for layer in evidence.weighted if layer.gradient_norm is not None]
    if len(layers) < thresholds.FEWEST_LAYERS or has_learnt(evidence):
        return None
    largest = max(layer.gradient_size for layer in layers)
    first = layers[0]
    if not largest > 0 or first.gradient_size > thresholds.VANISHING * largest:
        return None
    if any(layer.dead == 1.0 or layer.constant for layer in layers):
        return None  # dead units let no gradient through at all
    saturating = next((each for each in layers if each.activation in _SATURATING), first)
    ratio = first.gradient_size / largest
    values: dict[str, float | str] = {"ratio": ratio, "activation": saturating.activation}
    return Finding("vanishing", first.place, values)


def dead_units(evidence: Evidence) -> Finding | None:
    """Most units of a layer are 0 whatever the input."""
    # Weights that all begin alike are what is wrong with a layer, not that it is 0.
    layers = [layer for layer in evidence.layers if not layer.constant]
    worst = max(layers, key=lambda layer: layer.dead or 0.0, default=None)
    if worst is None or not (worst.dead or 0.0) > thresholds.DEAD_SHARE:
        return None
    dead = round((worst.dead or 0.0) * worst.units)
    return Finding("dead-units", worst.place, {"dead": dead, "units": worst.units})


def frozen(evidence: Evidence) -> Finding | None:
    """A layer keeps the weights that chance gave it."""
    layers = evidence.weighted
    for layer in layers:
        if layer.frozen and layer.untrained:
            return Finding("frozen", layer.place, {"why": "trainable"})
    cut = [layer for layer in layers if layer.gradient_norm is None and not layer.frozen]
    if cut and len(cut) < len(layers):
        return Finding("frozen", cut[-1].place, {"why": "gradient"})
    return None


def shuffled(evidence: Evidence) -> Finding | None:
    """Inputs that are alike have targets that are not, and nothing is learnt that holds."""
    if evidence.agreement is None or evidence.agreement >= thresholds.AGREEMENT:
        return None
    tested = evidence.test_agreement or 0.0
    is_certain = evidence.shuffles and tested > thresholds.CLEAR * thresholds.AGREEMENT
    if evidence.test_losses and evidence.baseline is not None and not is_certain:
        # The lowest of many test losses is below that of guessing by chance.
        least = thresholds.LEARNT if evidence.shuffles else thresholds.FLAT
        learns = min(evidence.test_losses) < least * evidence.baseline
        enough = len(evidence.test_losses) >= thresholds.FEWEST_ROUNDS
    else:
        learns, enough = has_learnt(evidence) and not is_certain, was_patient(evidence)
    # Where all inputs say little, or samples are few, neighbours do not agree either.
    expected = tested > thresholds.EXPECTED * thresholds.AGREEMENT
    if learns or not enough or not (expected or evidence.shuffles):
        return None
    return Finding("shuffled")


def overfitting(evidence: Evidence) -> Finding | None:
    """The test loss rises while the training loss falls."""
    tests, trained = evidence.test_losses, evidence.train_losses
    if len(tests) < thresholds.FEWEST_TESTS or len(trained) < len(tests):
        return None
    best = int(np.argmin(tests))
    since = len(tests) - 1 - best
    if since < thresholds.TESTS_SINCE_BEST:
        return None
    now = float(median(tests[-thresholds.TESTS_SINCE_BEST :]))
    if now < thresholds.RISEN * tests[best] or trained[-1] >= trained[best]:
        return None
    guess = tests[0] if evidence.baseline is None else evidence.baseline
    if now < thresholds.APART * trained[-1] or now - tests[best] < (
        thresholds.RISEN_OF_GUESS * guess
    ):
        return None
    values: dict[str, float | str] = {"best": tests[best], "now": now, "epoch": best + 1}
    return Finding("overfitting", Location(_last_node(evidence), None), values)


def not_falling(evidence: Evidence) -> Finding | None:
    """The loss is where it began, and nothing else explains it."""
    known = course(evidence)
    if known is None or not was_patient(evidence):
        return None
    if knows(evidence):
        return None  # it was trained before
    layers = evidence.weighted
    is_stuck = bool(layers) and all(layer.gradient_norm == 0 for layer in layers)
    falls = known.now < thresholds.FLAT * max(limit(evidence, known.start), known.middle)
    if falls and not is_stuck:
        return None
    values: dict[str, float | str] = {"start": known.start, "now": known.now, "why": ""}
    constant = next((layer for layer in layers[:-1] if layer.constant), None)
    if constant is not None:
        return Finding("not-falling", constant.place, {**values, "why": "constant"})
    if layers and layers[-1].activation == "softmax" and evidence.outputs == 1:
        return Finding("not-falling", layers[-1].place, {**values, "why": "softmax"})
    targets = evidence.targets
    if layers and layers[-1].activation == "relu" and targets is not None and targets.low < 0:
        return Finding("not-falling", layers[-1].place, {**values, "why": "positive"})
    unrelated = evidence.agreement is not None and evidence.agreement < thresholds.AGREEMENT
    weak = next((layer for layer in layers[:-1] if is_weak(layer)), None)
    if weak is not None and not unrelated:
        return Finding("not-falling", weak.place, {**values, "why": "weak"})
    values["why"] = "unrelated" if unrelated else ""
    return Finding("not-falling", Location(_last_node(evidence), None), values)


def is_weak(layer: LayerFacts) -> bool:
    """Return whether the weights are so small that hardly anything passes the layer."""
    if layer.kind != "dense" or not layer.units:
        return False
    fan_in = layer.weights / layer.units
    size = layer.weight_norm / layer.weights**0.5
    return size < thresholds.WEAK / fan_in**0.5


def _last_node(evidence: Evidence) -> str | None:
    return evidence.weighted[-1].place.node if evidence.weighted else None


CHECKS: tuple[Callable[[Evidence], Finding | None], ...] = (
    not_finite, input_scale, target_scale, activation_twice, rate_high, exploding, frozen,
    shuffled, vanishing, dead_units, rate_low, overfitting, not_falling,
)  # fmt: skip

_EXPLAINS = {
    "input-scale": {"exploding", "dead-units", "vanishing", "rate-low", "rate-high"},
    "target-scale": {"exploding", "dead-units", "vanishing", "rate-low", "rate-high"},
    "activation-twice": {"rate-low", "vanishing"},
    "rate-high": {"exploding", "dead-units", "vanishing"},
    "exploding": {"dead-units"},
    "frozen": {"vanishing"},
    "shuffled": {"overfitting", "rate-low", "vanishing"},
    "dead-units": {"vanishing"},
}
"""The consequences of an illness. `not_falling` is for a loss that nothing else explains."""


def examine(evidence: Evidence) -> list[Finding]:
    """Return the findings, causes rather than their effects."""
    findings = [finding for check in CHECKS if (finding := check(evidence)) is not None]
    others = [each for each in findings if not is_slow(each) and each.values.get("why") != ""]
    if others:  # a training can be slow for any of these reasons
        findings = [each for each in findings if not is_slow(each)]
    codes = {finding.code for finding in findings}
    explained = set().union(*(_EXPLAINS.get(code, set()) for code in codes))
    if codes - {"not-falling"}:
        explained.add("not-falling")
    fit = evidence.fit
    return [
        finding if finding.place.line or finding.place.node else replace(finding, place=fit)
        for finding in findings
        if finding.code not in explained
    ]
