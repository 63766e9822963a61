"""Measurements as a host saves them: a JSON object with one entry for each adapter."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from typing import Any, TypeVar

from playgrad.json_text import parse_json

Entry = TypeVar("Entry")


def parse_entries(
    text: str, kind: type[Entry], fits: Callable[[str, Any], bool]
) -> dict[str, Entry]:
    """Return entries by their keys from the text of `dump_entries`.

    Entries that are damaged or come from another version are dropped.

    Args:
        kind: the dataclass of the entries.
        fits: returns whether a field, given by its name, can have a value.
    """
    try:
        entries = parse_json(text)
    except ValueError:
        return {}
    if not isinstance(entries, dict):
        return {}
    names = {item.name for item in fields(kind)}  # type: ignore[arg-type]
    return {
        key: kind(**entry)
        for key, entry in entries.items()
        if isinstance(entry, dict)
        and entry.keys() == names
        and all(fits(name, value) for name, value in entry.items())
    }


def dump_entries(entries: Mapping[str, Any]) -> str:
    """Return ``entries``, which are dataclasses, as JSON."""
    return json.dumps({key: asdict(entry) for key, entry in entries.items()}, indent=1) + "\n"
