"""What a trace says of a step on several devices: who worked, who waited, and what was moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playgrad.runtime.trace import Event, Trace

TRANSFERS = ("receive", "send")


@dataclass(frozen=True)
class DeviceTime:
    """One device's share of a step, in seconds.

    Attributes:
        kinds: time by kind of work: input, forward, gradient, update; receive and send; delay.
        idle: of the step's whole time, when the device did nothing.
        sent, received: bytes.
    """

    device: str
    kinds: dict[str, float]
    idle: float
    sent: int
    received: int

    @property
    def computing(self) -> float:
        return sum(time for kind, time in self.kinds.items() if kind not in TRANSFERS)

    @property
    def moving(self) -> float:
        return sum(self.kinds.get(kind, 0.0) for kind in TRANSFERS)


@dataclass(frozen=True)
class Timeline:
    """A traced step, or some that are done together.

    Attributes:
        seconds: from its first event to the end of its last.
        steps: how many.
    """

    seconds: float
    devices: tuple[DeviceTime, ...]
    steps: int = 1

    @property
    def bubble(self) -> float:
        """The share of all devices' time in which they neither computed nor moved tensors."""
        return self._share(sum(device.idle for device in self.devices))

    @property
    def communication(self) -> float:
        """The share of all devices' time that went into moving tensors."""
        return self._share(sum(device.moving for device in self.devices))

    @property
    def bytes_moved(self) -> int:
        """Between devices: what one sends others receive."""
        return sum(device.received for device in self.devices)

    def _share(self, seconds: float) -> float:
        whole = self.seconds * len(self.devices)
        return seconds / whole if whole else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Plain data; seconds and bytes."""
        return {
            "steps": self.steps,
            "seconds": self.seconds,
            "bubble": self.bubble,
            "communication": self.communication,
            "bytes_moved": self.bytes_moved,
            "devices": [
                {
                    "device": device.device,
                    "kinds": device.kinds,
                    "idle": device.idle,
                    "sent": device.sent,
                    "received": device.received,
                }
                for device in self.devices
            ],
        }

    def text(self) -> str:
        """A table for people."""
        if not self.devices:
            return "no step was traced: training ended before its last one"
        # What "cpu:0 (weights)" does is done by cpu:0.
        places = len({device.device.partition(" ")[0] for device in self.devices})
        what = "a step of" if self.steps == 1 else f"{self.steps} steps together, of"
        noun = "device" if places == 1 else "devices"
        width = max((len(device.device) for device in self.devices), default=0)
        lines = [
            f"{what} {1000 * self.seconds:.2f} ms on {places} {noun}: "
            f"idle {self.bubble:.0%}, moving tensors {self.communication:.0%}, "
            f"{self.bytes_moved:,} bytes moved"
        ]
        for device in self.devices:
            kinds = ", ".join(f"{k} {1000 * t:.2f}" for k, t in sorted(device.kinds.items()))
            share = 1 - device.idle / self.seconds if self.seconds else 0.0
            lines.append(f"  {device.device:{width}}  busy {share:4.0%}  ({kinds} ms)")
        return "\n".join(lines)


def timeline(trace: Trace) -> Timeline:
    """The times of the events of ``trace``."""
    if not trace.events:
        return Timeline(0.0, (), trace.steps)
    start = min(event.start for event in trace.events)
    end = max(event.end for event in trace.events)
    by_device: dict[str, list[Event]] = {}
    for event in sorted(trace.events, key=lambda event: event.start):
        by_device.setdefault(event.device, []).append(event)
    times = [_device_time(name, events, end - start) for name, events in sorted(by_device.items())]
    return Timeline(end - start, tuple(times), trace.steps)


def _device_time(device: str, events: list[Event], whole: float) -> DeviceTime:
    kinds: dict[str, float] = {}
    moved = dict.fromkeys(TRANSFERS, 0)
    busy, until = 0.0, 0.0
    for event in events:
        kinds[event.kind] = kinds.get(event.kind, 0.0) + event.end - event.start
        if event.kind in moved:
            moved[event.kind] += event.bytes
        # Tasks of the processor may run at the same time, on several threads.
        busy += max(0.0, event.end - max(event.start, until))
        until = max(until, event.end)
    return DeviceTime(device, kinds, max(0.0, whole - busy), moved["send"], moved["receive"])
