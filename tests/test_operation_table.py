"""docs/operation-table.md: current in its names and hosts, and within the op contract."""

from __future__ import annotations

import re

from playgrad.contract.cases import operations
from tools.operation_table import DOCUMENT, hosts

ROWS = re.findall(
    r"^\| `(\w+)` \| (\w+) \| (\w+) \| (\w+) \| (\w+) \| (\S*) \| (\S*) \|$",
    DOCUMENT.read_text(encoding="utf-8"),
    re.MULTILINE,
)
LIBRARY = operations()
"""Those of the library: tests register operations of their own when they run."""


def test_names_and_hosts_are_current() -> None:
    """Regenerate the table with `python -m tools.operation_table`."""
    listed = {name: tuple(words) for name, *words, _, _ in ROWS}
    assert listed == {op.name: hosts(op) for op in LIBRARY}


def test_measured_differences_are_allowed() -> None:
    """An element may differ by the tolerance twice: of itself, and of the largest one."""
    assert len(ROWS) > 100
    for name, _, _, _, gpu, measured, allowed in ROWS:
        assert (measured != "") == (gpu != "no"), name
        if measured:
            assert float(measured) <= 2 * float(allowed), name


def test_most_operations_are_compiled() -> None:
    """What is left to NumPy is named here, so that no kernel is lost."""
    without = {name for name, _, _, compiled, *_ in ROWS if compiled == "no"}
    assert without == {
        "with_epilogue", "update_with_epilogue", "ctc_loss_curvature", "rescale",
        "quantized_avg_pool2d", "quantized_max_pool2d", "quantized_matmul", "quantized_conv2d",
        "quantized_softmax", "joined_calls", "joined_calls_gradient",
        "recurrence",
    }  # fmt: skip
