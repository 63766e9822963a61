"""Attention: each position of a sequence attends to the others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, Unpack

from playgrad.dtypes import dtype
from playgrad.errors import ShapeError, UnsupportedOpError
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import cards
from playgrad.nn.attention_masks import MASKS, combined_mask, equal_if_blind, with_padding
from playgrad.nn.cached_attention import seen_from, with_position
from playgrad.nn.constraints import Constraint
from playgrad.nn.masks import mask_of, set_mask
from playgrad.nn.options import KernelOptions
from playgrad.nn.seeds import seed_of
from playgrad.nn.weighted_layer import BiasedLayer, WeightedLayer
from playgrad.ops.arrays.pad import pad
from playgrad.ops.arrays.pad_slice import slice_
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.attention import attention_weights, dot_product_attention, weighted_values
from playgrad.ops.elementwise.definitions import cast
from playgrad.ops.products.matmul import matmul
from playgrad.ops.random.dropout import dropout
from playgrad.ops.state import Variable
from playgrad.records import LayerRecord

T = TypeVar("T")


class MultiHeadAttention(WeightedLayer):
    """Multi-head attention: ``softmax(query @ key^T / sqrt(key_dim)) @ value`` for each head.

    Vaswani et al. 2017. The layer is called on a query (batch, to, features), and optionally a
    value (batch, from, ...) and a key (batch, from, ...), in the order of Keras. The value defaults
    to the query, the key to the value. The result is (batch, to, features).

    A call takes masks, bool tensors or numbers that are not 0 for true: ``query_mask`` (batch, to),
    ``value_mask`` and ``key_mask`` (batch, from), ``attention_mask`` (batch, to, from), or
    (to, from), or (batch, heads, to, from). A query sees a key where all of them are true, and with
    ``use_causal_mask=True`` only up to its own position. The context of a query that sees nothing
    is the mean of all values, and zero with ``dropout``, as in Keras; its scores are zero. Where
    the first three are not given, the masks of the sequences take their place, such as the masks
    of `Embedding` with ``mask_zero``; the result has the mask of the query.
    `attention_scores` returns the weights.

    ``query_kernel`` and ``key_kernel`` are (inputs, num_heads * key_dim), ``value_kernel`` is
    (inputs, num_heads * value_dim): the columns of a head are adjacent. ``output_kernel`` is
    (num_heads * value_dim, features).

    Args:
        num_heads: number of heads.
        key_dim: number of features of one head's queries and keys; None divides the query's
            features among the heads.
        value_dim: number of features of one head's values; None for ``key_dim``.
        dropout: the fraction of attention weights set to 0 in a training step.
        use_bias: whether to add a bias to each of the four products.
        output_shape: features of the result, a number or a sequence of one; None for as many as
            the query has.
        attention_axes: must be None or 1, the axis of the positions.
        flash_attention: as in `pg.dot_product_attention`. Dropout needs the composition.
        kernel_initializer, bias_initializer: name or `Initializer`.
        kernel_regularizer, bias_regularizer: name or `Regularizer`; None for none.
        activity_regularizer: a penalty on the results of all four products: name or `Regularizer`;
            None for none.
        kernel_constraint, bias_constraint: name or `Constraint` of weights in the shapes that Keras
            has, such as (inputs, num_heads, key_dim); None for none.
        seed: the seed of the dropout; None for one that follows from the name.
        causal: whether every call uses a causal mask, as layers in a `Sequential` need it.
    """

    kind = "multi_head_attention"
    record = LayerRecord(
        about="Lets each step attend to all others and combine the ones that matter to it.",
        menu=("sequences", 9),
        example="2, key_dim=16",
        fields=(
            cards.count("num_heads", "heads"),
            cards.count("key_dim", "featuresEach"),
            cards.flag("causal", "earlierOnly"),
        ),
        rule="attention",
        keras="MultiHeadAttention",
        torch="multi_head_attention",
    )
    takes_floats = False  # masks are bool
    uses_mask = True
    defaults = BiasedLayer.defaults

    def __init__(
        self,
        num_heads: int,
        key_dim: int | None = None,
        value_dim: int | None = None,
        dropout: float = 0.0,
        use_bias: bool = True,
        output_shape: Any = None,
        attention_axes: Any = None,
        flash_attention: bool | None = None,
        *,
        seed: int | None = None,
        causal: bool = False,
        **options: Unpack[KernelOptions],
    ) -> None:
        super().__init__(**options)
        self.num_heads = self.positive("num_heads", num_heads)
        self.key_dim = None if key_dim is None else self.positive("key_dim", key_dim)
        self.value_dim = None if value_dim is None else self.positive("value_dim", value_dim)
        if not 0.0 <= dropout < 1.0:
            raise ShapeError(f"dropout must be at least 0 and below 1, got {dropout}.")
        self.dropout = float(dropout)
        self.causal = bool(causal)
        self.use_bias = bool(use_bias)
        self.features = None if output_shape is None else self.single("output_shape", output_shape)
        if attention_axes not in (None, 1, (1,), [1]):
            raise UnsupportedOpError(
                f"attention_axes={attention_axes!r} is not supported: attention is along axis 1.",
                source=self.source,
                hint="Reshape the inputs to (batch, positions, features).",
            )
        self.attention_axes = None
        if flash_attention and self.dropout:
            raise UnsupportedOpError(
                "flash_attention=True stores no weights that dropout could set to 0.",
                source=self.source,
                hint="Leave out one of the two.",
            )
        self.flash_attention = flash_attention
        self.seed = seed

    def __call__(
        self,
        *inputs: Tensor | Sequence[Tensor],
        training: bool | None = None,
        use_causal_mask: bool = False,
        return_attention_scores: bool = False,
        **tensors: Any,
    ) -> Tensor:
        """Apply the layer to a query, a value and a key, with masks; see the class."""
        if return_attention_scores:
            raise UnsupportedOpError(
                "a layer call returns one tensor, not a pair.",
                source=self.source,
                hint="Use scores = layer.attention_scores(...) with the same arguments.",
            )
        # A model that replays a call of `attention_scores` asks for them.
        scores = bool(tensors.pop("scores", False))
        return self._apply(inputs, tensors, training, use_causal_mask, scores)

    def attention_scores(
        self,
        *inputs: Tensor | Sequence[Tensor],
        training: bool = False,
        use_causal_mask: bool = False,
        **tensors: Any,
    ) -> Tensor:
        """Return the attention weights (batch, heads, to, from) of a call with these arguments."""
        return self._apply(inputs, tensors, training, use_causal_mask, True)

    def _apply(
        self,
        inputs: Sequence[Any],
        named: Mapping[str, Any],
        training: bool | None,
        use_causal_mask: bool,
        scores: bool,
    ) -> Tensor:
        arguments, options = self.arguments(inputs, named)
        if options or use_causal_mask or scores:
            options |= {"use_causal_mask": bool(use_causal_mask), "scores": scores}
        return super().__call__(arguments, training=training, **options)

    def arguments(
        self, inputs: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[list[Tensor], dict[str, Any]]:
        """Return query, value, key and masks as a list, and as an option the names of the masks."""
        listed = [
            x for item in inputs for x in (item if isinstance(item, (list, tuple)) else [item])
        ]
        given = {name: x for name, x in named.items() if x is not None and name != "masks"}
        masks = list(named.get("masks", ()))  # from a model that replays the call
        for name in ("query", "value", "key"):
            if name in given:
                listed.append(given.pop(name))
        for name in MASKS:
            if name in given:
                listed.append(given.pop(name))
                masks.append(name)
        if given:
            raise TypeError(f"layer '{self.name}' takes no argument {next(iter(given))!r}.")
        return listed, ({"masks": masks} if masks else {})

    def build(self, *shapes: Shape, masks: Sequence[str] = (), **options: Any) -> None:
        shapes = shapes[: len(shapes) - len(masks)]
        width = self.known(shapes[0], -1)
        for role, shape in self.roles(shapes).items():
            self._add_product(role, self.known(shape, -1), self.size_of(role, width))
        self._add_product("output", self.size_of("value", width), self.features or width)

    def _add_product(self, role: str, inputs: int, outputs: int) -> None:
        self.add_weight(
            f"{role}_kernel",
            (inputs, outputs),
            self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint_of(role, inputs, outputs),
        )
        if self.use_bias:
            self.add_weight(
                f"{role}_bias",
                (outputs,),
                self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint_of(role, outputs),
            )

    def kernel_constraint_of(self, role: str, inputs: int, outputs: int) -> Constraint | None:
        """Return the constraint of a kernel (inputs, outputs), whose heads are an axis in Keras."""
        if self.kernel_constraint is None:
            return None
        if role == "output":
            return self.kernel_constraint.of_shape(-1, inputs // self.num_heads, outputs)
        return self.kernel_constraint.of_shape(inputs, -1, outputs // self.num_heads)

    def bias_constraint_of(self, role: str, outputs: int) -> Constraint | None:
        """Return the constraint of a bias (outputs,), as `kernel_constraint_of`."""
        if self.bias_constraint is None or role == "output":
            return self.bias_constraint
        return self.bias_constraint.of_shape(-1, outputs // self.num_heads)

    def call(
        self,
        *inputs: Tensor,
        training: bool = False,
        masks: Sequence[str] = (),
        use_causal_mask: bool = False,
        scores: bool = False,
    ) -> Tensor:
        count = len(inputs) - len(masks)
        given = dict(zip(masks, inputs[count:], strict=True))
        padded = ("query_mask", "value_mask", "key_mask")
        mask = combined_mask(self, with_padding(given, inputs[:count], padded))
        sequences = [as_floats(x) for x in inputs[:count]]
        self.roles([x.shape for x in sequences])
        query, key, value = (
            self.project(x, *self.kernel_and_bias(role), self.num_heads)
            for role, x in in_roles(sequences).items()
        )
        causal = self.causal or use_causal_mask
        if scores:
            return self.weights_of(query, key, mask, causal, 0, training)
        if mask is not None and not self.dropout:
            (query, mask), causal = equal_if_blind(query, key, mask, causal), False
        context = self.attend(query, key, value, 0, training, mask, causal)
        y = self.combined(context, *self.kernel_and_bias("output"))
        super()._penalize([query, key, value, y])
        set_mask(y, mask_of(inputs[0]))
        return y

    def _penalize(self, outputs: Sequence[Tensor]) -> None:
        """Do nothing: ``call`` adds the penalties of all products."""

    def next_position(
        self, x: Tensor, keys: Tensor, values: Tensor, position: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Attend from one more position of a sequence to itself and all positions before it.

        Args:
            x: the inputs at the position, (batch, 1, features).
            keys, values: the keys and values of earlier calls at their positions, (batch,
                positions, num_heads, features of one); entries at other positions are ignored.
            position: int32, (1, 1).

        Returns:
            The result (batch, 1, features), and key and value of the position.
        """
        context, key, value = self.context_at(as_floats(x), keys, values, position)
        return self.combined(context, *self.kernel_and_bias("output")), key, value

    def context_at(
        self, x: Tensor, keys: Tensor, values: Tensor, position: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the results of the heads at one more position, its key and its value.

        The arguments are as in `next_position`; the first result is (batch, 1, heads * value_dim).
        """
        query, key, value = self.projected(x)
        count = self.known(keys.shape, 1)
        every_key = with_position(key, keys, position, count)
        every_value = with_position(value, values, position, count)
        seen = seen_from(position, count)
        return self.attend(query, every_key, every_value, 0, False, seen, False), key, value

    def projected(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return query, key and value of ``x``, (batch, positions, heads, features of one)."""
        query, key, value = (
            self.project(x, *self.kernel_and_bias(role), self.num_heads)
            for role in ("query", "key", "value")
        )
        return query, key, value

    def kernel_and_bias(self, role: str, part: str = "") -> tuple[Variable, Variable | None]:
        """Return the weights of one of the four products; ``part`` is the suffix of their names."""
        return self.variables[f"{role}_kernel{part}"], self.variables.get(f"{role}_bias{part}")

    def roles(self, shapes: Sequence[Shape], part: str = "") -> dict[str, Shape]:
        """Return the shapes of the inputs of query, key and value.

        Raises:
            ShapeError: they are not sequences that fit together and fit the weights.
        """
        if len(shapes) > 3:
            raise ShapeError(
                f"layer '{self.name}' takes a query, a value and a key, got {len(shapes)} tensors."
            )
        for shape in shapes:
            self.expect_rank(shape, 3, "(batch, positions, features)")
        roles = in_roles(shapes)
        keys, values = roles["key"][1], roles["value"][1]
        if keys != values:
            raise ShapeError(
                f"layer '{self.name}' needs as many keys as values, got {keys} and {values}."
            )
        for role, shape in roles.items():
            if f"{role}_kernel{part}" in self.variables:
                kernel = self.variables[f"{role}_kernel{part}"]
                self.expect_width(shape, kernel.spec.static_shape[0])
        return roles

    def head_size(self, width: int) -> int:
        """Return the features of one head's keys, for a query with ``width`` features."""
        if self.key_dim is not None:
            return self.key_dim
        if width % self.num_heads:
            raise ShapeError(
                f"layer '{self.name}' cannot divide {width} features among {self.num_heads} heads.",
                hint="Pass key_dim, the number of features of one head.",
            )
        return width // self.num_heads

    def size_of(self, role: str, width: int) -> int:
        """Return the features of all heads' queries, keys or values."""
        key_dim = self.head_size(width)
        return self.num_heads * (self.value_dim or key_dim if role == "value" else key_dim)

    def project(self, x: Tensor, kernel: Tensor, bias: Tensor | None, heads: int) -> Tensor:
        """Return ``x`` (batch, positions, in) as (batch, positions, heads, features of one)."""
        y = matmul(x, kernel)
        if bias is not None:
            y = y + bias
        size = kernel.spec.static_shape[1] // heads
        return reshape(y, (-1, self.known(x.shape, 1), heads, size))

    def attend(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        first: int,
        training: bool,
        mask: Tensor | None,
        causal: bool,
    ) -> Tensor:
        """Return the result of the heads from ``first`` on: (batch, to, heads * value_dim)."""
        _, positions, heads, _ = query.shape
        size = value.shape[-1]
        assert heads is not None and positions is not None and size is not None
        if training and self.dropout:
            weights = self.weights_of(query, key, mask, causal, first, training)
            context = weighted_values(weights, value)
        else:
            context = dot_product_attention(
                query,
                key,
                value,
                mask,
                is_causal=causal,
                flash_attention=self.flash_attention,
            )
        return reshape(context, (-1, positions, heads * size))

    def weights_of(
        self,
        query: Tensor,
        key: Tensor,
        mask: Tensor | None,
        causal: bool,
        first: int,
        training: bool,
    ) -> Tensor:
        """Return the weights of the heads from ``first`` on, (batch, heads, to, from)."""
        heads, size = query.shape[2:]
        assert heads is not None and size is not None
        weights = attention_weights(query, key, mask, scale=1 / math.sqrt(size), is_causal=causal)
        return self._dropped(weights, heads, first) if training and self.dropout else weights

    def combined(self, context: Tensor, kernel: Tensor, bias: Tensor | None) -> Tensor:
        """Return ``context`` (batch, to, in) times the kernel: (batch, to, features)."""
        y = matmul(context, kernel)
        return y if bias is None else y + bias

    def _dropped(self, weights: Tensor, heads: int, first: int) -> Tensor:
        seed = seed_of(self)
        if heads == self.num_heads:
            return dropout(weights, self.dropout, seed=seed)
        # The mask is drawn for all heads, so that sharding them does not change it.
        around = [[0, 0], [first, self.num_heads - first - heads], [0, 0], [0, 0]]
        whole = dropout(pad(weights, around), self.dropout, seed=seed)
        return slice_(whole, [0, first, 0, 0], [-1, heads, -1, -1])

    def _arguments(self) -> dict[str, Any]:
        arguments = super()._arguments()
        if "output_shape" in arguments:  # not the attribute of this name
            arguments["output_shape"] = self.features
        return arguments


def as_floats(x: Tensor) -> Tensor:
    """Return ``x`` as float32 unless it is floating."""
    return x if dtype(x.dtype).floating else cast(x, "float32")


def in_roles(items: Sequence[T]) -> dict[str, T]:
    """Return query, key and value from the arguments of a call: query[, value[, key]]."""
    value = items[min(1, len(items) - 1)]
    return {"query": items[0], "key": items[-1] if len(items) > 2 else value, "value": value}
