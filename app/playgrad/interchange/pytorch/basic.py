"""Dense layers, embeddings, and layers without weights."""

from __future__ import annotations

from playgrad.graph.tensor import Tensor
from playgrad.interchange.pytorch.activations import activation_expression
from playgrad.interchange.pytorch.use import LayerUse, literal
from playgrad.interchange.pytorch.writer import ProgramWriter
from playgrad.nn.layer_calls import LayerCall

_ELEMENTWISE = ("dropout", "elu", "leaky_re_lu", "re_lu", "rrelu")


def dense(use: LayerUse) -> None:
    kernel = use.weight("kernel")
    image = use.writer.flattened.get(use.x)
    if image is not None:  # PyTorch flattens channel by channel
        ahead = kernel.reshape(*image, -1).transpose(len(image) - 1, *range(len(image) - 1), -1)
        kernel = ahead.reshape(kernel.shape)
    bias = None if use.layer.use_bias else False
    linear = use.module("nn.Linear", *kernel.shape, bias=bias)
    use.store("weight", kernel.T)
    if use.layer.use_bias:
        use.store("bias", use.weight("bias"))
    use.give_active(linear, [use.read("last")], "last")


def embedding(use: LayerUse) -> None:
    table = use.weight("embeddings")
    module = use.module("nn.Embedding", *table.shape)
    use.store("weight", table)
    x = use.read("last")
    indices = x if use.x.dtype in ("int32", "int64") else f"{x}.long()"
    use.give_call(module, [indices], "last")


def position_embedding(use: LayerUse) -> None:
    table = use.weight("position_embeddings")
    module = use.module("nn.Embedding", *table.shape)
    use.store("weight", table)
    steps = use.x.shape[1]
    use.give_call(f"{module}.weight[:{steps}].expand_as", [use.read("last")], "last")


def flatten(use: LayerUse) -> None:
    image = tuple(size for size in use.x.shape[1:] if size is not None)
    tensors = _up_to_dense(use.writer, use.outputs[0])
    if use.layout_of() == "first" and len(image) == use.rank - 1 and tensors:
        use.writer.flattened.update(dict.fromkeys(tensors, image))
        use.give(f"torch.flatten({use.read_as_is()}, 1)", "last")
        return
    x = use.read("last")
    use.give(f"{x}.unsqueeze(1)" if use.rank == 1 else f"torch.flatten({x}, 1)", "last")


def _up_to_dense(writer: ProgramWriter, flat: Tensor) -> list[Tensor]:
    """Return ``flat`` and the tensors computed from it elementwise, if only dense layers read them.

    Dense layers can take their inputs in another order; otherwise nothing is returned.
    """
    tensors = [flat]
    for tensor in tensors:  # grows on the way
        for item in writer.readers(tensor):
            if not isinstance(item, LayerCall):
                return []
            if item.layer.kind in _ELEMENTWISE:
                tensors += item.outputs
            elif item.layer.kind != "dense" or len(writer.calls[item.layer]) > 1:
                return []
    return [] if any(writer.is_output(tensor) for tensor in tensors) else tensors


def reshape(use: LayerUse) -> None:
    if use.outputs[0].spec.rank == 2:
        flatten(use)
        return
    sizes = ", ".join(str(size) for size in use.outputs[0].shape[1:])
    x = use.read("last")
    use.give(f"{x}.reshape(-1, {sizes})" if sizes else f"{x}.reshape(-1)", "last")


def permute(use: LayerUse) -> None:
    axes = ", ".join(map(str, (0, *use.layer.dims)))
    use.give(f"{use.read('last')}.permute({axes})", "last")


def repeat_vector(use: LayerUse) -> None:
    use.give(f"{use.read('last')}.unsqueeze(1).repeat(1, {use.layer.n}, 1)", "last")


def rescaling(use: LayerUse) -> None:
    text = f"{use.read_as_is()} * {literal(use.layer.scale)}"
    offset = use.layer.offset
    if offset:
        text += f" {'-' if offset < 0 else '+'} {literal(abs(offset))}"
    use.give(text, use.layout_of())


def activation(use: LayerUse) -> None:
    layout = use.layout_of()
    axis = use.axis(-1, layout, use.rank)
    text = activation_expression(use.layer.activation, use.read_as_is(), axis)
    if text is None:
        raise use.refuse(f"the activation {use.layer.activation!r} has no equivalent.")
    use.give(text, layout)


def identity(use: LayerUse) -> None:
    use.give(use.read_as_is(), use.layout_of())


def dropout(use: LayerUse) -> None:
    if use.layer.noise_shape is not None:
        raise use.refuse("nn.Dropout has no noise_shape.")
    module = use.module("nn.Dropout", use.layer.rate)
    use.give_call(module, [use.read_as_is()], use.layout_of())


def spatial_dropout(use: LayerUse) -> None:
    module = use.module(f"nn.Dropout{use.rank - 2}d", use.layer.rate)
    use.give_call(module, [use.read("first")], "first")


def gaussian_noise(use: LayerUse) -> None:
    x, target = use.read_as_is(), use.target()
    noisy = f"{x} + {literal(use.layer.stddev)} * torch.randn_like({x})"
    if target != x:
        use.writer.assign(target, x)
    use.writer.lines.append(f"if self.training:\n    {target} = {noisy}")
    use.bind(target, use.layout_of())


def relu(use: LayerUse) -> None:
    layer, x, layout = use.layer, use.read_as_is(), use.layout_of()
    slope, threshold, most = layer.negative_slope, layer.threshold, layer.max_value
    if slope and not threshold and most is None:
        use.give(f"F.leaky_relu({x}, {literal(slope)})", layout)
        return
    text = f"torch.where({x} >= {threshold}, {x}, 0.0)" if threshold else f"F.relu({x})"
    if most is not None:
        text += f".clamp(max={float(most)})"
    if slope:
        below = use.writer.new_name("below")
        use.writer.assign(below, f"{slope} * ({x} - {threshold}).clamp(max=0.0)")
        text += f" + {below}"
    use.give(text, layout)


def leaky_relu(use: LayerUse) -> None:
    slope = literal(use.layer.negative_slope)
    use.give(f"F.leaky_relu({use.read_as_is()}, {slope})", use.layout_of())


def rrelu(use: LayerUse) -> None:
    module = use.module("nn.RReLU", use.layer.lower, use.layer.upper)
    use.give_call(module, [use.read_as_is()], use.layout_of())


def elu(use: LayerUse) -> None:
    use.give(f"F.elu({use.read_as_is()}, {literal(use.layer.alpha)})", use.layout_of())


def softmax(use: LayerUse) -> None:
    layout = use.layout_of()
    axis = use.axis(use.layer.axis, layout, use.rank)
    use.give(f"F.softmax({use.read_as_is()}, dim={axis})", layout)


def prelu(use: LayerUse) -> None:
    alpha = use.weight("alpha")
    if alpha.size != alpha.shape[-1]:
        raise use.refuse(
            "nn.PReLU has one slope for each channel, not for each element.",
            "Pass shared_axes: all axes between the batch and the channels.",
        )
    module = use.module("nn.PReLU", alpha.size)
    use.store("weight", alpha.reshape(-1))
    use.give_call(module, [use.read("first")], "first")
