"""Hooks through which the user's program, its trainings and its sessions reach the page."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from playgrad.compiler.place import Policy
from playgrad.compiler.program import Program
from playgrad.devices import _browser as host
from playgrad.errors import GraphError
from playgrad.models.trainable import TrainableNetwork
from playgrad.page.left_behind import is_left_behind
from playgrad.page.sending import emit, figures, send_output
from playgrad.page.trial_pool import PagePool, new_pool
from playgrad.runtime.hooks import Event, Hooks, Request
from playgrad.runtime.trace import Trace

Controller = Any
"""The class in ``controller``, which imports this module."""

_OF_A_RUN = {
    "fit_begin", "progress", "epoch_end", "rating", "fit_end", "graph", "lab_fit", "trace",
    "status",
}  # fmt: skip
"""Events of a training that are not sent for one that the prompt begins: the page shows the run."""


class PageHooks(Hooks):
    """Hooks by which training communicates with the page.

    Attributes:
        sweeps: the number of sweeps that the program has begun.
    """

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self.sweeps = 0
        self._received: list[Request] = []  # by `wait`

    def emit(self, event: Event) -> None:
        is_for_prompt = self.controller.prompt.busy and event["kind"] in _OF_A_RUN
        if not is_for_prompt and not is_left_behind():
            emit(event)

    def before_training(self) -> None:
        self.controller.prompt.check_training()

    def figure(self, figure: dict[str, Any]) -> bool:
        if not is_left_behind():
            figures.show(figure)
        return True

    @property
    def _shows_sessions(self) -> bool:
        """True while the program, not the prompt, runs and has trained no model."""
        controller = self.controller
        return controller.running and controller.model is None and not controller.prompt.busy

    def preparing(self, program: Program, policy: Policy) -> None:
        if self._shows_sessions:
            self.controller.graphs.add(program, policy)

    def ran(self, session: Any, program: Program, feeds: Mapping[str, Any]) -> None:
        if self._shows_sessions:
            self.controller.runs.add(session, program, feeds)

    def closing(self, session: Any) -> None:
        if self.controller.running and self.controller.model is None:
            self.controller.runs.keep_variables(session)

    def fitting(self, model: TrainableNetwork) -> None:
        self.controller.model = model
        if self.controller.prompt.busy:
            return
        if self.controller.lab is not None:
            emit(self.controller.lab.fitting(model))
        self.controller.emit_graph()

    def playing(self, player: Any) -> None:
        if not self.controller.prompt.busy and not is_left_behind():
            emit({"kind": "game", "game": self.controller.game.begin(player)})

    def new_trace(self) -> Trace | None:
        lab = self.controller.lab
        return None if lab is None or self.controller.prompt.busy else lab.new_trace()

    def traced(self, trace: Trace, steps: int, seconds: float) -> None:
        lab = self.controller.lab
        report = None if lab is None else lab.report(trace, steps, seconds)
        if report is not None:
            emit(report)

    def trial_pool(self, function: Callable[..., Any]) -> PagePool:
        if self.controller.prompt.busy:
            raise GraphError(
                "a sweep cannot be started from the prompt: its trials run the program.",
                hint="Call it in the program.",
            )
        self.sweeps += 1
        return new_pool(has_swept=self.sweeps > 1)

    def poll(self) -> list[Request]:
        send_output()
        shrinking = self.controller.shrinking
        if self.controller.prompt.busy or (shrinking is not None and shrinking.busy):
            return []  # requests are for the run, and wait for the end of this work
        requests, self._received = self._received, []
        while (pair := host.poll_mailbox()) is not None:
            requests.append(joined(pair))
        return requests

    def wait(self, timeout: float) -> None:
        if self.controller.prompt.busy:
            return
        pair = host.wait_mailbox(timeout)
        if pair is not None:
            self._received.append(joined(pair))

    def stopped(self) -> bool:
        return host.stop_requested()

    def interrupts(self) -> bool:
        """Return whether a stop should end the program's work outside of training.

        The interrupt that Python itself gets with a stop is lost if it arrives where an exception
        is dropped, as in a destructor. The stop flag stays.
        """
        if not self.controller.interruptible or not host.stop_requested():
            return False
        # Within `except KeyboardInterrupt` the program has heard of it.
        return not isinstance(sys.exc_info()[1], KeyboardInterrupt)

    def interrupted(self) -> None:
        self.controller.interruptible = False

    def serve(self, request: Request) -> None:
        self.controller.serve(request)


def joined(pair: host.Request) -> Request:
    request, payload = pair
    return request if payload is None else {**request, "payload": payload}
