"""Layers with channels first: the results of those with channels last, transposed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn

IMAGES = np.random.default_rng(0).random((4, 8, 6, 3), np.float32)
FIRST: dict[str, Any] = {"data_format": "channels_first"}


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        (nn.Conv2D, (4, 3)),
        (nn.Conv2DTranspose, (4, 3, 2)),
        (nn.DepthwiseConv2D, (3,)),
        (nn.SeparableConv2D, (4, 3)),
        (nn.MaxPool2D, ()),
        (nn.AveragePool2D, ()),
        (nn.GlobalAveragePooling2D, ()),
        (nn.UpSampling2D, ()),
        (nn.ZeroPadding2D, (1,)),
        (nn.Cropping2D, (1,)),
    ],
)
def test_channels_first_gives_the_same_numbers(kind: type, arguments: tuple[Any, ...]) -> None:
    def outputs(x: np.ndarray[Any, Any], **options: Any) -> Any:
        pg.reset_default_graph()
        return pg.Sequential([kind(*arguments, **options)]).predict(x)

    expected = outputs(IMAGES)
    result = outputs(np.moveaxis(IMAGES, -1, 1), **FIRST)
    if expected.ndim > 2:
        result = np.moveaxis(result, 1, -1)
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_saved_and_copied_layers_keep_their_format() -> None:
    model = pg.Sequential([pg.Input((3, 8, 6)), nn.Conv2D(4, 3, **FIRST), nn.MaxPool2D(**FIRST)])
    assert model.output_shape == (None, 4, 3, 2)
    again = pg.model_from_json(model.to_json())
    again.set_weights(model.get_weights())
    x = np.moveaxis(IMAGES, -1, 1)
    np.testing.assert_array_equal(again.predict(x), model.predict(x))


def test_unknown_formats_are_errors() -> None:
    with pytest.raises(pg.ShapeError, match="must be 'channels_last' or 'channels_first', got 'b'"):
        nn.Conv2D(4, 3, data_format="b")
