"""Where the values of a recurrence are in workgroup memory.

A workgroup has a part of the batch's rows. Values that the next step reads have a place for the
whole step; others share the places of values that are not needed any more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from playgrad.ops.recurrent.recurrence_data import Recurrence, Value


@dataclass
class Areas:
    """Places in numbers for each row of a workgroup.

    Attributes:
        new, before: of the values of a step, and of the step before it. A value that is only an
            output has none.
        partial: of the partial sums of a product, by its instruction.
        size: of all of them together.
    """

    new: dict[Value, int] = field(default_factory=dict)
    before: dict[Value, int] = field(default_factory=dict)
    partial: dict[int, int] = field(default_factory=dict)
    size: int = 0

    def moved(self) -> list[Value]:
        """Return the values to be copied at the end of a step, for the next one."""
        return [value for value, place in self.before.items() if self.new[value] != place]


class _Planner:
    """Finds the places.

    Args:
        partial: the numbers that a product of partial sums takes for each row, by its instruction.
        aligned: returns whether an instruction reads an operand (its number) only at the places of
            the row that the invocation writes itself.
    """

    def __init__(
        self,
        recurrence: Recurrence,
        partial: Mapping[int, int],
        aligned: Callable[[int, int], bool],
    ) -> None:
        self.recurrence = recurrence
        self.partial = partial
        self.aligned = aligned
        self.areas = Areas()
        self.taken: list[tuple[int, int, int]] = []  # place, width, last instruction
        self.last: dict[tuple[str, Value], int] = {}
        self.apart: set[tuple[str, Value]] = set()  # not aligned where they are read last
        for number, each in enumerate(recurrence.body):
            for operand, ref in enumerate(each.inputs):
                if ref[0] in ("value", "before"):
                    key = (ref[0], (ref[1], ref[2]))
                    if self.last.get(key) != number:
                        self.apart.discard(key)
                    self.last[key] = number
                    if not aligned(number, operand):
                        self.apart.add(key)

    def run(self) -> Areas:
        carried = [each.value for each in self.recurrence.carried]
        end = len(self.recurrence.body)
        for value in carried:
            place = self._take(0, self.recurrence.width(value), end)
            self.areas.before[value] = place
            if self._may_overwrite(value):
                self.areas.new[value] = place
        for number, each in enumerate(self.recurrence.body):
            dying = self._dying(number)
            for output, width in enumerate(each.widths):
                value = (number, output)
                kept = number if each.op == "matmul" else None  # it goes to outputs from there
                last = end if value in carried else self.last.get(("value", value), kept)
                if value in self.areas.new or last is None:
                    continue
                if width in dying:
                    place = dying.pop(width)
                    self.taken.append((place, width, last))
                else:
                    place = self._take(number, width, last)
                self.areas.new[value] = place
            if number in self.partial:
                self.areas.partial[number] = self._take(number, self.partial[number], number)
        return self.areas

    def _may_overwrite(self, value: Value) -> bool:
        """Return whether the new value may take the place of the one before it."""
        key = ("before", value)
        last = self.last.get(key, -1)
        return last < value[0] or (last == value[0] and key not in self.apart)

    def _dying(self, number: int) -> dict[int, int]:
        """Return the places, by width, that results of an instruction may take over."""
        found = {}
        for (kind, value), last in self.last.items():
            free = kind == "value" and last == number and value not in self.areas.before
            if free and (kind, value) not in self.apart:
                found[self.recurrence.width(value)] = self.areas.new[value]
        return found

    def _take(self, number: int, width: int, last: int) -> int:
        """Return a free place for the instructions ``number`` to ``last``."""
        used = sorted((place, size) for place, size, until in self.taken if until >= number)
        place = 0
        for start, size in used:
            if place + width <= start:
                break
            place = max(place, start + size)
        self.taken.append((place, width, last))
        self.areas.size = max(self.areas.size, place + width)
        return place


def plan_areas(
    recurrence: Recurrence, partial: Mapping[int, int], aligned: Callable[[int, int], bool]
) -> Areas:
    """Return the places of all values; see `_Planner`."""
    return _Planner(recurrence, partial, aligned).run()
