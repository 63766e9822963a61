"""The forms of all messages except questions: Python's events, and the page's commands.

Questions and answers have theirs beside the functions that answer them; see `question`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict

from playgrad.page.faults import ErrorInfo
from playgrad.page.game_board import GameForm
from playgrad.page.graph_view import GraphForm
from playgrad.page.trace_events import TraceEvent

RunState = Annotated[Literal["idle", "running", "paused", "stopped", "done", "error"], "RunState"]
StepUnit = Annotated[Literal["batch", "epoch"], "StepUnit"]
LabDetail = Annotated[
    Literal[
        "devices", "micro_batches", "schedule", "chunks", "collective", "staleness", "every",
        "delays", "steps",
    ],
    "LabDetail",
]  # fmt: skip
Values = dict[str, str | float]
"""The numbers and names in a sentence that the page says in its language."""
Point = tuple[float, float, float | None]
"""Step, loss and accuracy."""


class StatusForm(TypedDict):
    """`built`: whether the program has built a model that it has not trained."""

    state: RunState
    built: NotRequired[bool]


class OutputForm(TypedDict):
    """For a flood: its first part, the number of characters left out, and its last part."""

    text: str
    left_out: NotRequired[int]
    end: NotRequired[str]


class Pictures(TypedDict):
    """`pixels`: (count, height, width, channels) bytes, from 0 at `low` to 255 at `high`; in
    "diverging", 128 is 0; `note`: the parts that are not shown, in words."""

    shows: Literal["pictures"]
    title: str
    count: int
    height: int
    width: int
    channels: Literal[1, 3, 4]
    scale: Literal["grey", "diverging", "colour"]
    low: float
    high: float
    note: str
    pixels: bytes


class PlotSeries(TypedDict):
    """The numbers as float64, least byte first; `total`: the number of points, of which some are
    drawn."""

    label: str
    x: bytes
    y: bytes
    total: int


class PlotForm(TypedDict):
    shows: Literal["plot"]
    title: str
    style: Literal["line", "points"]
    x_label: str
    y_label: str
    series: list[PlotSeries]


class PlotAxes(TypedDict):
    """The contents of a plot of matplotlib."""

    title: str
    x_label: str
    y_label: str
    labels: list[str]
    lines: int
    images: int
    points: int
    shapes: int


class PlottedImage(TypedDict):
    """`width`, `height`: in pixels of the page, of which the `png` has more."""

    shows: Literal["image"]
    title: str
    width: int
    height: int
    axes: list[PlotAxes]
    png: bytes


class ShownFigure(TypedDict):
    figure: Annotated[Pictures | PlotForm | PlottedImage, "Figure"]


class LearnedGame(TypedDict):
    """The program has made a player that learns this game by playing itself."""

    game: GameForm


class FitForm(TypedDict):
    """`device_reason`: why "auto" took the device, in a sentence; empty if the user named it;
    `done`: the steps that were done before, by the run that this one resumes; `points`: the last
    ones before a resumed training, some of which the page may have missed."""

    epochs: int
    steps_per_epoch: int
    total_steps: int
    batch_size: int
    metrics: list[str]
    device: str
    device_reason: str
    precision: Literal["float32", "mixed"]
    adapter: str | None
    parameters: int
    done: int
    points: NotRequired[list[Point]]


class ProgressForm(TypedDict):
    """`seconds`: of the fit, without pauses."""

    epoch: int
    step: int
    total_steps: int
    points: list[Point]
    steps_per_second: float
    seconds: float
    eta_seconds: float | None


class EpochEnd(TypedDict):
    """`seconds`: of the epoch."""

    epoch: int
    step: int
    loss: float
    accuracy: float | None
    test_loss: float | None
    test_accuracy: float | None
    seconds: float


class RatingForm(TypedDict):
    """A match of a player that learns against the best network so far.

    `step`: of the fit; `generation`, `games`: since the player's beginning; `elo`: its rating then.
    """

    step: int
    generation: int
    games: int
    elo: float
    is_best: bool


class ParallelReport(TypedDict, total=False):
    """The report of an asynchronous strategy; empty for others."""

    updates: dict[str, float]
    staleness: dict[str, float]
    mean_staleness: float
    lost: dict[str, str]
    overlap: str


class FitEnd(TypedDict):
    reason: Literal["completed", "stopped", "failed"]
    steps: int
    seconds: float
    test_accuracy: float | None
    dispatches_per_step: float
    parallel: ParallelReport


class SettingChange(TypedDict):
    """A setting was changed while training, after `step` steps of the fit."""

    step: int
    name: str
    before: float
    after: float


class DrawnGraph(TypedDict):
    graph: GraphForm


class LineChange(TypedDict):
    """Lines of the program from 1, characters from 0; the last change of an edit comes first."""

    line: int
    column: int
    end_line: int
    end_column: int
    old: str
    text: str


class SuggestedEdit(TypedDict):
    code: str
    values: Values
    changes: list[LineChange]


class FindingForm(TypedDict):
    """A fault of a training. `values`: the names and numbers in its sentence."""

    code: str
    node: str | None
    line: int | None
    values: Values
    edit: SuggestedEdit | None


class Findings(TypedDict):
    """All that is wrong with the trainings of the run; `lost`: that is why it pauses."""

    findings: list[FindingForm]
    lost: bool


class LabChoice(TypedDict):
    """`uses`: the details that apply to this choice."""

    name: str
    title: str
    about: str
    uses: NotRequired[list[LabDetail]]


class LabChoices(TypedDict):
    """The choices of the Lab; `details`: the numbers, with their explanations."""

    strategies: list[LabChoice]
    schedules: list[LabChoice]
    collectives: list[LabChoice]
    details: list[LabChoice]


class LabFit(TypedDict):
    """A run in the Lab begins to train; `single`: on one device, without a strategy; `held_up`:
    some devices have delays."""

    title: str
    devices: int
    single: bool
    held_up: bool


class DeviceTimeForm(TypedDict):
    """Seconds and bytes."""

    device: str
    kinds: dict[str, float]
    idle: float
    sent: float
    received: float


class TimelineForm(TypedDict):
    steps: int
    seconds: float
    bubble: float
    communication: float
    bytes_moved: float
    devices: list[DeviceTimeForm]


class TraceForm(TypedDict):
    """`steps`: how many were traced together; `memory`: bytes, by device."""

    steps: int
    timeline: TimelineForm
    events: list[TraceEvent]
    bubble_formula: float | None
    memory: dict[str, float]


class TracedStep(TraceForm):
    seconds: float


class TuningForm(TypedDict):
    """`kernels`: the variant in use, by kind; `wanted`: the GPU should be measured further."""

    kernels: dict[str, str]
    measured: bool
    wanted: bool


class CheckpointInfo(TypedDict):
    """The state of the last fit: its steps done, its epoch, and whether it is completed."""

    step: int
    total_steps: int
    epoch: int
    epochs: int
    parameters: int
    finished: bool


class CheckpointEvent(CheckpointInfo):
    """The state of the models that the run has trained, as a file that a later Python can `restore`
    or resume. Sent when training begins, then at least every 10 s and more often at first, at the
    end of each fit, and after an import; in the Lab only every 8 s."""

    bytes: bytes


class TrialOptions(TypedDict):
    """`settings`: as JSON; `milestones`: epochs after which the trial waits for a verdict."""

    settings: str
    milestones: list[int]
    seed: int


class TrialStart(TypedDict):
    """A trial of the program's `pg.sweep` is to be run beside it; `title`: its settings."""

    trial: int
    title: str
    options: TrialOptions


class TrialMessage(TypedDict):
    """What a trial tells the sweep, as JSON: at a milestone, where it waits for a verdict, or at
    its end, with the weights of its model."""

    message: str
    is_last: bool
    weights: NotRequired[bytes]


class TrialVerdict(TypedDict):
    """The answer of the sweep to a trial."""

    trial: int
    continues: bool


class NoFields(TypedDict):
    pass


EVENTS: dict[str, Any] = {
    "status": StatusForm,
    "stdout": OutputForm,
    "stderr": OutputForm,
    "figure": ShownFigure,
    "error": ErrorInfo,
    "game": LearnedGame,
    "fit_begin": FitForm,
    "progress": ProgressForm,
    "epoch_end": EpochEnd,
    "rating": RatingForm,
    "fit_end": FitEnd,
    "setting": SettingChange,
    "graph": DrawnGraph,
    "doctor": Findings,
    "lab_choices": LabChoices,
    "lab_fit": LabFit,
    "trace": TracedStep,
    "tuning": TuningForm,
    "checkpoint": CheckpointEvent,
    "trial_start": TrialStart,
    "trial_message": TrialMessage,
    "trial_verdict": TrialVerdict,
    "trials_end": NoFields,
}
"""The form of each event but the reply to a question, by kind."""


class LabOptions(TypedDict, total=False):
    """`staleness`: null for unbounded; `delays`: milliseconds, by device; `steps`: 0 for the number
    that the program says."""

    strategy: Required[str]
    devices: int
    micro_batches: int
    schedule: str
    chunks: int
    collective: str
    staleness: int | None
    every: int
    delays: list[float]
    steps: int


class RunOptions(TypedDict):
    """`device`: a kind, or "auto"; `devices`: logical devices of each kind; `lab`: the Lab's
    settings that apply to the strategy; `doctor`: trainings outside the Lab are watched for faults;
    `phrases`: texts that Python prints, in the language of the page; `resume`: fits continue where
    the checkpoint, the payload, was made; completed fits return at once, without events; `trial`:
    the run is a trial of the `pg.sweep` of another one.
    """

    device: str
    paused: bool
    devices: NotRequired[int]
    lab: NotRequired[LabOptions]
    resume: NotRequired[bool]
    doctor: NotRequired[bool]
    phrases: NotRequired[dict[str, str]]
    trial: NotRequired[TrialOptions]


class RunCommand(TypedDict):
    """With the option `resume`, the last checkpoint is the payload."""

    source: str
    options: RunOptions


class StepCommand(TypedDict):
    """The end of an epoch ends a step of "epoch"."""

    unit: StepUnit


class LearningRateCommand(TypedDict):
    value: float


class TrialMessageCommand(TypedDict):
    """A message of a trial, for the sweep; weights are the payload."""

    trial: int
    message: str


class TrialVerdictCommand(TypedDict):
    """The answer of the sweep, for the trial."""

    continues: bool


COMMANDS: dict[str, Any] = {
    "run": RunCommand,
    "pause": NoFields,
    "resume": NoFields,
    "step": StepCommand,
    "set_learning_rate": LearningRateCommand,
    "trace": NoFields,
    "reset": NoFields,
    "tune": NoFields,
    "trial_message": TrialMessageCommand,
    "trial_verdict": TrialVerdictCommand,
}
"""The form of each command, whose effects are events. "trace": measure the next step of the run in
the Lab; "tune": measure one more kernel of the GPU if necessary, which takes a moment."""

__all__ = ["COMMANDS", "EVENTS"]
