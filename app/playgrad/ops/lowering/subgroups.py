"""Lines of kernels that join what the invocations of a workgroup have computed, by subgroups."""

from __future__ import annotations

from playgrad.ops.core.templates import render

_LEAST = {"f32": "0u", "i32": "bitcast<i32>(0x80000000u)", "u32": "0u"}
_MOST = {"f32": "0xffffffffu", "i32": "2147483647i", "u32": "0xffffffffu"}


def subgroup_parts(kind: str, number: str) -> dict[str, str]:
    """Return the constants of `common/subgroup_parts.wgsl`.

    Extremes of floats are joined as whole numbers in the same order: what subgroups do with NaN is
    left to adapters.

    Args:
        kind: "sum", "mean", "prod", "max" or "min".
        number: the WGSL type of the elements.
    """
    if kind in ("max", "min"):
        as_keys = number == "f32"
        return {
            "PART": "u32" if as_keys else number,
            "PART_OF": "key_of(x)" if as_keys else "x",
            "NUMBER_OF": "float_of(part)" if as_keys else "part",
            "KEY_OF_NAN": "0xffffffffu" if kind == "max" else "0u",
            "NEUTRAL": (_LEAST if kind == "max" else _MOST)[number],
            "JOIN": "subgroupMax" if kind == "max" else "subgroupMin",
            "COMBINE": f"{kind}(rest, of_subgroups[i])",
        }
    is_product = kind == "prod"
    return {
        "PART": number,
        "PART_OF": "x",
        "NUMBER_OF": "part",
        "KEY_OF_NAN": "0u",
        "NEUTRAL": f"Part({int(is_product)})",
        "JOIN": "subgroupMul" if is_product else "subgroupAdd",
        "COMBINE": f"rest {'*' if is_product else '+'} of_subgroups[i]",
    }


def softmax_parts(by_subgroups: bool, invocations: int) -> dict[str, str]:
    """Return the constants of `softmax_shared.wgsl` that say how parts of a row are joined."""
    if not by_subgroups:
        parts = render("common/largest_part.wgsl", INVOCATIONS=invocations)
        return {"parts": parts.rstrip(), "builtins": "", "lane": ""}
    builtins = ("subgroup_invocation_id) lane", "subgroup_size) lanes")
    parts = render(
        "common/softmax_subgroups.wgsl", INVOCATIONS=invocations, KEY_OF_NAN="0xffffffffu"
    )
    return {
        "parts": parts.rstrip(),
        "builtins": "".join(f"\n  @builtin({each}: u32," for each in builtins),
        "lane": ", lane, lanes",
    }
