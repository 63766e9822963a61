"""Moving variables to the devices where a training step needs them."""

from __future__ import annotations

from playgrad.models.network import Network
from playgrad.models.shared_session import shared_session
from playgrad.parallel.rewrite import DistributedStep
from playgrad.runtime.session_placement import PlacementRequest


def place_variables(
    network: Network, distributed: DistributedStep | None = None, placement: PlacementRequest = None
) -> None:
    """Move variables to the devices where a step needs them, and update their mirrors.

    Mirrors get the present values of their variables; mirrors that only earlier steps needed are
    dropped.

    Args:
        distributed: the step, if it is distributed.
        placement: of a step that is not distributed.
    """
    session, shared = network.session, shared_session(network.graph)
    mirrors = {} if distributed is None else distributed.mirrors
    needed = {mirror for copies in mirrors.values() for mirror in copies}
    session.set_placement(placement if distributed is None else distributed.placement)
    session.forget(list(shared.mirrors - needed))
    shared.mirrors = needed
    values = {}
    for variable, copies in mirrors.items():
        values.update(dict.fromkeys(copies, session.value(variable)))
    session.assign(values)
