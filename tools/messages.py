"""Write what the page knows of Python before Python runs: ``python -m tools.messages``.

``static/engine/python-messages.js`` has their forms, by which the page checks what arrives;
``python-messages.d.ts`` has them as types. Both come from the records in ``playgrad.page``.
``device-kinds.js`` has the kinds of devices, from ``playgrad.devices.kinds``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from playgrad.devices.kinds import KINDS, Kind
from playgrad.page.events import COMMANDS, EVENTS
from playgrad.page.question import SCHEMA, questions
from playgrad.page.schema import Form, typescript

ENGINE = Path(__file__).resolve().parent.parent / "static" / "engine"
_MADE = "Made by `python -m tools.messages`; its source is app/playgrad/page."
_REPLY = """\
export type Request = Command | (Question & {id: number});
export type Answer = Answers[keyof Answers];
type Replies = {
  [K in keyof Answers]: {kind: "reply", id: number, ok: true, question: K, answer: Answers[K]}
};
export type Reply =
  | {kind: "reply", id: number, ok: false, error: ErrorInfo}
  | Replies[keyof Answers];
export type Form = string | [string, ...any[]] | {[field: string]: Form};
export const FORMS: Record<string, Form>;
export const EVENTS: Record<string, Form>;
export const ANSWERS: Record<string, Form>;
"""


def files() -> dict[Path, str]:
    """Return the content of the files that this writes."""
    events = {kind: SCHEMA.form(record) for kind, record in EVENTS.items()}
    commands = {kind: SCHEMA.form(record) for kind, record in COMMANDS.items()}
    asked = {kind: each.request_name for kind, each in sorted(questions().items())}
    answers = {kind: each.answer for kind, each in sorted(questions().items())}
    script = [f"/** The forms of Python's messages, see message-checks.js. {_MADE} */"]
    tables = {"FORMS": _used(events, answers), "EVENTS": events, "ANSWERS": answers}
    for name, table in tables.items():
        script += [f"export const {name} = {{", *map(_entry, sorted(table.items())), "};"]
    types = [
        f"// The types of Python's messages. {_MADE}",
        *_union("PythonEvent", [*map(_message, events.items()), "Reply"]),
        *_union("Command", map(_message, commands.items())),
        *_union("Question", map(_message, asked.items())),
        "export interface Answers {",
        *(f"  {kind}: {typescript(form)};" for kind, form in answers.items()),
        "}",
    ]
    for name, form in sorted(SCHEMA.named.items()):
        if name in SCHEMA.about:
            types.append(f"/** {SCHEMA.about[name]} */")
        types.append(f"export type {name} = {typescript(form)};")
    return {
        ENGINE / "device-kinds.js": _kinds(),
        ENGINE / "python-messages.js": "\n".join(script) + "\n",
        ENGINE / "python-messages.d.ts": "\n".join(types) + "\n" + _REPLY,
    }


def _kinds() -> str:
    """Return the kinds of devices, those first that share no cores with the page."""
    kinds = [_kind(kind) for kind in sorted(KINDS.values(), key=lambda kind: kind.on_cores)]
    about = (
        "The kinds of devices. Made by `python -m tools.messages` of app/playgrad/devices/kinds.py."
    )
    lines = [f"  {json.dumps(kind)}," for kind in kinds]
    return "\n".join([f"/** {about} */", "export const KINDS = [", *lines, "];", ""])


def _kind(kind: Kind) -> dict[str, Any]:
    return {
        "name": kind.name,
        "title": kind.title,
        "onCores": kind.on_cores,
        "runsPlans": kind.runs_plans,
        "isListed": kind.adapter is None,
        "isOffered": kind.is_offered,
    }


def _used(*roots: Mapping[str, Form]) -> dict[str, Form]:
    """Return the named forms that messages to the page contain, which it checks."""
    used: dict[str, Form] = {}
    waiting: list[Any] = [*roots]
    while waiting:
        form = waiting.pop()
        if isinstance(form, str) and form in SCHEMA.named and form not in used:
            used[form] = SCHEMA.named[form]
            waiting.append(used[form])
        elif isinstance(form, (list, dict)):
            waiting += form.values() if isinstance(form, dict) else form[1:]
    return used


def _entry(item: tuple[str, Form]) -> str:
    return f"{item[0]}:{json.dumps(item[1], separators=(',', ':'))},"


def _union(name: str, members: Iterable[str]) -> list[str]:
    *others, last = members
    return [f"export type {name} =", *(f"  | {each}" for each in others), f"  | {last};"]


def _message(item: tuple[str, str | None]) -> str:
    """Return the type of messages of a kind, without the payload, which is sent beside them."""
    kind, record = item
    fields = SCHEMA.named[record] if record else {}
    if "payload?" in fields:
        record = f'Omit<{record}, "payload">'
    return f'{{kind: "{kind}"}}' + (f" & {record}" if fields.keys() - {"payload?"} else "")


def main() -> None:
    for path, content in files().items():
        path.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
