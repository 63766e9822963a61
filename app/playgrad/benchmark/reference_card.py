"""The known card that measurements are shown beside: facts of one day, as they were measured.

In the page: the better of two visits for each row. With wgpu-py: as they were written down then,
with two to three digits. No product was measured there in this way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Place = Literal["page", "desktop"]


class KnownTimes(NamedTuple):
    """Milliseconds of a step, in a row and with each one read."""

    once: float
    each: float


@dataclass(frozen=True)
class KnownCard:
    """A card, what it ran on, and its rows.

    Attributes:
        runners: what ran the kernels in each place.
        times: of playgrad's training steps on the card, by place and workload.
        products: 10⁹ operations a second of `product`, by place.
    """

    name: str
    vendor: str
    date: str
    driver: str
    runners: Mapping[Place, str]
    times: Mapping[Place, Mapping[str, KnownTimes]]
    products: Mapping[Place, float] = field(default_factory=dict)


H200 = KnownCard(
    name="NVIDIA H200",
    vendor="nvidia",
    date="2026-11-27",
    driver="580.159.04, Vulkan, Linux",
    runners={"page": "Chromium 156", "desktop": "wgpu-py 0.32.0"},
    times={
        "page": {
            "w0": KnownTimes(0.0429, 1.0026),
            "w1": KnownTimes(0.1001, 1.1526),
            "w1b": KnownTimes(0.3783, 1.3781),
            "w2": KnownTimes(0.532, 1.4974),
            "w3": KnownTimes(0.9733, 1.924),
        },
        "desktop": {
            "w0": KnownTimes(0.045, 0.35),
            "w1": KnownTimes(0.187, 0.45),
            "w1b": KnownTimes(0.83, 1.35),
            "w2": KnownTimes(0.88, 1.40),
            "w3": KnownTimes(2.14, 2.70),
        },
    },
    products={"page": 1981.07},
)

LOSSES: Mapping[str, tuple[float, ...]] = {
    "w0": (3.41232, 0.35412, 0.21423, 0.18846, 0.21162),
    "w1": (2.41199, 2.08199, 1.93755, 1.58519, 1.35027),
    "w1b": (2.39641, 1.59719, 0.89474, 0.5043, 0.26513),
    "w2": (2.27957, 1.90879, 1.76002, 1.57068, 1.42806),
    "w3": (2.71808, 6.14161, 2.88431, 2.27295, 2.40611),
}
"""The losses of the first steps of each workload, on which that card and four libraries agree to
five digits. A machine that computes others is wrong, and is told so in place of a time."""
TOLERANCE = 0.002
"""The largest relative difference of a loss: float32 sums in other orders, after some steps."""
