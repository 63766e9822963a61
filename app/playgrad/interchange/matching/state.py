"""`weights_of_file`: the weights of a network in a file, with names of its own or PyTorch's."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from playgrad.errors import CheckpointError, shape_text
from playgrad.interchange.matching.assignment import layers_by_name
from playgrad.interchange.matching.matching import WeightMatching
from playgrad.io.safetensors import SafetensorsFile
from playgrad.io.tensor_entry import TensorFile
from playgrad.io.weights import decode, named_after, open_weights, read_file

Array = np.ndarray[Any, Any]
_MOST_LISTED = 6
_REVIEW = (
    "matching = pg.match_weights(model, file) shows which tensor goes where, and matching.apply() "
    "loads them."
)


def weights_of_file(model: Any, file: Path | bytes) -> dict[str, Array]:
    """Return the weights in a safetensors, npz or PyTorch file by the names of a built model.

    A ``state_dict`` of PyTorch is matched by names, shapes and order, and converted, if each of its
    tensors has its place.

    Raises:
        CheckpointError: the file cannot be read, is damaged, or is of another model; or a
            safetensors file does not say in what order its layers are.
    """
    specs = model.weight_specs()
    content = file if isinstance(file, bytes) else read_file(file, specs)
    with named_after(file):
        opened = open_weights(content)
        if opened.entries.keys() != specs.keys():
            matching = WeightMatching(model, opened, None, model)
            if matching.layout == "pytorch":
                _expect_whole(matching, opened)
                return matching.weights()
        return decode(content, specs)


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
            f"the state_dict does not belong to this model: {'; '.join(needs + has)}.",
            hint=f"Load it into a model with the same layers, of the same sizes. {_REVIEW}",
        )
    if isinstance(file, SafetensorsFile) and not matching.is_stated:
        _expect_order(matching)


def _expect_order(matching: WeightMatching) -> None:
    """Raise CheckpointError if layers that are alike were matched by the order of their names.

    Safetensors files are sorted by name. Numbers in names tell the order of layers, other
    differences do not.
    """
    alike: dict[Any, list[str]] = defaultdict(list)
    sources = [matching.source(slot) for slot in matching.slots]
    by_order = [source[0] for source in sources if source is not None and source[1] != "name"]
    for layer, tensors in layers_by_name(
        {name: matching.shapes[name] for name in by_order}
    ).items():
        alike[tuple(sorted(tensors.values()))].append(layer)
    for layers in alike.values():
        if len({re.sub(r"\d+", "#", layer) for layer in layers}) > 1:
            raise CheckpointError(
                f"the file does not say in which order {_listed(repr(each) for each in layers)} "
                "are, which have the same shapes.",
                hint=f"{_REVIEW} A file of torch.save keeps the order.",
            )


def _listed(texts: Iterable[str]) -> str:
    listed = list(texts)
    more = len(listed) - _MOST_LISTED
    return ", ".join(listed[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
