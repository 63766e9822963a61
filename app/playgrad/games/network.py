"""A small network with two heads for a game: a policy, and the expected result."""

from __future__ import annotations

from typing import Any

from playgrad.games.arguments import whole_number
from playgrad.games.protocol import Game
from playgrad.graph.tensor import Tensor
from playgrad.models.inputs import Input
from playgrad.models.model import Model
from playgrad.nn.activation_layers import ReLU
from playgrad.nn.basic import Flatten, Permute
from playgrad.nn.conv import Conv2D
from playgrad.nn.cross_entropy_losses import CategoricalCrossentropy
from playgrad.nn.dense import Dense
from playgrad.nn.losses import MeanSquaredError
from playgrad.nn.merge import Add
from playgrad.optim import AdamW
from playgrad.optim.optimizer import Optimizer

_LARGEST = 512


def network(
    game: Game[Any],
    *,
    filters: int = 32,
    blocks: int = 2,
    optimizer: Optimizer | None = None,
    device: str = "auto",
    name: str = "player",
) -> Model:
    """Return a model for `SelfPlay`: residual convolutions with two heads, compiled.

    It is AlphaZero's network, smaller and without batch normalization. The outputs are "policy",
    the scores of the actions before softmax, and "value", the expected result for the player to
    move. The loss is the sum of cross-entropy with the shares of visits, and of the squared error
    of the value.

    Args:
        filters: the channels of the convolutions, 1 to 512.
        blocks: residual blocks of two convolutions each, 0 to 40.
        optimizer: None for AdamW with a learning rate of 0.002 and a weight decay of 1e-4.
        device: as in `Model.compile`.

    Raises:
        GameError: another number of filters or blocks.
    """
    whole_number("filters", filters, 1, _LARGEST)
    whole_number("blocks", blocks, 0, 40)
    planes = Input((game.planes, game.rows, game.columns), name="planes")
    x = Permute((2, 3, 1))(planes)
    x = Conv2D(filters, 3, padding="same", activation="relu")(x)
    for _ in range(blocks):
        x = _residual(x, filters)
    policy = Flatten()(Conv2D(max(filters // 4, 2), 1, activation="relu")(x))
    policy = Dense(game.actions, name="policy")(policy)
    value = Flatten()(Conv2D(max(filters // 4, 2), 1, activation="relu")(x))
    value = Dense(filters, activation="relu")(value)
    value = Dense(1, activation="tanh", name="value")(value)
    model = Model(planes, [policy, value], name)
    model.compile(
        optimizer or AdamW(0.002, weight_decay=1e-4),
        loss=[CategoricalCrossentropy(from_logits=True), MeanSquaredError()],
        device=device,
    )
    return model


def _residual(x: Tensor, filters: int) -> Tensor:
    """Add two convolutions to ``x``."""
    y = Conv2D(filters, 3, padding="same", activation="relu")(x)
    y = Conv2D(filters, 3, padding="same")(y)
    result: Tensor = ReLU()(Add()([x, y]))
    return result
