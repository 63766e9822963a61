"""JSON from files, which may be damaged: parsed to a limited depth."""

from __future__ import annotations

import json
import re
from typing import Any

DEEPEST = 100
"""Maximum number of lists and objects inside each other."""

_MARK = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{}]', re.DOTALL)
_STEP = {"[": 1, "{": 1, "]": -1, "}": -1}


def check_unicode(data: Any) -> None:
    """Raise ValueError if a text of ``data`` has half of a pair of UTF-16, which no file can hold.

    JSON can: ``"\\ud800"``.
    """
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("a text is not valid Unicode") from None


def parse_json(text: str | bytes) -> Any:
    """Return the data that ``text`` describes.

    ``json.loads`` calls itself for each level: text that is nested deeply enough raises
    RecursionError, or ends an interpreter whose stack is small, as in the page.

    Raises:
        ValueError: ``text`` is not JSON in UTF-8, or is nested too deeply.
    """
    if isinstance(text, bytes):
        text = text.decode()
    depth = 0
    for match in _MARK.finditer(text):
        depth += _STEP.get(match[0], 0)
        if depth > DEEPEST:
            raise ValueError(f"more than {DEEPEST} lists and objects are inside each other")
    return json.loads(text)
