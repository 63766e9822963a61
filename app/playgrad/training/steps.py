"""The steps that training and evaluation run on a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeVar

import numpy as np

from playgrad.graph.tensor import Node, Tensor
from playgrad.networks.shared_session import shared_session
from playgrad.ops.arrays.fill import fill
from playgrad.ops.state import BOOKKEEPING, Variable
from playgrad.ops.training.write_history import record
from playgrad.parallel.parameter_server import ParameterServer
from playgrad.parallel.replicas import mirrored_by
from playgrad.runtime.session import RepeatResult, Session
from playgrad.runtime.trace import Trace

Array = np.ndarray[Any, Any]
S = TypeVar("S", bound="TrainStep")
_COLUMNS = 6
"""Scalars that one ``record`` can take: kernels may bind eight buffers."""


class Recorder:
    """Records numbers of each step on the device, and keeps the last ``rows`` steps.

    Args:
        columns: tensors of the numbers, scalars or of one dimension.
    """

    def __init__(
        self,
        columns: Sequence[Tensor],
        rows: int,
        position: Tensor,
        variables: Sequence[Variable] = (),
    ) -> None:
        groups: list[list[Tensor]] = []
        for column in columns:  # scalars share a history, a vector has its own
            last = groups[-1] if groups else []
            if not last or last[-1].shape or column.shape or len(last) == _COLUMNS:
                groups.append([])
            groups[-1].append(column)
        self.rows = rows
        self.variables = list(variables)
        self.nodes: list[Node] = []
        for i, values in enumerate(groups):
            if not variables:
                width = sum(value.spec.size for value in values)
                zeros = fill((rows, width), 0.0)
                history = Variable(zeros, "history", trainable=False, contents=BOOKKEEPING)
                self.variables.append(history)
            self.nodes.append(record(self.variables[i], position, values).node)

    def alternate(self, columns: Sequence[Tensor], position: Tensor) -> Recorder:
        """Return a recorder of another step in the same variables."""
        return Recorder(columns, self.rows, position, self.variables)

    def take(self, arrays: Sequence[Array], first: int, last: int) -> Array:
        """Return the rows of steps ``first`` to ``last`` (exclusive).

        Args:
            arrays: the values of ``variables``.

        Returns:
            float32 (steps, columns).
        """
        rows = np.arange(first, last) % self.rows
        return np.concatenate([array[rows] for array in arrays], axis=1)


@dataclass(frozen=True)
class TrainStep:
    """One update of the weights from the next batch.

    Attributes:
        run: the node to run. It adds 1 to the optimizer's ``iterations``, unless the loss is not
            finite: then only ``healthy`` changes, and later steps change nothing either.
        recorder: loss and metrics of each step, by iteration.
        healthy: bool variable, false once a loss was not finite.
        names: the names of the recorded columns.
        batch: samples of a step.
        first_run: the node of the step over batches of another shape that alternates with this one
            and records in the same variables, before it was distributed.
        started: the optimizer's iterations at which the first round of the data begins; None if
            there are no rounds.
        parts: for each part of a batch, in order of its rows, the devices that compute it; empty if
            one device computes all.
        follows_epochs: whether `begin_epoch` does anything; a chunk of steps then never spans
            epochs, which may differ in length.
    """

    follows_epochs: ClassVar[bool] = False
    run: Node
    recorder: Recorder
    healthy: Variable
    names: list[str]
    batch: int
    first_run: Node | None = field(default=None, kw_only=True)
    started: Variable | None = field(default=None, kw_only=True)
    parts: tuple[frozenset[str], ...] = field(default=(), kw_only=True)

    @property
    def bookkeeping(self) -> tuple[Variable, ...]:
        """The variables whose values matter only while steps are running."""
        started = () if self.started is None else (self.started,)
        return (*self.recorder.variables, self.healthy, *started)

    @property
    def replica_flags(self) -> dict[str, Variable]:
        """``healthy`` of the replicas that train independently of the first one, by device."""
        return {}

    @property
    def parameter_server(self) -> ParameterServer | None:
        """The parameter server that applies the gradients, if there is one."""
        return None

    @property
    def trace_length(self) -> int:
        """The number of steps in a trace that shows everything the step does."""
        return 1

    def extended(self, kind: type[S], **further: Any) -> S:
        """Return a step of another kind, with the fields of `TrainStep` from this one, and
        ``further`` fields."""
        common = {item.name: getattr(self, item.name) for item in fields(TrainStep)}
        return kind(**common, **further)

    def begin(self, session: Session, first: int, done: int, earlier: int = 0) -> None:
        """Prepare for the steps of a training.

        Args:
            first: the optimizer's iterations before its first step.
            done: the steps done; more than 0 if the training is resumed.
            earlier: the steps done by the training that this one continues, after a lost device.
        """
        if self.started is not None:
            name = self.started.variable_name
            mirrors = shared_session(self.started.graph).mirrors
            copies = [mirror for mirror in mirrors if mirrored_by(mirror.node.name) == name]
            session.assign(dict.fromkeys([self.started, *copies], np.uint32(first - earlier)))

    def samples_of(self, first: int, count: int) -> Array:
        """Return the number of samples of each of ``count`` steps of a training, from ``first``.

        The steps have been done, or come next.
        """
        return np.full(count, self.batch)

    def begin_epoch(self, session: Session, epoch: int, start: int, done: int) -> None:
        """Prepare for the steps of an epoch.

        Args:
            epoch: its number, from 0.
            start: the steps of this training before the epoch.
            done: the steps done; more than ``start`` if the training is resumed within the epoch.
        """

    def take_data(self, values: Mapping[Variable, Array], batches: int) -> None:
        """Continue with ``batches`` batches of new data, when all earlier ones have been used.

        Args:
            values: the values of the variables that hold the data, as they have just been assigned.
        """

    def join(self, first: TrainStep) -> None:
        """Report together with ``first``, the step over batches of another shape."""

    def prepare(self) -> None:
        """Make the next batch ready.

        Raises:
            RoundEndError: there is none.
        """

    def repeat(self, session: Session, steps: int) -> RepeatResult:
        """Run ``steps`` steps, or fewer."""
        return session.repeat(self.run, steps)

    def run_traced(self, session: Session, trace: Trace, most: int = 1) -> int:
        """Run ``trace_length`` steps, at most ``most``, with a trace; return their number."""
        session.run(self.run, trace=trace)
        return 1

    @property
    def synchronizes(self) -> bool:
        """True if `synchronize` does anything: a chunk of steps then ends with each epoch."""
        return False

    def synchronize(self, session: Session) -> None:
        """Bring replicas into agreement: called before the weights are used between epochs."""

    @property
    def replicas_agree(self) -> bool:
        """True if all replicas have the same values of variables, between two steps."""
        return True

    def resume_state(self) -> dict[str, int]:
        """Return the state that a resumed training needs besides the variables."""
        return {}

    def resume(self, session: Session, state: Mapping[str, int]) -> None:
        """Continue another training, whose variables have just been loaded.

        Args:
            state: the result of its ``resume_state``.
        """

    def finish(self) -> dict[str, Any]:
        """End the training; return the strategy's report of it, as plain data."""
        return {}


@dataclass(frozen=True)
class EvalStep:
    """Sums of loss and metrics over the next ``batch`` samples; padding after the last counts 0.

    Attributes:
        run: the node to run; it adds 1 to ``position``.
        steps: the number of steps that cover the data set, without ``rest``.
        count: the number of samples.
        rest: sums over the samples that do not fill a batch, if those are not padded.
    """

    run: Node
    recorder: Recorder
    position: Variable
    steps: int
    count: int
    names: list[str]
    rest: EvalStep | None = None

    @property
    def parts(self) -> list[EvalStep]:
        """This step, and the one over the samples that do not fill a batch."""
        return [self] if self.rest is None else [self, self.rest]

    @property
    def bookkeeping(self) -> tuple[Variable, ...]:
        """The variables whose values matter only while steps are running."""
        rest = () if self.rest is None else self.rest.bookkeeping
        return (*self.recorder.variables, self.position, *rest)

    def rewind(self, session: Session) -> None:
        """Go back to the first sample."""
        session.assign({self.position: np.uint32(0)})

    def means(self, session: Session) -> dict[str, float]:
        """Return the means over all samples by name, once all steps have run."""
        sums: Any = 0.0
        for part in self.parts:
            arrays = session.run(list(part.recorder.variables))
            sums += part.recorder.take(arrays, 0, part.steps).sum(axis=0, dtype=np.float64)
        return dict(zip(self.names, map(float, sums / self.count), strict=True))


@dataclass(frozen=True)
class BatchStep:
    """An update from a batch that is fed.

    Attributes:
        feeds: placeholders of the inputs, targets and weights of samples.
        columns: loss and metrics, scalars.
        update: the node that updates the variables.
        gate: bool scalar; where it is false, nothing changes.
        names: the names of the columns; None for the objectives' names.
    """

    feeds: tuple[Tensor, ...]
    columns: tuple[Tensor, ...]
    update: Node
    gate: Tensor
    names: list[str] | None = None

    @property
    def bookkeeping(self) -> tuple[Variable, ...]:
        return ()
