"""A run that is a trial of the `pg.sweep` of another run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from playgrad.errors import GraphError
from playgrad.page.events import TrialOptions
from playgrad.page.page_hooks import Controller, PageHooks
from playgrad.page.sending import emit
from playgrad.page.trial_pool import waited_for
from playgrad.sweeps.trial_hooks import TrialHooks, returned


class PageTrialHooks(TrialHooks, PageHooks):
    """The hooks of a run that is a trial."""

    def __init__(self, controller: Controller, options: TrialOptions) -> None:
        PageHooks.__init__(self, controller)
        TrialHooks.__init__(self, options["milestones"])
        self._settings = json.loads(options["settings"])

    def trial_pool(self, function: Callable[..., Any]) -> Any:
        """Run the trial, and end the program.

        Raises:
            SystemExit: the trial has ended.
            GraphError: the function begins a sweep itself.
        """
        self.sweeps += 1
        if self.sweeps > 1:
            raise GraphError("the function of a sweep cannot call pg.sweep itself.")
        weights = Path(mkdtemp(prefix="playgrad-"), "weights.safetensors")
        message = self.run(lambda: returned(function(**self._settings)), weights)
        event = {"kind": "trial_message", "message": json.dumps(message), "is_last": True}
        emit(event | ({"weights": weights.read_bytes()} if weights.exists() else {}))
        raise SystemExit

    def judged(self, **message: Any) -> bool:
        emit({"kind": "trial_message", "message": json.dumps(message), "is_last": False})
        while True:
            for request in waited_for(self):
                kind = request["kind"]
                if kind == "trial_verdict":
                    return bool(request["continues"])
                self.serve(request)
