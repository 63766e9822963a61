"""``playgrad tune``: measures which kernel variants are fastest on a GPU, and remembers them."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

from playgrad.cli.lists import print_table
from playgrad.devices import registry
from playgrad.devices.device_times import save_device_times
from playgrad.devices.first_choices import first_choice, unmeasured_tuning
from playgrad.devices.kinds import index_of
from playgrad.devices.logical import gpu_hint
from playgrad.devices.tuning import VARIANTS, Times, Tuning
from playgrad.errors import DeviceError
from playgrad.runtime.tuner import Probe, tune


def run_tune(options: argparse.Namespace) -> int:
    """List, forget or measure tunings, depending on ``options``."""
    if options.list:
        return _list(options.json)
    device = registry.gpu(index_of(options.device))
    if options.forget:
        registry.save_tuning(device, None)
        save_device_times(device.host.info, None)
        print(f"{device.name} ({device.adapter}): measurements forgotten")
        return 0
    probes: list[Probe] = []
    times: dict[str, Any] = {}

    def report(probe: Probe, measured: Times) -> None:
        probes.append(probe)
        times.update(measured)

    tuning = tune(device, report)
    if options.json:
        print(json.dumps({"adapter": device.adapter, "seconds": times, "tuning": asdict(tuning)}))
        return 0
    print(f"{device.name} ({device.adapter}), 10^9 operations per second:")
    for kind, variants in VARIANTS.items():
        _print_kind(
            kind, variants, [probe for probe in probes if probe.kind == kind], times, tuning
        )
    return 0


def _print_kind(
    kind: str, variants: tuple[str, ...], probes: list[Probe], times: Times, tuning: Tuning
) -> None:
    rows = [["", *variants]]
    for probe in probes:
        seconds = times[probe.name]
        rates = [_rate(probe, seconds[name]) if name in seconds else "wrong" for name in variants]
        rows.append([probe.name, *rates])
    print()
    print_table(rows)
    print(f"{kind}: {tuning.of(kind)}")


def _rate(probe: Probe, seconds: float) -> str:
    return f"{probe.work / seconds / 1e9:.3g}"


def _list(as_json: bool) -> int:
    """Print the kernels chosen for each GPU, and why."""
    adapters = registry.gpu_adapters()
    if not adapters:
        raise DeviceError("WebGPU finds no GPU adapter.", hint=gpu_hint())
    rows = []
    for number, info in enumerate(adapters):
        known = registry.known_tuning(info)
        tuning = known or unmeasured_tuning(info)
        why = "measured" if known else "first choice" if first_choice(info) else "by kind"
        rows.append({"device": f"gpu:{number}", "adapter": info.name, "why": why, **asdict(tuning)})
    if as_json:
        print(json.dumps(rows))
    else:
        print_table([list(entry.values()) for entry in rows])
    return 0
