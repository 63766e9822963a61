"""The variant that an adapter runs of each kind of kernel, by default or as measured.

A software adapter rewards kernels without barriers, a GPU tiles in workgroup memory, and adapters
of either kind differ. So each kind of kernel has variants, which `playgrad.runtime.tuner` measures.
This module has only plain data and pure functions; `saved_tunings` keeps the results.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

PRODUCTS = (
    "shared_64",
    "shared_32",
    "registers_4x4",
    "registers_12x8",
    "quads_8x8",
    "blocks_8x8",
    "blocks_8x8_ahead",
    "blocks_8x4",
    "blocks_4x4",
    "blocks_8x4_few",
)
"""Variants of matrix products. `shared_n` tiles in workgroup memory, up to n results a side.
`registers_nxm` tiles n rows by m columns in the registers of one invocation, without barriers;
`quads_nxm` does so where groups of four invocations can read each other's values. `blocks_nxm`
stages vectors of four, has up to n x m results in the registers of an invocation, and divides the
depth of a small product among invocations of 128 processors, or of 16 (`few`); `ahead` loads the
next vectors while it multiplies these."""
TREES, SUBGROUPS = "trees", "subgroups"
REDUCTIONS = (TREES, "many_invocations", "few_invocations", SUBGROUPS)
"""Variants of reductions: a workgroup for each result, or one invocation for each, with enough
invocations to occupy a GPU or a CPU's cores. `subgroups` is `trees` whose sums are added within
subgroups where the device has them, and needs one barrier in place of seven."""
WORDS, VECTORS = "words", "vectors"
MEMORY = (WORDS, VECTORS)
"""Variants of kernels that take as long as their memory traffic: elementwise ones and copies of
large tensors, softmax and normalization of rows. `words` reads a number at a time. `vectors` reads
four, transposes in workgroup memory, and keeps a row in registers, so as to read it once."""
STEPS, LOOP = "steps", "loop"
RECURRENCES = (STEPS, LOOP)
"""Variants of recurrent layers, forwards and backwards: two dispatches for each step, or one for
all steps, in which a workgroup keeps the states of some rows of the batch."""
APART, JOINED = "apart", "joined"
ROWS = (APART, JOINED)
"""Variants of normalizations with the products and elementwise operations beside them: a dispatch
for each, or one for all, in which a workgroup computes some rows."""
VARIANTS: Mapping[str, tuple[str, ...]] = {
    "product": PRODUCTS,
    "convolution": PRODUCTS,
    "reduction": REDUCTIONS,
    "memory": MEMORY,
    "recurrence": RECURRENCES,
    "rows": ROWS,
}
"""The variants of each kind of kernel."""
WORTH = 0.95
"""A variant must take less than this share of the default's time. Otherwise the next measurement
of a near tie could choose another variant, and change the numbers that a seed gives."""

Times = Mapping[str, Mapping[str, float]]
"""Seconds by probe and variant, without the variants that computed wrong numbers."""


@dataclass(frozen=True)
class Tuning:
    """A variant for each kind of kernel; see `VARIANTS`."""

    product: str
    convolution: str
    reduction: str
    memory: str = WORDS
    recurrence: str = STEPS
    rows: str = APART

    def of(self, kind: str) -> str:
        """Return the variant for a kind of kernel."""
        variant: str = getattr(self, kind)
        return variant


SOFTWARE = Tuning("registers_12x8", "registers_12x8", "few_invocations")
QUADS = Tuning("quads_8x8", "quads_8x8", "few_invocations")
HARDWARE = Tuning("shared_64", "shared_64", "trees", recurrence=LOOP)


def default_tuning(is_software: bool, has_quads: bool = False) -> Tuning:
    """Return what an adapter of this kind runs until it has been measured."""
    if has_quads:
        return QUADS
    return SOFTWARE if is_software else HARDWARE


def choose(times: Times, kinds: Mapping[str, str], default: Tuning) -> Tuning:
    """Return the fastest variant of each kind of kernel, by the geometric mean over its probes.

    Args:
        kinds: the kind of kernel that each probe measures.
        default: the choice where nothing is clearly faster or a probe was not measured.
    """
    chosen = {}
    for kind, variants in VARIANTS.items():
        measured = [times.get(probe, {}) for probe in kinds if kinds[probe] == kind]
        scores = {
            variant: sum(math.log(seconds[variant]) for seconds in measured) / len(measured)
            for variant in variants
            if measured and all(variant in seconds for seconds in measured)
        }
        best = min(scores, key=lambda variant: scores[variant], default=default.of(kind))
        usual = scores.get(default.of(kind), math.inf)
        is_faster = scores and scores[best] < usual + math.log(WORTH)
        chosen[kind] = best if is_faster else default.of(kind)
    return Tuning(**chosen)
