"""The sweep of a program in the page: its trials are runs of the program beside it.

The interpreter of a trial runs the program anew. Its call of `pg.sweep` calls the function with the
settings of the trial, and ends the program: see `playgrad.page.trial_run`. Messages between the two
interpreters pass through the page: see ``static/js/trials/program-trials.js``.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from concurrent.futures import Future
from typing import TYPE_CHECKING

from playgrad.errors import GraphError
from playgrad.io.whole_files import write_whole
from playgrad.page.sending import emit
from playgrad.runtime.hooks import Hooks, Request, get_hooks
from playgrad.sweeps.space import in_words

if TYPE_CHECKING:
    from playgrad.sweeps.pool import Judge, Message
    from playgrad.sweeps.worker import TrialJob

AT_ONCE = 4
"""Trials that the page gets at the same time. It runs as many of them as the machine bears."""


class PagePool:
    """Runs trials by interpreters beside the page's own."""

    def __init__(self) -> None:
        self.parallel = AT_ONCE
        self._running: dict[int, tuple[Future[Message], TrialJob, Judge]] = {}
        self._last = 0

    def submit(self, job: TrialJob, judge: Judge) -> Future[Message]:
        """Run ``job``; return its last message, of the kind "end" or "error"."""
        self._last += 1
        future: Future[Message] = Future()
        self._running[self._last] = (future, job, judge)
        emit(
            {
                "kind": "trial_start", "trial": self._last, "title": in_words(job.settings),
                "options": {
                    "settings": json.dumps(job.settings), "milestones": job.milestones,
                    "seed": job.options["seed"],
                },
            }
        )  # fmt: skip
        return future

    def wait(self, futures: Collection[Future[Message]]) -> list[Future[Message]]:
        """Wait until some of ``futures`` are done, and return these.

        Raises:
            KeyboardInterrupt: a stop was requested.
        """
        hooks = get_hooks()
        while not (done := [future for future in futures if future.done()]):
            for request in waited_for(hooks):
                kind = request["kind"]
                if kind == "trial_message":
                    self._heard(request)
                else:
                    hooks.serve(request)
        return done

    def _heard(self, request: Request) -> None:
        number, message = request["trial"], json.loads(request["message"])
        if number not in self._running:
            return
        future, job, judge = self._running[number]
        if message["kind"] == "epoch":
            emit({"kind": "trial_verdict", "trial": number, "continues": judge(message)})
            return
        del self._running[number]
        if "payload" in request:
            write_whole(job.weights, request["payload"])
        future.set_result(message)

    def close(self) -> None:
        """End all jobs."""
        emit({"kind": "trials_end"})


def waited_for(hooks: Hooks) -> list[Request]:
    """Return the requests that have arrived, after a moment if there are none.

    Raises:
        KeyboardInterrupt: a stop was requested.
    """
    requests: list[Request] = hooks.poll()
    if not requests:
        hooks.wait(0.2)
        requests = hooks.poll()
    if hooks.stopped():
        raise KeyboardInterrupt
    return requests


def new_pool(has_swept: bool) -> PagePool:
    """Return a pool for the only sweep of a program.

    Raises:
        GraphError: the program has had one.
    """
    if has_swept:
        raise GraphError(
            "in the page, a program can call pg.sweep once.",
            hint="Try the settings of both sweeps in one, or write two programs.",
        )
    return PagePool()
