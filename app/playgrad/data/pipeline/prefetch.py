"""Reading ahead: a thread fills a bounded queue while the consumer works."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

from playgrad.data.pipeline.base import Round, Transformation, opened
from playgrad.data.pipeline.order import Following


class BoundedQueue:
    """A queue between two threads; the producer waits while it is full.

    Attributes:
        error: the error that ended the production early.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.error: BaseException | None = None
        self._items: deque[Any] = deque()
        self._changed = threading.Condition()
        self._ended = self._closed = False

    def put(self, item: Any) -> bool:
        """Append an item once there is room; return False if the consumer has left."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or len(self._items) < self.size)
            self._items.append(item)
            self._changed.notify_all()
            return not self._closed

    def end(self, error: BaseException | None) -> None:
        """Say that there are no more items."""
        with self._changed:
            self._ended, self.error = True, error
            self._changed.notify_all()

    def close(self) -> None:
        """Drop all items, and let the producer go."""
        with self._changed:
            self._closed = True
            self._items.clear()
            self._changed.notify_all()

    def __iter__(self) -> Iterator[Any]:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._ended or self._items)
                if not self._items:
                    break
                item = self._items.popleft()
                self._changed.notify_all()
            yield item
        if self.error is not None:
            raise self.error


class Prefetched(Following):
    """Elements that a thread reads ahead, at most ``size`` of them.

    Without threads elements are read when they are needed.
    """

    def __init__(self, before: Transformation, size: int) -> None:
        super().__init__(before)
        self.size = size

    def open(self, round_: Round) -> Iterator[Any]:
        if not round_.threads or self.size == 0:
            with opened(self.before, round_) as elements:
                yield from elements
            return
        queue = BoundedQueue(self.size)
        # The thread knows the queue, not this generator, so that the generator can be collected.
        thread = threading.Thread(
            target=_fill,
            args=(queue, self.before, round_),
            name="playgrad-prefetch",
            daemon=True,
        )
        thread.start()
        try:
            yield from queue
        finally:
            queue.close()
            if thread is not threading.current_thread():
                thread.join()


def _fill(queue: BoundedQueue, before: Transformation, round_: Round) -> None:
    error: BaseException | None = None
    try:
        with opened(before, round_) as elements:
            for element in elements:
                if not queue.put(element):
                    break
    except BaseException as failure:
        error = failure
    queue.end(error)
