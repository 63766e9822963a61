"""The input of a network: how a picture becomes the numbers that it was trained on.

Files of models carry the description as JSON, and every place that takes pictures follows it: the
page, pages of their own, ``playgrad predict``, exported scripts. A picture is turned as its EXIF
orientation says, shown on white where it is transparent, cut to the proportions of the network's
pictures around its centre, averaged over areas to their size, made grey if they are, rounded to
bytes, and scaled from 0 to 255 to the range of the network.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.data.table_facts import TableFacts, facts_of
from playgrad.json_text import parse_json

Array = np.ndarray[Any, Any]
KEY = "playgrad.input"
"""The name of the description in the metadata of files."""
CONVENTIONS = ((0.0, 1.0), (-1.0, 1.0), (0.0, 255.0), (-0.5, 0.5), (-128.0, 127.0))
"""The usual ranges from black to white."""
_NEARLY = 0.1
"""Data that leaves more of a usual range unused than this part has a range of its own."""
_MOST_CHANNELS = 4
_MOST_VALUES = 1 << 26


@dataclass(frozen=True)
class InputDescription:
    """The range of the pixels of a network, and the shape of its samples.

    Attributes:
        shape: the shape of one sample in the data that it was trained on: (height, width,
            channels), (height, width), or (pixels,), row by row.
        low, high: the values of black and white; one number, or one for each channel.
        columns: the names of the features of a table, if they are known; "colour=red" is 1 where
            the column "colour" has the category "red", and else 0.
        mean, deviation: with which features were normalized, for each; () for not at all.
    """

    shape: tuple[int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    columns: tuple[str, ...] = ()
    mean: tuple[float, ...] = ()
    deviation: tuple[float, ...] = ()

    def scaled(self, pixels: Array) -> Array:
        """Return the values of pixels from 0 to 1, (..., channels), as float64."""
        low, high = np.array(self.low), np.array(self.high)
        return low + np.asarray(pixels, np.float64) * (high - low)

    def normalized(self, rows: Array) -> Array:
        """Return rows of features, (rows, features), as the network was trained on them."""
        if not self.mean:
            return rows
        return (rows - np.array(self.mean)) / np.array(self.deviation)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, with the rules that are the same for all networks."""
        data = {name: list(getattr(self, name)) for name in ("shape", "low", "high")}
        if len(self.shape) == 1 and self.columns:
            table = {name: list(getattr(self, name)) for name in ("columns", "mean", "deviation")}
            return data | table
        return data | {
            "layout": "channels last",
            "orientation": "EXIF",
            "transparency": "on white",
            "size": "cut around the centre, averaged over areas",
            "grey": "0.299 R + 0.587 G + 0.114 B",
        }

    def to_json(self) -> str:
        """Return the text that files carry."""
        return json.dumps(self.as_dict())

    @classmethod
    def from_json(cls, text: str | bytes | None) -> InputDescription | None:
        """Return the description in a text; None for none, and for one that makes no sense."""
        try:
            return cls.from_dict(parse_json(text)) if text else None
        except (ValueError, OverflowError):  # a number that floats do not have
            return None

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, str]) -> InputDescription | None:
        """Return the description in the metadata of a file; None if there is none that is valid."""
        return cls.from_json(metadata.get(KEY))

    @classmethod
    def from_dict(cls, data: Any) -> InputDescription | None:
        """Return the description in plain data; None for one that makes no sense."""
        if not isinstance(data, Mapping):
            return None
        shape, low, high = (_numbers(data.get(name)) for name in ("shape", "low", "high"))
        sizes = tuple(int(size) for size in shape)
        if sizes != shape or not 1 <= len(sizes) <= 3 or min(sizes) < 1:
            return None
        if math.prod(sizes) > _MOST_VALUES:
            return None
        if len(low) != len(high) or len(low) not in (1, sizes[-1]) or len(low) > _MOST_CHANNELS:
            return None
        if any(a == b for a, b in zip(low, high, strict=True)):
            return None
        columns, mean, deviation = (data.get(n, []) for n in ("columns", "mean", "deviation"))
        facts = TableFacts.checked(columns, mean, deviation, sizes)
        return cls(sizes, low, high, *(facts or ()))


def describe_input(
    samples: Sequence[Array], facts: TableFacts | None = None
) -> InputDescription | None:
    """Return the description of the pictures in a batch, (samples, ...).

    Pixels of bytes are from 0 to 255. Others have the usual range that the data almost fills, or
    else that of the data: for each channel, if they are normalized by channel.

    Args:
        samples: one array for each input of the network.
        facts: the facts of the samples' table, if their arrays do not tell.

    Returns:
        For a table of `load`, the names of its features, and how they were normalized.
        None if there are several inputs, or if they cannot be pictures.
    """
    if len(samples) != 1 or not samples[0].size or not 2 <= samples[0].ndim <= 4:
        return None
    x = samples[0]
    shape = x.shape[1:]
    facts = facts or facts_of(x)
    if facts is not None and shape == (len(facts.columns),):
        return InputDescription(shape, (0.0,), (1.0,), *facts)
    if x.dtype == np.uint8:
        return InputDescription(shape, (0.0,), (255.0,))
    has_channels = len(shape) == 3 and 1 < shape[2] <= _MOST_CHANNELS
    axes = tuple(range(x.ndim - 1)) if has_channels else None
    low = np.atleast_1d(x.min(axis=axes)).astype(np.float64)
    high = np.atleast_1d(x.max(axis=axes)).astype(np.float64)
    if not np.isfinite([low, high]).all():
        return None
    usual = _usual(float(low.min()), float(high.max()))
    if usual is not None:
        return InputDescription(shape, usual[:1], usual[1:])
    low = np.minimum(low, 0) if low.min() >= 0 else low
    high = np.where(high > low, high, low + 1)
    return InputDescription(shape, tuple(low.tolist()), tuple(high.tolist()))


def guessed_range(is_floating: bool, scales_first: bool) -> tuple[float, float]:
    """Return the usual range of a network whose data are unknown: that of bytes, or 0 to 1."""
    return (0.0, 1.0) if is_floating and not scales_first else (0.0, 255.0)


def _usual(low: float, high: float) -> tuple[float, float] | None:
    """Return the usual range that has the data, and of which it leaves little unused."""
    for black, white in CONVENTIONS:
        spare = _NEARLY * (white - black)
        if black <= low <= black + spare and white - spare <= high <= white:
            return black, white
    return None


def _numbers(value: Any) -> tuple[float, ...]:
    if not isinstance(value, list):
        return ()
    numbers = [x for x in value if isinstance(x, (int, float)) and not isinstance(x, bool)]
    return tuple(map(float, numbers)) if all(map(math.isfinite, numbers)) else ()
