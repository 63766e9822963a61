"""The forms of the events of a log: of those that the page knows, and of two more."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from playgrad.json_text import parse_json
from playgrad.page.events import EVENTS
from playgrad.page.schema import Schema
from playgrad.runtime.hooks import Event

LONGEST_EVENT = 4 << 20
"""Characters. The largest is a flood of output in letters that JSON writes with six."""
_LARGEST_INTEGER = 1 << 53
"""Beyond it, the page would round."""
_NOT_FINITE = ("NaN", "Infinity", "-Infinity")


class WatchedForm(TypedDict):
    """The training. `began`: milliseconds since 1970; `host`: the name of the machine."""

    program: str
    source: str
    began: int
    host: str
    version: str


LinkState = Literal["connecting", "live", "lost", "refused", "ended"]


class LinkForm(TypedDict):
    """The connection to the training. `reason`: of its end, in English, or empty."""

    state: LinkState
    address: str
    reason: str


_FROM_TRAINING = (
    "status", "stdout", "stderr", "error", "fit_begin", "progress", "epoch_end", "rating",
    "fit_end", "setting", "lab_fit", "trace",
)  # fmt: skip
_SCHEMA = Schema()
_FORMS = {
    "watched": _SCHEMA.record(WatchedForm),
    **{kind: _SCHEMA.record(EVENTS[kind]) for kind in _FROM_TRAINING},
}


def encoded(event: Mapping[str, Any]) -> str:
    """Return an event as JSON in ASCII. NaN and infinity become ``{"number": "NaN"}``."""
    try:
        return json.dumps(event, allow_nan=False, separators=(",", ":"), default=_plain)
    except ValueError:
        return json.dumps(_finite(event), separators=(",", ":"))


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else list(value)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": _NOT_FINITE[0 if math.isnan(value) else 1 if value > 0 else 2]}
    if value is None or isinstance(value, str | int | float):
        return value
    return _finite(_plain(value))


def received(text: str) -> Event:
    """Return the event of a training that ``text`` describes, as `encoded` writes it.

    Raises:
        ValueError: it is none; the message says why.
    """
    parse_json(text)  # checks the depth
    event = json.loads(text, object_hook=_number, parse_int=_integer)
    kind = event.get("kind") if isinstance(event, dict) else None
    if not isinstance(kind, str) or kind not in _FORMS:
        raise ValueError(f"there are no events of the kind {kind!r:.40}")
    fields = {name: value for name, value in event.items() if name != "kind"}
    problem = _SCHEMA.problem(_FORMS[kind], fields, kind)
    if problem is not None:
        raise ValueError(problem)
    return dict(event)


def _number(value: dict[str, Any]) -> Any:
    is_number = len(value) == 1 and value.get("number") in _NOT_FINITE
    return float(value["number"]) if is_number else value


def _integer(text: str) -> int:
    value = int(text)
    if abs(value) > _LARGEST_INTEGER:
        raise ValueError(f"{text[:30]} is too large")
    return value
