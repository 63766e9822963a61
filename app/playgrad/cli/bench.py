"""``playgrad bench``: how fast this machine trains, beside a known card."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np

import playgrad
from playgrad.benchmark.speed_report import (
    MachineFacts,
    SpeedAdapter,
    as_markdown,
    as_record,
    kernels_of,
    title_of,
)
from playgrad.benchmark.speed_run import MEASURED, SpeedRun
from playgrad.devices import registry
from playgrad.devices.kinds import GPU, index_of, kind_of
from playgrad.devices.target import AdapterInfo
from playgrad.devices.this_host import this_host
from playgrad.runtime.desktop_host import processor_summary

_MODEL = "model name"


def run_bench(options: argparse.Namespace) -> int:
    """Measure, and print a table in Markdown or JSON; Ctrl-C ends it with what there is.

    Raises:
        DeviceError: a device that was named does not exist.
    """
    devices = options.device or default_devices()
    for name in devices:
        if kind_of(name) is GPU:
            registry.gpu(index_of(name))  # reports that there is none
    run = SpeedRun(devices, options.only or MEASURED)
    interrupted = False
    try:
        while (row := run.advance()) is not None:
            line = f"{row.device} {title_of(row.work)}: {row.state}"
            print(line, file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        run.close()
    machine = described_machine(devices)
    if options.json:
        print(json.dumps(as_record(machine, run.rows)))
    else:
        print(as_markdown(machine, run.rows), end="")
    if interrupted:
        raise KeyboardInterrupt
    return 0 if all(row.state == "done" for row in run.rows) else 1


def default_devices() -> list[str]:
    """Return the devices that are measured if none is named: a hardware GPU, and the processor."""
    adapters = registry.gpu_adapters()
    return [*(["gpu"] if adapters and not adapters[0].is_software else []), "cpu"]


def described_machine(devices: list[str]) -> MachineFacts:
    """Return what was measured, with the adapter of the first GPU among ``devices``."""
    gpu = next((name for name in devices if kind_of(name) is GPU), None)
    info = None if gpu is None else registry.gpu_adapters()[index_of(gpu)]
    return MachineFacts(
        place="desktop",
        date=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        playgrad=playgrad.__version__,
        runner=f"{this_host().ENGINE}, {platform.system()}",
        processor=_processor(),
        adapter=None if info is None else _described(info),
        kernels="" if gpu is None else kernels_of(gpu),
    )


def _described(info: AdapterInfo) -> SpeedAdapter:
    limits = asdict(info.limits)
    shown = ("max_buffer_size", "max_storage_buffer_binding_size")
    return SpeedAdapter(
        vendor=info.vendor,
        architecture=info.architecture,
        device=info.name,
        driver=info.driver,
        backend=info.backend,
        is_software=info.is_software,
        features=info.features,
        limits={name: limits[name] for name in shown},
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith(_MODEL))
    model = next(named, platform.processor() or platform.machine())
    return f"{model}, {os.cpu_count()} threads, NumPy {np.__version__}; {processor_summary()}"
