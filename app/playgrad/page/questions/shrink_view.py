"""Questions about smaller versions of the trained model; see `playgrad.page.shrinking`."""

from __future__ import annotations

import hashlib
import math
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

from playgrad.errors import PlaygradError
from playgrad.interchange.formats import FORMATS, format_of
from playgrad.page.faults import ErrorInfo, describe
from playgrad.page.question import question
from playgrad.page.questions.saved_model import ExportedFile
from playgrad.page.shrinking import ORIGINAL, Failed, Measured, Shrinking
from playgrad.page.workspace import Workspace

if TYPE_CHECKING:
    from playgrad.compression.report import LayerReport

ShrunkFormat = Literal["safetensors", "npz", "onnx", "tflite", "c"]
OFFERED: tuple[ShrunkFormat, ...] = ("safetensors", "npz", "onnx", "tflite", "c")
MOST_SECONDS = 60


class ShrinkBegun(TypedDict):
    """`versions`: the names of all that will be tried, the original first; `tested`: whether the
    samples that they are compared on are test data; `total`: how many samples there are."""

    versions: list[str]
    tested: bool
    total: int


class ShrinkNextQuestion(TypedDict):
    """`seconds`: the time to work for, if no version is ready before."""

    seconds: float


class ShrunkPoint(TypedDict):
    """`raw`, `gzip`: bytes of the weights; `value`: of the metric, on `samples` samples; `epochs`:
    for which it was fine-tuned, and `untuned`: the value before that; `tunable`: whether it can be
    fine-tuned."""

    name: str
    raw: int
    gzip: int
    metric: Literal["accuracy", "loss"]
    value: float
    samples: int
    epochs: int
    untuned: float | None
    tunable: bool


class ShrinkFailure(TypedDict):
    name: str
    error: ErrorInfo


class ShrinkProgress(TypedDict):
    """`pending`: the names of the versions that are still to be made; `tuned`: the part of an epoch
    of fine-tuning that is done."""

    point: ShrunkPoint | None
    failure: ShrinkFailure | None
    pending: list[str]
    tuned: float


class ShrunkQuestion(TypedDict):
    name: str


class ShrinkChoice(TypedDict):
    """`name`: null for the original, or for none."""

    name: str | None


class ShrinkExportQuestion(TypedDict):
    name: str
    format: Annotated[ShrunkFormat, "ShrunkFormat"]


class ShrunkBytes(TypedDict):
    raw: int
    gzip: int


class ShrunkTotals(TypedDict):
    """`multiply_adds`: for one sample; `seconds`: for one sample, on this device."""

    raw: int
    gzip: int
    multiply_adds: int
    seconds: float


class ShrunkLayer(TypedDict):
    """`form`: of its weights, such as "int8"; `reason`: why, if that needs a word;
    `signal_to_noise`: of its output against the original's, in decibels, null if it was not
    measured; `exact`: whether both are equal."""

    name: str
    kind: str
    form: str
    reason: str
    before: ShrunkBytes
    after: ShrunkBytes
    multiply_adds: int
    signal_to_noise: float | None
    exact: bool


class ShrunkReport(TypedDict):
    """`formats`: of files that it can be exported to."""

    name: str
    device: str
    before: ShrunkTotals
    after: ShrunkTotals
    layers: list[ShrunkLayer]
    formats: list[Annotated[ShrunkFormat, "ShrunkFormat"]]


@question("shrink_begin", "workspace")
def shrink_begin(workspace: Workspace) -> ShrinkBegun:
    """Begin to make smaller versions of the trained model, in place of those before.

    Raises:
        GraphError: there is no model that was trained here, or nothing to compare it on.
    """
    workspace.forget_shrunk()
    shrinking = workspace.shrinking = Shrinking(workspace.trained_here())
    return {
        "versions": shrinking.pending,
        "tested": shrinking.tested,
        "total": shrinking.data.total,
    }


@question("shrink_next", "workspace")
def shrink_next(workspace: Workspace, request: ShrinkNextQuestion) -> ShrinkProgress:
    """Work on the next version, and return it if it is ready.

    Raises:
        GraphError: nothing was begun.
    """
    shrinking = workspace.shrunk()
    result = shrinking.advance(min(max(request["seconds"], 0), MOST_SECONDS))
    return {
        "point": _point(result) if isinstance(result, Measured) else None,
        "failure": (
            {"name": result.name, "error": describe(result.error)}
            if isinstance(result, Failed)
            else None
        ),
        "pending": shrinking.pending,
        "tuned": shrinking.tuned,
    }


@question("shrink_tune", "workspace")
def shrink_tune(workspace: Workspace, request: ShrinkChoice) -> ShrinkChoice:
    """Have `shrink_next` train a version for an epoch before it goes on with others; null leaves
    such a training, and takes its steps back.

    Raises:
        GraphError: there is none of that name, or it cannot be trained.
    """
    shrinking, name = workspace.shrunk(), request["name"]
    shrinking.stop_tuning() if name is None else shrinking.tune(name)
    return {"name": name}


@question("shrink_choose", "workspace")
def shrink_choose(workspace: Workspace, request: ShrinkChoice) -> ShrinkChoice:
    """Have a version answer for the trained model wherever it is tried out.

    Raises:
        GraphError: there is none of that name.
    """
    name = request["name"]
    if name is not None:
        workspace.shrunk().version(name)
    if workspace.shrinking is not None:
        workspace.shrinking.chosen = name
    return {"name": name}


@question("shrink_report", "workspace")
def shrink_report(workspace: Workspace, request: ShrunkQuestion) -> ShrunkReport:
    """Return what a version costs, layer by layer, and what it has lost.

    Raises:
        GraphError: there is none of that name.
    """
    shrinking = workspace.shrunk()
    version = shrinking.version(request["name"])
    # Imported here: the page starts without it.
    from playgrad.compression.latency import measured_latency

    report = version.model.report()
    x = shrinking.data.x[:1]
    return {
        "name": version.name,
        "device": str(version.model.session.device),
        "before": {
            "raw": report.before.raw,
            "gzip": report.before.gzip,
            "multiply_adds": report.multiply_adds_before,
            "seconds": measured_latency(shrinking.model, x) / 1000,
        },
        "after": {
            "raw": report.after.raw,
            "gzip": report.after.gzip,
            "multiply_adds": report.multiply_adds,
            "seconds": measured_latency(version.model, x) / 1000,
        },
        "layers": [_layer(layer) for layer in report.layers],
        "formats": _formats(version),
    }


@question("shrink_export", "workspace")
def shrink_export(workspace: Workspace, request: ShrinkExportQuestion) -> ExportedFile:
    """Return a version as a file; several files in one zip archive.

    Raises:
        GraphError: there is none of that name.
        ExportError: the format has no equivalent of a layer or an operation.
    """
    version = workspace.shrunk().version(request["name"])
    kind = format_of("", request["format"])
    name = f"model-{version.name}{kind.ending}"
    content = kind.encode(version.model, name)
    file = f"{Path(name).stem}.zip" if kind.files is not None else name
    return {"filename": file, "bytes": content, "sha256": hashlib.sha256(content).hexdigest()}


def _point(version: Measured) -> ShrunkPoint:
    return {
        "name": version.name,
        "raw": version.raw,
        "gzip": version.gzip,
        "metric": version.metric,
        "value": version.value,
        "samples": version.samples,
        "epochs": version.epochs,
        "untuned": version.untuned,
        "tunable": version.is_tunable,
    }


def _layer(layer: LayerReport) -> ShrunkLayer:
    ratio = layer.signal_to_noise
    return {
        "name": layer.name,
        "kind": layer.kind,
        "form": layer.form,
        "reason": layer.reason,
        "before": {"raw": layer.before.raw, "gzip": layer.before.gzip},
        "after": {"raw": layer.after.raw, "gzip": layer.after.gzip},
        "multiply_adds": layer.multiply_adds,
        "signal_to_noise": ratio if ratio is not None and math.isfinite(ratio) else None,
        "exact": ratio == math.inf,
    }


def _formats(version: Measured) -> list[ShrunkFormat]:
    """Return the formats of files for a version; those of integers only for integers throughout."""
    if version.name == ORIGINAL:
        return []
    integers = {each.name for each in FORMATS if each.is_quantized}
    offered = [name for name in OFFERED if name not in integers or _is_quantized(version)]
    return [name for name in offered if name != "tflite" or find_spec("tflite") is not None]


def _is_quantized(version: Measured) -> bool:
    from playgrad.compression.integer_program import integer_program

    try:
        integer_program(version.model)
    except PlaygradError:
        return False
    return True
