"""Weights that people load in the page, from files that may have other names and layouts."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from playgrad.errors import CheckpointError
from playgrad.interchange.keras.importing.weights import weights_for_model
from playgrad.interchange.matching.matching import WeightMatching
from playgrad.io import decode
from playgrad.io.hdf5.layout import is_hdf5
from playgrad.io.weights import load_metadata, open_weights
from playgrad.models.loading import model_from_json
from playgrad.models.trainable import ARCHITECTURE
from playgrad.page.restored_model import RestoredModel
from playgrad.runtime.hooks import Request

Answer = dict[str, Any]


def import_weights(model: Any, request: Request) -> Answer:
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
            return {"names": [], "matching": _view(matching)}
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
    model: Any, content: bytes, specs: Collection[str], chosen: dict[str, str] | None
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


def _described(model: Any) -> Any:
    """Return a network with the layers of ``model``; None if nothing describes them."""
    if not isinstance(model, RestoredModel):
        return model
    text = model.file_metadata().get(ARCHITECTURE)
    return None if text is None else model_from_json(text)


def _view(matching: WeightMatching) -> Answer:
    rows = []
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
    tensors = [{"name": name, "shape": list(shape)} for name, shape in matching.shapes.items()]
    return {"layout": matching.layout, "rows": rows, "tensors": tensors}
