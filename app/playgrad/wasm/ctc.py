"""The loss of connectionist temporal classification and its derivative (Graves et al. 2006), one
sample after the other.

A target of U labels has 2 U + 1 states, the labels with a blank before, between and after them.
Everything is a logarithm, minus infinity where there is no path. Rows of states have room for minus
infinity on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass

from playgrad.wasm.copies import clear
from playgrad.wasm.encoding import F32, I32
from playgrad.wasm.kernel import KernelCode
from playgrad.wasm.lanes import floats, lanes, splat
from playgrad.wasm.procedure import Local
from playgrad.wasm.scalars import choose, is_zero, number, scalar
from playgrad.wasm.softmax import Exponentials
from playgrad.wasm.values import StackValue, integer
from playgrad.wasm.vectors import VectorPlace, across, extract

_ROOM = 16
"""Bytes before and after a row."""
_NONE = -float("inf")


@dataclass(frozen=True)
class CtcForm:
    """The sizes of a batch. A sample has up to ``labels`` labels and ``times`` times."""

    batch: int
    times: int
    classes: int
    labels: int
    blank: int
    zero_infinity: bool

    @property
    def states(self) -> int:
        return 2 * self.labels + 1

    @property
    def row(self) -> int:
        """Bytes of a row of states, with its room."""
        return 4 * self.states + 2 * _ROOM


@dataclass(frozen=True)
class CtcPlaces:
    """The addresses of the inputs."""

    log_probs: StackValue
    targets: StackValue
    target_lengths: StackValue
    output_lengths: StackValue


class CtcWriter:
    """Writes the code of a batch.

    Args:
        keeps: whether the rows of all times are kept, for the derivative.
    """

    def __init__(
        self,
        code: KernelCode,
        form: CtcForm,
        functions: Exponentials,
        places: CtcPlaces,
        keeps: bool,
    ) -> None:
        f = self._f = code.f
        self._code, self._form, self._functions = code, form, functions
        self._places, self._keeps = places, keeps
        count = form.times + 1 if keeps else 2
        row = form.row
        self._rows, self._behind, self._values, self._emitted, self._skips, self._classes = (
            f.copy(code.scratch(size) + _ROOM) for size in (row * count, row, row, row, row, row)
        )
        self._count = count

    def losses(self, target: StackValue) -> None:
        """Write the loss of each sample."""
        with self._f.count(integer(self._form.batch)) as sample:
            total = self._forward(sample)
            loss = scalar("f32.neg", total)
            if self._form.zero_infinity:
                infinite = scalar("f32.eq", scalar("f32.abs", total), number(F32, -_NONE))
                loss = choose(infinite, number(F32, 0.0), loss)
            self._f.store(target + sample * 4, loss)

    def derivatives(self, target: StackValue) -> None:
        """Write the derivative of each loss by the log probabilities."""
        f, form = self._f, self._form
        size = form.times * form.classes * 4
        clear(f, target, form.batch * size)
        with f.count(integer(form.batch)) as sample:
            total = self._forward(sample)
            wanted: StackValue = integer(1)
            if form.zero_infinity:
                wanted = scalar("f32.lt", scalar("f32.abs", total), number(F32, -_NONE))
            with f.when(wanted):
                self._backward(sample, f.copy(splat(total)), target + sample * size)

    def _prepare(self, sample: Local) -> tuple[Local, Local]:
        """Check a sample, find its states, and return its numbers of labels and times."""
        f, form = self._f, self._form
        labels = f.copy((self._places.target_lengths + sample * 4).load(I32))
        times = f.copy((self._places.output_lengths + sample * 4).load(I32))
        for value, limit in ((labels, form.labels), (times, form.times)):
            with f.when(scalar("i32.gt_u", value, limit)):
                self._code.fail()
                f.leave()
        self._fill(self._skips)
        place, state = f.copy(self._classes), f.copy(self._skips)
        target = f.copy(self._places.targets + sample * (4 * form.labels))
        before = f.copy(integer(form.blank))
        self._state(place, state, integer(form.blank), number(F32, _NONE))
        with f.count(integer(form.labels)) as index:
            label = f.copy(choose(index < labels, target.load(I32), integer(form.blank)))
            wrong = scalar("i32.ge_u", label, form.classes)
            is_blank = scalar("i32.eq", label, form.blank)
            wrong = scalar("i32.or", wrong, scalar("i32.and", is_blank, index < labels))
            with f.when(wrong):
                self._code.fail()
                f.leave()
            # A label is entered from the one before it, too, unless they are equal.
            repeated = scalar("i32.or", is_blank, scalar("i32.eq", label, before))
            repeated = scalar("i32.or", repeated, is_zero(index))
            skip = choose(repeated, number(F32, _NONE), number(F32, 0.0))
            self._state(place, state, label, skip)
            self._state(place, state, integer(form.blank), number(F32, _NONE))
            f.set(before, label)
            f.add(target, 4)
        return labels, times

    def _state(self, place: Local, skip: Local, label: StackValue, value: StackValue) -> None:
        self._f.store(place, label)
        self._f.store(skip, value)
        self._f.add(place, 4)
        self._f.add(skip, 4)

    def _fill(self, row: StackValue, count: int = 1) -> None:
        """Write minus infinity to rows and their rooms."""
        f = self._f
        place = f.copy(row - _ROOM)
        across(f, self._form.row * count // 4, lambda at: at.store(f, place, floats(_NONE)))

    def _emit(self, sample: Local, time: StackValue) -> None:
        """Find the log probability of each state's class at a time."""
        f, form = self._f, self._form
        start = (sample * form.times + time) * (4 * form.classes)
        source = f.copy(self._places.log_probs + start)
        with f.count(integer(4 * form.states), 4) as offset:
            place = source + (self._classes + offset).load(I32) * 4
            f.store(self._emitted + offset, place.load(F32))

    def _joined(self, *paths: StackValue) -> StackValue:
        """Return the logarithm of a sum of exponentials."""
        f = self._f
        values = [f.copy(path) for path in paths]
        most: StackValue = values[0]
        for value in values[1:]:
            most = lanes("max", most, value)
        largest = f.copy(most)
        exists = lanes("ne", largest, floats(_NONE))
        shift = f.copy(lanes("and", largest, exists))
        total: StackValue = floats(0.0)
        for value in values:
            power = self._functions.exp(f, f.copy(lanes("sub", value, shift)))
            total = lanes("add", f.copy(power), total)
        return lanes("add", self._functions.log(f, f.copy(total)), shift)

    def _forward(self, sample: Local) -> Local:
        """Return the logarithm of the probability of all paths."""
        f, form = self._f, self._form
        labels, times = self._prepare(sample)
        self._fill(self._rows, self._count)
        row, last = f.copy(self._rows), f.copy(self._rows)
        with f.count(times) as time:
            f.set(row, self._row(time))
            self._emit(sample, time)
            with f.when(is_zero(time)):
                for offset in (0, 4)[: form.states]:
                    f.store(row + offset, (self._emitted + offset).load(F32))
            with f.otherwise():

                def enter(place: VectorPlace) -> None:
                    skipped = lanes("add", place.load(last - 8), place.load(self._skips))
                    entered = self._joined(place.load(last), place.load(last - 4), skipped)
                    place.store(f, row, lanes("add", entered, place.load(self._emitted)))

                across(f, form.states, enter)
            f.set(last, row)
        ends = f.copy(last + labels * 8)
        both = self._joined(splat(ends.load(F32)), splat((ends - 4).load(F32)))
        none = choose(is_zero(labels), number(F32, 0.0), number(F32, _NONE))
        return f.copy(choose(is_zero(times), none, extract(both, 0)))

    def _row(self, time: StackValue) -> StackValue:
        index = time if self._keeps else scalar("i32.and", time, 1)
        return self._rows + index * self._form.row

    def _backward(self, sample: Local, total: Local, target: StackValue) -> None:
        """Subtract the probability of each state at each time from its class."""
        f, form = self._f, self._form
        labels = f.copy((self._places.target_lengths + sample * 4).load(I32))
        times = f.copy((self._places.output_lengths + sample * 4).load(I32))
        self._fill(self._behind)
        self._fill(self._values)
        ends = f.copy(self._behind + labels * 8)
        f.store(ends, number(F32, 0.0))
        with f.when(labels):
            f.store(ends - 4, number(F32, 0.0))
        out = f.copy(target)
        with f.count(times) as done:
            time = f.copy(times - 1 - done)
            with f.when(done):

                def leave(place: VectorPlace) -> None:
                    beyond = self._values + 8
                    skipped = lanes("add", place.load(beyond), place.load(self._skips + 8))
                    left = self._joined(
                        place.load(self._values), place.load(self._values + 4), skipped
                    )
                    place.store(f, self._behind, left)

                across(f, form.states, leave)
            self._emit(sample, time)
            row, slopes = f.copy(self._row(time)), f.copy(out + time * (4 * form.classes))

            def follow(place: VectorPlace) -> None:
                behind = f.copy(place.load(self._behind))
                place.store(f, self._values, lanes("add", behind, place.load(self._emitted)))
                path = lanes("sub", lanes("add", place.load(row), behind), total)
                place.store(f, row, self._functions.exp(f, f.copy(path)))

            across(f, form.states, follow)
            with f.count(integer(4 * form.states), 4) as offset:
                place = f.copy(slopes + (self._classes + offset).load(I32) * 4)
                f.store(place, place.load(F32) - (row + offset).load(F32))
