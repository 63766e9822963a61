"""Measures the JavaScript heaps of a page's workers."""

from __future__ import annotations

import json
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page


class WorkerHeaps:
    """The heaps of a page's workers, read through the developer tools protocol."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._session = page.context.new_cdp_session(page)
        self._workers: dict[str, str] = {}  # scripts by session, the oldest worker first
        self._answers: dict[int, dict[str, Any]] = {}
        self._asked = 0
        self._session.on("Target.attachedToTarget", self._attached)
        self._session.on("Target.detachedFromTarget", self._detached)
        self._session.on("Target.receivedMessageFromTarget", self._answered)

    def __enter__(self) -> WorkerHeaps:
        self._attach(True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._attach(False)
        self._session.detach()

    def _attach(self, attach: bool) -> None:
        options = {"autoAttach": attach, "waitForDebuggerOnStart": False, "flatten": False}
        self._session.send("Target.setAutoAttach", options)

    def _attached(self, event: dict[str, Any]) -> None:
        self._workers[event["sessionId"]] = event["targetInfo"]["url"].rpartition("/")[2]

    def _detached(self, event: dict[str, Any]) -> None:
        self._workers.pop(event["sessionId"], None)

    def _answered(self, event: dict[str, Any]) -> None:
        message = json.loads(event["message"])
        if "id" in message:
            self._answers[message["id"]] = message["result"]

    def _ask(self, worker: str, method: str) -> dict[str, Any]:
        self._asked += 1
        message = json.dumps({"id": self._asked, "method": method})
        session = next(each for each, script in self._workers.items() if script == worker)
        self._session.send("Target.sendMessageToTarget", {"sessionId": session, "message": message})
        while self._asked not in self._answers:
            self._page.wait_for_timeout(20)
        return self._answers.pop(self._asked)

    def used(self, worker: str) -> int:
        """Bytes of live objects in the oldest worker of a script, which must be idle."""
        for _ in range(2):  # objects finalised by the first collection are freed by the second
            self._ask(worker, "HeapProfiler.collectGarbage")
        usage = self._ask(worker, "Runtime.getHeapUsage")
        return int(usage["usedSize"] + usage["embedderHeapUsedSize"] + usage["backingStorageSize"])
