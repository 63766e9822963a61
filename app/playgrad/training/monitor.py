"""The metric that a callback watches: its value in the logs, and the direction that is better."""

from __future__ import annotations

from collections.abc import Mapping

from playgrad.errors import DataError, GraphError

_LARGER_IS_BETTER = ("acc", "auc", "precision", "recall", "f1", "fbeta", "r2")


def sign_of(monitor: str, mode: str) -> float:
    """Return 1.0 if smaller values of ``monitor`` are better, else -1.0.

    Args:
        mode: "min", "max", or "auto", which goes by the name.

    Raises:
        DataError: there is no such mode.
    """
    if mode not in ("auto", "min", "max"):
        raise DataError(f"mode must be 'auto', 'min' or 'max', got {mode!r}.")
    is_larger = any(part in monitor for part in _LARGER_IS_BETTER)
    return -1.0 if mode == "max" or (mode == "auto" and is_larger) else 1.0


def monitored(logs: Mapping[str, float], monitor: str, callback: str) -> float:
    """Return the value of ``monitor``.

    Args:
        callback: the name of the callback, for the error.

    Raises:
        GraphError: it is not in the logs.
    """
    if monitor not in logs:
        raise GraphError(
            f"{callback} watches {monitor!r}, which is not in the logs.",
            hint=f"Use one of {', '.join(logs)}; val_... needs validation_data.",
        )
    return logs[monitor]
