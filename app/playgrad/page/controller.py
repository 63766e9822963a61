"""The Python side of the page: runs the user's program and serves the page's requests.

While the program runs, training asks for requests between its chunks (``PageHooks.poll``); while
nothing runs, the worker calls ``handle_pending`` when a request has arrived. Both end in ``serve``.
"""

from __future__ import annotations

import gc
import linecache
import sys
from typing import Any

import numpy as np

from playgrad.data.source import set_source
from playgrad.devices import _browser as host
from playgrad.devices import registry
from playgrad.dtypes import dtype
from playgrad.errors import CheckpointError, GraphError, ShapeError
from playgrad.graph.graph import reset_default_graph
from playgrad.io import decode, encode
from playgrad.page.faults import FILE, describe
from playgrad.page.graph_view import asynchronous_view, graph_view
from playgrad.page.idle_tuner import IdleTuner
from playgrad.page.lab import Lab, choices
from playgrad.page.output import Stream
from playgrad.runtime.hooks import Event, Hooks, Request, set_hooks
from playgrad.runtime.open_sessions import close_sessions
from playgrad.runtime.options import Options, options_set
from playgrad.runtime.trace import Trace

KEPT_BYTES = 128 << 20
"""Data sets that may stay on a GPU between runs: those of MNIST take 55 million bytes."""
_TRAINING = {"pause", "resume", "step", "set_learning_rate"}


class PageHooks(Hooks):
    """Lets training talk to the page."""

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self._early: list[Request] = []

    def emit(self, event: Event) -> None:
        _emit(event)

    def fitting(self, model: Any) -> None:
        self.controller.model = model
        if self.controller.lab is not None:
            _emit(self.controller.lab.fitting(model))
        self.controller.emit_graph()

    def new_trace(self) -> Trace | None:
        lab = self.controller.lab
        return None if lab is None else lab.new_trace()

    def traced(self, trace: Trace, steps: int, seconds: float) -> None:
        lab = self.controller.lab
        report = None if lab is None else lab.report(trace, steps, seconds)
        if report is not None:
            _emit(report)

    def poll(self) -> list[Request]:
        sys.stdout.flush()
        sys.stderr.flush()
        requests, self._early = self._early, []
        while (pair := host.poll_mailbox()) is not None:
            requests.append(_joined(pair))
        return requests

    def wait(self, timeout: float) -> None:
        pair = host.wait_mailbox(timeout)
        if pair is not None:
            self._early.append(_joined(pair))

    def stopped(self) -> bool:
        return host.stop_requested()

    def serve(self, request: Request) -> None:
        self.controller.serve(request)


class Controller:
    """Holds the user's program and the model that it trained last."""

    def __init__(self) -> None:
        self.model: Any = None
        self.namespace: dict[str, Any] = {}
        self.hooks = PageHooks(self)
        self.running = False
        self.stopped = False
        self.lab: Lab | None = None
        self.tuner = IdleTuner()

    def run(self, source: str, run_options: dict[str, Any]) -> None:
        """Run a program from the beginning, in a namespace and graph of its own."""
        self.reset()
        _emit({"kind": "status", "state": "running"})
        linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
        self.namespace = {"__name__": "__main__", "__file__": FILE}
        self.running = True
        state = "done"
        try:
            if self.hooks.stopped():
                raise KeyboardInterrupt
            _offer(run_options.get("devices"))
            with options_set(self._options(run_options)):
                exec(compile(source, FILE, "exec"), self.namespace)
        except KeyboardInterrupt:
            state = "stopped"
            self.stopped = True
        except BaseException as error:
            if not (isinstance(error, SystemExit) and not error.code):
                _emit({"kind": "error", **describe(error)})
                state = "error"
        finally:
            self.running = False
        _emit({"kind": "status", "state": state})

    def _options(self, run_options: dict[str, Any]) -> Options:
        """What the page decides in the program's place.

        Raises:
            GraphError: the Lab's choices do not fit together.
        """
        chosen = run_options.get("lab")
        lab = self.lab = None if chosen is None else Lab.of(chosen)
        device = run_options.get("device")
        return Options(
            device=None if device == "auto" else device,
            start_paused=bool(run_options.get("paused")),
            strategy=None if lab is None else lab.strategy,
            steps=None if lab is None else lab.steps,
        )

    def reset(self) -> None:
        """Forget the program, its model, and what they hold on the device. Its data sets stay there
        for the next program, which may well train on the same ones."""
        self.model = None
        self.lab = None
        self.namespace.clear()
        registry.clear_data_caches()  # what this program could have used again, but did not
        close_sessions()
        if self.stopped:
            registry.close_used()
            self.stopped = False
        reset_default_graph()
        gc.collect()

    def serve(self, request: Request) -> None:
        """Carry out one request, and answer it if it has an ``id``."""
        kind = request.get("kind")
        if kind == "run":
            if self.running:
                raise GraphError("a program is running already.")
            self.run(request["source"], request.get("options") or {})
        elif kind == "reset":
            if not self.running:
                self.reset()
                registry.clear_data_caches()
                _emit({"kind": "status", "state": "idle"})
        elif kind == "tune":
            if not self.running:
                self._tune()
        elif kind == "trace":
            if self.lab is not None:
                self.lab.wanted = True
        elif kind not in _TRAINING:
            self._answer(request)

    def _tune(self) -> None:
        try:
            told = self.tuner.step()
            if told is not None:
                _emit(told)
        except KeyboardInterrupt:
            self.stopped = True  # the run that waits is meant: it finds the stop still asked for

    def _answer(self, request: Request) -> None:
        reply: dict[str, Any] = {"kind": "reply", "id": request.get("id")}
        try:
            handler = getattr(self, f"_on_{request.get('kind')}", None)
            if handler is None:
                raise GraphError(f"there is no request {request.get('kind')!r}.")
            reply |= {"ok": True, **handler(request)}
        except Exception as error:  # whatever it is, the page is waiting for an answer
            reply |= {"ok": False, "error": describe(error)}
        _emit(reply)

    def _trained(self) -> Any:
        if self.model is None:
            raise GraphError("there is no trained model yet.", hint="Press Run first.")
        return self.model

    def _on_export(self, request: Request) -> dict[str, Any]:
        kind = request.get("format", "safetensors")
        weights = self._trained().get_weights()
        return {"filename": f"weights.{kind}", "bytes": encode(weights, kind)}

    def _on_import(self, request: Request) -> dict[str, Any]:
        model, payload = self._trained(), request.get("payload")
        try:
            if not payload:
                raise CheckpointError("the file is empty.")
            weights = decode(payload)
            model.set_weights(weights)
        except CheckpointError as error:
            error.message = f"{request['name']}: {error.message}"
            error.hint = error.hint or "Save it again, or choose another: .safetensors or .npz."
            raise
        return {"names": sorted(weights)}

    def _on_placement(self, request: Request) -> dict[str, Any]:
        model = self._trained()
        summary = model.session.placement_summary(model.training_targets)
        return {"placement": summary.as_dict()}

    def _on_predict(self, request: Request) -> dict[str, Any]:
        model = self._trained()
        pixels = np.asarray(request["pixels"], np.float32) * model.input_maximum
        shape = model.input_shape[1:]
        if pixels.size != int(np.prod(shape)):
            raise ShapeError(
                f"a drawing has {pixels.size} pixels, but the model takes inputs of shape {shape}."
            )
        kind = dtype(model.inputs[0].dtype)
        drawing = (pixels if kind.floating else np.round(pixels)).astype(kind.numpy)
        scores = model.predict(drawing.reshape(1, *shape))[0]
        probabilities = _softmax(scores) if model.gives_logits else scores
        return {
            "probabilities": [float(p) for p in probabilities.reshape(-1)],
            "label": int(np.argmax(probabilities)),
        }

    def _on_graph(self, request: Request) -> dict[str, Any]:
        return {"graph": self._graph()}

    def _graph(self) -> dict[str, Any]:
        model = self._trained()
        if model.parameter_server is not None:
            return asynchronous_view(model.parameter_server, model.session.policy, FILE)
        return graph_view(model.training_targets, model.session.policy, FILE)

    def emit_graph(self) -> None:
        """Send the page the graph of a training step."""
        _emit({"kind": "graph", "graph": self._graph()})


def _offer(count: int | None) -> None:
    """Let the program have ``count`` devices of each kind that there is; None for the usual."""
    registry.reset_logical_devices()
    if count is not None:
        registry.set_logical_devices(cpu=count, gpu=count if registry.gpu_adapters() else None)


def _emit(event: Event) -> None:
    """Send an event after all that was printed before it."""
    sys.stdout.flush()
    sys.stderr.flush()
    host.emit(event)


def _softmax(scores: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    powers = np.exp(scores - scores.max())
    result: np.ndarray[Any, Any] = powers / powers.sum()
    return result


def _joined(pair: host.Request) -> Request:
    request, payload = pair
    return request if payload is None else {**request, "payload": payload}


controller = Controller()


def main() -> None:
    """Take over streams, hooks and data source; called once, by the worker."""
    sys.stdout = Stream("stdout", host.emit)
    sys.stderr = Stream("stderr", host.emit)
    set_hooks(controller.hooks)
    host.emit(choices())
    registry.enable_data_cache(KEPT_BYTES)
    set_source(lambda name: host.fetch_data(f"/data/{name}"))


def handle_pending() -> None:
    """Serve everything in the mailbox; called by the worker while Python is idle."""
    while (pair := host.poll_mailbox()) is not None:
        controller.serve(_joined(pair))


__all__ = ["Controller", "handle_pending", "main"]
