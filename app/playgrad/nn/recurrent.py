"""The base class of recurrent layers: steps, states and masks."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, ClassVar

from playgrad.errors import GraphError, ShapeError, UnsupportedOpError, shape_text
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import activations, cards, constraints, initializers, regularizers
from playgrad.nn.initializers import Initializer
from playgrad.nn.layer_calls import layers_of
from playgrad.nn.masks import mask_of, set_mask
from playgrad.nn.stateful import StatefulLayer
from playgrad.ops.arrays.fill import ones_like, zeros_like
from playgrad.ops.arrays.getitem import getitem
from playgrad.ops.arrays.join import stack, unstack
from playgrad.ops.arrays.shape import identity, reshape
from playgrad.ops.arrays.transpose import transpose
from playgrad.ops.elementwise.definitions import cast, where
from playgrad.ops.products.matmul import matmul
from playgrad.ops.random.dropout import dropout
from playgrad.ops.state import Variable
from playgrad.records import LayerRecord

States = tuple[Tensor, ...]

_FIELDS = (
    cards.count("units", "units"),
    cards.flag("return_sequences", "everyStep", more=False),
    cards.MORE_ACTIVATION,
    cards.number("dropout", "dropout", more=True, most=0.95, step=0.05),
)


def recurrent_record(
    name: str, about: str, place: int, blocks: int, tfjs: str, module: str
) -> LayerRecord:
    """Return the record of a recurrent layer.

    Args:
        name: the name of the class, here and in Keras.
        place: in the menu of Blocks.
        blocks: the number of its gates and states.
        tfjs: the arguments that TensorFlow.js takes in addition to those of all recurrent layers.
        module: of PyTorch.
    """
    return LayerRecord(
        about,
        ("sequences", place),
        "32",
        _FIELDS,
        rule=f"recurrent {blocks}",
        keras=name,
        tfjs="units activation use_bias dropout recurrent_dropout return_sequences go_backwards "
        f"stateful {tfjs}",
        torch="recurrent",
        from_torch={
            module: (
                "-input_size hidden_size>units -num_layers bias>use_bias -batch_first",
                "return_sequences=True, return_state=True",
            )
        },
        is_recurrent=True,
        expects_unit_scale=True,
    )


class RecurrentLayer(StatefulLayer):
    """A layer that goes through a sequence step by step and keeps a state.

    The products of all inputs with the kernel are one product, of rows in the order of steps. Each
    step then has a product of its state with the recurrent kernel, and one kernel for the rest; on
    a GPU, the compiler may make all steps one kernel (`compiler/roll.py`).

    A subclass sets ``blocks``, the number of blocks of ``units`` columns in the kernels, and
    ``state_count``, and computes ``step``. Its constructor passes its arguments to ``configure``.
    """

    takes_floats = False  # the mask among the inputs is bool
    uses_mask = True
    blocks: ClassVar[int]
    state_count: ClassVar[int] = 1

    units: int
    activation: Any
    recurrent_activation: Any
    use_bias: bool
    kernel_initializer: Initializer
    recurrent_initializer: Initializer
    bias_initializer: Initializer
    unit_forget_bias: bool
    dropout: float
    recurrent_dropout: float
    seed: int | None
    return_sequences: bool
    return_state: bool
    go_backwards: bool
    stateful: bool
    reset_after: bool
    zero_output_for_mask: bool

    def configure(self, arguments: dict[str, Any]) -> None:
        """Check the constructor's arguments and keep each in an attribute of its name.

        Raises:
            UnsupportedOpError: an argument has a value that is not supported.
        """
        values = {k: v for k, v in arguments.items() if k not in ("self", "name", "__class__")}
        if values.get("use_cudnn", "auto") not in ("auto", False):
            raise UnsupportedOpError(
                f"use_cudnn={values['use_cudnn']!r} is not supported: layers run on WebGPU.",
                source=self.source,
                hint="Leave it out.",
            )
        vars(self).update(values)
        self.units = self.positive("units", self.units)
        for what in ("kernel", "recurrent", "bias"):
            initializer = initializers.get(values[f"{what}_initializer"])
            setattr(self, f"{what}_initializer", initializer)
            setattr(self, f"{what}_regularizer", regularizers.get(values[f"{what}_regularizer"]))
            setattr(self, f"{what}_constraint", constraints.get(values[f"{what}_constraint"]))
        self.activity_regularizer = regularizers.get(values["activity_regularizer"])
        for what in ("dropout", "recurrent_dropout"):
            rate = self.number(what, values[what], most=1.0)
            if rate == 1.0:
                raise ShapeError(f"{what} must be below 1, got 1.", source=self.source)
            setattr(self, what, rate)
        self._activate = activations.get(values["activation"])
        self._gate = activations.get(values.get("recurrent_activation", "sigmoid"))

    # Methods to override

    def bias_shape(self) -> tuple[int, ...]:
        """Return the shape of the bias."""
        return (self.blocks * self.units,)

    def first_bias(self) -> Any:
        """Return the initializer of the bias."""
        return self.bias_initializer

    def input_bias(self) -> Tensor:
        """Return the bias that is added to the products of the inputs, (blocks * units,)."""
        return self.variables["bias"]

    def recurrent_weights(self) -> tuple[Tensor, ...]:
        """Return the weights that all steps share, for ``step``."""
        return (self.variables["recurrent_kernel"],)

    def step(self, x: Tensor, states: States | None, *weights: Tensor) -> States:
        """Return the states after a step; the first of them is its output.

        Args:
            x: the products of its input, (batch, blocks * units).
            states: the states before it; None for zeros.
            weights: the ``recurrent_weights``.
        """
        raise NotImplementedError

    # Construction

    def build(self, *shapes: Shape) -> None:
        self.expect_rank(shapes[0], 3, "(batch, steps, features)")
        width, columns = self.known(shapes[0], 2), self.blocks * self.units
        for name, shape, initializer, kind in (
            ("kernel", (width, columns), self.kernel_initializer, "kernel"),
            ("recurrent_kernel", (self.units, columns), self.recurrent_initializer, "recurrent"),
            ("bias", self.bias_shape(), self.first_bias(), "bias"),
        ):
            if name != "bias" or self.use_bias:
                self.add_weight(
                    name,
                    shape,
                    initializer,
                    regularizer=getattr(self, f"{kind}_regularizer"),
                    constraint=getattr(self, f"{kind}_constraint"),
                )
        if self.stateful:
            batch = shapes[0][0]
            if batch is None:
                raise ShapeError(
                    f"the stateful layer '{self.name}' needs to know the size of its batches.",
                    hint="Use pg.Input(shape, batch_size=...) as the first item of the model.",
                )
            for i in range(self.state_count):
                self.add_weight(f"state_{i}", (batch, self.units), "zeros", trainable=False)

    def __call__(
        self,
        *inputs: Tensor | Sequence[Tensor],
        initial_state: Tensor | Sequence[Tensor] | None = None,
        mask: Tensor | None = None,
        training: bool | None = None,
        **options: Any,
    ) -> Any:
        """Apply the layer to a sequence (batch, steps, features).

        Args:
            initial_state: the states before the first step, each (batch, units); None for zeros, or
                for the states after the last batch if the layer is stateful.
            mask: bool (batch, steps), false at steps to skip; None for the mask of the sequence.

        Returns:
            The output of the last step (batch, units), or of all steps (batch, steps, units) with
            ``return_sequences``; with ``return_state`` a list of it and the states.
        """
        if initial_state is not None:
            states = initial_state if isinstance(initial_state, (list, tuple)) else [initial_state]
            inputs = (*inputs, *states)
        return super().__call__(
            *inputs, *([] if mask is None else [mask]), training=training, **options
        )

    def call(self, *inputs: Tensor, training: bool = False) -> Any:
        x, initial, mask = self._arguments_of(inputs)
        products = self._products(cast(x, "float32"), training)
        masks = None if mask is None else self._masks(mask, x.shape)
        weights = self.recurrent_weights()
        states = self._stored() if initial is None else initial
        keep = self._recurrent_mask(products[0]) if training else None
        outputs: list[Tensor] = []
        order = range(len(products) - 1, -1, -1) if self.go_backwards else range(len(products))
        for t in order:
            seen = states
            if keep is not None and states is not None:
                seen = (states[0] * keep, *states[1:])
            new = self.step(products[t], seen, *weights)
            if masks is None:
                states = new
                outputs.append(new[0])
                continue
            before = states or tuple(zeros_like(state) for state in new)
            states = tuple(where(masks[t], a, b) for a, b in zip(new, before, strict=True))
            nothing = self.zero_output_for_mask or not outputs
            skipped = zeros_like(new[0]) if nothing else outputs[-1]
            same = skipped is before[0] or (initial is None and not nothing)
            outputs.append(states[0] if same else where(masks[t], new[0], skipped))
        assert states is not None
        y = _swapped(stack(outputs)) if self.return_sequences else outputs[-1]
        if self.stateful:
            y = self._store(states, y)
        if self.return_sequences:
            set_mask(y, mask)
        return [y, *states] if self.return_state else y

    @property
    def states(self) -> list[Variable]:
        """The variables that keep the states of a stateful layer."""
        return [self._variable(i) for i in range(self.state_count)] if self.stateful else []

    # The parts of a call

    def _arguments_of(
        self, inputs: Sequence[Tensor]
    ) -> tuple[Tensor, States | None, Tensor | None]:
        """Return the sequence, the initial states and the mask."""
        x, *rest = inputs
        mask = mask_of(x)
        if rest and rest[-1].dtype == "bool":
            mask = rest.pop()
        self.expect_rank(x.shape, 3, "(batch, steps, features)")
        self.expect_width(x.shape, self.variables["kernel"].spec.static_shape[0])
        if self.known(x.shape, 1) == 0:
            raise ShapeError(f"layer '{self.name}' needs at least one step, got {x.shape}.")
        if rest and len(rest) != self.state_count:
            raise GraphError(
                f"layer '{self.name}' takes {self.state_count} initial states, got {len(rest)}."
            )
        for state in rest:
            if state.spec.rank != 2 or state.shape[1] != self.units:
                raise ShapeError(
                    f"an initial state of layer '{self.name}' must have the shape (batch, "
                    f"{self.units}), not {shape_text(state.shape)}."
                )
        return x, tuple(cast(state, "float32") for state in rest) or None, mask

    def _products(self, x: Tensor, training: bool) -> list[Tensor]:
        """Return the products of the inputs of all steps with the kernel, and the bias."""
        if training and self.dropout:  # the same inputs are dropped in all steps
            ones = ones_like(getitem(x, (slice(None), slice(0, 1))))
            x = x * dropout(ones, self.dropout, seed=self._seed("dropout"))
        width, columns = self.variables["kernel"].spec.static_shape
        steps = self.known(x.shape, 1)
        y = matmul(reshape(_swapped(x), (-1, width)), self.variables["kernel"])
        if self.use_bias:
            y = y + self.input_bias()
        return unstack(reshape(y, (steps, -1, columns)))

    def _recurrent_mask(self, products: Tensor) -> Tensor | None:
        if not self.recurrent_dropout:
            return None
        ones = ones_like(getitem(products, (slice(None), slice(0, self.units))))
        return dropout(ones, self.recurrent_dropout, seed=self._seed("recurrent_dropout"))

    def _seed(self, what: str) -> int:
        source = self.name if self.seed is None else self.seed
        return zlib.crc32(f"{source}/{what}".encode())

    def _masks(self, mask: Tensor, shape: Shape) -> list[Tensor]:
        """Return the mask of each step, (batch, 1)."""
        if mask.spec.rank != 2 or mask.shape[1] != shape[1] or mask.dtype != "bool":
            raise ShapeError(
                f"the mask of layer '{self.name}' must be bool of shape "
                f"{shape_text(shape[:2])}, not {mask.dtype} of shape {shape_text(mask.shape)}."
            )
        return [getitem(mask, (slice(None), slice(t, t + 1))) for t in range(self.known(shape, 1))]

    def _stored(self) -> States | None:
        """Return the states after the last batch, if the layer is stateful."""
        if not self.stateful:
            return None
        updates = layers_of(self._variable(0).graph).updates or {}
        return tuple(updates.get(variable, variable) for variable in self.states)

    def _variable(self, number: int) -> Variable:
        return self.variables[f"state_{number}"]

    def _store(self, states: States, y: Tensor) -> Tensor:
        """Have the states kept for the next batch; return ``y``, which makes sure of it."""
        graph = y.graph
        updates = layers_of(graph).updates
        assigned = []
        for i, state in enumerate(states):
            variable = self._variable(i)
            if state.shape[0] not in (None, variable.shape[0]):
                raise ShapeError(
                    f"the stateful layer '{self.name}' was built for batches of "
                    f"{variable.shape[0]}, got one of {state.shape[0]}."
                )
            if updates is not None:  # a training step makes them, unless its loss is not finite
                updates[variable] = state
            else:
                assigned.append(variable.assign(state))
        if not assigned:
            return y
        with graph.control_dependencies(assigned):
            return identity(y)


def _swapped(x: Tensor) -> Tensor:
    """Return a sequence with its first two axes swapped: then the rows of a step lie together."""
    return transpose(x, [1, 0, *range(2, x.spec.rank)])
