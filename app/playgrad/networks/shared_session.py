"""The session that the models of one graph share."""

from __future__ import annotations

from dataclasses import dataclass, field

from playgrad.graph.graph import FLOAT32, Graph
from playgrad.graph.tensor import Tensor
from playgrad.ops.state import Variable, global_variables, holds_data
from playgrad.runtime.options import get_options
from playgrad.runtime.session import Session


@dataclass
class SharedSession:
    """The session of a graph, opened when a model first needs it.

    Attributes:
        session: holds the values of the graph's variables; None until it is needed, or closed.
        mirrors: the copies of variables that the replicas of the last strategy train.
    """

    session: Session | None = None
    mirrors: set[Variable] = field(default_factory=set)

    def on(
        self,
        graph: Graph,
        device: str,
        seconds: float | None = None,
        step_seconds: float | None = None,
    ) -> Session:
        """Return the session of ``graph``, opened on ``device`` or moved there, in float32.

        Args:
            device: "auto", "cpu" or "gpu"; the option ``device`` of the host overrides it.
            seconds, step_seconds: as for `Session`, if it is opened.
        """
        override = get_options().device
        device = device if override in (None, "auto") else str(override)
        if self.session is None:
            self.session = Session(
                graph, device, seconds=seconds, step_seconds=step_seconds, precision=FLOAT32
            )
        elif device != "auto" and not self.session.device.startswith(device):
            self.session = _moved(self.session, graph, device)
        return self.session

    def close(self) -> None:
        """Free the session's buffers; the values of the variables are lost."""
        if self.session is not None:
            self.session.close()
            self.session = None


def shared_session(graph: Graph) -> SharedSession:
    """Return the shared session of ``graph``, which lives as long as the graph does."""
    shared: SharedSession = vars(graph).setdefault("_shared_session", SharedSession())
    return shared


def is_data(variable: Tensor) -> bool:
    """Return whether ``variable`` holds a data set."""
    return holds_data(variable.node)


def _moved(old: Session, graph: Graph, device: str) -> Session:
    """Close ``old`` and return a session on ``device`` with its values, except the data sets."""
    variables = [variable for variable in global_variables(graph) if not is_data(variable)]
    new = Session(graph, device, precision=FLOAT32)
    new.assign(dict(zip(variables, old.values(variables), strict=True)))
    old.close()
    return new
