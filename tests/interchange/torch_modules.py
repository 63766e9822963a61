"""PyTorch's modules and functions that playgrad has as well, as its exporter writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from tests.interchange.networks import randoms

Array = np.ndarray[Any, Any]

VECTORS, IMAGES, SEQUENCES = randoms(3, 6), randoms(3, 4, 9, 8), randoms(3, 5, 6)
LATER = torch.ones(5, 5).triu(1) > 0
TOKENS = np.random.default_rng(0).integers(0, 20, (3, 5)).astype(np.int64)


class Of(nn.Module):
    """A function, and weights that it takes."""

    def __init__(self, function: Callable[..., Any], *weights: torch.Tensor) -> None:
        super().__init__()
        self.function = function
        self.weights = nn.ParameterList(nn.Parameter(weight) for weight in weights)

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x, *self.weights)


class Results(nn.Module):
    """A recurrent layer, of whose results the states are flattened to rows of the batch."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y, states = self.layer(x)
        states = states if isinstance(states, tuple) else (states,)
        return y, *(state.transpose(0, 1) for state in states)


class Attention(nn.Module):
    """Attention of a sequence to itself."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__()
        self.layer = nn.MultiheadAttention(6, 2, batch_first=True, **arguments)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.layer(x, x, x, need_weights=False)[0]
        return y


_ACTIVATIONS: list[nn.Module] = [
    nn.CELU(0.7), nn.ELU(), nn.ELU(0.5), nn.GELU(), nn.GELU("tanh"), nn.GLU(), nn.Hardshrink(),
    nn.Hardsigmoid(), nn.Hardswish(), nn.Hardtanh(), nn.Hardtanh(-2.0, 0.5), nn.Identity(),
    nn.LeakyReLU(), nn.LeakyReLU(0.3), nn.LogSigmoid(), nn.LogSoftmax(-1), nn.Mish(), nn.PReLU(),
    nn.PReLU(6), nn.RReLU(), nn.ReLU(), nn.ReLU6(), nn.SELU(), nn.Sigmoid(), nn.SiLU(),
    nn.Softmax(1), nn.Softmin(1), nn.Softplus(), nn.Softplus(2.0), nn.Softshrink(), nn.Softsign(),
    nn.Tanh(), nn.Tanhshrink(), nn.Dropout(0.5), nn.AlphaDropout(0.5),
]  # fmt: skip
_OF_VECTORS: list[nn.Module] = [
    nn.Linear(6, 4), nn.Linear(6, 4, bias=False), nn.BatchNorm1d(6),
    nn.BatchNorm1d(6, affine=False), nn.LayerNorm(6), nn.LayerNorm(6, elementwise_affine=False),
    nn.LayerNorm(6, bias=False), nn.GroupNorm(2, 6), nn.Unflatten(1, (2, 3)),
    nn.Unflatten(1, (-1, 3)),
]  # fmt: skip
_OF_IMAGES: list[nn.Module] = [
    nn.AdaptiveAvgPool2d(1), nn.AdaptiveAvgPool2d((3, 4)), nn.AdaptiveMaxPool2d(1),
    nn.AvgPool2d(2), nn.AvgPool2d(3, 2, 1), nn.AvgPool2d(3, 2, 1, count_include_pad=False),
    nn.AvgPool2d(2, ceil_mode=True), nn.AvgPool2d(3, 2, 1, ceil_mode=True),
    nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False),
    nn.BatchNorm2d(4), nn.Conv2d(4, 5, 3), nn.Conv2d(4, 5, 1, 2),
    nn.Conv2d(4, 6, (3, 2), (2, 1), (1, 0), (1, 2), 2), nn.Conv2d(4, 4, 3, groups=4, bias=False),
    nn.Conv2d(4, 5, 3, padding="same"), nn.Conv2d(4, 5, 2, padding="same"),
    nn.Conv2d(4, 5, 3, padding=1, padding_mode="circular"),
    nn.Conv2d(4, 5, 3, padding=1, padding_mode="replicate"),
    nn.ConvTranspose2d(4, 3, 3), nn.ConvTranspose2d(4, 3, 1, 2), nn.ConvTranspose2d(4, 3, 2, 3),
    nn.ConvTranspose2d(4, 3, 3, 2, 1, 1), nn.ConvTranspose2d(4, 3, 3, 2, 1, 1, dilation=2),
    nn.ConvTranspose2d(4, 4, 3, 2, groups=2), nn.ConvTranspose2d(4, 3, (3, 1), (1, 2), (1, 0)),
    nn.Dropout2d(), nn.Flatten(), nn.Flatten(2), nn.GroupNorm(2, 4), nn.InstanceNorm2d(4),
    nn.LayerNorm([9, 8]), nn.MaxPool2d(2), nn.MaxPool2d(3, 2, 1),
    nn.MaxPool2d(2, ceil_mode=True), nn.MaxPool2d(3, 2, 1, ceil_mode=True), nn.PixelShuffle(2),
    nn.PReLU(4), nn.Softmax2d(), nn.ReflectionPad2d(2),
    nn.ReplicationPad2d((1, 0, 2, 1)), nn.ZeroPad2d(1), nn.ZeroPad2d(-1),
    nn.ConstantPad2d((0, 1, 2, 0), 0.5),
    nn.Upsample(scale_factor=2), nn.Upsample(scale_factor=2, mode="bilinear"),
    nn.Upsample(size=(5, 13), mode="bilinear", align_corners=True),
    nn.Upsample(size=(5, 13), mode="nearest"), nn.Upsample(scale_factor=1.5, mode="bicubic"),
    nn.Sequential(nn.Conv2d(4, 5, 3), nn.BatchNorm2d(5), nn.ReLU()),
]  # fmt: skip
_OF_SEQUENCES: list[nn.Module] = [
    nn.AdaptiveAvgPool1d(1), nn.AdaptiveMaxPool1d(1), nn.AvgPool1d(2), nn.BatchNorm1d(5),
    nn.Conv1d(5, 4, 3, 2, 1), nn.Conv1d(5, 4, 2, dilation=2), nn.ConvTranspose1d(5, 4, 3, 2),
    nn.ConvTranspose1d(5, 4, 1, 2), nn.InstanceNorm1d(5, affine=True), nn.MaxPool1d(2),
    nn.MaxPool1d(3, 1, 1), nn.Linear(6, 3), nn.LayerNorm([5, 6]), nn.ConstantPad1d((1, 2), 0.0),
    nn.ReflectionPad1d(2), nn.Upsample(scale_factor=2), nn.Dropout1d(), nn.ZeroPad1d(1),
    Results(nn.RNN(6, 4, batch_first=True)),
    Results(nn.RNN(6, 4, nonlinearity="relu", batch_first=True)),
    Results(nn.RNN(6, 4, bidirectional=True, batch_first=True)),
    Results(nn.GRU(6, 4, batch_first=True)), Results(nn.GRU(6, 4, 2, bias=False, batch_first=True)),
    Results(nn.GRU(6, 4, bidirectional=True, batch_first=True)),
    Results(nn.LSTM(6, 4, batch_first=True)), Results(nn.LSTM(6, 4, 2, batch_first=True)),
    Results(nn.LSTM(6, 4, bidirectional=True, batch_first=True)), Attention(),
    Attention(bias=False),
]  # fmt: skip
_FUNCTIONS: dict[str, tuple[Callable[..., Any], Array]] = {
    "abs": (torch.abs, VECTORS),
    "acos of a part": (lambda x: torch.acos(torch.tanh(x)), VECTORS),
    "arctan2": (lambda x: torch.atan2(x[:, :3], x[:, 3:]), VECTORS),
    "argmax": (lambda x: x.argmax(1), VECTORS),
    "argmin, kept": (lambda x: x.argmin(1, keepdim=True), VECTORS),
    "argsort": (lambda x: x.argsort(1), VECTORS),
    "sort, descending": (lambda x: x.sort(1, descending=True)[0], VECTORS),
    "topk": (lambda x: x.topk(3, 1), VECTORS),
    "ceil": (torch.ceil, VECTORS),
    "clamp": (lambda x: x.clamp(-0.5, 0.5), VECTORS),
    "clamp from below": (lambda x: x.clamp(min=0.1), VECTORS),
    "cosine similarity": (lambda x: functional.cosine_similarity(x, x.flip(1), 1), VECTORS),
    "cumsum": (lambda x: x.cumsum(1), VECTORS),
    "chunk": (lambda x: torch.chunk(x, 3, 1), VECTORS),
    "split of sizes": (lambda x: torch.split(x, [1, 5], 1), VECTORS),
    "unbind": (lambda x: torch.unbind(x, 1), SEQUENCES),
    "einsum": (lambda x: torch.einsum("bij,bkj->bik", x, x), SEQUENCES),
    "batched product": (lambda x: torch.bmm(x, x.transpose(1, 2)), SEQUENCES),
    "erf": (torch.erf, VECTORS),
    "log1p": (lambda x: torch.log1p(x.abs()), VECTORS),
    "log2": (lambda x: torch.log2(x.abs()), VECTORS),
    "log10": (lambda x: torch.log10(x.abs()), VECTORS),
    "logsumexp": (lambda x: x.logsumexp(1), VECTORS),
    "floor": (torch.floor, VECTORS),
    "round": (torch.round, VECTORS),
    "remainder": (lambda x: torch.remainder(x, 0.7), VECTORS),
    "fmod": (lambda x: torch.fmod(x, 0.7), VECTORS),
    "floor division": (lambda x: torch.div(x, 0.7, rounding_mode="floor"), VECTORS),
    "truncated division": (lambda x: torch.div(x, 0.7, rounding_mode="trunc"), VECTORS),
    "flip": (lambda x: x.flip(1), VECTORS),
    "roll": (lambda x: x.roll(2, 1), VECTORS),
    "gather": (lambda x: x.gather(1, x.argsort(1)), VECTORS),
    "index_select": (lambda x: x.index_select(1, torch.tensor([2, 0])), VECTORS),
    "elements by a list": (lambda x: x[:, [0, 3]], VECTORS),
    "a step of 2": (lambda x: x[:, 1::2], VECTORS),
    "all but the last": (lambda x: x[:, :-1], VECTORS),
    "masked_fill": (lambda x: x.masked_fill(x > 0, -1.0), VECTORS),
    "masked attention": (
        lambda x: (x @ x.permute(0, 2, 1)).masked_fill(LATER, -1e9).softmax(-1),
        SEQUENCES,
    ),
    "attention of torch": (
        lambda x: functional.scaled_dot_product_attention(x, x, x, is_causal=True), SEQUENCES,
    ),
    "triu": (lambda x: (x @ x.transpose(1, 2)).triu(1), SEQUENCES),
    "where": (lambda x: torch.where(x > 0, x, torch.zeros_like(x)), VECTORS),
    "maximum of two": (lambda x: torch.maximum(x, x.flip(1)), VECTORS),
    "maximum of an axis": (lambda x: x.max(1), VECTORS),
    "amax": (lambda x: x.amax((1, 2)), SEQUENCES),
    "mean": (lambda x: x.mean((1, 2), keepdim=True), SEQUENCES),
    "mean of the batch": (lambda x: x - x.mean(0), VECTORS),
    "norm": (lambda x: x.norm(dim=1), VECTORS),
    "normalize": (lambda x: functional.normalize(x, dim=1), VECTORS),
    "L1 norm": (lambda x: x.norm(p=1, dim=1), VECTORS),
    "one_hot": (lambda x: functional.one_hot(x, 20).float(), TOKENS),
    "pad": (lambda x: functional.pad(x, (1, 2), value=0.3), VECTORS),
    "padded circularly": (lambda x: functional.pad(x, (1, 2), mode="circular"), SEQUENCES),
    "pow": (lambda x: x.abs().pow(1.5), VECTORS),
    "square": (torch.square, VECTORS),
    "cube": (lambda x: x**3, VECTORS),
    "prod": (lambda x: x.prod(1), VECTORS),
    "reciprocal": (torch.reciprocal, VECTORS),
    "rsqrt": (lambda x: torch.rsqrt(x.abs()), VECTORS),
    "repeat": (lambda x: x.repeat(1, 3), VECTORS),
    "repeat_interleave": (lambda x: x.repeat_interleave(2, 1), VECTORS),
    "expand": (lambda x: x[:, :, None].expand(-1, -1, 4), VECTORS),
    "expand of the batch": (lambda x: torch.ones(1, 2).expand(x.shape[0], 2) * x[:, :2], VECTORS),
    "view of the batch": (lambda x: x.view(x.shape[0], -1), SEQUENCES),
    "view without the batch": (lambda x: x.view(-1, 6), SEQUENCES),
    "permute": (lambda x: x.permute(0, 2, 1), SEQUENCES),
    "squeeze": (lambda x: x[:, :1].squeeze(1), VECTORS),
    "stack": (lambda x: torch.stack([x, x + 1], 1), VECTORS),
    "concatenated": (lambda x: torch.cat([x, x], -1), VECTORS),
    "std": (lambda x: x.std(1), VECTORS),
    "var": (lambda x: x.var(1, unbiased=False), VECTORS),
    "sign": (torch.sign, VECTORS),
    "sin and cos": (lambda x: torch.cat([x.sin(), x.cos(), x.tan()], 1), VECTORS),
    "comparisons": (lambda x: ((x > 0) & (x <= 1) | ~(x != 0.5)).float(), VECTORS),
    "any": (lambda x: (x > 1).any(1), VECTORS),
    "all": (lambda x: (x > -1).all(1), VECTORS),
    "isnan": (lambda x: torch.isnan(x / x), VECTORS),
    "nan_to_num": (lambda x: torch.nan_to_num(x), VECTORS),
    "zeros of the batch": (lambda x: torch.zeros(x.shape[0], 2) + x[:, :2], VECTORS),
    "sum over the size of the batch": (lambda x: x - x.sum(0) / x.shape[0], VECTORS),
    "arange": (lambda x: x + torch.arange(x.shape[1]), VECTORS),
    "a number of tokens": (lambda x: (x != 0).sum(1), TOKENS),
    "integers": (lambda x: (x // 3, x % 3, x * 2 - 1), TOKENS),
    "int to float": (lambda x: x.float() / 3, TOKENS),
}  # fmt: skip


def _named(modules: list[nn.Module], x: Array) -> dict[str, tuple[nn.Module, Array]]:
    return {f"{module} of rank {x.ndim}".replace("\n", ""): (module, x) for module in modules}


torch.manual_seed(0)
MODULES: dict[str, tuple[nn.Module, Array]] = {
    **_named(_ACTIVATIONS, VECTORS),
    **_named(_OF_VECTORS, VECTORS),
    **_named(_OF_IMAGES, IMAGES),
    **_named(_OF_SEQUENCES, SEQUENCES),
    "an embedding": (nn.Embedding(20, 4), TOKENS),
    "an embedding with padding": (nn.Embedding(20, 4, padding_idx=0), TOKENS),
    **{name: (Of(function), x) for name, (function, x) in _FUNCTIONS.items()},
}
