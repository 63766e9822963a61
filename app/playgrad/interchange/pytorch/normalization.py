"""Normalization."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.interchange.pytorch.use import LayerUse
from playgrad.interchange.pytorch.writer import Layout
from playgrad.nn.normalization import axes_after_batch

Array = np.ndarray[Any, Any]


def batch_normalization(use: LayerUse) -> None:
    layer, mean = use.layer, use.weight("moving_mean")
    axis = layer.axis % use.rank
    if use.rank > 4 or axis not in (1, use.rank - 1):
        raise use.refuse(f"nn.BatchNorm has no axis {layer.axis} of {use.rank}.")
    options = {"eps": layer.epsilon, "momentum": round(1 - layer.momentum, 12)}
    module = _with_scale(use, f"nn.BatchNorm{max(use.rank - 2, 1)}d", mean.size, "affine", options)
    use.store("running_mean", mean)
    use.store("running_var", use.weight("moving_variance"))
    use.store("num_batches_tracked", np.array(0, np.int64))
    # PyTorch takes axis 1 of playgrad's layout for the channels.
    layout: Layout = "first" if axis == use.rank - 1 else "last"
    use.give_call(module, [use.read(layout)], layout)


def layer_normalization(use: LayerUse) -> None:
    axes = axes_after_batch(use.layer, use.layer.axis, use.x.shape)
    if axes != list(range(axes[0], use.rank)):
        raise use.refuse("nn.LayerNorm has the last axis, or several up to it.")
    sizes = [use.layer.known(use.x.shape, axis) for axis in axes]
    module = _with_scale(
        use,
        "nn.LayerNorm",
        sizes[0] if len(sizes) == 1 else tuple(sizes),
        "elementwise_affine",
        {"eps": use.layer.epsilon},
    )
    use.give_call(module, [use.read("last")], "last")


def group_normalization(use: LayerUse) -> None:
    if use.layer.axis % use.rank != use.rank - 1:
        raise use.refuse("nn.GroupNorm has no axis but that of the channels.")
    channels = use.layer.known(use.x.shape, -1)
    groups = channels if use.layer.groups == -1 else use.layer.groups
    options = {"eps": use.layer.epsilon}
    module = _with_scale(use, "nn.GroupNorm", channels, "affine", options, groups)
    # The gradient of GroupNorm, on the CPU and of PyTorch 2.13, crashes for permuted images.
    was_last = use.rank > 2 and use.layout_of() == "last"
    x = use.read("first")
    use.give_call(module, [f"{x}.contiguous()" if was_last else x], "first")


def rms_normalization(use: LayerUse) -> None:
    if use.layer.axis not in (-1, (-1,), use.rank - 1):
        raise use.refuse("RMSNormalization over other axes than the last has no equivalent.")
    scale = use.weight("scale")
    module = use.module("nn.RMSNorm", scale.size, eps=use.layer.epsilon)
    use.store("weight", scale)
    use.give_call(module, [use.read("last")], "last")


def feature_normalization(use: LayerUse) -> None:
    mean, deviation = use.layer.moments(use.x.shape)
    names = []
    for part, moment in (("_mean", mean), ("_deviation", deviation)):
        # torch.zeros is a placeholder, which load_state_dict fills in.
        shape = f"torch.zeros({', '.join(map(str, moment.shape)) or '()'})"
        attribute = use.writer.attribute(use.layer, part)
        use.writer.construct(attribute, "nn.Buffer", [shape])
        use.store("", np.asarray(moment, np.float32), part)
        names.append(f"self.{attribute}")
    x, (centre, spread) = use.read("last"), names
    text = f"{x} * {spread} + {centre}" if use.layer.invert else f"({x} - {centre}) / {spread}"
    use.give(text, "last")


def _with_scale(
    use: LayerUse,
    kind: str,
    shape: int | tuple[int, ...],
    switch: str,
    options: dict[str, Any],
    *before: Any,
) -> str:
    """Create a module with ``gamma`` and ``beta``.

    One that the layer lacks is constant in PyTorch; without both, the module has none.
    """
    arrays = {
        "weight": use.weight("gamma") if use.layer.scale else None,
        "bias": use.weight("beta") if use.layer.center else None,
    }
    if all(array is None for array in arrays.values()):
        return use.module(kind, *before, shape, **{**options, switch: False})
    module = use.module(kind, *before, shape, **options)
    for number, (name, array) in enumerate(arrays.items()):
        constant = np.full(shape, 1 - number, np.float32)
        use.store(name, constant if array is None else array)
        if array is None:
            use.writer.freeze(f"{module}.{name}")
    return module
