"""LSTM, GRU, SimpleRNN, and both directions of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.interchange.pytorch.use import LayerUse

Array = np.ndarray[Any, Any]

_MODULES = {"lstm": "nn.LSTM", "gru": "nn.GRU", "simple_rnn": "nn.RNN"}
_MERGED = {"sum": "{a} + {b}", "mul": "{a} * {b}", "ave": "({a} + {b}) / 2"}


def recurrent(use: LayerUse) -> None:
    layer = use.layer
    module = _module(use, layer, use.x.shape[-1])
    _store(use, layer, "", "")
    x = use.read("last", as_floats=True)
    argument = f"{x}.flip(1)" if layer.go_backwards else x
    target = use.target()
    if not layer.return_state:
        use.writer.assign_call(f"{target}, _", module, [argument])
    elif layer.kind == "lstm":
        hidden, cell = use.writer.new_name("hidden"), use.writer.new_name("cell")
        use.writer.assign_call(f"{target}, ({hidden}, {cell})", module, [argument])
        for index, name in enumerate((hidden, cell), 1):
            use.writer.assign(name, f"{name}[0]")
            use.bind(name, "last", index)
    else:
        hidden = use.writer.new_name("hidden")
        use.writer.assign_call(f"{target}, {hidden}", module, [argument])
        use.writer.assign(hidden, f"{hidden}[0]")
        use.bind(hidden, "last", 1)
    if not layer.return_sequences:
        use.writer.assign(target, f"{target}[:, -1]")
    use.bind(target, "last")


def bidirectional(use: LayerUse) -> None:
    ahead, back, mode = use.layer.layer, use.layer.backward_layer, use.layer.merge_mode
    back = back or ahead
    if ahead.go_backwards or mode is None or ahead.return_state:
        raise use.refuse("only the first direction forward and one result have an equivalent.")
    alike = ("kind", "units", "activation", "use_bias")
    if any(getattr(ahead, name) != getattr(back, name) for name in alike):
        raise use.refuse("the two layers differ, which PyTorch has no equivalent of.")
    module = _module(use, ahead, use.x.shape[-1], bidirectional=True)
    _expect_equivalent(use, back)
    _store(use, ahead, "forward/", "")
    _store(use, back, "backward/", "_reverse")
    x, target = use.read("last", as_floats=True), use.target()
    if ahead.return_sequences:
        use.writer.assign_call(f"{target}, _", module, [x])
        if mode != "concat":
            a, b = (use.writer.new_name(name) for name in ("forward", "backward"))
            use.writer.assign_call(f"{a}, {b}", f"{target}.chunk", ["2", "dim=2"])
            use.writer.assign(target, _MERGED[mode].format(a=a, b=b))
    else:
        hidden = use.writer.new_name("hidden")
        pair = f"_, ({hidden}, _)" if ahead.kind == "lstm" else f"_, {hidden}"
        use.writer.assign_call(pair, module, [x])
        if mode == "concat":
            use.writer.assign_call(target, "torch.cat", [f"({hidden}[0], {hidden}[1])", "dim=1"])
        else:
            use.writer.assign(target, _MERGED[mode].format(a=f"{hidden}[0]", b=f"{hidden}[1]"))
    use.bind(target, "last")


def _module(
    use: LayerUse, layer: Any, inputs: int | None, bidirectional: bool | None = None
) -> str:
    _expect_equivalent(use, layer)
    relu = "relu" if layer.activation == "relu" else None
    return use.module(
        _MODULES[layer.kind],
        inputs,
        layer.units,
        nonlinearity=relu,
        bias=None if layer.use_bias else False,
        batch_first=True,
        bidirectional=bidirectional,
    )


def _expect_equivalent(use: LayerUse, layer: Any) -> None:
    """Raise ExportError unless PyTorch computes the same."""
    module = _MODULES[layer.kind]
    if len(use.inputs) > 1:
        raise use.refuse("initial states and masks have no equivalent.")
    if layer.stateful:
        raise use.refuse(f"{module} keeps no state between batches.")
    if layer.dropout or layer.recurrent_dropout:
        raise use.refuse(f"{module} has no dropout of inputs and states.")
    activations = ("tanh", "relu") if layer.kind == "simple_rnn" else ("tanh",)
    if layer.activation not in activations:
        raise use.refuse(f"{module} has no activation {layer.activation!r}.")
    gate = getattr(layer, "recurrent_activation", "sigmoid")
    if layer.kind != "simple_rnn" and gate != "sigmoid":
        raise use.refuse(f"{module} has no recurrent activation {gate!r}.")
    if layer.kind == "gru" and not layer.reset_after:
        raise use.refuse(f"{module} has no reset_after=False.")


def _store(use: LayerUse, layer: Any, prefix: str, suffix: str) -> None:
    """Put the weights of one direction into the state_dict, gates in PyTorch's order."""

    def rows(array: Array) -> Array:
        if layer.kind != "gru":
            return array
        update, reset, candidate = np.split(array, 3)
        return np.concatenate([reset, update, candidate])

    use.store(f"weight_ih_l0{suffix}", rows(use.weight(f"{prefix}kernel").T))
    use.store(f"weight_hh_l0{suffix}", rows(use.weight(f"{prefix}recurrent_kernel").T))
    if layer.use_bias:
        bias = use.weight(f"{prefix}bias")
        of_input, of_state = bias if layer.kind == "gru" else (bias, np.zeros_like(bias))
        use.store(f"bias_ih_l0{suffix}", rows(of_input))
        use.store(f"bias_hh_l0{suffix}", rows(of_state))
