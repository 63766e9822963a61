"""Moving variables to the devices where a training step needs them."""

from __future__ import annotations

from playgrad.networks.network import Network
from playgrad.networks.shared_session import shared_session
from playgrad.ops.state import Variable
from playgrad.parallel.rewrite import DistributedStep
from playgrad.runtime.session_placement import PlacementRequest


def place_variables(
    network: Network,
    distributed: DistributedStep | None = None,
    placement: PlacementRequest = None,
    first: DistributedStep | None = None,
) -> None:
    """Move variables to the devices where a step needs them, and update their mirrors.

    Mirrors get the present values of their variables; mirrors that only earlier steps needed are
    dropped.

    Args:
        distributed: the step, if it is distributed.
        placement: the placement of a step that is not distributed.
        first: a step that is in place already and alternates with ``distributed``. It keeps its
            mirrors.
    """
    session, shared = network.session, shared_session(network.graph)
    mirrors = {} if distributed is None else distributed.mirrors
    needed = {mirror for copies in mirrors.values() for mirror in copies}
    present: set[Variable] = set()
    if distributed is None:
        session.set_placement(placement)
    elif first is None:
        session.set_placement(distributed.placement)
    else:
        first.homes.update(distributed.homes)
        present = set(shared.mirrors)
        needed |= present
    session.forget(list(shared.mirrors - needed))
    shared.mirrors = needed
    values = {}
    for variable, copies in mirrors.items():
        if missing := [mirror for mirror in copies if mirror not in present]:
            values.update(dict.fromkeys(missing, session.value(variable)))
    session.assign(values)
