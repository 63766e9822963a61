"""The sentences of the doctor on the desktop. The page has its own, in ``messages/en.js``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from playgrad.doctor.finding import Edit, Finding, Value

Values = Mapping[str, Value]

_FROZEN = {
    "trainable": "is frozen with the weights that chance gave it, so it learns nothing",
    "gradient": "gets no gradient: the loss does not depend on its weights, so it learns nothing",
}
_NOT_FALLING = {
    "constant": " All weights of this layer begin with one value, so its units stay alike.",
    "softmax": " A softmax of one unit is always 1.",
    "positive": " The last layer is never negative after relu, but targets are.",
    "weak": " The weights of this layer are so small that hardly anything passes it.",
    "unrelated": " Samples that are alike have targets that are not: check that x and y are in the "
    "same order.",
    "": " Check that the inputs say something about the targets, and try a larger network.",
}


def _number(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:,.3g}".replace("-", "−")


def _not_finite(v: Values) -> str:
    if v["weights"]:
        return (
            f"The loss is NaN or infinite from the first step: weights of “{v['weights']}” were "
            "NaN or infinite before the training. Look at where the program sets or loads them."
        )
    cause = (
        f": “{v['op']}” is the first operation whose result is NaN or infinite" if v["op"] else ""
    )
    return f"The loss became NaN or infinite at step {_number(v['step'])}{cause}."


def _not_seen(v: Values) -> str:
    error = f"{v['error']}: {v['message']}" if v["message"] else v["error"]
    return f"The doctor could not check everything ({error}). The training is not affected."


def _scale(what: str) -> Callable[[Values], str]:
    return lambda v: (
        f"The {what} range from {_number(v['low'])} to {_number(v['high'])}, but networks learn "
        "best from values of about −1 to 1."
    )


def _rate_low(v: Values) -> str:
    begin = f"The learning rate {_number(v['rate'])} is too small:"
    if "start" in v:
        return (
            f"{begin} the training ended while the loss, which was {_number(v['start'])} and is "
            f"{_number(v['loss'])}, had hardly begun to fall."
        )
    if "percent" in v:
        return f"{begin} the weights have moved by {_number(v['percent'])}% of their size."
    return (
        f"{begin} {v['times']:,.0f} times as far in the same direction the loss would be "
        f"{_number(v['ahead'])} instead of {_number(v['loss'])}."
    )


SENTENCES: dict[str, Callable[[Values], str]] = {
    "not-finite": _not_finite,
    "input-scale": _scale("inputs"),
    "target-scale": _scale("targets"),
    "activation-twice": lambda v: (
        "The loss expects scores (from_logits=True), but the last layer ends in "
        f"{v['activation']}: it is applied twice, and the network can never be sure."
    ),
    "rate-high": lambda v: (
        f"The learning rate {_number(v['rate'])} is too large: each step overshoots."
    ),
    "rate-low": _rate_low,
    "exploding": lambda v: (
        f"The gradients explode: that of this layer is {_number(v['times'])} times as long as its "
        "weights."
    ),
    "vanishing": lambda v: (
        "The gradients vanish on their way to the first layer, which learns "
        f"{_number(1 / max(float(v['ratio']), 1e-12))} times slower than the fastest."
    ),
    "dead-units": lambda v: (
        f"{_number(v['dead'])} of {_number(v['units'])} units are dead: their result is 0 for "
        "every sample."
    ),
    "frozen": lambda v: f"This layer {_FROZEN[str(v['why'])]}.",
    "shuffled": lambda v: (
        "Inputs and targets do not belong together: samples that are alike have targets that are "
        "not, as if one of them was shuffled alone."
    ),
    "overfitting": lambda v: (
        f"The network overfits: since epoch {_number(v['epoch'])} the test loss has risen from "
        f"{_number(v['best'])} to {_number(v['now'])} while the training loss fell."
    ),
    "not-falling": lambda v: (
        f"The loss does not fall: it was {_number(v['start'])} and is {_number(v['now'])}."
        + _NOT_FALLING[str(v["why"])]
    ),
    "not-seen": _not_seen,
}
"""A sentence for each code of a finding."""

EDITS: dict[str, Callable[[Values], str]] = {
    "set-rate": lambda v: f"learning rate {_number(v['before'])} → {_number(v['after'])}",
    "clip": lambda v: f"clip gradients: global_clipnorm={_number(v['norm'])}",
    "guard": lambda v: f"keep the argument of {v['function']} at {_number(v['least'])} or more",
    "insert-first": lambda v: f"first layer {v['layer']}",
    "append-last": lambda v: f"last layer {v['layer']}",
    "append-last-adam": lambda v: f"last layer {v['layer']}, trained by Adam",
    "set-activation": lambda v: f"{v['before']} → {v['after']}",
    "thaw": lambda v: "trainable = True",
    "let-gradient": lambda v: "without stop_gradient",
    "unshuffle": lambda v: f"do not shuffle {v['name']} alone",
    "stop-early": lambda v: "stop early, with the best weights",
    "initialize": lambda v: "random initial weights",
}
"""A few words for each code of an edit."""


def sentence(finding: Finding) -> str:
    """Return the sentence of a finding."""
    return SENTENCES[finding.code](finding.values)


def edit_in_words(edit: Edit) -> str:
    """Return an edit in a few words."""
    return EDITS[edit.code](edit.values)


def in_words(finding: Finding) -> str:
    """Return a finding with its place and its edit, as a line of text."""
    place = [] if finding.place.line is None else [f"line {finding.place.line}"]
    place += [] if finding.place.node is None else [finding.place.node]
    text = f"{', '.join(place)}: {sentence(finding)}" if place else sentence(finding)
    return text if finding.edit is None else f"{text} Try: {edit_in_words(finding.edit)}."
