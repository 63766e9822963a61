"""Timelines: the busy, idle and transfer times of devices in a traced step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playgrad.runtime.trace import Event, Trace

TRANSFERS = ("receive", "send")


@dataclass(frozen=True)
class DeviceTime:
    """One device's share of a step, in seconds.

    Attributes:
        kinds: time by kind of work: input, forward, gradient, update; receive and send; delay.
        idle: time in which the device did nothing.
        sent, received: bytes.
    """

    device: str
    kinds: dict[str, float]
    idle: float
    sent: int
    received: int


@dataclass(frozen=True)
class Timeline:
    """A traced step, or several steps that run together.

    Attributes:
        seconds: from the first event to the end of the last.
        devices: one entry for each track; "cpu:0 (weights)" and "cpu:0" are different tracks.
        idle, moving: for each device, over all its tracks, the seconds in which it did nothing, and
            in which it moved tensors.
        steps: number of steps.
    """

    seconds: float
    devices: tuple[DeviceTime, ...]
    idle: dict[str, float]
    moving: dict[str, float]
    steps: int = 1

    @property
    def bubble(self) -> float:
        """The fraction of all devices' time in which they neither computed nor moved tensors."""
        return self._share(self.idle)

    @property
    def communication(self) -> float:
        """The fraction of all devices' time in which they moved tensors."""
        return self._share(self.moving)

    @property
    def bytes_moved(self) -> int:
        """Bytes moved between devices, each counted once, when it is received."""
        return sum(device.received for device in self.devices)

    def _share(self, seconds: Mapping[str, float]) -> float:
        whole = self.seconds * len(seconds)
        return sum(seconds.values()) / whole if whole else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; times in seconds."""
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
        """Return a summary with a row for each device, times in milliseconds."""
        if not self.devices:
            return "no step was traced: training ended before its last one"
        what = "a step of" if self.steps == 1 else f"{self.steps} steps together, of"
        places = len(self.idle)
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
    """Return the timeline of the events of ``trace``."""
    if not trace.events:
        return Timeline(0.0, (), {}, {}, trace.steps)
    start = min(event.start for event in trace.events)
    end = max(event.end for event in trace.events)
    by_track: dict[str, list[Event]] = {}
    by_device: dict[str, list[Event]] = {}
    for event in sorted(trace.events, key=lambda event: event.start):
        by_track.setdefault(event.device, []).append(event)
        # The track "cpu:0 (weights)" belongs to cpu:0.
        by_device.setdefault(event.device.partition(" ")[0], []).append(event)
    whole = end - start
    return Timeline(
        whole,
        tuple(_device_time(name, events, whole) for name, events in sorted(by_track.items())),
        {name: max(0.0, whole - _covered(events)) for name, events in by_device.items()},
        {
            name: _covered([event for event in events if event.kind in TRANSFERS])
            for name, events in by_device.items()
        },
        trace.steps,
    )


def _device_time(device: str, events: list[Event], whole: float) -> DeviceTime:
    kinds: dict[str, float] = {}
    moved = dict.fromkeys(TRANSFERS, 0)
    for event in events:
        kinds[event.kind] = kinds.get(event.kind, 0.0) + event.end - event.start
        if event.kind in moved:
            moved[event.kind] += event.bytes
    idle = max(0.0, whole - _covered(events))
    return DeviceTime(device, kinds, idle, moved["send"], moved["receive"])


def _covered(events: Sequence[Event]) -> float:
    """Return the time covered by ``events``, which are in order of their starts.

    Events overlap where tasks of a processor run on several threads.
    """
    busy, until = 0.0, 0.0
    for event in events:
        busy += max(0.0, event.end - max(event.start, until))
        until = max(until, event.end)
    return busy
