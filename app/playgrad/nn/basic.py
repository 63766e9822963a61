"""Layers of a few lines without variables. Copy the shortest to write a new layer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.nn import activations, cards
from playgrad.nn.layer import Layer
from playgrad.nn.seeds import seed_of
from playgrad.ops.arrays.fill import ones_like
from playgrad.ops.arrays.repeat import repeat
from playgrad.ops.arrays.shape import expand_dims, flatten, reshape
from playgrad.ops.arrays.transpose import transpose
from playgrad.ops.core.build import whole
from playgrad.ops.random.dropout import dropout
from playgrad.records import LayerRecord


class Rescaling(Layer):
    """``inputs * scale + offset``; ``scale=1/255`` maps pixels from 0..255 to 0..1."""

    kind = "rescaling"
    record = LayerRecord(
        about=(
            "Multiplies all inputs by one number: networks learn best from numbers near 0 and 1."
        ),
        menu=("basic", 6),
        example="1 / 255",
        fields=(
            cards.number("scale", "scale", step=0.1),
            cards.number("offset", "offset", least=-1000, more=True, step=0.1),
        ),
        rule="same",
        keras="Rescaling",
        tfjs="scale offset",
        torch="rescaling",
    )
    passes_mask = True

    def __init__(self, scale: float, offset: float = 0.0, name: str | None = None) -> None:
        super().__init__(name)
        self.scale = float(scale)
        self.offset = float(offset)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        scaled = inputs[0] * self.scale
        return scaled + self.offset if self.offset else scaled


class Flatten(Layer):
    """Flatten all dimensions but the batch: (batch, a, b, ...) to (batch, a * b * ...)."""

    kind = "flatten"
    record = LayerRecord(
        about=("Puts all numbers of a sample into one row, so that a dense layer can take them."),
        menu=("basic", 4),
        rule="flatten",
        keras="Flatten",
        tfjs="",
        torch="flatten",
        from_torch={"Flatten": ("-start_dim -end_dim",)},
        keeps_scale=True,
    )
    takes_floats = False

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return flatten(inputs[0])


class Reshape(Layer):
    """Reshape each sample to ``target_shape``, in which one size may be -1."""

    kind = "reshape"
    record = LayerRecord(
        about="Arranges the same numbers in another shape, such as an image with one channel.",
        menu=("basic", 5),
        example="(28, 28, 1)",
        fields=(cards.shape("target_shape", "shape"),),
        rule="reshape",
        keras="Reshape",
        tfjs="target_shape",
        torch="reshape",
        from_torch={"Unflatten": ("-dim unflattened_size>target_shape",)},
        keeps_scale=True,
    )
    takes_floats = False

    def __init__(self, target_shape: Any, name: str | None = None) -> None:
        super().__init__(name)
        self.target_shape = tuple(int(size) for size in target_shape)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        elements = math.prod(self.known(x.shape, axis) for axis in range(1, len(x.shape)))
        named = math.prod(size for size in self.target_shape if size != -1)
        free = elements // named if named else 0
        target = [free if size == -1 else size for size in self.target_shape]
        if math.prod(target) != elements or self.target_shape.count(-1) > 1:
            raise ShapeError(
                f"layer '{self.name}' cannot reshape samples of shape {shape_text(x.shape[1:])} "
                f"to {shape_text(self.target_shape)}."
            )
        return reshape(x, (-1, *target))


class Permute(Layer):
    """Transpose the dimensions of each sample; ``dims`` counts them from 1, after the batch."""

    kind = "permute"
    record = LayerRecord(
        about="Exchanges the axes of a sample, such as rows and columns.",
        fields=(cards.shape("dims", "order"),),
        rule="permute",
        keras="Permute",
        tfjs="dims",
        torch="permute",
        keeps_scale=True,
    )
    takes_floats = False

    def __init__(self, dims: Any, name: str | None = None) -> None:
        super().__init__(name)
        self.dims = tuple(int(dim) for dim in dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise ShapeError(f"dims of Permute must hold 1 to {len(self.dims)}, got {self.dims}.")

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        if len(x.shape) != len(self.dims) + 1:
            raise ShapeError(
                f"layer '{self.name}' permutes {len(self.dims)} dimensions after the batch, but "
                f"its input has the shape {shape_text(x.shape)}."
            )
        return transpose(x, (0, *self.dims))


class RepeatVector(Layer):
    """Repeat each sample ``n`` times: (batch, features) to (batch, n, features)."""

    kind = "repeat_vector"
    record = LayerRecord(
        about="Repeats each sample, as the steps of a sequence.",
        fields=(cards.count("n", "times"),),
        rule="repeat",
        keras="RepeatVector",
        tfjs="n",
        torch="repeat_vector",
    )
    takes_floats = False

    def __init__(self, n: int, name: str | None = None) -> None:
        super().__init__(name)
        self.n = whole(n, "n of RepeatVector")

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        if len(x.shape) != 2:
            raise ShapeError(
                f"layer '{self.name}' takes inputs of shape (batch, features), not "
                f"{shape_text(x.shape)}."
            )
        return repeat(expand_dims(x, 1), self.n, axis=1)


class Activation(Layer):
    """An activation function as a layer."""

    kind = "activation"
    record = LayerRecord(
        about=(
            "Bends each number by a function; without such bends, many layers could do no "
            "more than one."
        ),
        menu=("basic", 2),
        example='"relu"',
        fields=(cards.FUNCTION,),
        rule="same",
        keras="Activation",
        tfjs="activation",
        torch="activation",
        keeps_scale=True,
        is_positionwise=True,
    )
    passes_mask = True

    def __init__(self, activation: Any, name: str | None = None) -> None:
        super().__init__(name)
        self.activation = activation
        self._activate = activations.get(activation)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return self._activate(inputs[0])


class Dropout(Layer):
    """Dropout: in training, set each value to 0 with probability ``rate``.

    The other values are multiplied by 1/(1 - rate). Outside of training the inputs pass unchanged.
    Srivastava et al. 2014.

    Args:
        rate: at least 0 and below 1.
        noise_shape: a shape of as many dimensions as the inputs, 1 along the axes on which all
            values are dropped together: (None, 1, 8). None for the size of the inputs.
        seed: the seed of the random numbers; None derives one from the layer's name.
    """

    kind = "dropout"
    record = LayerRecord(
        about=(
            "Switches off some inputs at random while training, so that the network does "
            "not rely on single ones."
        ),
        menu=("basic", 3),
        example="0.2",
        fields=(cards.RATE,),
        rule="same",
        keras="Dropout",
        tfjs="rate",
        torch="dropout",
        from_torch={"Dropout": ("p>rate -inplace",)},
        keeps_scale=True,
        is_positionwise=True,
    )
    passes_mask = True

    def __init__(
        self,
        rate: float,
        noise_shape: Sequence[int | None] | None = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        if not 0.0 <= rate < 1.0:
            raise ShapeError(f"the rate of Dropout must be at least 0 and below 1, got {rate}.")
        self.rate = float(rate)
        self.seed = seed
        self.noise_shape: tuple[int | None, ...] | None = None
        if noise_shape is not None:
            self.noise_shape = tuple(
                None if size is None else self.positive("a size in noise_shape", size)
                for size in noise_shape
            )

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        if not training or self.rate == 0.0:
            return x
        if self.noise_shape is None:
            return dropout(x, self.rate, seed=seed_of(self))
        sizes = self.noise_shape
        if len(sizes) != x.spec.rank or any(
            size not in (None, 1) and size != known
            for size, known in zip(sizes, x.shape, strict=True)
        ):
            raise ShapeError(
                f"the noise_shape {shape_text(sizes)} of layer '{self.name}' does not fit inputs "
                f"of shape {shape_text(x.shape)}.",
                hint="Each size is 1, None or that of the inputs.",
            )
        if sizes[0] == 1:
            raise ShapeError(
                f"layer '{self.name}' cannot drop the same values in all samples.",
                hint="Let noise_shape begin with None.",
            )
        first = tuple(slice(0, 1) if size == 1 else slice(None) for size in sizes)
        return x * dropout(ones_like(x[first]), self.rate, seed=seed_of(self))
