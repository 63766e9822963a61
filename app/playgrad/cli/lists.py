"""``playgrad devices``, ``playgrad examples`` and ``playgrad export``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from playgrad import io, paths
from playgrad.cli.checkpoint_folder import model_file
from playgrad.cli.saved_model import asking_for_length, saved_model
from playgrad.devices.logical import gpu_adapters, gpu_hint
from playgrad.devices.registry import list_devices
from playgrad.errors import shape_text
from playgrad.interchange.formats import format_of
from playgrad.interchange.readers import WEIGHTS, reader_of
from playgrad.runtime.default_device import AUTO, default_device
from playgrad.runtime.desktop_host import processor_summary
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
    print(f"Training on cpu: {processor_summary()}")
    if not gpu_adapters():
        print(f"There is no GPU. {gpu_hint()}")
    return 0


def print_examples(as_json: bool) -> int:
    """Print each example with its title."""
    examples = list_examples(paths.static() / "examples")
    if as_json:
        print(json.dumps([{k: e[k] for k in ("id", "title", "description")} for e in examples]))
        return 0
    print_table([[example["id"], example["title"]] for example in examples])
    return 0


def convert(
    source: str,
    target: Path | None,
    format: str | None = None,
    opset: int | None = None,
    sequence_length: int | None = None,
) -> int:
    """Check the file of a model or of its weights, and write it as ``target`` or list its tensors.

    Args:
        source: a file, or a folder of checkpoints.
        format: of ``target``; None takes it from the ending. Without ``target``, the file is
            written beside ``source``.
        opset: of ONNX; None for the lowest that the model needs.
        sequence_length: the steps of samples, for a file of Keras that leaves them open.

    Raises:
        CheckpointError: a file is damaged or cannot be written, or the target needs the layers, and
            ``source`` does not describe them.
        ExportError: the format has no equivalent of a layer or an operation, or no such opset.
        DataError: ``source`` has no such sequence length.
    """
    source = model_file(source)
    if format is not None and target is None:
        target = Path(source).with_suffix(format_of(source, format).ending)
    tensors = _tensors(source, sequence_length)
    if target is not None:
        chosen = format_of(target, format)
        if chosen.name in io.FORMATS and reader_of(source) is WEIGHTS:
            io.save(tensors, target, chosen.name, io.load_metadata(source))
            print(f"{len(tensors)} tensors written to {target}")
        else:
            with asking_for_length():
                saved_model(source, sequence_length).export(target, chosen.name, opset)
            steps = f", for sequences of {sequence_length} steps" if sequence_length else ""
            print(f"the model of {source} written to {target}{steps}, without {chosen.lacks}")
        return 0
    print_table(
        [[name, array.dtype.name, shape_text(array.shape)] for name, array in tensors.items()]
    )
    count = sum(math.prod(array.shape) for array in tensors.values())
    print(f"{len(tensors)} tensors, {count:,} numbers")
    return 0


def _tensors(source: str, sequence_length: int | None) -> Mapping[str, np.ndarray[Any, Any]]:
    if reader_of(source) is WEIGHTS and sequence_length is None:
        return io.load(source)
    model = saved_model(source, sequence_length)
    try:
        return model.named_weights()
    finally:
        model.close()


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print ``rows`` with aligned columns."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    for row in rows:
        print(
            "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        )
