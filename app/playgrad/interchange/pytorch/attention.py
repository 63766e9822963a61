"""Multi-head attention, and blocks of transformers."""

from __future__ import annotations

import numpy as np

from playgrad.interchange.pytorch.use import LayerUse

_ROLES = ("query", "key", "value", "output")


def multi_head_attention(use: LayerUse) -> None:
    layer, width = use.layer, use.x.shape[-1]
    _expect_no_masks(use)
    roles = {role: use.weight(f"{role}_kernel") for role in _ROLES}
    if any(array.shape[1] != width for array in roles.values()):
        raise use.refuse(
            f"nn.MultiheadAttention has {width} features in all of its products, as many as the "
            "query.",
            "Let num_heads * key_dim be the features of the query.",
        )
    sizes = {role: array.shape[0] for role, array in roles.items() if role in ("key", "value")}
    alike = all(size == width for size in sizes.values())
    module = use.module(
        "nn.MultiheadAttention",
        width,
        layer.num_heads,
        dropout=layer.dropout or None,
        bias=None if layer.use_bias else False,
        kdim=None if alike else sizes["key"],
        vdim=None if alike else sizes["value"],
        batch_first=True,
    )
    _store(use, "", alike)
    texts = [use.read("last", i, as_floats=True) for i in range(len(use.inputs))]
    value = texts[min(1, len(texts) - 1)]
    arguments = [texts[0], texts[2] if len(texts) > 2 else value, value, "need_weights=False"]
    if layer.causal or use.call.options.get("use_causal_mask"):
        arguments.append(f"attn_mask={_causal_mask(use, texts[0])}")
    target = use.target()
    use.writer.assign_call(f"{target}, _", module, arguments)
    use.bind(target, "last")


def transformer_block(use: LayerUse) -> None:
    """TransformerEncoder, and TransformerDecoder without another sequence."""
    layer = use.layer
    _expect_no_masks(use)
    if len(use.inputs) > 1:
        raise use.refuse("a block that attends to an encoder's sequence has no equivalent here.")
    if layer.activation not in ("relu", "gelu"):
        raise use.refuse(f"nn.TransformerEncoderLayer has no activation {layer.activation!r}.")
    module = use.module(
        "nn.TransformerEncoderLayer",
        use.x.shape[-1],
        layer.num_heads,
        layer.intermediate_dim,
        dropout=layer.dropout,
        activation=None if layer.activation == "relu" else layer.activation,
        layer_norm_eps=None if layer.layer_norm_epsilon == 1e-5 else layer.layer_norm_epsilon,
        batch_first=True,
        norm_first=layer.normalize_first or None,
    )
    _store(use, "self_attn.", alike=True)
    for number, (product, normalized) in enumerate(
        (("hidden", "attention"), ("result", "feed_forward")), 1
    ):
        use.store(f"linear{number}.weight", use.weight(f"{product}_kernel").T)
        use.store(f"linear{number}.bias", use.weight(f"{product}_bias"))
        use.store(f"norm{number}.weight", use.weight(f"{normalized}_gamma"))
        use.store(f"norm{number}.bias", use.weight(f"{normalized}_beta"))
    x = use.read("last", as_floats=True)
    masked = layer.causal or use.call.options.get("use_causal_mask")
    mask = [f"src_mask={_causal_mask(use, x)}", "is_causal=True"] if masked else []
    use.give_call(module, [x, *mask], "last")


def _expect_no_masks(use: LayerUse) -> None:
    if use.call.options.get("masks") or use.call.options.get("scores"):
        raise use.refuse("calls with masks, or for scores, have no equivalent here.")


def _store(use: LayerUse, prefix: str, alike: bool) -> None:
    """Put the weights of attention into the state_dict.

    Args:
        alike: whether query, key and value have the same number of features.
    """
    inner = [use.weight(f"{role}_kernel").T for role in _ROLES[:3]]
    if alike:
        use.store(f"{prefix}in_proj_weight", np.concatenate(inner))
    else:
        for letter, array in zip("qkv", inner, strict=True):
            use.store(f"{prefix}{letter}_proj_weight", array)
    use.store(f"{prefix}out_proj.weight", use.weight("output_kernel").T)
    if use.layer.use_bias:
        biases = [use.weight(f"{role}_bias") for role in _ROLES[:3]]
        use.store(f"{prefix}in_proj_bias", np.concatenate(biases))
        use.store(f"{prefix}out_proj.bias", use.weight("output_bias"))


def _causal_mask(use: LayerUse, query: str) -> str:
    """Append the line of a mask that is true where a key is later; return its name."""
    positions, keys = use.x.shape[1], use.inputs[-1].shape[1]
    if positions != keys:
        raise use.refuse(f"a causal mask of {positions} queries and {keys} keys has no equivalent.")
    name = use.writer.new_name("is_later")
    size = f"{query}.shape[1]" if positions is None else str(positions)
    use.writer.comment("True where a key comes after the query.")
    ones = f"{query}.new_ones({size}, {size}, dtype=torch.bool)"
    use.writer.assign_call(name, "torch.triu", [ones, "diagonal=1"])
    return name
