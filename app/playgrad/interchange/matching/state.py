"""`weights_of_file`: the weights of a network in a file, with names of its own or PyTorch's."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from playgrad.errors import CheckpointError, shape_text
from playgrad.interchange.matching.assignment import layers_by_name
from playgrad.interchange.matching.matching import WeightMatching, layout_in
from playgrad.io.tensor_entry import TensorFile
from playgrad.io.tensorflow.bundle import TensorBundle, index_of_bundle
from playgrad.io.weights import decode, named_after, open_weights, read_file

Array = np.ndarray[Any, Any]
_MOST_LISTED = 6
_REVIEW = (
    "matching = pg.match_weights(model, file) shows which tensor goes where, and matching.apply() "
    "loads them."
)


def weights_of_file(model: Any, file: Path | bytes) -> dict[str, Array]:
    """Return the weights in a safetensors, npz or PyTorch file by the names of a built model.

    A ``state_dict`` of PyTorch, and the variables of TensorFlow in a SavedModel or a checkpoint,
    are matched by names, shapes and order, and converted, if each tensor has its place.

    Raises:
        CheckpointError: the file cannot be read, is damaged, or is of another model; or it does not
            say in what order its layers are.
    """
    specs = model.weight_specs()
    index = None if isinstance(file, bytes) else index_of_bundle(file)
    with named_after(file):
        if index is not None:
            return _matched(model, TensorBundle(index))
        content = file if isinstance(file, bytes) else read_file(file, specs)
        opened = open_weights(content)
        is_foreign = opened.entries.keys() != specs.keys()
        if is_foreign and layout_in(opened) == "pytorch":
            return _matched(model, opened)
        return decode(content, specs)


def _matched(model: Any, file: TensorFile) -> dict[str, Array]:
    matching = WeightMatching(model, file, None, model)
    _expect_whole(matching, file)
    return matching.weights()


def _expect_whole(matching: WeightMatching, file: TensorFile) -> None:
    missing = [
        f"'{slot.name}' {shape_text(slot.shape)} for {', '.join(slot.weights)}"
        for slot in matching.missing
    ]
    unused = [
        f"'{name[:80]}' {shape_text(matching.shapes[name])}"
        for name in matching.unused
        # Others, such as positions, are no weights. Our export adds constants of its own.
        if file.entries[name].dtype.kind == "f" and not matching.is_stated
    ]
    if missing or unused:
        needs = [f"it needs {_listed(missing)}, not in the file"] if missing else []
        has = [f"the file has {_listed(unused)}, not in the model"] if unused else []
        raise CheckpointError(
            f"the weights do not belong to this model: {'; '.join(needs + has)}.",
            hint=f"Load it into a model with the same layers, of the same sizes. {_REVIEW}",
        )
    if file.sorted_by is not None and not matching.is_stated:
        _expect_order(matching, file.sorted_by)


def _expect_order(matching: WeightMatching, keys: Mapping[str, str]) -> None:
    """Raise CheckpointError if layers that are alike were matched by the order of their names.

    Numbers in the names by which a file is sorted tell the order of layers, other differences do
    not.
    """
    alike: dict[Any, list[str]] = defaultdict(list)
    places: dict[str, str] = {}
    sources = [matching.source(slot) for slot in matching.slots]
    by_order = [source[0] for source in sources if source is not None and source[1] != "name"]
    for layer, tensors in layers_by_name(
        {name: matching.shapes[name] for name in by_order}
    ).items():
        alike[tuple(sorted(tensors.values()))].append(layer)
        parts = re.split(r"[/.]", keys[next(iter(tensors))])[:-1]
        places[layer] = re.sub(r"\d+", "#", "/".join(parts))
    for layers in alike.values():
        if len({places[layer] for layer in layers}) > 1:
            raise CheckpointError(
                f"the file does not say in which order {_listed(repr(each) for each in layers)} "
                "are, which have the same shapes.",
                hint=f"{_REVIEW} A file of torch.save keeps the order.",
            )


def _listed(texts: Iterable[str]) -> str:
    listed = list(texts)
    more = len(listed) - _MOST_LISTED
    return ", ".join(listed[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
