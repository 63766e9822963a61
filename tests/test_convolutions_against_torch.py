"""Convolutions and resizing compared with PyTorch's: values and gradients."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as torch_nn

from playgrad.ops import conv1d, conv2d, conv2d_transpose, depthwise_conv2d, resize
from tests.test_ops_against_torch import channels_first, channels_last, compare, uniform


@pytest.mark.parametrize(
    ("strides", "dilations", "groups"),
    [((1, 1), (2, 3), 1), ((2, 1), (1, 2), 2), ((1, 2), (2, 1), 4), ((3, 2), (1, 1), 2)],
)
def test_dilated_and_grouped_conv2d_match_pytorch(
    strides: Any, dilations: Any, groups: int
) -> None:
    compare(
        lambda x, filters: conv2d(x, filters, strides, ((1, 1), (2, 2)), dilations, groups),
        lambda x, filters: channels_last(
            torch_nn.conv2d(
                channels_first(x),
                filters.permute(3, 2, 0, 1),
                stride=strides,
                padding=(1, 2),
                dilation=dilations,
                groups=groups,
            )
        ),
        uniform(2, 9, 8, 4),
        uniform(3, 2, 4 // groups, 8, seed=1),
    )


@pytest.mark.parametrize("multiplier", [1, 3])
def test_depthwise_conv2d_matches_pytorch(multiplier: int) -> None:
    compare(
        lambda x, filters: depthwise_conv2d(x, filters, 2, "same", name="depths"),
        lambda x, filters: channels_last(
            torch_nn.conv2d(
                torch_nn.pad(channels_first(x), (1, 1, 0, 1)),
                filters.reshape(3, 3, 1, 5 * multiplier).permute(3, 2, 0, 1),
                stride=2,
                groups=5,
            )
        ),
        uniform(2, 8, 7, 5),
        uniform(3, 3, 5, multiplier, seed=1),
    )


@pytest.mark.parametrize(
    ("strides", "padding", "dilation", "sides"),
    [(1, "valid", 1, (0, 0)), (2, (2, 1), 2, (2, 1)), (1, "causal", 3, (6, 0))],
)
def test_conv1d_matches_pytorch(
    strides: int, padding: Any, dilation: int, sides: tuple[int, int]
) -> None:
    compare(
        lambda x, filters: conv1d(x, filters, strides, padding, dilation),
        lambda x, filters: torch_nn.conv1d(
            torch_nn.pad(x.permute(0, 2, 1), sides),
            filters.permute(2, 1, 0),
            stride=strides,
            dilation=dilation,
        ).permute(0, 2, 1),
        uniform(2, 11, 3),
        uniform(3, 3, 4, seed=1),
    )


@pytest.mark.parametrize(
    ("strides", "padding", "extra", "dilation", "borders"),  # borders: left, right, top, bottom
    [
        ((1, 1), "valid", None, (1, 1), (0, 0, 0, 0)),
        ((4, 1), "valid", None, (1, 1), (0, 0, 0, 1)),
        ((2, 3), ((1, 1), (0, 2)), (1, 2), (1, 2), (0, 0, -1, 0)),
        ((1, 2), "same", None, (1, 1), (0, 0, -1, -1)),
        ((2, 1), "same", None, (1, 2), (-1, -1, 0, -1)),
        ((2, 2), "same", (1, 0), (1, 1), (-1, -1, 0, -1)),
    ],
)
def test_conv2d_transpose_matches_pytorch(
    strides: Any, padding: Any, extra: Any, dilation: Any, borders: tuple[int, ...]
) -> None:
    def theirs(x: torch.Tensor, filters: torch.Tensor) -> torch.Tensor:
        kernel = filters.permute(3, 2, 0, 1)
        whole = torch_nn.conv_transpose2d(
            channels_first(x), kernel, stride=strides, dilation=dilation
        )
        return channels_last(torch_nn.pad(whole, borders))

    compare(
        lambda x, filters: conv2d_transpose(x, filters, strides, padding, extra, dilation),
        theirs,
        uniform(2, 4, 5, 3),
        uniform(3, 2, 2, 3, seed=1),
    )


@pytest.mark.parametrize("size", [(8, 10), (3, 4), (9, 2)])
@pytest.mark.parametrize(
    ("ours", "theirs"), [("bilinear", "bilinear"), ("nearest", "nearest-exact")]
)
def test_resize_matches_pytorch(size: tuple[int, int], ours: str, theirs: str) -> None:
    compare(
        lambda x: resize(x, size, ours),
        lambda x: channels_last(torch_nn.interpolate(channels_first(x), size=size, mode=theirs)),
        uniform(2, 4, 5, 3),
    )
