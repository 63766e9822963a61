"""Made-up colour images of shapes, for networks that classify small colour photos."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.data.data_sets import data_set
from playgrad.errors import DataError
from playgrad.records import DataSetRecord, LabelledSamples, SuitedSettings

Array = np.ndarray[Any, Any]

SHAPE_NAMES = ("disc", "ring", "square", "triangle", "cross", "star")
_LEAST_SIZE = 12
_FINE = 2
"""A pixel is the mean of this many points along each axis."""
_AT_A_TIME = 256


@data_set(
    DataSetRecord(
        place=3,
        class_names=SHAPE_NAMES,
        samples=LabelledSamples(
            "images",
            (32, 32, 3),
            "uint8",
            6,
            title="Coloured shapes, made up",
            names=r"\bcolou?r(ed)? (shapes?|images?)\b|\bdata\.shapes\b|\b(each|six) shapes?\b",
            noun="coloured shapes",
            about="Images of 32 x 32 pixels in three colours, and their labels: six shapes.",
            suited=SuitedSettings("Adam", "0.005", "32", "6"),
            traits=r"\bthree colou?rs\b|\bred, green and blue\b",
        ),
    )
)
def shapes(
    samples: int = 3000, size: int = 32, noise: float = 0.05, seed: int = 0, ratio: float = 0.8
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return made-up colour images of shapes as ``(x_train, y_train), (x_test, y_test)``.

    Each shows one shape on a plain ground: a disc, a ring, a square, a triangle, a cross or a star,
    anywhere, of any colour, size and direction. They are drawn by a program, not photographed.

    Args:
        samples: the number of images; the classes are about equally large.
        size: height and width in pixels, at least 12.
        noise: the standard deviation of normal noise added to each colour, where 1 is full.
        seed: the seed of the images.
        ratio: the share of images for training, between 0 and 1; the others are for testing.

    Returns:
        Images are uint8 of shape (images, size, size, 3): red, green and blue. Labels are int32 of
        shape (images,), 0 to 5 in the order above.

    Raises:
        DataError: the images are too small, or a part has none.
    """
    if size < _LEAST_SIZE:
        raise DataError(f"shapes need at least {_LEAST_SIZE} pixels, got size={size}.")
    count = round(ratio * samples) if 0 < ratio < 1 else 0
    if not 0 < count < samples:
        raise DataError(
            f"ratio={ratio} of {samples} images leaves a part without images.",
            hint="Choose a ratio between 0 and 1, and more images.",
        )
    random = np.random.default_rng(seed)
    labels = (np.arange(samples) % len(SHAPE_NAMES)).astype(np.int32)
    random.shuffle(labels)
    # Of each image: centre, radius and direction, ground, and the colour of the shape, each part of
    # which differs by at least 0.35 from that of the ground.
    places = random.uniform([-0.25, -0.25, 0.4, 0], [0.25, 0.25, 0.7, 2 * np.pi], (samples, 4))
    grounds = random.uniform(0, 1, (samples, 3))
    colours = (grounds + random.uniform(0.35, 0.65, (samples, 3))) % 1
    images = np.empty((samples, size, size, 3), np.uint8)
    for start in range(0, samples, _AT_A_TIME):
        part = slice(start, start + _AT_A_TIME)
        covered = _coverage(labels[part], places[part], size)[..., None]
        drawn = grounds[part, None, None] * (1 - covered) + colours[part, None, None] * covered
        drawn += random.normal(0, noise, drawn.shape)
        images[part] = np.round(255 * np.clip(drawn, 0, 1))
    return (images[:count], labels[:count]), (images[count:], labels[count:])


def _coverage(labels: Array, places: Array, size: int) -> Array:
    """Return which part of each pixel a shape covers, (images, size, size), from 0 to 1."""
    fine = (np.arange(_FINE * size) + 0.5) / (_FINE * size) * 2 - 1
    x, y, radius, direction = (places[:, i, None, None] for i in range(4))
    right, down = fine[None, None, :] - x, fine[None, :, None] - y
    across = (np.cos(direction) * right + np.sin(direction) * down) / radius
    along = (np.cos(direction) * down - np.sin(direction) * right) / radius
    inside = np.empty(across.shape, bool)
    for label, name in enumerate(SHAPE_NAMES):
        rows = labels == label
        inside[rows] = _inside(name, across[rows], along[rows])
    blocks = inside.reshape(len(labels), size, _FINE, size, _FINE)
    covered: Array = blocks.mean(axis=(2, 4))
    return covered


def _inside(name: str, x: Array, y: Array) -> Array:
    """Return which points are inside of a shape that reaches from -1 to 1."""
    result: Array
    distance = np.hypot(x, y)
    match name:
        case "disc":
            result = distance < 1
        case "ring":
            result = (distance < 1) & (distance > 0.55)
        case "square":
            result = np.maximum(np.abs(x), np.abs(y)) < 0.85
        case "triangle":
            result = (y < 0.6) & (np.abs(x) < (y + 1) * 0.62)
        case "cross":
            thin, long = np.minimum(np.abs(x), np.abs(y)), np.maximum(np.abs(x), np.abs(y))
            result = (thin < 0.3) & (long < 1)
        case _:  # a star of five points
            tips = np.abs((5 * np.arctan2(y, x) / np.pi) % 2 - 1)
            result = distance < 0.4 + 0.6 * tips
    return result
