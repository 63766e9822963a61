"""Networks of PyTorch with the parts that others are made of."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional


class Encoder(nn.Module):
    """A transformer that sees earlier positions alone, and classifies by the last one."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(20, 16)
        self.places = nn.Parameter(torch.randn(1, 6, 16))
        layers = [
            nn.TransformerEncoderLayer(16, 2, 32, 0.0, "gelu", batch_first=True) for _ in range(2)
        ]
        self.layers = nn.ModuleList(layers)
        self.out = nn.Linear(16, 3)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.tokens(tokens) + self.places[:, : tokens.shape[1]]
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        for layer in self.layers:
            x = layer(x, src_mask=mask)
        return self.out(x[:, -1])


class UNet(nn.Module):
    """An encoder and decoder of images, with what resizes and normalizes them."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.instances = nn.InstanceNorm2d(8, affine=True)
        self.down = nn.Conv2d(8, 16, 3, 2, 1, padding_mode="reflect")
        self.up = nn.ConvTranspose2d(16, 8, 2, 2)
        self.groups = nn.GroupNorm(2, 16)
        self.second = nn.Conv2d(16, 8, 3, padding=1, groups=2)
        self.out = nn.Conv2d(8, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.leaky_relu(self.instances(self.first(x)))
        y = self.up(functional.silu(self.down(x)))
        y = functional.gelu(self.second(self.groups(torch.cat([x, y], 1))))
        y = functional.interpolate(y, scale_factor=2, mode="nearest")
        y = functional.interpolate(y, size=(9, 9), mode="bilinear", align_corners=False)
        y = functional.interpolate(y, size=(8, 8), mode="bilinear", align_corners=True)
        return self.out(functional.hardswish(y))


class Mobile(nn.Module):
    """Depthwise convolutions, squeeze and excitation."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, 2, 1)
        self.depthwise = nn.Conv2d(8, 8, 3, 1, 1, groups=8)
        self.squeeze = nn.Linear(8, 8)
        self.out = nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.hardswish(self.depthwise(functional.relu6(self.first(x))))
        factors = torch.sigmoid(self.squeeze(functional.adaptive_avg_pool2d(x, 1).flatten(1)))
        x = x * factors[:, :, None, None]
        return functional.log_softmax(self.out(x.mean((2, 3))), 1)


class Sequences(nn.Module):
    """Convolutions along time."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(3, 5, 3, padding=1)
        self.prelu = nn.PReLU(5)
        self.norm = nn.LayerNorm([5, 10])
        self.out = nn.Linear(25, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.norm(self.prelu(self.conv(x)))
        return self.out(functional.max_pool1d(x, 2).flatten(1))


class Reader(nn.Module):
    """Recurrent layers, whose initial states have the size of the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 6, batch_first=True)
        self.gru = nn.GRU(6, 5, batch_first=True, bidirectional=True)
        self.out = nn.Linear(10, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.gru(self.lstm(x)[0])[0][:, -1])


class Parts(nn.Module):
    """Two outputs, of a result that is divided."""

    def __init__(self) -> None:
        super().__init__()
        self.encode, self.decode = nn.Linear(8, 6), nn.Linear(3, 8)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mean, logarithm = self.encode(x).chunk(2, 1)
        return torch.sigmoid(self.decode(mean + torch.exp(0.5 * logarithm))), mean
