"""Recurrent layers in both directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playgrad.errors import GraphError, UnsupportedOpError
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.masks import mask_of, set_mask
from playgrad.nn.recurrent import RecurrentLayer
from playgrad.nn.stateful import StatefulLayer
from playgrad.nn.wrapper import WrapperLayer
from playgrad.ops.arrays.axes import flip
from playgrad.ops.arrays.concat import concat
from playgrad.ops.state import Variable
from playgrad.records import LayerRecord

_MODES = ("concat", "sum", "mul", "ave", None)


class Bidirectional(StatefulLayer, WrapperLayer):
    """Two recurrent layers, of which one goes through the sequence from its end.

    Schuster and Paliwal 1997. Inputs (batch, steps, features); result (batch, 2 * units), or
    (batch, steps, 2 * units) if the layers return sequences, in the order of the inputs. With
    ``return_state`` the states of both follow. A call takes the initial states of the forward
    layer, then of the backward layer. Where a mask skips a step, the outputs of sequences are 0.

    Args:
        layer: a recurrent layer, of which two copies are used.
        merge_mode: "concat", "sum", "mul" or "ave" (the mean) of the two outputs; None returns
            both.
        weights: must be None; use ``model.set_weights``.
        backward_layer: the layer for the other direction, with ``go_backwards``; None for a copy of
            ``layer``.

    Raises:
        GraphError: the layers are not recurrent or do not fit together.
        UnsupportedOpError: ``weights`` is given.
    """

    kind = "bidirectional"
    record = LayerRecord(
        about="Reads a sequence forwards and backwards, and joins both results.",
        rule="bidirectional",
        keras="Bidirectional",
        tfjs="layer merge_mode",
        torch="bidirectional",
        expects_unit_scale=True,
    )
    takes_floats = False
    uses_mask = True

    def __init__(
        self,
        layer: RecurrentLayer,
        merge_mode: str | None = "concat",
        weights: Any = None,
        backward_layer: RecurrentLayer | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        for inner in (layer, backward_layer):
            if not isinstance(inner, RecurrentLayer) and (inner is not None or layer is None):
                raise GraphError(
                    f"a Bidirectional layer takes LSTM, GRU or SimpleRNN, got {inner!r:.60}.",
                    source=self.source,
                )
        if merge_mode not in _MODES:
            raise GraphError(
                f"merge_mode must be one of {', '.join(map(repr, _MODES))}, got {merge_mode!r}.",
                source=self.source,
            )
        if weights is not None:
            raise UnsupportedOpError(
                "weights of a Bidirectional layer are not supported.",
                source=self.source,
                hint="Call model.set_weights(...).",
            )
        self.layer, self.backward_layer = layer, backward_layer
        self.merge_mode = merge_mode
        self._forward = layer.clone()
        self._backward = (backward_layer or layer).clone()
        if backward_layer is None:
            self._backward.go_backwards = not layer.go_backwards
        self._check()
        for inner in (self._forward, self._backward):
            inner.zero_output_for_mask = inner.return_sequences

    def _arguments(self) -> dict[str, Any]:
        return {**super()._arguments(), "weights": None}

    def _check(self) -> None:
        ahead, back = self._forward, self._backward
        for what in ("stateful", "return_sequences", "return_state"):
            a, b = getattr(ahead, what), getattr(back, what)
            if a != b:
                raise GraphError(
                    f"the two layers of a Bidirectional layer differ in {what}: {a} and {b}.",
                    source=self.source,
                )
        if ahead.go_backwards == back.go_backwards:
            raise GraphError(
                "the two layers of a Bidirectional layer go in the same direction.",
                source=self.source,
                hint="Create one of them with go_backwards=True.",
            )

    def reset(self) -> None:
        super().reset()
        for inner in (self._forward, self._backward):
            inner.reset()

    @property
    def states(self) -> list[Variable]:
        """The variables that keep the states of stateful layers."""
        return [*self._forward.states, *self._backward.states]

    def build(self, *shapes: Shape) -> None:
        self.contain("forward", self._forward, shapes[0])
        self.contain("backward", self._backward, shapes[0])

    def __call__(
        self,
        *inputs: Tensor | Sequence[Tensor],
        initial_state: Sequence[Tensor] | None = None,
        mask: Tensor | None = None,
        training: bool | None = None,
        **options: Any,
    ) -> Any:
        """Apply both layers to a sequence (batch, steps, features).

        Args:
            initial_state: the states of the forward layer, then of the backward layer.
            mask: bool (batch, steps), false at steps to skip; None for the mask of the sequence.
        """
        states = [] if initial_state is None else list(initial_state)
        return super().__call__(
            *inputs, *states, *([] if mask is None else [mask]), training=training, **options
        )

    def call(self, *inputs: Tensor, training: bool = False) -> Any:
        x, *states = inputs
        masks = [states.pop()] if states and states[-1].dtype == "bool" else []
        half = len(states) // 2
        ahead, *after = self._results(self._forward, [x, *states[:half], *masks], training)
        back, *before = self._results(self._backward, [x, *states[half:], *masks], training)
        if self._forward.return_sequences:
            backwards = [self._forward.go_backwards, self._backward.go_backwards]
            ahead, back = (
                flip(y, 1) if flipped else y
                for y, flipped in zip((ahead, back), backwards, strict=True)
            )
        outputs = self._merged(ahead, back)
        if self._forward.return_sequences:
            for output in outputs:
                set_mask(output, masks[0] if masks else mask_of(x))
        results = [*outputs, *after, *before]
        return results if len(results) > 1 else results[0]

    def _results(
        self, inner: RecurrentLayer, inputs: Sequence[Tensor], training: bool
    ) -> list[Tensor]:
        with inputs[0].graph.name_scope(str(inner.name).rpartition("/")[2]):
            result = inner.call(*inputs, training=training)
            results = [result] if isinstance(result, Tensor) else result
            inner._penalize(results)
        return results

    def _merged(self, a: Tensor, b: Tensor) -> list[Tensor]:
        match self.merge_mode:
            case "concat":
                return [concat([a, b], -1)]
            case "sum":
                return [a + b]
            case "mul":
                return [a * b]
            case "ave":
                return [(a + b) * 0.5]
        return [a, b]
