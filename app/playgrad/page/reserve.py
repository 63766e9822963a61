"""Memory kept back from the user's program, for what comes after it."""

from __future__ import annotations

import numpy as np

_BYTES = 32 << 20


class Reserve:
    """Holds memory while the program runs, and lets go of it at the end.

    A program can fill all of Python's memory and keep it. The page is still told of the error, and
    its questions about the trained model are still answered.
    """

    def __enter__(self) -> None:
        self._held: object = np.empty(_BYTES, np.uint8)

    def __exit__(self, *error: object) -> None:
        self._held = None
