"""The Python side of the page: runs the user's program and serves the page's requests.

While the program trains, the training loop polls for requests between its chunks
(``PageHooks.poll``). While no program runs, the worker calls ``handle_pending`` when a request has
arrived. Both end in ``Controller.serve``.
"""

from __future__ import annotations

import gc
import linecache
import sys
from importlib.machinery import PathFinder
from typing import Any

from playgrad.data.source import set_source
from playgrad.data.user_data import set_user_data
from playgrad.devices import _browser as host
from playgrad.devices import registry
from playgrad.doctor.inspector import Inspector
from playgrad.errors import CheckpointError, GraphError, PlaygradError
from playgrad.graph.graph import get_default_graph, reset_default_graph
from playgrad.interchange.onnx.messages import set_archive
from playgrad.io.user_files import set_user_files
from playgrad.page.browser_user_data import BrowserModels, BrowserUserData
from playgrad.page.built_model import built_model
from playgrad.page.faults import FILE, describe
from playgrad.page.idle_tuner import IdleTuner
from playgrad.page.lab import Lab, choices
from playgrad.page.later_modules import LaterModules
from playgrad.page.left_behind import begin_program
from playgrad.page.memory_reserve import MemoryReserve
from playgrad.page.onnx_archive import onnx_archive
from playgrad.page.packages import Packages
from playgrad.page.page_hooks import PageHooks, joined
from playgrad.page.prompt import Outcome, Prompt
from playgrad.page.question import questions
from playgrad.page.questions.training_step import graph
from playgrad.page.restored_model import RestoredModel
from playgrad.page.sending import (
    emit,
    emit_checkpoint,
    emit_findings,
    figures,
    print_error,
    print_text,
    streams,
)
from playgrad.page.session_graphs import SessionGraphs
from playgrad.page.trial_run import PageTrialHooks
from playgrad.page.unrun_graphs import unrun_graphs
from playgrad.page.workspace import Workspace
from playgrad.runtime.hooks import Request, set_hooks
from playgrad.runtime.open_sessions import close_sessions
from playgrad.runtime.options import Options, options_set
from playgrad.training.checkpoints.record import Checkpoint
from playgrad.training.checkpoints.run_record import RunRecord
from playgrad.training.observers import Observers

CACHED_BYTES = 128 << 20
"""Capacity of a GPU's data cache. The data sets of MNIST take 55 million bytes."""
QUESTIONS = questions()
_NOTHING_RESUMED = "Nothing was resumed: the program calls no fit(), so it ran from the start."
_TRAINING = {"pause", "resume", "step", "set_learning_rate", "trial_message", "trial_verdict"}
"""Requests that the training loop or a sweep serves; without one they are ignored."""


class Controller(Workspace):
    """Runs the user's program, and serves the page's requests.

    Attributes:
        record: the record of the last run.
        interruptible: whether the program runs and has not been told to stop yet.
        packages: installs the packages that programs import; None on the desktop, where programs
            use the installed ones.
    """

    def __init__(self) -> None:
        super().__init__(SessionGraphs(lambda view: emit({"kind": "graph", "graph": view}), FILE))
        self.record: RunRecord | None = None
        self.hooks = PageHooks(self)
        self.running = False
        self.interruptible = False
        self.stopped = False
        self.lab: Lab | None = None
        self.inspector: Inspector | None = None
        self.prompt = Prompt(print_text, print_error)
        self.tuner = IdleTuner()
        self.packages: Packages | None = None

    def run(
        self, source: str, run_options: dict[str, Any], checkpoint: bytes | None = None
    ) -> None:
        """Run a program from the beginning, in a new namespace and graph.

        Args:
            checkpoint: where its fits continue, with the option ``resume``.
        """
        self.reset()
        if (trial := run_options.get("trial")) is not None:  # this interpreter runs nothing else
            self.hooks = PageTrialHooks(self, trial)
            set_hooks(self.hooks)
        self.hooks.sweeps = 0
        emit({"kind": "status", "state": "running"})
        linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
        self.namespace = {"__name__": "__main__", "__file__": FILE}
        self.running = True
        state = "done"
        try:
            if self.hooks.stopped():
                raise KeyboardInterrupt
            if self.packages is not None:
                self.packages.install_for(source)
            _set_devices(run_options.get("devices"))
            resumed = self._resumed(checkpoint) if run_options.get("resume") else None
            in_lab = run_options.get("lab") is not None  # the Lab measures times
            self.record = RunRecord(emit_checkpoint, resumed, spread=not in_lab)
            with MemoryReserve(), options_set(self._options(run_options, source)):
                self.interruptible = True
                exec(compile(source, FILE, "exec"), self.namespace)
                if self.packages is not None:
                    self.packages.conclude()
                if self.model is None:
                    self.built = built_model(self.namespace)
                if self.model is None and not self.graphs.programs:
                    for program, policy in unrun_graphs(self.namespace):
                        self.graphs.add(program, policy)
        except KeyboardInterrupt:
            state = "stopped"
            self.stopped = True
        except BaseException as error:
            if not (isinstance(error, SystemExit) and not error.code):
                emit({"kind": "error", **describe(error)})
                state = "error"
        finally:
            self.running = False
            self.interruptible = False
        figures.finish()
        if self.model is None:
            self.graphs.finish()
        self._flush_checkpoint()
        if run_options.get("resume") and state == "done" and not self._has_trained():
            print(_NOTHING_RESUMED, file=sys.stderr)
        emit({"kind": "status", "state": state, "built": self.built is not None})
        if self.inspector is not None:
            self.inspector.conclude()

    def _has_trained(self) -> bool:
        return self.record is not None and self.record.has_fits

    def _resumed(self, content: bytes | None) -> Checkpoint:
        """Return the checkpoint that a run resumes. Its model stands in until the run trains it.

        Raises:
            CheckpointError: there is none, or it is damaged.
        """
        if content is None:
            raise CheckpointError("there is no checkpoint to resume from.", hint="Press Run.")
        checkpoint = Checkpoint.decode(content)
        self.restored = RestoredModel(checkpoint)
        return checkpoint

    def _flush_checkpoint(self) -> None:
        """Send the changes of the run since its last checkpoint."""
        try:
            if self.record is not None:
                self.record.flush()
        except KeyboardInterrupt:
            self._flush_checkpoint()  # it was meant for the program, which has ended
        except PlaygradError as error:
            print(f"The state of the training was not kept: {error}", file=sys.stderr)

    def _options(self, run_options: dict[str, Any], source: str) -> Options:
        """Return the page's overrides of the program's settings.

        Raises:
            GraphError: the Lab's choices do not fit together.
        """
        chosen = run_options.get("lab")
        lab = self.lab = None if chosen is None else Lab.of(chosen)
        if lab is None and run_options.get("doctor"):  # the Lab measures times
            self.inspector = Inspector(source, FILE, emit_findings, pauses=True, defers=True)
        # The Lab measures times.
        observers = [self.inspector, self.histograms if lab is None else None]
        device = run_options.get("device")
        return Options(
            phrases=run_options.get("phrases", {}),
            device=None if device == "auto" else device,
            start_paused=bool(run_options.get("paused")),
            seed=trial["seed"] if (trial := run_options.get("trial")) else None,
            strategy=None if lab is None else lab.strategy,
            steps=None if lab is None else lab.steps,
            record=self.record,
            observer=Observers([each for each in observers if each is not None]),
            keeps_data=True,
        )

    def reset(self) -> None:
        """Forget the program and its model, and free their memory on devices.

        Its data sets stay in the data cache: the next program may well train on the same ones.
        """
        self.forget_shrunk()
        self.forget_speed()
        self.tuner.pause()
        self.model = self.built = None
        self.record = None
        self.lab = None
        self.inspector = None
        self.game.forget()
        self.histograms.forget()
        self.graphs.clear()
        self.runs.clear()
        self.bench.clear()
        self.nodes.clear()
        figures.finish()
        begin_program(self.namespace)
        self.namespace = {}
        registry.clear_data_caches()  # data of earlier programs, which this one did not use
        close_sessions()
        if self.stopped:
            registry.close_used()
            self.stopped = False
        reset_default_graph()
        gc.collect()

    def serve(self, request: Request) -> None:
        """Handle one request, and answer it if it has an ``id``."""
        kind = request.get("kind")
        if kind == "run":
            if self.running:
                raise GraphError("a program is already running.")
            self.run(request["source"], request.get("options") or {}, request.get("payload"))
        elif kind == "reset":
            if not self.running:
                self.reset()
                self.restored = None
                registry.clear_data_caches()
                emit({"kind": "status", "state": "idle"})
        elif kind == "tune":
            if not self.running:
                self._tune()
        elif kind == "trace":
            if self.lab is not None:
                self.lab.trace_next = True
        elif kind not in _TRAINING:
            self._answer(request)

    def _tune(self) -> None:
        try:
            event = self.tuner.step()
            if event is not None:
                emit(event)
        except KeyboardInterrupt:
            self.stopped = True  # the stop was for the run that waits, which will find it

    def _answer(self, request: Request) -> None:
        kind = str(request.get("kind"))
        reply: dict[str, Any] = {"kind": "reply", "id": request.get("id")}
        try:
            if kind not in QUESTIONS:
                raise GraphError(f"there is no request {kind!r}.")
            answer = QUESTIONS[kind].answer_to(request, self)
            reply |= {"ok": True, "question": kind, "answer": answer}
        except Exception as error:  # whatever it is, the page waits for an answer
            reply |= {"ok": False, "error": describe(error)}
        emit(reply)

    def execute(self, code: str) -> Outcome:
        self.namespace.setdefault("__name__", "__main__")
        graph = get_default_graph() if self.model is None else self.model.graph
        trained = graph if self.running else None
        outcome = self.prompt.execute(code, self.namespace, trained)
        figures.finish()
        return outcome

    def weights_changed(self) -> None:
        """Send a checkpoint with the new weights."""
        self.forget_shrunk()
        if self.model is None and self.restored is not None:
            emit_checkpoint(self.restored.checkpoint)
        elif self.record is not None:
            self.record.flush(always=True)

    def emit_graph(self) -> None:
        """Send the graph of a training step to the page."""
        emit({"kind": "graph", "graph": graph(self.trained_here())})


def _set_devices(count: int | None) -> None:
    """Set the number of logical devices of each kind; None for the default."""
    registry.reset_logical_devices()
    if count is not None:
        registry.set_logical_devices(cpu=count, gpu=count if registry.gpu_adapters() else None)


controller = Controller()


def main() -> None:
    """Take over output streams, hooks and the data source. The worker calls this once."""
    sys.stdout, sys.stderr = streams["stdout"], streams["stderr"]
    set_hooks(controller.hooks)
    host.expect_interrupts(lambda: controller.prompt.busy or host.stop_requested())
    host.emit(choices())
    registry.enable_data_cache(CACHED_BYTES)
    set_source(lambda name: host.fetch_data(f"/data/{name}"))
    set_user_data(BrowserUserData())
    set_archive(onnx_archive)
    set_user_files(BrowserModels())
    if sys.platform == "emscripten":
        controller.packages = Packages(host.fetch_data)
        place = sys.meta_path.index(PathFinder)
        sys.meta_path.insert(place, LaterModules(host.fetch_later_library))
        sys.meta_path.append(controller.packages)


def prepare(package: str) -> None:
    """Import a package for the next program. The worker calls this while it is spare."""
    if controller.packages is not None:
        controller.packages.prepare(package)


def handle_pending() -> None:
    """Serve every request in the mailbox. The worker calls this while Python is idle."""
    while (pair := host.poll_mailbox()) is not None:
        controller.serve(joined(pair))


__all__ = ["Controller", "handle_pending", "main", "prepare"]
