"""Toy problems: two classes of points in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.data.data_sets import data_set
from playgrad.errors import DataError
from playgrad.records import DataSetRecord, LabelledSamples, SuitedSettings

Array = np.ndarray[Any, Any]
_SETTINGS = SuitedSettings("Adam", "0.03", "40", "30")


def _in_plane(
    place: int, title: str, names: str, noun: str, about: str, suited: SuitedSettings = _SETTINGS
) -> DataSetRecord:
    """Return the record of points in the plane."""
    samples = LabelledSamples("points", (2,), "float32", 2, title, names, noun, about, suited)
    return DataSetRecord(place, samples=samples)


@data_set(
    _in_plane(
        5,
        "Disc and ring",
        r"\bcircles?\b|\bdisc and ring\b|\bdisc\b",
        "disc and ring",
        "Points of a disc and of a ring around it, and their classes 0 and 1.",
    )
)
def circle(
    samples: int = 500, noise: float = 0.05, seed: int = 0, ratio: float | None = None
) -> Any:
    """Return points of a disc and of a ring around it.

    Args:
        samples: the number of points; both classes are about equally large.
        noise: the standard deviation of normal noise added to the coordinates.
        seed: the seed of the points.
        ratio: the share of points for training, between 0 and 1; the others are for testing.

    Returns:
        The points, float32 of shape (samples, 2), between about -1 and 1, and their labels, int32
        of shape (samples,), 0 or 1. With a ratio, two such pairs: ``(x_train, y_train), (x_test,
        y_test)``, which are the first points and the others.

    Raises:
        DataError: with this ratio, one of the parts has no points.
    """
    random = np.random.default_rng(seed)
    labels = np.arange(samples) % 2
    inner, outer = random.uniform(0, 0.4, samples), random.uniform(0.6, 1.0, samples)
    radius = np.where(labels == 1, outer, inner)
    angle = random.uniform(0, 2 * np.pi, samples)
    return _points(radius * np.cos(angle), radius * np.sin(angle), labels, noise, random, ratio)


@data_set(
    _in_plane(
        7,
        "Opposite corners (xor)",
        r"\bxor\b|\bopposite (corners|quadrants)\b",
        "opposite corners",
        "Points of a square: class 1 is in two opposite quadrants.",
    )
)
def xor(samples: int = 500, noise: float = 0.05, seed: int = 0, ratio: float | None = None) -> Any:
    """Return points whose class is 1 in two opposite quadrants.

    Args:
        samples: the number of points; both classes are about equally large.
        noise: the standard deviation of normal noise added to the coordinates.
        seed: the seed of the points.
        ratio: the share of points for training, between 0 and 1; the others are for testing.

    Returns:
        The points, float32 of shape (samples, 2), between about -1 and 1, and their labels, int32
        of shape (samples,), 0 or 1. With a ratio, two such pairs: ``(x_train, y_train), (x_test,
        y_test)``, which are the first points and the others.

    Raises:
        DataError: with this ratio, one of the parts has no points.
    """
    random = np.random.default_rng(seed)
    x, y = random.uniform(-1, 1, (2, samples))
    return _points(x, y, (x * y > 0).astype(np.int32), noise, random, ratio)


@data_set(
    _in_plane(
        8,
        "Two clouds",
        r"\bgauss\b|\b(gaussian )?clouds?\b",
        "two clouds",
        "Points of two clouds, and their classes 0 and 1.",
    )
)
def gauss(samples: int = 500, noise: float = 0.2, seed: int = 0, ratio: float | None = None) -> Any:
    """Return points of two Gaussian clouds.

    Args:
        samples: the number of points; both classes are about equally large.
        noise: the standard deviation of normal noise added to the coordinates.
        seed: the seed of the points.
        ratio: the share of points for training, between 0 and 1; the others are for testing.

    Returns:
        The points, float32 of shape (samples, 2), between about -1 and 1, and their labels, int32
        of shape (samples,), 0 or 1. With a ratio, two such pairs: ``(x_train, y_train), (x_test,
        y_test)``, which are the first points and the others.

    Raises:
        DataError: with this ratio, one of the parts has no points.
    """
    random = np.random.default_rng(seed)
    labels = np.arange(samples) % 2
    centre = np.where(labels == 1, 0.5, -0.5)
    return _points(centre, centre, labels, noise, random, ratio)


@data_set(
    _in_plane(
        4,
        "Two spirals",
        r"\bspirals?\b",
        "two spirals",
        "Points on two spirals, and their classes 0 and 1.",
        suited=SuitedSettings("Adam", "0.04", "100", "45"),
    )
)
def spiral(
    samples: int = 500, noise: float = 0.02, seed: int = 0, ratio: float | None = None
) -> Any:
    """Return points of two interleaved spirals.

    Args:
        samples: the number of points; both classes are about equally large.
        noise: the standard deviation of normal noise added to the coordinates.
        seed: the seed of the points.
        ratio: the share of points for training, between 0 and 1; the others are for testing.

    Returns:
        The points, float32 of shape (samples, 2), between about -1 and 1, and their labels, int32
        of shape (samples,), 0 or 1. With a ratio, two such pairs: ``(x_train, y_train), (x_test,
        y_test)``, which are the first points and the others.

    Raises:
        DataError: with this ratio, one of the parts has no points.
    """
    random = np.random.default_rng(seed)
    labels = np.arange(samples) % 2
    radius = random.uniform(0.05, 1.0, samples)
    angle = 1.75 * radius * 2 * np.pi + np.pi * labels
    return _points(radius * np.sin(angle), radius * np.cos(angle), labels, noise, random, ratio)


@data_set(
    _in_plane(
        6,
        "Two half moons",
        r"\b(half[- ])?moons?\b",
        "two half moons",
        "Points on two half moons, and their classes 0 and 1.",
    )
)
def moons(
    samples: int = 500, noise: float = 0.05, seed: int = 0, ratio: float | None = None
) -> Any:
    """Return points of two half circles, each of which reaches into the other.

    Args:
        samples: the number of points; both classes are about equally large.
        noise: the standard deviation of normal noise added to the coordinates.
        seed: the seed of the points.
        ratio: the share of points for training, between 0 and 1; the others are for testing.

    Returns:
        The points, float32 of shape (samples, 2), between about -1 and 1, and their labels, int32
        of shape (samples,), 0 or 1. With a ratio, two such pairs: ``(x_train, y_train), (x_test,
        y_test)``, which are the first points and the others.

    Raises:
        DataError: with this ratio, one of the parts has no points.
    """
    random = np.random.default_rng(seed)
    labels = np.arange(samples) % 2
    angle, side = random.uniform(0, np.pi, samples), 1 - 2 * labels
    x, y = side * (np.cos(angle) - 0.5), side * (np.sin(angle) - 0.25)
    return _points(x / 1.5, y / 1.5, labels, noise, random, ratio)


def _points(
    x: Array,
    y: Array,
    labels: Array,
    noise: float,
    random: np.random.Generator,
    ratio: float | None,
) -> Any:
    points = np.stack([x, y], axis=1) + random.normal(0, noise, (len(labels), 2))
    points, labels = points.astype(np.float32), labels.astype(np.int32)
    if ratio is None:
        return points, labels
    count = round(ratio * len(points)) if 0 < ratio < 1 else 0
    if not 0 < count < len(points):
        raise DataError(
            f"with ratio={ratio}, {max(0, min(count, len(points)))} of {len(points)} points are "
            "for training.",
            hint="Choose a ratio between 0 and 1 that leaves points for training and for testing.",
        )
    return (points[:count], labels[:count]), (points[count:], labels[count:])
