"""The operations of predictions, which formats must translate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.contract.cases import Case, operations

Array = np.ndarray[Any, Any]

# Sessions, training and compilation have these; a network's prediction does not. Files of quantized
# networks are written from their integer steps.
_OTHERS = re.compile(
    r"(?<!stop_)gradient|curvature|apply_|assign|_value$|_take$|unslice|ctc_loss|_cross_entropy|dropout"
    r"|random_|batch_indices|record|replica|split_batch|scatter_along|sum_to|pad_like|slice_like"
    r"|concat_part|recurrence|resize_like|_add_like|once_diff|branch_input|update|with_epilogue|fused|^copy$"
    r"|quantize|^rescale$|^lookup$"
)
OPERATIONS = frozenset(op.name for op in operations() if not _OTHERS.search(op.name))


def expect_sample(case: Case, results: Sequence[Array]) -> None:
    """Check results, of which there may be fewer, against the reference of an operation."""
    with np.errstate(all="ignore"):
        expected = case.op.reference(case.sample.inputs, case.sample.attrs)
    for result, wanted in zip(results, expected, strict=False):
        assert result.dtype == wanted.dtype
        assert result.shape == wanted.shape
        tolerance = max(case.sample.tolerance, 1e-5)
        np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=1e-5)
