"""Pooling, and layers that change the size of images and sequences."""

from __future__ import annotations

from typing import Any

from playgrad.interchange.pytorch.use import LayerUse
from playgrad.interchange.pytorch.windows import Sides, padding_of, pads, slices, unless
from playgrad.ops.core.build import one_or_more


def pool(use: LayerUse) -> None:
    """Pooling, 1-D and 2-D."""
    layer, dimensions = use.layer, use.rank - 2
    size, strides = one_or_more(layer.pool_size), one_or_more(layer.strides)
    inside, around = padding_of(use, size, strides, [1] * dimensions)
    is_max = layer.kind.startswith("max")
    named: dict[str, Any] = {"padding": unless(0, inside)}
    if not is_max and any(inside):
        named["count_include_pad"] = False
    module = use.module(
        f"nn.{'Max' if is_max else 'Avg'}Pool{dimensions}d",
        size,
        stride=None if list(strides) == list(size) else strides,
        **named,
    )
    x = use.read("first")
    if around is None:
        use.give_call(module, [x], "first")
    elif is_max:
        use.give_call(module, [f'F.pad({x}, {pads(around)}, value=float("-inf"))'], "first")
    else:
        target, sides = use.target(), pads(around)
        use.writer.comment("The mean of each window, in which padding does not count.")
        part = use.writer.new_name("part")
        use.writer.assign_call(part, module, [f"F.pad(torch.ones_like({x}), {sides})"])
        use.writer.assign_call(target, module, [f"F.pad({x}, {sides})"])
        use.writer.assign(target, f"{target} / {part}")
        use.bind(target, "first")


def global_pool(use: LayerUse) -> None:
    layout = use.layout_of()
    axes = [use.axis(axis, layout, use.rank) for axis in range(1, use.rank - 1)]
    function = "amax" if use.layer.kind.startswith("global_max") else "mean"
    dim = str(axes[0]) if len(axes) == 1 else f"({', '.join(map(str, axes))})"
    keep = ", keepdim=True" if use.layer.keepdims else ""
    use.give(f"{use.read_as_is()}.{function}(dim={dim}{keep})", layout)


def upsampling(use: LayerUse) -> None:
    factor = one_or_more(use.layer.size)
    bilinear = getattr(use.layer, "interpolation", "nearest") == "bilinear"
    module = use.module("nn.Upsample", scale_factor=factor, mode="bilinear" if bilinear else None)
    use.give_call(module, [use.read("first")], "first")


def zero_padding(use: LayerUse) -> None:
    sides = _per_axis(use, use.layer.padding)
    module = f"nn.ZeroPad{use.rank - 2}d"
    numbers = [n for pair in reversed(sides) for n in pair]
    name = use.module(module, numbers[0] if len(set(numbers)) == 1 else numbers)
    use.give_call(name, [use.read("first")], "first")


def cropping(use: LayerUse) -> None:
    sides = _per_axis(use, use.layer.cropping)
    use.give(f"{use.read('first')}[{slices(sides)}]", "first")


def _per_axis(use: LayerUse, sides: Any) -> Sides:
    return (tuple(sides),) if use.rank == 3 else tuple(sides)
