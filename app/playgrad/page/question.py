"""Questions of the page: each is a function below ``questions/``, which is all that there is of it.

`question` registers the function. The annotations of its request and of its answer, which are
records (``TypedDict``), are the only description of both: Python checks requests by them, the page
checks answers by them, and its types are made of them (``python -m tools.messages``).
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeVar

from playgrad.errors import PlaygradError
from playgrad.page.schema import Form, Schema, plain
from playgrad.page.weights_at import weights_at
from playgrad.page.workspace import Workspace
from playgrad.runtime.hooks import Request
from playgrad.training.checkpoints.record import Checkpoint

About = Literal["workspace", "program", "trained", "answering", "shown"]
Function = TypeVar("Function", bound=Callable[..., Any])
SCHEMA = Schema()
"""The forms of all questions and answers."""
_PACKAGE = "playgrad.page.questions"
_ENVELOPE = ("kind", "id")


class RequestError(PlaygradError):
    """A request that is not of the form that its question has.

    Attributes:
        field: the path of the field that is wrong, such as ``edits[0].at``.
    """

    def __init__(self, kind: str, problem: str) -> None:
        self.field = problem.partition(":")[0].removeprefix(".")
        super().__init__(f"the question '{kind}' has another form: {problem.removeprefix('.')}.")


@dataclass(frozen=True)
class Question:
    """A question, with the function that answers it.

    Attributes:
        kind: its name in messages.
        about: see `question`.
        at_checkpoint: see `question`.
    """

    kind: str
    function: Callable[..., Any]
    about: About
    at_checkpoint: bool

    @cached_property
    def request_name(self) -> str | None:
        """The name of the request's record; None for a question without fields."""
        record = self._annotations.get("request")
        return None if record is None else str(SCHEMA.form(record))

    @property
    def request(self) -> dict[str, Form]:
        """The form of the request's fields."""
        return {} if self.request_name is None else SCHEMA.named[self.request_name]

    @cached_property
    def answer(self) -> Form:
        """The form of the answer."""
        return SCHEMA.form(self._annotations["return"])

    @cached_property
    def _annotations(self) -> Mapping[str, Any]:
        wanted = {"request", "return"}
        texts = inspect.get_annotations(self.function)
        names = self.function.__globals__
        return {name: eval(texts[name], names) for name in wanted & texts.keys()}

    def answer_to(self, request: Request, workspace: Workspace) -> Any:
        """Return the answer.

        Raises:
            RequestError: a field of the request is missing, unknown or of another type.
            GraphError: there is no model that the question could be about.
        """
        fields = request.copy()
        for name in _ENVELOPE:
            fields.pop(name, None)
        content = fields.pop("payload", None) if self.at_checkpoint else None
        problem = SCHEMA.problem(self.request, fields)
        if problem is not None:
            raise RequestError(self.kind, problem)
        arguments = [] if self.request_name is None else [fields]
        if self.about == "workspace":
            weights = [content] if self.at_checkpoint else []
            return plain(self.function(workspace, *arguments, *weights))
        models = {
            "program": workspace.trained_here,
            "trained": workspace.trained,
            # As it was earlier, the model itself answers.
            "answering": workspace.trained if content else workspace.answering,
            "shown": workspace.shown,
        }
        model = models[self.about]()
        if not content:
            return plain(self.function(model, *arguments))
        with weights_at(model, Checkpoint.decode(content)) as earlier:
            return plain(self.function(earlier, *arguments))


_questions: dict[str, Question] = {}


def question(
    kind: str, about: About, *, at_checkpoint: bool = False
) -> Callable[[Function], Function]:
    """Register a function as the answer to a question of the page.

    Its first argument is the subject of the question, its second, ``request``, has the fields of
    the question, if it has any. ``payload`` is the field for bytes that may come with a request.

    Args:
        about: "trained": the model that was trained or restored last; "answering": a smaller
            version of it, if one was chosen; "program": one that was trained, not restored;
            "shown": the first of these, or one that the program has only built; "workspace":
            everything of the program.
        at_checkpoint: the payload may be a checkpoint, whose weights the model then has; a question
            about the workspace gets it as it is.
    """

    def register(function: Function) -> Function:
        _questions[kind] = Question(kind, function, about, at_checkpoint)
        return function

    return register


def questions() -> Mapping[str, Question]:
    """Return the questions of every module in the package ``questions``, by kind."""
    package = importlib.import_module(_PACKAGE)
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{_PACKAGE}.{module.name}")
    return _questions
