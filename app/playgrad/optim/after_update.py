"""The rest of a step after the update of a weight: its constraint, its average."""

from __future__ import annotations

from playgrad.errors import PlaygradError
from playgrad.graph.tensor import Tensor
from playgrad.ops.elementwise.definitions import where
from playgrad.ops.state import Variable


def constrained(variable: Variable, new: Tensor, gate: Tensor | None) -> Tensor:
    """Apply what constrains ``variable`` to its ``new`` value; return the value that it keeps.

    Raises:
        ShapeError, DTypeError: the constraint does not fit the variable; the error names it.
    """
    graph = variable.graph
    with graph.device(variable.device):
        try:
            value = new if variable.constraint is None else variable.constraint(new)
            if variable.keep is not None:
                value = variable.keep.value(variable, value)
            kept = value if gate is None else where(gate, value, new)
            return variable.overwrite(new, kept, "constrained")
        except PlaygradError as error:
            error.op = variable.variable_name
            raise


def overwritten(variable: Variable, new: Tensor, average: Tensor, where_to: Tensor) -> Tensor:
    """Set ``variable`` to its ``average`` where ``where_to`` is true; return its new value."""
    with variable.graph.device(variable.device):
        value = average if variable.constraint is None else variable.constraint(average)
        return variable.overwrite(new, where(where_to, value, new), "averaged")
