"""Checks that Python's messages have the forms that their records give them."""

from __future__ import annotations

from typing import Any

from playgrad.page.events import COMMANDS, EVENTS
from playgrad.page.question import SCHEMA, questions

QUESTIONS = questions()
# Derived now: tests that import the modules of the page anew take the annotations' names away.
ANSWER_FORMS = {kind: question.answer for kind, question in QUESTIONS.items()}
EVENT_FORMS = {kind: SCHEMA.record(each) for kind, each in EVENTS.items()}
REQUEST_FORMS = {kind: SCHEMA.record(each) for kind, each in COMMANDS.items()} | {
    kind: question.request for kind, question in QUESTIONS.items()
}


def check_answer(kind: str, answer: Any) -> Any:
    """Return an answer, once it has been compared with the form that its question gives it."""
    assert SCHEMA.problem(ANSWER_FORMS[kind], answer, kind) is None
    return answer


def check_event(event: dict[str, Any]) -> None:
    """Compare an event, or a reply, with the form of its kind."""
    kind, fields = event["kind"], {key: value for key, value in event.items() if key != "kind"}
    if kind != "reply":
        assert SCHEMA.problem(EVENT_FORMS[kind], fields, kind) is None
    elif fields["ok"]:
        assert fields.keys() == {"id", "ok", "question", "answer"}
        check_answer(fields["question"], fields["answer"])
    else:
        assert fields.keys() == {"id", "ok", "error"}
        assert SCHEMA.problem(EVENT_FORMS["error"], fields["error"], "error") is None
