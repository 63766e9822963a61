"""The models that a server has loaded: taken up from a folder, swapped, and freed.

`ModelManager.update` compares the folder with what is loaded. It loads a new version beside the one
that answers, warms it, and only then lets requests go to it; the other one is retired, and freed
when the last of its requests is done. A version that cannot be used changes nothing.
"""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from playgrad.errors import DataError, PlaygradError, ReadError
from playgrad.serving.batching import VersionRunner
from playgrad.serving.choice import STABLE, ServingChoice, read_choice
from playgrad.serving.errors import AnswerError
from playgrad.serving.metrics import ServingMetrics
from playgrad.serving.servable import servable_of
from playgrad.serving.settings import ServingSettings
from playgrad.serving.signature import ModelSignature
from playgrad.serving.signature_rule import accepted_signature
from playgrad.serving.store import ModelStore, Stamp

_log = logging.getLogger("playgrad.serving")


@dataclass(frozen=True)
class RefusedVersion:
    """Why a version was not taken up.

    Attributes:
        stamp: of its files; when they change, it is tried again.
    """

    stamp: Stamp
    kind: str
    reason: str


@dataclass
class ServedModel:
    """A model with its versions.

    Attributes:
        runners: the versions that answer, by number, in order.
        choice: the last one that could be read.
        labels: the versions that answer requests for a label. One that was moved to another version
            stays where it is until that version answers.
        refusals: the versions that were not taken up, by number.
        loading: the version that is being loaded; None if none is.
        problem: why the choice cannot be read; empty if it can.
    """

    name: str
    runners: dict[int, VersionRunner] = field(default_factory=dict)
    choice: ServingChoice = field(default_factory=ServingChoice)
    labels: dict[str, int] = field(default_factory=dict)
    refusals: dict[int, RefusedVersion] = field(default_factory=dict)
    loading: int | None = None
    problem: str = ""

    def default(self) -> int:
        """Return the version that answers requests without label and version."""
        return self.labels.get(STABLE) or max(self.runners)

    def labelled(self, label: str) -> int:
        """Return the version that answers requests for a label.

        Raises:
            AnswerError: 404, there is no such label.
        """
        version = self.labels.get(label, self.choice.labels.get(label))
        if version is None:
            raise AnswerError(404, f"the model '{self.name}' has no label {label!r:.80}.")
        return version

    def drawn(self) -> int:
        """Return the version for a request, by the shares of labels."""
        ticket, choice = random.random(), self.choice  # which may be replaced meanwhile
        for label, share in choice.shares.items():
            ticket -= share
            if ticket < 0 and label in self.labels:
                return self.labels[label]
        return self.default()


class ModelManager:
    """Keeps the loaded models in step with a folder.

    Attributes:
        freeing: retired versions that have not been freed yet.
    """

    def __init__(
        self, store: ModelStore, settings: ServingSettings, metrics: ServingMetrics
    ) -> None:
        self.store = store
        self.settings = settings
        self.metrics = metrics
        self.freeing: set[VersionRunner] = set()
        self._models: dict[str, ServedModel] = {}
        self._lock = threading.Lock()
        self._all_freed = threading.Condition(self._lock)
        self._updating = threading.Lock()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    # Life

    def start(self) -> None:
        """Look at the folder again and again, in a thread."""
        self._thread = threading.Thread(target=self._watch, name="models", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Retire all versions, and wait until they are freed."""
        self._end.set()
        if self._thread is not None:
            self._thread.join()
        with self._updating:
            for model in list(self._models.values()):
                self._put(model, {}, {})
            with self._all_freed:
                self._all_freed.wait_for(lambda: not self.freeing, self.settings.request_seconds)

    def _watch(self) -> None:
        while not self._end.wait(self.settings.poll_seconds):
            try:
                self.update()
            except Exception:  # the folder is gone for a moment, for example
                _log.exception("the folder of models cannot be read")

    def update(self) -> None:
        """Take up what has changed in the folder."""
        if self._models and not self.store.folder.is_dir():
            raise ReadError(f"the folder '{self.store.folder}' is gone.")
        with self._updating:
            for name in sorted({*self.store.models(), *self._models}):
                self._update_model(self._models.get(name) or ServedModel(name))

    # Requests

    @property
    def is_ready(self) -> bool:
        """Whether each model in the folder has a version that answers."""
        with self._lock:
            return all(model.runners for model in self._models.values())

    def models(self) -> list[ServedModel]:
        """Return all models, in order of their names."""
        with self._lock:
            return [self._models[name] for name in sorted(self._models)]

    def model(self, name: str) -> ServedModel:
        """Return a model.

        Raises:
            AnswerError: 404, there is none of this name.
        """
        model = self._models.get(name)
        if model is None:
            raise AnswerError(404, f"there is no model {name!r:.80}.")
        return model

    def held(
        self, name: str, version: int | None = None, label: str | None = None
    ) -> VersionRunner:
        """Return the version that is to answer a request; call its `release` afterwards.

        Raises:
            AnswerError: 404, there is no such model, version or label; 503, none is ready.
        """
        with self._lock:
            model = self.model(name)
            if label is not None:
                version = model.labelled(label)
            if version is None:
                if not model.runners:
                    raise AnswerError(
                        503, f"no version of '{name}' can be used. {_reasons(model)}", retry_after=5
                    )
                version = model.drawn()
            if version not in model.runners:
                raise AnswerError(404, f"version {version} of '{name}' is not served.")
            runner = model.runners[version]
            runner.hold()
            return runner

    # Changes

    def _update_model(self, model: ServedModel) -> None:
        versions = self.store.versions(model.name)
        if not versions and model.name not in self._models:
            return  # a folder without versions is no model
        self._read_choice(model)
        with self._lock:
            self._models[model.name] = model
        left = [number for number in versions if number not in model.choice.withdrawn]
        runners: dict[int, VersionRunner] = {}
        chosen = model.choice.served(versions)
        for number in reversed(left):
            is_next = model.choice.policy == "latest" and not runners
            if number not in chosen and not is_next:
                continue
            runner = model.runners.get(number)
            if runner is None or runner.stamp != self.store.stamp(model.name, number):
                runner = self._loaded(model, number, left) or runner
            if runner is not None:
                runners[number] = runner
        for number in set(model.refusals) - set(versions):
            del model.refusals[number]
        labels = self._labels(model, runners, left)
        if runners or not versions:
            self._put(model, dict(sorted(runners.items())), labels)
        if not versions and not model.runners:
            with self._lock:
                del self._models[model.name]

    @staticmethod
    def _labels(
        model: ServedModel, runners: dict[int, VersionRunner], left: Sequence[int]
    ) -> dict[str, int]:
        """Return the version for each label, among ``runners``.

        A version that loses its label to one that cannot be used is kept among ``runners``, unless
        it was withdrawn.
        """
        labels = {}
        for label, number in model.choice.labels.items():
            before = model.labels.get(label, 0)
            if number not in runners and before in model.runners and before in left:
                number = before
                runners.setdefault(number, model.runners[number])
            if number in runners:
                labels[label] = number
        return labels

    def _read_choice(self, model: ServedModel) -> None:
        try:
            model.choice, model.problem = read_choice(self.store, model.name), ""
        except ReadError as error:
            if model.problem != str(error):
                _log.error("%s: %s The choice before it stays.", model.name, error)
            model.problem = str(error)

    def _loaded(
        self, model: ServedModel, number: int, versions: Sequence[int]
    ) -> VersionRunner | None:
        """Return a version that is loaded and warm; None if it cannot be used."""
        stamp = self.store.stamp(model.name, number)
        known = model.refusals.get(number)
        if known is not None and known.stamp == stamp:
            return None
        model.loading = number
        try:
            runner = self._load(model.name, number, versions)
        except (PlaygradError, OSError, MemoryError, RecursionError) as error:
            self._refuse(model, number, stamp, error)
            return None
        except Exception as error:  # a file that is damaged in a way that its reader overlooks
            _log.exception("%s, version %s", model.name, number)
            self._refuse(model, number, stamp, error)
            return None
        finally:
            model.loading = None
        runner.stamp = stamp
        model.refusals.pop(number, None)
        _log.info("%s: version %s is ready on %s", model.name, number, runner.device)
        self.metrics.bytes.labels(model.name, str(number)).set(runner.bytes)
        return runner

    def _load(self, name: str, number: int, versions: Sequence[int]) -> VersionRunner:
        manifest, content = self.store.content(name, number)
        servable = servable_of(content, manifest.file, self.settings.device)
        try:
            if ModelSignature.from_json(manifest.signature) != servable.signature:
                raise DataError("the signature in its manifest is not that of the model.")
            self._check_signature(name, number, versions)
            servable.warm(self.settings.batch_sizes)
        except BaseException:
            servable.close()
            raise
        return VersionRunner(name, number, servable, self.settings, self.metrics, self._freed)

    def _check_signature(self, name: str, number: int, versions: Sequence[int]) -> None:
        if self.settings.allow_new_signature:
            return
        earlier = [each for each in versions if each <= number]
        accepted, refused = accepted_signature(self.store, name, earlier)
        if number in refused:
            assert accepted is not None
            raise DataError(
                f"its signature differs: {refused[number]}.",
                hint="If that is intended: playgrad models add --allow-new-signature.",
            )

    def _refuse(self, model: ServedModel, number: int, stamp: Stamp, error: Exception) -> None:
        kind, reason = type(error).__name__, str(error) or type(error).__name__
        model.refusals[number] = RefusedVersion(stamp, kind, reason)
        self.metrics.refused.labels(model.name, str(number), kind).inc()
        _log.error("%s: version %s is not taken up: %s", model.name, number, reason)

    def _put(
        self, model: ServedModel, runners: dict[int, VersionRunner], labels: dict[str, int]
    ) -> None:
        """Let ``runners`` answer from now on, and retire the other versions."""
        with self._lock:
            before, model.runners, model.labels = model.runners, runners, labels
            retired = [each for number, each in before.items() if runners.get(number) is not each]
            self.freeing.update(retired)
        if before != runners:
            self.metrics.swaps.labels(model.name).inc()
        for runner in retired:
            runner.retire()

    def _freed(self, runner: VersionRunner) -> None:
        _log.info("%s: version %s is freed", runner.name, runner.version)
        with self._all_freed:
            model = self._models.get(runner.name)
            if model is None or runner.version not in model.runners:  # or it was loaded again
                self.metrics.bytes.remove(runner.name, str(runner.version))
            self.freeing.discard(runner)
            self._all_freed.notify_all()

    def wait_until_freed(self, seconds: float) -> bool:
        """Wait until all retired versions are freed; return whether they are."""
        with self._all_freed:
            return self._all_freed.wait_for(lambda: not self.freeing, seconds)


def _reasons(model: ServedModel) -> str:
    refused: Iterable[tuple[int, RefusedVersion]] = sorted(model.refusals.items())
    return " ".join(f"Version {number}: {refusal.reason}" for number, refusal in refused)
