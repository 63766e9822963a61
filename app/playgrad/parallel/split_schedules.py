"""Pipeline schedules that divide backward passes, so that gradients of weights fill the bubbles.

A backward pass computes the gradients of a stage's inputs, which the stage before waits for, and
the gradients of its weights, which only the update at the end needs. The second part can be done at
any time after the first.

===========  ========================================================================
zero_bubble  Qi et al. 2023, *Zero bubble pipeline parallelism*, ZB-H1: the memory of
             1F1B, a third of its bubble
dualpipe     DeepSeek-AI 2024, *DeepSeek-V3 technical report*, section 3.2.1: two
             streams from both ends
===========  ========================================================================
"""

from __future__ import annotations

from collections import Counter

from playgrad.parallel.passes import INPUTS, WEIGHTS, Orders, Pass, needed_by


def zero_bubble(devices: int, micro_batches: int, chunks: int = 1) -> Orders:
    """Return 1F1B whose gradients of weights on device d lag d micro-batches behind.

    No device keeps the activations of more than ``devices`` micro-batches.
    """
    orders = []
    for stage in range(devices):
        warm_up = min(micro_batches, devices - stage - 1)
        order = [Pass(stage, number, False) for number in range(warm_up)]
        for number in range(micro_batches):
            if warm_up + number < micro_batches:
                order.append(Pass(stage, warm_up + number, False))
            order.append(Pass(stage, number, True, part=INPUTS))
            if number >= stage:
                order.append(Pass(stage, number - stage, True, part=WEIGHTS))
        rest = range(max(0, micro_batches - stage), micro_batches)
        orders.append([*order, *(Pass(stage, number, True, part=WEIGHTS) for number in rest)])
    return orders


def dualpipe(devices: int, micro_batches: int, chunks: int = 1) -> Orders:
    """Return two streams that enter at opposite ends, each with half of the micro-batches.

    Each device does the first of these that is possible: a pass for the gradients of inputs; a
    forward pass, unless it keeps the activations of ``devices + 1`` micro-batches; a pass for the
    gradients of weights. Of two such passes, it does that of the lower micro-batch, then that of
    the later stage. In the second stream, stage s is on device ``devices - 1 - s``.
    """
    return _DualPipe(devices, micro_batches).orders()


class _DualPipe:
    """A schedule under construction, one unit of time after the other.

    Attributes:
        next: the next micro-batch of each stage, stream and kind of pass.
        kept: the micro-batches whose activations each device keeps.
        ends: when each pass ends.
    """

    def __init__(self, devices: int, micro_batches: int) -> None:
        self.devices = devices
        self.counts = [(micro_batches + 1) // 2, micro_batches // 2]
        self.next: Counter[tuple[int, int, str]] = Counter()
        self.kept: Counter[int] = Counter()
        self.ends: dict[Pass, int] = {}

    def orders(self) -> Orders:
        result: Orders = [[] for _ in range(self.devices)]
        now = 0
        while len(self.ends) < 3 * self.devices * sum(self.counts):
            chosen = [self._choose(device, now) for device in range(self.devices)]
            now += 1
            for device, entry in enumerate(chosen):
                if entry is not None:
                    result[device].append(entry)
                    self.ends[entry] = now
                    self.next[entry.stage, entry.stream, entry.kind] += 1
                    self.kept[device] += {"forward": 1, "backward": 0, "weights": -1}[entry.kind]
        return result

    def _choose(self, device: int, now: int) -> Pass | None:
        """Return the pass that ``device`` begins ``now``; None if it waits."""
        for backward, part in ((True, INPUTS), (False, ""), (True, WEIGHTS)):
            if not backward and self.kept[device] > self.devices:
                continue
            possible = []
            for stream, stage in enumerate((device, self.devices - 1 - device)):
                entry = Pass(stage, 0, backward, stream, part)
                number = self.next[stage, stream, entry.kind]
                entry = entry._replace(micro_batch=number)
                needed = needed_by(entry, self.devices - 1)
                if number < self.counts[stream] and all(
                    self.ends.get(other, now + 1) <= now for other in needed
                ):
                    possible.append(entry)
            if possible:
                return min(possible, key=lambda entry: (entry.micro_batch, -entry.stage))
        return None
