"""``check_op``: the op contract applied to one operation, with a report in plain words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from playgrad.contract.cases import Case, cases_of
from playgrad.contract.comparison import BrokenRuleError
from playgrad.contract.on_device import check_gradients, check_values, runs_on
from playgrad.contract.rules import (
    check_derivatives,
    check_json,
    check_reference,
    check_specialised,
    check_unknown_dimensions,
)
from playgrad.contract.special_values import check_special_values, is_plain
from playgrad.devices import registry
from playgrad.errors import GraphError, PlaygradError
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import OpDef, Sample, lookup
from playgrad.ops import placeholder

_NO_ELEMENTS = (
    "If there is no result without elements, raise pg.ShapeError in the function `shape`."
)


@dataclass(frozen=True)
class OpCheck:
    """A rule of the contract and its outcome.

    Attributes:
        passed: None if the rule does not apply.
        details: how it is broken, with numbers, or why it does not apply.
    """

    rule: str
    passed: bool | None
    details: tuple[str, ...] = ()

    def __str__(self) -> str:
        mark = {True: "ok  ", False: "FAIL", None: "–   "}[self.passed]
        return "\n        ".join((f"  {mark}  {self.rule}", *self.details))


@dataclass(frozen=True)
class OpReport:
    """The result of ``check_op``; ``str()`` gives it as text, one line for each rule."""

    op: str
    checks: tuple[OpCheck, ...]

    @property
    def passed(self) -> bool:
        """True if no rule is broken."""
        return not self.failures

    @property
    def failures(self) -> tuple[OpCheck, ...]:
        """The rules that are broken."""
        return tuple(check for check in self.checks if check.passed is False)

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        passed = sum(check.passed is True for check in self.checks)
        head = f"{self.op}: {passed} checks passed, {len(self.failures)} failed"
        return "\n".join((head, *map(str, self.checks)))

    __repr__ = __str__


def check_op(op: Any, devices: Sequence[str] | None = None) -> OpReport:
    """Check an operation by the rules that the library's own operations keep.

    With each of its samples, and one without elements: the reference returns the declared shapes
    and dtypes, and writes no input; dimensions may be unknown; attributes survive JSON; the
    gradient, and its gradient unless ``second_derivative=False``, agree with finite differences in
    float64; invalid samples raise their errors; each device agrees with the reference.

    Args:
        op: what `register_op` or `register` returned, or the name of an operation.
        devices: names of devices; None for the first cpu and the first GPU, if there is one.

    Returns:
        A report; print it. It is false if a rule is broken.

    Raises:
        GraphError: there is no such operation, or it has no samples.
        DeviceError: there is no such device.
    """
    definition = lookup(op) if isinstance(op, str) else getattr(op, "op", op)
    if not isinstance(definition, OpDef):
        raise GraphError(f"{op!r:.60} is not an operation.", hint="Pass what register_op returned.")
    cases = cases_of(definition)
    if not cases:
        raise GraphError(
            f"{definition.name!r} has no samples to check it with.",
            source=definition.source,
            hint="Pass samples=[(array, ...), ...] to register_op().",
        )
    if devices is None:
        devices = ["cpu:0", *(["gpu:0"] if registry.gpu_adapters() else [])]
    return OpReport(definition.name, tuple(_checks(definition, cases, devices)))


def _checks(op: OpDef, cases: Sequence[Case], devices: Sequence[str]) -> Iterator[OpCheck]:
    reference = _each("reference and declared shapes", cases, check_reference)
    yield reference
    if not reference.passed:
        yield OpCheck("everything else", None, ("it needs a correct reference and shape rule",))
        return
    yield _each("unknown dimensions", cases, check_unknown_dimensions)
    empty = _without_elements(cases[0])
    if empty is None:
        reason = "the shape rule does not accept them"
        yield OpCheck("inputs without elements", None, (reason,))
        every: list[Case] = list(cases)
    else:
        check = _each("inputs without elements", [empty], check_reference)
        yield check if check.passed else replace(check, details=(*check.details, _NO_ELEMENTS))
        every = [*cases, empty] if check.passed else list(cases)
    yield _each("attributes survive JSON", cases, check_json)
    if op.specialise is not None:
        yield _each("the same for known shapes", cases, check_specialised)
    if op.invalid:
        yield _once("invalid uses are refused", lambda: _check_invalid(op))
    yield from _derivative_checks(op, every)
    for device in devices:
        yield from _device_checks(op, every, device)


def _derivative_checks(op: OpDef, cases: Sequence[Case]) -> Iterator[OpCheck]:
    floating = [case for case in cases if case.differentiable]
    if op.gradient is None:
        yield OpCheck("gradient", None, ("it has none: differentiating through it is an error",))
        return
    if not floating:
        yield OpCheck("gradient", None, ("no input of the samples has a gradient",))
        return
    first = _each("gradient", floating, lambda case: check_derivatives(case, second=False))
    yield first
    if not first.passed:
        yield OpCheck("second derivative", None, ("it needs a correct gradient",))
    elif op.second_derivative:
        yield _each("second derivative", floating, check_derivatives)
    else:
        yield OpCheck("second derivative", None, ("second_derivative=False: it is an error",))


def _device_checks(op: OpDef, cases: Sequence[Case], device: str) -> Iterator[OpCheck]:
    yield _once(f"values on {device}", lambda: check_values(op, cases, device))
    if not runs_on(op, device):
        yield OpCheck(f"gradient on {device}", None, ("it has no WGSL: it runs on a cpu",))
        return
    if is_plain(op):
        yield _once(f"NaN, infinity and zero on {device}", lambda: check_special_values(op, device))
    if any(case.differentiable for case in cases):
        yield _once(f"gradient on {device}", lambda: check_gradients(op, cases, device))


def _each(rule: str, cases: Sequence[Case], check: Callable[[Case], None]) -> OpCheck:
    problems = []
    for case in cases:
        problem = _problem(lambda case=case: check(case))  # type: ignore[misc]
        if problem is not None:
            shapes = ", ".join(str(spec) for spec in case.specs)
            problems.append(f"sample {case.number} ({shapes}): {problem}")
    return OpCheck(rule, not problems, tuple(problems))


def _once(rule: str, check: Callable[[], None]) -> OpCheck:
    problem = _problem(check)
    return OpCheck(rule, problem is None, () if problem is None else (problem,))


def _problem(check: Callable[[], None]) -> str | None:
    """Return how ``check`` fails, in words; None if it passes."""
    try:
        check()
    except BrokenRuleError as error:
        return str(error)
    except Exception as error:  # whatever the program's functions raise is part of the report
        return f"{type(error).__name__}: {error}"
    return None


def _without_elements(case: Case) -> Case | None:
    """Return ``case`` with a first dimension of 0; None if no such inputs are accepted."""
    inputs = case.sample.inputs
    if case.op.writes or not inputs or not inputs[0].ndim:
        return None
    rows = inputs[0].shape[0]
    all_rows = tuple(x[:0] if x.ndim and x.shape[0] == rows else x for x in inputs)
    for arrays in ((inputs[0][:0], *inputs[1:]), all_rows):
        sample = Sample(arrays, case.sample.attrs, case.sample.differentiable)
        empty = Case(case.op, case.number, sample)
        try:
            case.op.infer(empty.specs, sample.attrs)
        except PlaygradError:
            continue
        return empty
    return None


def _check_invalid(op: OpDef) -> None:
    for number, sample in enumerate(op.invalid):
        with (graph := Graph()).as_default():
            inputs = [placeholder(array.dtype, array.shape) for array in sample.inputs]
            try:
                graph.add(op, inputs, sample.attrs)
            except sample.error as error:
                if sample.words not in str(error):
                    raise BrokenRuleError(
                        f"invalid sample {number}: the message {str(error)!r} does not contain "
                        f"{sample.words!r}."
                    ) from None
            else:
                raise BrokenRuleError(f"invalid sample {number} is accepted.")
