"""``playgrad devices``, ``playgrad examples`` and ``playgrad export``."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

from playgrad import io, paths
from playgrad.devices.registry import list_devices
from playgrad.errors import shape_text
from playgrad.interchange.formats import format_of
from playgrad.interchange.readers import load_model
from playgrad.runtime.default_device import AUTO, default_device
from playgrad.server.examples import list_examples


def print_devices(as_json: bool) -> int:
    """Print each device with its adapter, and the one that "auto" takes."""
    devices = list_devices()
    choice = default_device(AUTO)
    if as_json:
        print(json.dumps([{**d, "auto": d["device"] == choice.device} for d in devices]))
        return 0
    print_table(
        [
            [
                device["device"],
                device["adapter"] + (" (software)" if device["software"] else ""),
                device["backend"],
            ]
            for device in devices
        ]
    )
    print(f"{AUTO} is {choice.reason or choice.device}")
    return 0


def print_examples(as_json: bool) -> int:
    """Print each example with its title."""
    examples = list_examples(paths.static() / "examples")
    if as_json:
        print(json.dumps([{k: e[k] for k in ("id", "title", "description")} for e in examples]))
        return 0
    print_table([[example["id"], example["title"]] for example in examples])
    return 0


def convert(source: str, target: Path | None, format_name: str | None = None) -> int:
    """Check the weights file ``source``, and write it as ``target`` or list its tensors.

    Args:
        format_name: the format of ``target``; None for that of its ending.

    Raises:
        CheckpointError: a file is damaged or cannot be written, or the target needs the layers, and
            ``source`` does not describe them.
    """
    tensors = io.load(source)
    kind = None if target is None else format_of(target, format_name).name
    if target is not None and kind not in io.FORMATS:
        load_model(source).export(target, kind)
        print(f"the model of {source} written to {target}")
        return 0
    if target is not None:
        io.save(tensors, target, kind)
        print(f"{len(tensors)} tensors written to {target}")
        return 0
    print_table(
        [[name, array.dtype.name, shape_text(array.shape)] for name, array in tensors.items()]
    )
    count = sum(math.prod(array.shape) for array in tensors.values())
    print(f"{len(tensors)} tensors, {count:,} numbers")
    return 0


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print ``rows`` with aligned columns."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    for row in rows:
        print(
            "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        )
