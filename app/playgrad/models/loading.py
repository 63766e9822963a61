"""Models from the text that `to_json` returns."""

from __future__ import annotations

from playgrad.errors import GraphError
from playgrad.json_text import parse_json
from playgrad.models.model import Model
from playgrad.models.sequential import Sequential

_CLASSES: dict[str, type[Model]] = {"Model": Model, "Sequential": Sequential}


def model_from_json(text: str | bytes) -> Model:
    """Return a new model with the structure that ``model.to_json()`` wrote.

    It has new layers with initial weights, in a graph of its own, and is not compiled. Weights are
    loaded with ``load_weights``.

    Raises:
        GraphError: the text is not that of a model, is damaged, or has an unknown layer.
    """
    try:
        data = parse_json(text)
    except ValueError as error:
        raise GraphError(f"the model is damaged: it is not JSON ({error}).") from None
    kind = data.get("class_name") if isinstance(data, dict) else None
    if kind not in _CLASSES or not isinstance(data.get("config"), dict):
        raise GraphError(
            "the text does not describe a model.", hint="Write it with model.to_json()."
        )
    return _CLASSES[kind].from_config(data["config"])
