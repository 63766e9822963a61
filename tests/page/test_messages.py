"""Python's messages have the forms of their records, and the page checks them by the same forms.

Those to device workers are the ones that static/engine/messages.js lists."""

from __future__ import annotations

import ast
import io
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import playgrad
from playgrad.devices import registry
from playgrad.devices.base import Execution
from playgrad.devices.target import AdapterInfo, Limits
from playgrad.page.events import COMMANDS, EVENTS
from playgrad.page.question import SCHEMA, RequestError
from tests.page.answers import ANSWER_FORMS, EVENT_FORMS, REQUEST_FORMS, check_event
from tests.page.answers import QUESTIONS as ASKED
from tests.page.every_request import FAILED, ILL, LAB, PROGRAM, QUESTIONS, SWEPT, WHILE_TRAINING
from tests.page.messages import Types
from tests.page.python_side import modules_anew, started
from tools.messages import files

TYPES = Types()
LIBRARY = Path(playgrad.__file__).parent
ENGINE = Path(__file__).parents[2] / "static" / "engine"
EXAMPLES: dict[str, Any] = {
    "text": "text", "flag": True, "count": 1, "number": 1.5, "bytes": "a Uint8Array",
    "null": None, "any": 0,
}  # fmt: skip
NO_WORKSPACE: Any = None
"""For requests that are refused before anything is asked."""
GRAPH = {
    "kind": "graph_files", "names": ["nodes.csv", "edges.csv"], "first": 17,
    "payload": b"id,class\na,p\nb,q\nsource,target\na,b\n",
}  # fmt: skip
BAD, IMPORT, MODEL_FILE, RESTORE, GRAPH_FILES = range(100, 105)
"""Questions that come with a file."""


class Recorded(dict[str, Any]):
    """A request that records which fields Python reads."""

    def __init__(self, request: dict[str, Any]) -> None:
        super().__init__(request)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.read.add(name)
        return super().get(name, default)

    def copy(self) -> Recorded:
        """Return a copy whose fields are recorded here as well."""
        copy = Recorded(self)
        copy.read = self.read
        return copy


class Page:
    """A page for the controller: collects its events, and sends it requests."""

    def __init__(self, controller: ModuleType) -> None:
        self.controller = controller
        self.events: list[dict[str, Any]] = []
        self.requests: list[Recorded] = []
        self.served: list[Recorded] = []

    def poll(self) -> tuple[Recorded, None] | None:
        if not self.requests:
            return None
        is_asked = self.events and self.events[-1]["kind"] == "trial_message"
        if dict(self.requests[0])["kind"] == "trial_verdict" and not is_asked:
            return None
        self.served.append(self.requests.pop(0))
        return self.served[-1], None

    def send(self, *requests: dict[str, Any]) -> None:
        self.requests += map(Recorded, requests)
        self.controller.handle_pending()


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """The page after a run on one device, a failed run, an asynchronous run in the Lab, and
    requests."""
    host = SimpleNamespace(stop_requested=lambda: False, take_interrupt=lambda: False)
    with modules_anew(host), pytest.MonkeyPatch.context() as patch:
        from playgrad.page import controller

        page = Page(controller)
        host.emit = page.events.append
        patch.setattr(controller.host, "poll_mailbox", page.poll)
        patch.setattr(controller.host, "wait_mailbox", lambda timeout: page.poll())
        adapter = AdapterInfo("software", is_software=True)
        patch.setattr(registry, "gpu_adapters", lambda: [adapter])
        patch.setattr(registry, "enable_data_cache", lambda capacity: None)
        for name in ("stdout", "stderr"):
            patch.setattr(sys, name, io.StringIO())
        with started(controller):
            _drive(page)
            yield page


def _drive(page: Page) -> None:
    options = {"device": "cpu", "paused": False}
    page.send({"kind": "tune"})
    page.send({"kind": "run", "source": PROGRAM, "options": options}, *WHILE_TRAINING)
    asked = [question | {"id": number} for number, question in enumerate(QUESTIONS)]
    page.send(
        *asked, {"kind": "import", "name": "weights.npz", "payload": b"not weights", "id": BAD}
    )
    exported = [event for event in page.events if event.get("question") == "export"]
    content = {event["id"]: event["answer"]["bytes"] for event in exported}
    onnx, *_, weights = (content[number] for number in sorted(content))
    page.send({"kind": "import", "name": "weights.npz", "payload": weights, "id": IMPORT})
    page.send({"kind": "model_file", "name": "net.onnx", "payload": onnx, "id": MODEL_FILE})
    page.send(GRAPH | {"id": GRAPH_FILES})
    checkpoint = [event for event in page.events if event["kind"] == "checkpoint"][-1]["bytes"]
    page.send({"kind": "reset"}, {"kind": "restore", "payload": checkpoint, "id": RESTORE})
    resumed = options | {"resume": True}
    page.send({"kind": "run", "source": PROGRAM, "options": resumed, "payload": checkpoint})
    page.send({"kind": "run", "source": FAILED, "options": options})
    page.send({"kind": "run", "source": ILL, "options": options | {"doctor": True}})
    options |= {"devices": 2, "lab": LAB}
    page.send({"kind": "run", "source": PROGRAM, "options": options}, *WHILE_TRAINING)
    swept = {"device": "cpu", "paused": False}
    at_milestone = {"kind": "epoch", "epoch": 1, "metrics": {"loss": 1.0}, "directions": {}}
    at_end = at_milestone | {
        "kind": "end", "cut": False, "facts": {}, "seconds": 1.0, "steps": [], "losses": [],
    }  # fmt: skip
    page.send(
        {"kind": "run", "source": SWEPT, "options": swept},
        {"kind": "trial_message", "trial": 1, "message": json.dumps(at_milestone)},
        {"kind": "trial_message", "trial": 1, "message": json.dumps(at_end), "payload": weights},
    )
    trial = {"settings": '{"rate": 0.1}', "milestones": [1], "seed": 0}
    page.send(
        {"kind": "run", "source": SWEPT, "options": swept | {"trial": trial}},
        {"kind": "trial_verdict", "continues": True},
    )


def test_every_event_that_python_emits_is_in_the_list(page: Page) -> None:
    for event in page.events:
        check_event(event)


def test_every_event_in_the_list_is_emitted_by_python(page: Page) -> None:
    # Ratings follow long matches: tests/browser/test_game_board.py.
    assert {event["kind"] for event in page.events} == {*EVENTS, "reply"} - {"rating"}
    known = {"reason", "accuracy", "updates", "staleness", "mean_staleness", "lost", "traceback"}
    assert known <= {key for event in page.events for key in _keys(event)}


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _keys(item)


def test_the_source_of_python_emits_no_other_kinds() -> None:
    kinds = {*EVENTS, "reply"}
    for folder in ("page", "training", "devices/_browser"):
        for path in (LIBRARY / folder).rglob("*.py"):
            for event in re.finditer(r'\{\s*"kind": "(\w+)"', path.read_text(encoding="utf-8")):
                assert event[1] in kinds, f"{path}: {event[1]}"


def test_python_reads_the_fields_of_each_request_and_no_others(page: Page) -> None:
    read: dict[str, set[str]] = {}
    for request in page.served:
        read.setdefault(request["kind"], set()).update(request.read)
    assert read.keys() == REQUEST_FORMS.keys()
    for kind, form in REQUEST_FORMS.items():
        names = {name.removesuffix("?") for name in form} - {"payload"}
        assert read[kind] - {"payload", "kind", "id"} == names, kind


def test_python_answers_each_question(page: Page) -> None:
    replies = {event["id"]: event for event in page.events if event["kind"] == "reply"}
    kinds = dict(enumerate(question["kind"] for question in QUESTIONS))
    kinds |= {
        IMPORT: "import",
        MODEL_FILE: "model_file",
        RESTORE: "restore",
        GRAPH_FILES: "graph_files",
    }
    assert ASKED.keys() == set(kinds.values())
    for number, kind in kinds.items():
        assert replies[number]["ok"], replies[number]
        assert replies[number]["question"] == kind
    assert not replies[BAD]["ok"]


def test_python_handles_no_other_commands() -> None:
    handled: set[str] = set()
    files = (
        "page/controller.py",
        "page/trial_pool.py",
        "page/trial_run.py",
        "training/chunk_loop.py",
    )
    for path in (LIBRARY / file for file in files):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare) and ast.unparse(node.left) == "kind":
                compared = [c.value for c in node.comparators if isinstance(c, ast.Constant)]
                handled |= {value for value in compared if isinstance(value, str)}
    assert handled == set(COMMANDS)


def test_the_page_has_the_forms_of_the_records() -> None:
    """Otherwise run ``python -m tools.messages``."""
    for path, content in files().items():
        assert path.read_text(encoding="utf-8") == content, path


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"sample": "first", "layer": ""}, "sample"),
        ({"sample": -1, "layer": ""}, "sample"),
        ({"sample": 1.5, "layer": ""}, "sample"),
        ({"sample": True, "layer": ""}, "sample"),
        ({"layer": ""}, "sample"),
        ({"sample": 0, "layer": "", "head": 1}, "head"),
    ],
)
def test_a_request_of_another_form_is_refused(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(RequestError, match="the question 'attention'") as refused:
        ASKED["attention"].answer_to({"kind": "attention", "id": 1, **fields}, NO_WORKSPACE)
    assert refused.value.field == field


def test_a_wrong_field_within_a_request_is_named() -> None:
    asked = {"layer": None, "sample": 0, "pixels": None, "scaled": [], "edits": [{"at": 0}]}
    with pytest.raises(RequestError) as refused:
        ASKED["inspect_layers"].answer_to(asked, NO_WORKSPACE)
    assert refused.value.field == "edits[0].value"


def test_calls_to_a_device_worker_have_the_arguments_in_the_list(page: Page) -> None:
    from playgrad.devices._browser import gpus

    (arguments,) = TYPES.shapes(("name", "DeviceArguments"))
    (values,) = TYPES.shapes(("name", "DeviceValues"))
    assert arguments.keys() == values.keys() | {"execute"}  # whose answer is numbers
    calls: set[str] = set()

    class Connection:
        def call(self, call: str, device: int, argument: Any, *data: Any) -> Any:
            decoded = json.loads(json.dumps(argument))
            assert TYPES.mismatch(arguments[call].type, decoded, call) is None
            calls.add(call)
            return TYPES.sample(values[call].type) if call in values else None, b""

        def post(self, call: str, device: int, text: str, *data: Any) -> SimpleNamespace:
            self.call(call, device, json.loads(text), *data)
            return SimpleNamespace(result=lambda: ("2 0.5 10 11 12", b""))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpus, "connection_to", lambda device: Connection())
        patch.setattr(gpus, "check_plan", lambda *args: None)
        patch.setattr(gpus.playgrad_host, "kept_data", lambda *args: b"", raising=False)
        assert gpus.list_adapters()[0].limits == Limits()
        host = gpus.open()
        plan: dict[str, Any] = {"kernels": []}
        program = host.load(plan, {"x": 1})
        host.expect(plan)
        buffer = host.create_buffer(4)
        host.execute(Execution(program, 0, 2, [(buffer, 0, b"1234")], [((program, 0), 0, 0)]))
        host.stats()
        host.destroy_buffer(buffer)
        host.unload(program)
        host.destroy()
    assert calls == arguments.keys()


def test_an_adapter_has_the_same_fields_in_python_and_in_the_page() -> None:
    (shape,) = TYPES.shapes(("name", "AdapterInfo"))
    names = {field.name for field in fields(AdapterInfo)}
    assert names - {"driver"} == shape.keys()  # browsers do not report a driver


def test_the_module_that_python_imports_has_the_functions_that_python_calls() -> None:
    source = (ENGINE / "python-host.js").read_text(encoding="utf-8")
    offered = set(re.findall(r"^    (\w+)[:(]", source[source.index("  return {") :], re.MULTILINE))
    called: set[str] = set()
    for path in (LIBRARY / "devices" / "_browser").glob("*.py"):
        called |= set(re.findall(r"playgrad_host\.(\w+)", path.read_text(encoding="utf-8")))
    assert called == offered


def _checked_by_the_page(messages: list[Any]) -> list[bool]:
    """Return, for each message, whether the page accepts it."""
    script = """
        import { isWellFormed } from "./message-checks.js";
        const named = {
          "a Uint8Array": () => new Uint8Array(1),
          "a SharedArrayBuffer": () => new SharedArrayBuffer(1),
          "a WebAssembly.Module":
            () => new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])),
        };
        const sized = /^(\\d+) bytes$/;
        const revive = (key, value) => named[value]?.()
          ?? (sized.test(value) ? new Uint8Array(parseInt(value)) : value);
        const messages = JSON.parse(await new Response(process.stdin).text(), revive);
        console.log(JSON.stringify(messages.map(isWellFormed)));
    """
    node = shutil.which("node")
    assert node, "these tests need Node.js 20 or newer"
    result = subprocess.run(
        [node, "--input-type=module", "--eval", script],
        cwd=ENGINE,
        input=json.dumps(messages),
        capture_output=True,
        text=True,
        check=True,
    )
    accepted: list[bool] = json.loads(result.stdout)
    return accepted


def _sample(form: Any) -> Any:
    """Return an example of a form."""
    if isinstance(form, str):
        return EXAMPLES[form] if form in EXAMPLES else _sample(SCHEMA.named[form])
    if isinstance(form, dict):
        return {name.removesuffix("?"): _sample(part) for name, part in form.items()}
    kind, first, *_ = form
    if kind == "one":
        return first
    if kind == "map":
        return {"name": _sample(first)}
    if kind == "tuple":
        return [_sample(part) for part in form[1:]]
    return [_sample(first)] if kind == "list" else _sample(first)


def _worker_samples() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return messages of the worker's JavaScript, with the types of their fields."""
    return [
        ({name: TYPES.sample(field.type) for name, field in shape.items()}, shape)
        for shapes in TYPES.messages("PythonWorkerEvent").values()
        for shape in shapes
    ]


def test_the_page_accepts_every_message(page: Page) -> None:
    events = json.loads(json.dumps(page.events, default=lambda content: f"{len(content)} bytes"))
    # A figure is accepted only if it can be drawn; the program has sent some.
    samples = [{"kind": kind, **_sample(EVENT_FORMS[kind])} for kind in EVENTS if kind != "figure"]
    messages = [*samples, *(sample for sample, _ in _worker_samples()), *events]
    for message, accepted in zip(messages, _checked_by_the_page(messages), strict=True):
        assert accepted, message


@pytest.mark.survival("Forged and malformed messages")
def test_the_page_drops_every_message_with_a_field_of_another_type(
    page: Page, record_property: Callable[[str, object], None]
) -> None:
    odd: list[Any] = [None, 1.5, -1, "odd", True, [], ["odd"], {}]
    forged: list[Any] = [*odd, {"kind": "unknown"}, {"kind": "constructor"}, {"kind": ["status"]}]
    forged += [{"kind": "reply", "id": 1, "ok": True, "question": name} for name in odd]
    for sample, shape in _worker_samples():
        for name, field in shape.items():
            if name != "kind" and not field.optional:
                wrong = [each for each in odd if TYPES.mismatch(field.type, each)]
                forged += [{**sample, name: each} for each in wrong]
                forged.append({key: value for key, value in sample.items() if key != name})
    for kind in EVENTS:
        sample = {"kind": kind, **_sample(EVENT_FORMS[kind])}
        forged += [{**sample, **wrong} for wrong in _changed(EVENT_FORMS[kind], odd)]
    for kind, form in ANSWER_FORMS.items():
        reply = {"kind": "reply", "id": 1, "ok": True, "question": kind}
        answers = [each for each in odd if SCHEMA.problem(form, each)]
        forged += [{**reply, "answer": each} for each in answers]
        for record in _records(form):
            sample = _sample(record)
            forged += [{**reply, "answer": {**sample, **wrong}} for wrong in _changed(record, odd)]
    record_property("tried", len(forged))
    for message, accepted in zip(forged, _checked_by_the_page(forged), strict=True):
        assert not accepted, message


def _records(form: Any) -> Iterator[dict[str, Any]]:
    """Yield the records that a form allows."""
    if isinstance(form, dict):
        yield form
    elif isinstance(form, list) and form[0] == "or":
        for part in form[1:]:
            yield from _records(part)
    elif form in SCHEMA.named if isinstance(form, str) else False:
        yield from _records(SCHEMA.named[form])


def _changed(form: dict[str, Any], odd: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield fields of a record with a value of another type."""
    for name, part in form.items():
        for each in odd:
            if SCHEMA.problem(part, each) is not None:
                yield {name.removesuffix("?"): each}


def test_the_checker_finds_differences() -> None:
    form = EVENT_FORMS["status"]
    assert SCHEMA.problem(form, {"state": "running"}) is None
    for wrong in ({"state": "asleep"}, {"state": "done", "more": 1}, {"state": None}, {}):
        assert SCHEMA.problem(form, wrong) is not None
