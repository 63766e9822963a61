"""The scores of a causal model for one more token, from the keys and values of earlier ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.graph.graph import at_top
from playgrad.graph.tensor import Tensor
from playgrad.models.model import Model
from playgrad.networks.structure import Structure, StructureItem
from playgrad.nn.attention import MultiHeadAttention
from playgrad.nn.embedding import Embedding
from playgrad.nn.layer import RECORDED, record_of
from playgrad.nn.layer_calls import LayerCall
from playgrad.nn.normalization import LayerNormalization
from playgrad.nn.position_embedding import PositionEmbedding
from playgrad.nn.transformer import TransformerEncoder
from playgrad.nn.transformer_decoder import TransformerDecoder
from playgrad.ops.state import placeholder

Array = np.ndarray[Any, Any]

_ATTENTION = (MultiHeadAttention, TransformerEncoder, TransformerDecoder)


@dataclass(frozen=True)
class NextPosition:
    """The nodes that compute one position of a model.

    Attributes:
        structure: the structure of the model they were built from.
        token, position: placeholders, (1, 1).
        stored: a placeholder for the keys, and one for the values, of each attention in turn.
        new: key and value of the position, in the same order.
        scores: (1, 1, tokens).
    """

    structure: Structure
    token: Tensor
    position: Tensor
    stored: tuple[Tensor, ...]
    new: tuple[Tensor, ...]
    scores: Tensor


class StoredPositions:
    """A sequence of which keys and values are stored, so that each position is computed once."""

    def __init__(self, model: Model, nodes: NextPosition) -> None:
        self._nodes = nodes
        self._compute = model.session.make_callable(
            [nodes.scores, *nodes.new], [nodes.token, nodes.position, *nodes.stored]
        )
        self._arrays = [np.zeros(x.spec.static_shape, x.dtype) for x in nodes.stored]
        self._count = 0

    def scores(self, tokens: Sequence[int]) -> Array:
        """Return the scores after ``tokens``, which continue the tokens of the last call."""
        nodes = self._nodes
        for token in tokens[self._count :]:
            scores, *new = self._compute(
                np.full((1, 1), token, nodes.token.dtype),
                np.full((1, 1), self._count, np.int32),
                *self._arrays,
            )
            for array, item in zip(self._arrays, new, strict=True):
                array[:, self._count] = item[:, 0]
            self._count += 1
        result: Array = scores[0, 0]
        return result


def stored_positions(model: Model) -> StoredPositions | None:
    """Return an empty sequence for ``model``, or None if positions cannot be computed one by one.

    They can if the model consists of embeddings, causal attention without masks, layers that treat
    each position alone, such as `Dense`, and elementwise operations.
    """
    built: NextPosition | None = vars(model).get("_next_position")
    if built is None or built.structure is not model.structure:
        if not _one_by_one(model.structure):
            return None
        built = vars(model)["_next_position"] = _build(model.structure)
    return StoredPositions(model, built)


def _one_by_one(structure: Structure) -> bool:
    """Return whether the results at a position follow from tokens, keys and values up to it."""
    along = set(structure.inputs)  # tensors (batch, positions, ...)
    for item in structure.items:
        inside = [x for x in item.inputs if x in along]
        others = [x for x in item.inputs if x not in along]
        same = len({x.spec.rank for x in inside}) == 1 and all(
            x.spec.rank in (0, 1) for x in others
        )
        if not (same and _possible(item)):
            return False
        along.update(item.outputs)
    return True


def _possible(item: StructureItem) -> bool:
    if not isinstance(item, LayerCall):
        return item.op.elementwise is not None
    layer = item.layer
    activation = getattr(layer, "activation", None)
    if not (activation is None or isinstance(activation, str) or _is_library(activation)):
        return False  # it may be a function of all positions
    if type(layer) in _ATTENTION:
        assert isinstance(layer, MultiHeadAttention)
        causal = layer.causal or item.options.get("use_causal_mask")
        special = item.options.get("scores") or item.options.get("masks")
        another = isinstance(layer, TransformerDecoder) and len(item.inputs) > 1
        return bool(causal) and not (special or another) and len(set(item.inputs)) == 1
    if isinstance(layer, Embedding) and layer.mask_zero:
        return False
    if isinstance(layer, LayerNormalization) and layer.axis not in (-1, 2):
        return False
    if type(layer) is PositionEmbedding:
        return True
    # Subclasses, which have no record of their own, may differ.
    return RECORDED.get(layer.kind) is type(layer) and record_of(layer.kind).is_positionwise


def _is_library(function: Any) -> bool:
    return str(getattr(function, "__module__", "")).startswith("playgrad.")


def _build(structure: Structure) -> NextPosition:
    (tokens,) = structure.inputs
    length = tokens.shape[1]
    graph = structure.graph
    stored: list[Tensor] = []
    new: list[Tensor] = []
    with at_top(graph), graph.name_scope("next_position"):
        token = placeholder(tokens.dtype, (1, 1), "token")
        position = placeholder("int32", (1, 1), "position")
        at = {tokens: token}
        for item in structure.items:
            arguments = [at.get(tensor, tensor) for tensor in item.inputs]
            with graph.device(item.device):
                if not isinstance(item, LayerCall):
                    copy = graph.copy(item, arguments, control_inputs=item.control_inputs)
                    at.update(zip(item.outputs, copy.outputs, strict=True))
                    continue
                layer = item.layer
                if isinstance(layer, PositionEmbedding):
                    result: Tensor = layer.at(position)
                elif isinstance(layer, MultiHeadAttention):
                    x = arguments[0]
                    keys, values = (
                        placeholder(y.dtype, (1, length, *y.shape[2:]), name)
                        for name, y in zip(("keys", "values"), layer.projected(x)[1:], strict=True)
                    )
                    result, key, value = layer.next_position(x, keys, values, position)
                    stored += [keys, values]
                    new += [key, value]
                else:
                    shape = layer.output_shape
                    result = layer(*arguments, training=False, **item.options)
                    layer.output_shape = shape  # not that of one position
            at[item.outputs[0]] = result
    return NextPosition(
        structure, token, position, tuple(stored), tuple(new), at[structure.outputs[0]]
    )
