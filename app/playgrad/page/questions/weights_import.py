"""Weights that people load in the page, from files that may have other names and layouts."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NotRequired, TypedDict

from playgrad.errors import CheckpointError
from playgrad.interchange.keras.importing.weights import weights_for_model
from playgrad.interchange.matching.matching import WeightMatching
from playgrad.interchange.matching.slots import Described
from playgrad.io import decode
from playgrad.io.hdf5.layout import is_hdf5
from playgrad.io.weights import load_metadata, open_weights
from playgrad.models.loading import model_from_json
from playgrad.models.trainable import ARCHITECTURE
from playgrad.page.question import question
from playgrad.page.restored_model import RestoredModel
from playgrad.page.shown_model import LiveModel
from playgrad.page.workspace import Workspace


class ImportQuestion(TypedDict):
    """`payload`: the file; `matching`: the tensor of each slot, for a file with other names."""

    name: str
    payload: NotRequired[bytes]
    matching: NotRequired[dict[str, str]]


class MatchingRow(TypedDict):
    """`slot`: a tensor that the network takes; `tensor`: the tensor of the file for it; `choices`:
    the tensors that fit."""

    slot: str
    weights: list[str]
    shape: list[int]
    tensor: str | None
    how: Literal["name", "layer", "shape", "hand"] | None
    choices: list[str]


class FileTensor(TypedDict):
    name: str
    shape: list[int]


class MatchingForm(TypedDict):
    """The tensors of a file whose names differ from the weights'; nothing is loaded yet."""

    layout: Literal["keras", "pytorch"]
    rows: list[MatchingRow]
    tensors: list[FileTensor]


class Imported(TypedDict):
    names: list[str]
    matching: MatchingForm | None


@question("import", "workspace")
def import_answer(workspace: Workspace, request: ImportQuestion) -> Imported:
    """Load weights into the trained model, as `import_weights` does."""
    answer = import_weights(workspace.trained(), request)
    if answer["matching"] is None:
        workspace.weights_changed()
    return answer


def import_weights(model: LiveModel | RestoredModel, request: ImportQuestion) -> Imported:
    """Load weights from a file, and return their names; or a matching for the page to show.

    A file with other names changes nothing until the page sends it again with the tensor of each
    slot under "matching".

    Raises:
        CheckpointError: the file is damaged, or its weights do not fit the model.
    """
    payload, chosen = request.get("payload"), request.get("matching")
    try:
        if not payload:
            raise CheckpointError("the file is empty.")
        content, specs = bytes(payload), model.weight_specs()
        matching = None if is_hdf5(content) else _matching(model, content, specs, chosen)
        if matching is not None and chosen is None:
            return {"names": [], "matching": _form(matching)}
        if matching is not None:
            matching.apply()
        elif is_hdf5(content):
            model.set_weights(weights_for_model(content, {}, model.layer_graph, specs))
        else:
            model.set_weights(decode(content, specs))
            model.take_file_metadata(load_metadata(content))
    except CheckpointError as error:
        error.message = f"{request['name']}: {error.message}"
        error.hint = error.hint or "Save it again, or choose another: .safetensors or .npz."
        raise
    return {"names": sorted(specs), "matching": None}


def _matching(
    model: LiveModel | RestoredModel,
    content: bytes,
    specs: Collection[str],
    chosen: dict[str, str] | None,
) -> WeightMatching | None:
    """Return the matching of a file with other names, None for the model's or if nothing fits."""
    file = open_weights(content)
    if chosen is None and file.entries.keys() == set(specs):
        return None
    matching = WeightMatching(model, file, None, _described(model))
    if chosen is not None:
        for slot in matching.slots:
            matching.assign(slot, chosen.get(slot.name))
    elif len(matching.missing) == len(matching.slots):
        return None
    return matching


def _described(model: LiveModel | RestoredModel) -> Described | None:
    """Return a network with the layers of ``model``; None if nothing describes them."""
    if not isinstance(model, RestoredModel):
        return model
    text = model.file_metadata().get(ARCHITECTURE)
    return None if text is None else model_from_json(text)


def _form(matching: WeightMatching) -> MatchingForm:
    rows: list[MatchingRow] = []
    for slot in matching.slots:
        tensor, how = matching.source(slot) or (None, None)
        rows.append(
            {
                "slot": slot.name,
                "weights": list(slot.weights),
                "shape": list(slot.shape),
                "tensor": tensor,
                "how": how,
                "choices": matching.choices(slot),
            }
        )
    tensors: list[FileTensor] = [
        {"name": name, "shape": list(shape)} for name, shape in matching.shapes.items()
    ]
    return {"layout": matching.layout, "rows": rows, "tensors": tensors}
