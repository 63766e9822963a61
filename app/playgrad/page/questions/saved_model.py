"""Questions about the trained model as a file."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal, NotRequired, TypedDict, cast

from playgrad import io
from playgrad.interchange.formats import Exported, format_of
from playgrad.interchange.webpage.about import Names
from playgrad.interchange.webpage.export import page_text
from playgrad.page.question import question
from playgrad.page.restored_model import RestoredModel
from playgrad.page.shown_model import LiveModel
from playgrad.page.workspace import Workspace
from playgrad.training.checkpoints.record import Checkpoint

ExportFormat = Literal["safetensors", "npz", "onnx", "keras", "pytorch", "tfjs", "script", "page"]


class DataNames(TypedDict):
    """The names of the program, and of the known classes and columns of its data."""

    title: str
    classes: list[str]
    columns: list[str]


class ExportQuestion(TypedDict):
    format: NotRequired[Annotated[ExportFormat, "ExportFormat"]]
    names: NotRequired[DataNames]


class ExportedFile(TypedDict):
    """`sha256`: for the page to compare."""

    filename: str
    bytes: bytes
    sha256: str


class RestoreQuestion(TypedDict):
    payload: NotRequired[bytes]


class RestoredWeights(TypedDict):
    names: list[str]


@question("export", "trained", at_checkpoint=True)
def export_model(model: LiveModel | RestoredModel, request: ExportQuestion) -> ExportedFile:
    """Return the model or its weights as a file.

    Raises:
        CheckpointError: the file, read back, differs from the weights.
        ExportError: the format has no equivalent of a layer or an operation.
    """
    kind = format_of("", request.get("format", "safetensors"))
    stem = "weights" if kind.name in io.FORMATS else "model"
    name = f"{stem}{kind.ending}"
    if kind.name == "page":  # the page knows the visitor's names of the data
        names = request.get("names", DataNames(title="", classes=[], columns=[]))
        content = page_text(model, model.inference_graph(), Names(**names)).encode()
    else:
        content = kind.encode(cast(Exported, model), name)
    digest = hashlib.sha256(content).hexdigest()
    return {"filename": name, "bytes": content, "sha256": digest}


@question("restore", "workspace")
def restore(workspace: Workspace, request: RestoreQuestion) -> RestoredWeights:
    """Take the trained model from the checkpoint that is the payload, without its program, until a
    run trains a model.

    Raises:
        CheckpointError: the checkpoint is damaged.
    """
    checkpoint = Checkpoint.decode(request.get("payload", b""))
    workspace.forget_shrunk()
    workspace.restored = RestoredModel(checkpoint)
    workspace.model = None  # one of an earlier run
    return {"names": sorted(checkpoint.model.weights)}
