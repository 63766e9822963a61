"""Layers that merge branches."""

from __future__ import annotations

from playgrad.interchange.pytorch.use import LayerUse
from playgrad.interchange.pytorch.writer import WIDTH

_SIGNS = {"add": "+", "average": "+", "subtract": "-", "multiply": "*"}


def elementwise(use: LayerUse) -> None:
    layout = use.layout_of() if len({x.spec.rank for x in use.inputs}) == 1 else "last"
    first, *others = (use.read(layout, i) for i in range(len(use.inputs)))
    kind, target = use.layer.kind, use.target()
    if len(others) > 1 and target in others:  # which a later line reads
        target = use.writer.new_name("merged")
    for x in others:
        if kind in _SIGNS:
            use.writer.assign(target, f"{first} {_SIGNS[kind]} {x}")
        else:
            use.writer.assign_call(target, f"torch.{kind}", [first, x])
        first = target
    if kind == "average":
        use.writer.assign(target, f"{target} / {len(use.inputs)}")
    use.bind(target, layout)


def concatenate(use: LayerUse) -> None:
    layout = use.layout_of()
    parts = [use.read(layout, i) for i in range(len(use.inputs))]
    axis = use.axis(use.layer.axis, layout, use.rank)
    target = use.target()
    use.writer.lines.append(_joined(target, parts, axis))
    use.bind(target, layout)


def _joined(target: str, parts: list[str], axis: int) -> str:
    text = f"{target} = torch.cat(({', '.join(parts)}), dim={axis})"
    if len(text) + 8 <= WIDTH:
        return text
    inner = "".join(f"        {part},\n" for part in parts)
    return f"{target} = torch.cat(\n    (\n{inner}    ),\n    dim={axis},\n)"
