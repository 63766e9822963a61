"""The edit of the program that cures an illness, and the line that a finding is about."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from playgrad.doctor import thresholds
from playgrad.doctor.checks import is_weak, usual_rates
from playgrad.doctor.evidence import Evidence
from playgrad.doctor.finding import Change, Edit, Finding, Value
from playgrad.doctor.first_layer import first_layer, layers_of
from playgrad.doctor.program_text import OPTIMIZERS, ProgramText, argument, name_of
from playgrad.optim.optimizer import RECORDED

_ACTIVATIONS = {"sigmoid": "relu", "tanh": "relu", "hard_sigmoid": "relu", "softsign": "relu"}
_GUARDED = {"log", "sqrt", "rsqrt", "reciprocal"}
_LEAST = "1e-7"
_BYTE = 255


def prescribe(findings: list[Finding], evidence: Evidence, source: str | None) -> list[Finding]:
    """Return the findings with lines and edits, as far as the program shows them.

    Args:
        source: the program; None if it is not known.
    """
    try:
        program = None if source is None else ProgramText(source)
    except (SyntaxError, ValueError):
        program = None
    treated = [_treated(finding, evidence, program) for finding in findings]
    edits = [finding.edit is not None for finding in treated]
    if any(edits[1:]) and treated[0].code == "not-finite" and not treated[0].values["op"]:
        treated[0] = replace(treated[0], edit=None)  # that of the cause
    return treated


def _treated(finding: Finding, evidence: Evidence, program: ProgramText | None) -> Finding:
    place = finding.place
    if program is not None and place.node == evidence.optimizer:
        made = program.optimizer(evidence.fit.line)
        if made is not None:
            place = replace(place, line=made.lineno)
    if place.line is None:
        place = replace(place, line=evidence.fit.line)
    finding = replace(finding, place=place)
    if program is None or finding.code not in _REMEDIES:
        return finding
    return replace(finding, edit=_REMEDIES[finding.code](finding, evidence, program))


def _edit(code: str, values: dict[str, Value], *changes: Change | None) -> Edit | None:
    if any(change is None for change in changes):
        return None
    known = [change for change in changes if change is not None]
    known.sort(key=lambda change: (change.line, change.column), reverse=True)
    return Edit(code, values, tuple(known))


# Learning rates and gradients


def _set_rate(evidence: Evidence, program: ProgramText, rate: float) -> Edit | None:
    before = evidence.rate
    made = program.optimizer(evidence.fit.line)
    if made is None or before is None:
        return None
    values: dict[str, Value] = {"before": before, "after": rate}
    if isinstance(made, ast.Constant):
        call = _optimizer_call(program, str(made.value), f"learning_rate={rate:g}")
        return None if call is None else _edit("set-rate", values, program.replaced(made, call))
    assert isinstance(made, ast.Call)
    number = argument(made, 0, "learning_rate")
    if number is None:
        first: list[ast.expr | ast.keyword] = [*made.args, *made.keywords]
        text = f"learning_rate={rate:g}"
        change = (
            program.before(first[0], f"{text}, ") if first else program.with_argument(made, text)
        )
        return _edit("set-rate", values, change)
    if isinstance(number, ast.Name):
        number = program.assigned(number.id)
    if isinstance(number, ast.Call):  # a schedule: its first argument, if that is the highest rate
        highest = argument(number, 0, "initial_learning_rate")
        number = highest or argument(number, None, "max_learning_rate")
        if not isinstance(number, ast.Constant) or number.value != before:
            return None
    if not isinstance(number, ast.Constant) or not isinstance(number.value, (int, float)):
        return None
    return _edit("set-rate", values, program.replaced(number, f"{rate:g}"))


def _optimizer_call(program: ProgramText, name: str, arguments: str) -> str | None:
    classes = {kind: title for title, kind in OPTIMIZERS.items()}
    title = classes.get(name.lower())
    return None if title is None else f"{program.prefix('optim')}{title}({arguments})"


def _lower_rate(finding: Finding, evidence: Evidence, program: ProgramText) -> Edit | None:
    usual = usual_rates(evidence)
    if evidence.rate is None or usual is None:
        return None
    rate = evidence.rate / 10
    while rate > usual[1]:
        rate /= 10
    return _set_rate(evidence, program, _rounded(rate))


def _raise_rate(finding: Finding, evidence: Evidence, program: ProgramText) -> Edit | None:
    usual = usual_rates(evidence)
    if evidence.rate is None or usual is None:
        return None
    rate = evidence.rate * 10
    while rate < usual[0]:
        rate *= 10
    rate = min(rate, thresholds.ADVISED * usual[1])
    return _set_rate(evidence, program, _rounded(rate))


def _rounded(number: float) -> float:
    return float(f"{number:.3g}")


def _clip(finding: Finding, evidence: Evidence, program: ProgramText) -> Edit | None:
    made = program.optimizer(evidence.fit.line)
    values: dict[str, Value] = {"norm": 1.0}
    if isinstance(made, ast.Constant):
        call = _optimizer_call(program, str(made.value), "global_clipnorm=1.0")
        return None if call is None else _edit("clip", values, program.replaced(made, call))
    if not isinstance(made, ast.Call):
        return None
    return _edit("clip", values, program.with_argument(made, "global_clipnorm=1.0"))


def _guard(finding: Finding, evidence: Evidence, program: ProgramText) -> Edit | None:
    """Keep the argument of a logarithm or a root positive, or else lower the learning rate."""
    if finding.values["weights"]:
        return None
    if not finding.values["op"]:
        return _lower_rate(finding, evidence, program)
    calls = program.calls_at(finding.place.line, lambda call: name_of(call) in _GUARDED)
    if len(calls) != 1 or len(calls[0].args) != 1:
        return None
    inner = calls[0].args[0]
    text = f"{program.prefix('')}maximum({program.source_of(inner)}, {_LEAST})"
    values: dict[str, Value] = {"function": name_of(calls[0]), "least": float(_LEAST)}
    return _edit("guard", values, program.replaced(inner, text))


# The network


def _scale_inputs(finding: Finding, evidence: Evidence, program: ProgramText) -> Edit | None:
    spread = evidence.inputs
    if spread is None:
        return None
    nn = program.prefix("nn")
    if spread.low >= 0 and spread.high <= _BYTE and spread.dimensions > 1:
        layer = f"{nn}Rescaling(1 / 255)"
    elif spread.means:
        mean = ", ".join(f"{m:.3g}" for m in spread.means)
        variance = ", ".join(f"{max(d, 1e-6) ** 2:.3g}" for d in spread.deviations)
        layer = f"{nn}Normalization(mean=[{mean}], variance=[{variance}])"
    else:
        factor = 1 / max(spread.deviation, 1e-6)
        offset = -spread.mean * factor
        layer = f"{nn}Rescaling({factor:.3g}, offset={offset:.3g})"
    changes = first_layer(program, layer)
    return _edit("insert-first", {"layer": layer}, *changes) if changes else None


def _scale_outputs(finding: Finding, evidence: Evidence, program: ProgramText) -> Edit | None:
    """Let the network compute in units of the targets' deviation.

    Its last layer brings the results back to the units of the data. That leaves gradients large,
    so the optimizer must be one that does not mind.
    """
    spread, items = evidence.targets, layers_of(program)
    if spread is None or items is None or not spread.deviation:
        return None
    scale, offset = _two_digits(spread.deviation), _two_digits(spread.mean)
    layer = f"{program.prefix('nn')}Rescaling({scale:g}, offset={offset:g})"
    last = items.elts[-1]
    between = f"\n{' ' * last.col_offset}" if last.lineno > items.lineno else " "
    changes = [program.after(last, f",{between}{layer}")]
    is_tiny = spread.deviation < thresholds.TINY  # gradients are as small as its square
    optimizer = RECORDED.get(evidence.optimizer)
    if optimizer is None or not optimizer.record.is_adaptive or is_tiny:
        made = program.optimizer(evidence.fit.line)
        if made is None:
            return None
        least = f", epsilon={_two_digits(1e-3 * scale**2):g}" if is_tiny else ""
        changes.append(program.replaced(made, f"{program.prefix('optim')}Adam(0.01{least})"))
        return _edit("append-last-adam", {"layer": layer}, *changes)
    return _edit("append-last", {"layer": layer}, *changes)


def _two_digits(number: float) -> float:
    return float(f"{number:.2g}")


def _leaky(finding: Finding, evidence: Evidence, program: ProgramText) -> Edit | None:
    line = finding.place.line
    values: dict[str, Value] = {"before": "relu", "after": "leaky_relu"}
    texts = _strings_at(program, line, {"relu"})
    if len(texts) == 1:
        return _edit("set-activation", values, program.replaced(texts[0], '"leaky_relu"'))
    layers = program.calls_at(line, lambda call: name_of(call) == "ReLU")
    if len(layers) == 1:
        name = program.source_of(layers[0].func).replace("ReLU", "LeakyReLU")
        return _edit("set-activation", values, program.replaced(layers[0], f"{name}()"))
    return None


def _strings_at(program: ProgramText, line: int | None, texts: set[str]) -> list[ast.Constant]:
    """Return the activations among ``texts`` of the calls that begin in ``line``."""
    strings = []
    for call in program.calls_at(line, lambda call: True):
        for value in (argument(call, None, "activation"), *call.args):
            if isinstance(value, ast.Constant) and value.value in texts:
                strings.append(value)
    return strings


def _unsaturated(finding: Finding, evidence: Evidence, program: ProgramText) -> Edit | None:
    """Replace saturating activations of all layers but the last."""
    lines = dict.fromkeys(layer.place.line for layer in evidence.layers[:-1])
    last = evidence.layers[-1].place.line if evidence.layers else None
    strings = [
        s for line in lines if line != last for s in _strings_at(program, line, {*_ACTIVATIONS})
    ]
    if not strings:
        return None
    changes = [program.replaced(s, f'"{_ACTIVATIONS[str(s.value)]}"') for s in strings]
    values: dict[str, Value] = {"before": str(strings[0].value), "after": "relu"}
    return _edit("set-activation", values, *changes)


def _thaw(finding: Finding, evidence: Evidence, program: ProgramText) -> Edit | None:
    if finding.values["why"] == "trainable":
        stored = [
            node.value
            for node in ast.walk(program.tree)
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and node.value.value is False
            and any(isinstance(t, ast.Attribute) and t.attr == "trainable" for t in node.targets)
        ]
        if len(stored) != 1:
            return None
        return _edit("thaw", {}, program.replaced(stored[0], "True"))
    calls = program.calls("stop_gradient")
    if len(calls) != 1 or len(calls[0].args) != 1:
        return None
    inner = program.source_of(calls[0].args[0])
    return _edit("let-gradient", {}, program.replaced(calls[0], inner))


# The data and the fit


def shuffles_alone(source: str | None) -> bool:
    """Return whether the program ``source`` has one shuffle, and that of a single array."""
    try:
        return source is not None and _without_shuffle(ProgramText(source)) is not None
    except (SyntaxError, ValueError):
        return False


def _unshuffle(finding: Finding, evidence: Evidence, program: ProgramText) -> Edit | None:
    return _without_shuffle(program)


def _without_shuffle(program: ProgramText) -> Edit | None:
    """Take out the only shuffle of the program, if it is of one array alone."""
    edits = [
        (name, program.replaced(indexed, name))
        for indexed, name in program.indexed_alone("permutation")
    ]
    for block, statement in program.statements():
        call = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
        if isinstance(call, ast.Subscript) and isinstance(call.value, ast.Name):
            index = call.slice  # y[random.permutation(len(y))]: nothing else has the same order
            if isinstance(index, ast.Call) and name_of(index) == "permutation":
                edits.append((call.value.id, program.replaced(call, call.value.id)))
            continue
        if not isinstance(call, ast.Call) or len(call.args) != 1:
            continue
        inner = call.args[0]
        if isinstance(statement, ast.Expr) and name_of(call) == "shuffle":
            change = program.without_statement(block, statement)
            edits.append((program.source_of(inner), change))
        if name_of(call) == "permutation" and isinstance(inner, ast.Name):
            # Of a whole array: permutation(len(y)) makes indices.
            edits.append((inner.id, program.replaced(call, inner.id)))
    if len(edits) != 1:
        return None
    name, change = edits[0]
    return _edit("unshuffle", {"name": name}, change)


def _stop_early(finding: Finding, evidence: Evidence, program: ProgramText) -> Edit | None:
    fit = program.fit_at(evidence.fit.line)
    if fit is None:
        return None
    stopping = (
        f"{program.prefix('nn')}EarlyStopping(patience={thresholds.TESTS_SINCE_BEST}, "
        "restore_best_weights=True)"
    )
    callbacks = argument(fit, None, "callbacks")
    if callbacks is None:
        change = program.with_argument(fit, f"callbacks=[{stopping}]")
    elif isinstance(callbacks, ast.List):
        if "EarlyStopping" in program.source_of(callbacks):
            return None
        between = ", " if callbacks.elts else ""
        change = (
            program.after(callbacks.elts[-1], f"{between}{stopping}")
            if callbacks.elts
            else program.replaced(callbacks, f"[{stopping}]")
        )
    else:
        return None
    return _edit("stop-early", {}, change)


def _begin_anew(finding: Finding, evidence: Evidence, program: ProgramText) -> Edit | None:
    """Remove initial weights with which nothing is learnt, or such an activation at the end."""
    line, why = finding.place.line, str(finding.values["why"])
    if why in _LAST_ACTIVATIONS:
        before, after = _LAST_ACTIVATIONS[why]
        texts = _strings_at(program, line, {before})
        values: dict[str, Value] = {"before": before, "after": after}
        if len(texts) != 1:
            return None
        return _edit("set-activation", values, program.replaced(texts[0], f'"{after}"'))
    if why not in ("constant", "weak"):
        return None
    changes = []
    for layer in evidence.weighted:
        is_ill = layer.constant if why == "constant" else is_weak(layer)
        for call in program.calls_at(layer.place.line, lambda call: True):
            value = argument(call, None, "kernel_initializer")
            if is_ill and value is not None:
                changes.append(program.replaced(value, '"glorot_uniform"'))
    unique = list(dict.fromkeys(changes))
    return _edit("initialize", {}, *unique) if unique else None


def _scores(finding: Finding, evidence: Evidence, program: ProgramText) -> Edit | None:
    """Let the last layer give the scores that the loss expects."""
    before = str(finding.values["activation"])
    texts = _strings_at(program, finding.place.line, {before})
    values: dict[str, Value] = {"before": before, "after": "linear"}
    if len(texts) != 1:
        return None
    return _edit("set-activation", values, program.replaced(texts[0], '"linear"'))


_LAST_ACTIVATIONS = {"softmax": ("softmax", "sigmoid"), "positive": ("relu", "linear")}
"""The activation of the last layer that a loss cannot fall with, and the one to take instead."""

_REMEDIES: dict[str, Callable[[Finding, Evidence, ProgramText], Edit | None]] = {
    "not-finite": _guard,
    "input-scale": _scale_inputs,
    "target-scale": _scale_outputs,
    "activation-twice": _scores,
    "rate-high": _lower_rate,
    "rate-low": _raise_rate,
    "exploding": _clip,
    "vanishing": _unsaturated,
    "dead-units": _leaky,
    "frozen": _thaw,
    "shuffled": _unshuffle,
    "overfitting": _stop_early,
    "not-falling": _begin_anew,
}
