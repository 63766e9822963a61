"""Layers that keep states from one batch to the next."""

from __future__ import annotations

import numpy as np

from playgrad.errors import GraphError
from playgrad.nn.layer import Layer
from playgrad.ops.state import Variable
from playgrad.runtime.open_sessions import open_sessions


class StatefulLayer(Layer):
    """A layer that may keep its states for the next batch."""

    @property
    def states(self) -> list[Variable]:
        """The variables that keep the states; none if the layer is not stateful."""
        raise NotImplementedError

    def reset_states(self) -> None:
        """Set the states to 0, as before the first batch, in every open session that has them.

        Raises:
            GraphError: the layer is not stateful, or has not been called.
        """
        if not self.built or not self.states:
            reason = "is not stateful" if self.built else "has no states before its first call"
            raise GraphError(
                f"{self!r} {reason}.",
                op=self.name,
                source=self.source,
                hint="Create it with stateful=True.",
            )
        assert self.graph is not None
        states = {state.node for state in self.states}
        for session in list(open_sessions):
            held = [v for v in session.assigned_variables(self.graph) if v.node in states]
            session.assign({v: np.zeros(v.spec.static_shape, np.float32) for v in held})
