"""The operations of predictions, which formats must translate."""

from __future__ import annotations

import re

from playgrad.contract.cases import operations

# Sessions, training and compilation have these; a network's prediction does not.
_OTHERS = re.compile(
    r"(?<!stop_)gradient|curvature|apply_|assign|_value$|_take$|unslice|ctc_loss|_cross_entropy|dropout"
    r"|random_|batch_indices|record|replica|split_batch|scatter_along|sum_to|pad_like|slice_like"
    r"|concat_part|resize_like|_add_like|once_diff|branch_input|update|with_epilogue|fused|^copy$"
)
OPERATIONS = frozenset(op.name for op in operations() if not _OTHERS.search(op.name))
