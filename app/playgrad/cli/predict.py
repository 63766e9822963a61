"""``playgrad predict``: predictions of a model from a file, for samples from files."""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from playgrad.cli.lists import print_table
from playgrad.cli.open_samples import open_samples
from playgrad.cli.prediction_inputs import Samples, read_samples
from playgrad.cli.saved_model import saved_model
from playgrad.data.text_table import decode_text
from playgrad.errors import DataError, ReadError, shape_text
from playgrad.inspection.outputs import softmax
from playgrad.models.model import Model
from playgrad.runtime.default_device import AUTO
from playgrad.runtime.options import Options, options_set
from playgrad.training import batch_api

Array = np.ndarray[Any, Any]
_CLASSES_IN_TABLE = 3
_NUMBERS_IN_TABLE = 8


def predict(options: argparse.Namespace) -> int:
    """Print the predictions of ``options.model`` for the samples of ``options.inputs``.

    Raises:
        CheckpointError, GraphError: the model cannot be loaded.
        ReadError, ShapeError, DTypeError: a file has no samples for it; nothing is printed.
        DataError: an option does not fit the model.
    """
    with options_set(Options(device=None if options.device == AUTO else options.device)):
        model, samples = _model(options)
        try:
            _check_model(model)
            has_classes = _has_classes(model, options)
            names, outputs = _outputs(
                model, samples or [read_samples(file, model) for file in options.inputs]
            )
        finally:
            model.close()
    if not has_classes:
        _print_numbers(names, outputs, options.format)
        return 0
    probabilities = softmax(outputs) if options.logits else outputs
    labels = _labels(options.labels, probabilities.shape[1])
    _print_classes(names, probabilities, labels, options)
    return 0


def _model(options: argparse.Namespace) -> tuple[Model, list[Samples]]:
    """Return the model, and the samples if they had to be read for their length."""
    model = saved_model(options.model, options.sequence_length)
    if not model.built or len(model.inputs) != 1:
        return model, []
    (x,) = model.inputs
    is_open = x.spec.rank > 1 and x.shape[1] is None and None not in x.shape[2:]
    return model, open_samples(options.inputs, x.shape[1:], x.dtype) if is_open else []


def _check_model(model: Model) -> None:
    if not model.built or len(model.inputs) != 1 or len(model.outputs) != 1:
        raise DataError(
            "playgrad predict takes models with one input of a known shape and one output.",
            hint="Load the model in a program: pg.load_model(file).predict(inputs).",
        )


def _outputs(model: Model, samples: Sequence[Samples]) -> tuple[list[str], Array]:
    """Return the names of all samples, and the output for each."""
    names: list[str] = []
    for name, array in samples:
        is_image = name.lower().endswith(".png")
        names += [name] if is_image else [f"{name}[{i}]" for i in range(len(array))]
    parts = [batch_api.predict(model, array, None, name) for name, array in samples]
    if len({part.shape[1:] for part in parts}) > 1:
        listed = ", ".join(shape_text(part.shape[1:]) for part in parts)
        raise DataError(
            f"the outputs for these files differ in shape: {listed}.",
            hint="Predict each by itself.",
        )
    return names, np.concatenate(parts)


def _has_classes(model: Model, options: argparse.Namespace) -> bool:
    """Return whether the output is a score or a probability of each class.

    Raises:
        DataError: an option needs classes, and there are none.
    """
    output = model.outputs[0]
    is_softmax = output.node.op.name == "softmax"
    is_row = len(output.spec.shape) == 2
    if options.logits and (is_softmax or not is_row):
        what = "already a softmax" if is_softmax else f"of shape {shape_text(output.spec.shape)}"
        raise DataError(f"--logits is for a score of each class, but the output is {what}.")
    if is_row and (is_softmax or options.logits):
        return True
    for name in ("labels", "top"):
        if getattr(options, name) is not None:
            raise DataError(
                f"--{name} needs classes, but the output '{output.node.name}' is not a softmax "
                "over them.",
                hint="Add --logits if it is the scores before softmax.",
            )
    return False


def _labels(text: str | None, count: int) -> list[str]:
    """Return the names of the classes, from a file with one in a line, or from ``text`` itself."""
    if text is None:
        return [str(number) for number in range(count)]
    labels = text.split(",")
    if "," not in text and os.path.isfile(text):  # False also for names that are too long
        try:
            labels = decode_text(Path(text).read_bytes())[0].splitlines()
        except OSError as error:
            raise ReadError(f"cannot read the labels in {text}: {error}.", file=text) from None
    labels = [label.strip() for label in labels if label.strip()]
    if len(labels) != count:
        raise DataError(
            f"--labels must name the {count} classes of the model, but names {len(labels)}.",
            hint="Name the classes in their order, or a file with one name in a line.",
        )
    return labels


def _print_classes(
    names: Sequence[str], probabilities: Array, labels: list[str], options: argparse.Namespace
) -> None:
    count = len(labels)
    shown = min(options.top or (_CLASSES_IN_TABLE if options.format == "table" else count), count)
    order = np.argsort(-probabilities, axis=1, kind="stable")[:, :shown]
    if options.format == "json":
        rows = [
            {
                "sample": name,
                "class": labels[best[0]],
                "probability": _number(row[best[0]]),
                "classes": [{"class": labels[i], "probability": _number(row[i])} for i in best],
            }
            for name, row, best in zip(names, probabilities, order, strict=True)
        ]
        print(json.dumps(rows))
    elif options.format == "csv" and options.top is None:
        _print_csv(
            ["sample", "class", *labels],
            (
                [name, labels[best[0]], *row.tolist()]
                for name, row, best in zip(names, probabilities, order, strict=True)
            ),
        )
    else:
        ranks = range(1, shown + 1)
        titles = ["sample", *(f"{what} {i}" for i in ranks for what in ("class", "probability"))]
        rows_of_cells = [
            [name, *(cell for i in best for cell in (labels[i], row[i].item()))]
            for name, row, best in zip(names, probabilities, order, strict=True)
        ]
        if options.format == "csv":
            _print_csv(titles, rows_of_cells)
        else:
            print_table([titles, *([_text(cell) for cell in row] for row in rows_of_cells)])


def _print_numbers(names: Sequence[str], outputs: Array, form: str) -> None:
    if form == "json":
        rows = [
            {"sample": name, "output": _nested(output)}
            for name, output in zip(names, outputs, strict=True)
        ]
        print(json.dumps(rows))
        return
    flat = outputs.reshape(len(outputs), -1)
    if form == "csv":
        titles = ["sample", *(f"output {i}" for i in range(flat.shape[1]))]
        _print_csv(titles, ([name, *row.tolist()] for name, row in zip(names, flat, strict=True)))
        return
    left = flat.shape[1] - _NUMBERS_IN_TABLE
    rest = [f"and {left:,} more"] if left > 0 else []
    titles = ["sample", *(f"output {i}" for i in range(min(flat.shape[1], _NUMBERS_IN_TABLE)))]
    print_table(
        [
            titles + [""] * len(rest),
            *(
                [name, *(_text(value) for value in row[:_NUMBERS_IN_TABLE].tolist()), *rest]
                for name, row in zip(names, flat, strict=True)
            ),
        ]
    )


def _print_csv(titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows(rows)


def _text(cell: Any) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def _number(value: Any) -> float | None:
    """Return a number for JSON, which has no infinity and no NaN."""
    return float(value) if np.isfinite(value) else None


def _nested(output: Array) -> Any:
    if output.ndim:
        return [_nested(each) for each in output]
    return _number(output) if output.dtype.kind == "f" else output.item()
