"""Questions about code that is typed while the names of the program exist."""

from __future__ import annotations

from typing import TypedDict

from playgrad.page.name_completion import Completion, complete
from playgrad.page.prompt import Outcome
from playgrad.page.question import question
from playgrad.page.workspace import Workspace


class PromptQuestion(TypedDict):
    code: str


class CompleteQuestion(TypedDict):
    text: str


@question("prompt", "workspace")
def prompt(workspace: Workspace, request: PromptQuestion) -> Outcome:
    """Execute code with the names of the program; its output is sent as events."""
    return workspace.execute(request["code"])


@question("complete", "workspace")
def completions(workspace: Workspace, request: CompleteQuestion) -> list[Completion]:
    """Return the names that can follow at the end of the text."""
    return complete(request["text"], workspace.namespace)
