"""Views of single samples for the page: how the model judges them, and where its layers put them.

They are of the excerpt that the model keeps of its test data, or of its training data; a sample
alone can be any of the data. All are computed without an effect on the training, between two steps.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import numpy as np

from playgrad.data.excerpt import Excerpt
from playgrad.errors import DataError
from playgrad.inspection.outputs import scale_of
from playgrad.inspection.pictures import image_size, pixels
from playgrad.inspection.projection import layer_values, project_values, projectable_layers
from playgrad.inspection.samples import Predictions, judge
from playgrad.inspection.tokens import vocabulary_of
from playgrad.page.excerpt_sample import SampleNumber, is_tested, sample_number, why_no_sample
from playgrad.page.question import question
from playgrad.page.restored_model import RestoredModel
from playgrad.page.shown_model import LiveModel

Array = np.ndarray[Any, Any]
MOST_COLUMNS = 12
LONGEST_TEXT = 200
"""Tokens of a sample that are shown."""
MOST_PROJECTED, FEWEST_PROJECTED = 500, 50
MOST_PROJECTED_VALUES = 1 << 21
"""The limit of all projected samples together: fewer samples of a large layer are projected."""
MOST_DIMENSIONS = 50
"""The number of principal components, which the page lays out in a plane itself."""
Reason = Literal["restored", "data", "program", "loss", "targets", "outputs", "layers"]


class SamplesQuestion(TypedDict):
    """`known`: the version of the samples that the page has."""

    known: int


class OneSampleQuestion(TypedDict):
    number: int


class ProjectionQuestion(TypedDict):
    """`known`: the version of the samples that the page has; `layer`: "" for the last hidden one;
    `dimensions`: of the space, 2 for a plane."""

    known: int
    layer: str
    dimensions: int


class NoSampleView(TypedDict):
    """There are no samples to show: the model was restored, without its data; it has several inputs
    or outputs; it was not trained, and the program has no data for it, or it has no loss, or its
    data no targets; it does not predict one class or number for each sample; no layer has values to
    project."""

    shows: Literal["none"]
    reason: Annotated[Reason, "NoSamples"]
    seconds: float


class SamplePictures(TypedDict):
    height: int
    width: int
    channels: Literal[1, 3]
    pixels: bytes


class SampleRows(TypedDict):
    """(samples, columns), the first of `all` values of each sample."""

    columns: int
    all: int
    values: bytes


class SampleData(TypedDict):
    """`classes`: 0 for numbers; `numbers` (int32): of the samples in the data. The inputs have one
    of three forms, and the other two are null."""

    tested: bool | None
    total: int
    classes: int
    numbers: bytes
    truth: bytes
    pictures: SamplePictures | None
    rows: SampleRows | None
    texts: list[str] | None


class Verdicts(TypedDict):
    """Classes or numbers, −1 for no class, with their probabilities and losses."""

    predicted: bytes
    chances: bytes | None
    losses: bytes


class JudgedSamples(Verdicts):
    """`data` is left out if the page has it."""

    version: int
    seconds: float
    data: NotRequired[SampleData]


class ManySamples(JudgedSamples):
    shows: Literal["samples"]


class OneSample(Verdicts):
    """The form is that of the other samples, of which there is one."""

    shows: Literal["sample"]
    sample: SampleNumber
    seconds: float
    data: SampleData


class ProjectedLayer(TypedDict):
    """`size`: values for each sample."""

    name: str
    size: int


class ProjectedSamples(JudgedSamples):
    """`projected`: the number of projected samples; `rows`: the indices of the samples with finite
    values, and `points` (rows, dimensions) their coordinates; `explained`: shares of the
    variance."""

    shows: Literal["points"]
    layer: str
    layers: list[ProjectedLayer]
    projected: int
    rows: bytes
    dimensions: int
    points: bytes
    explained: list[float]


SamplesView = Annotated[NoSampleView | ManySamples, "SamplesView"]
OneSampleView = Annotated[NoSampleView | OneSample, "OneSampleView"]
ProjectionView = Annotated[NoSampleView | ProjectedSamples, "ProjectionView"]


@question("samples", "shown", at_checkpoint=True)
def samples_view(model: LiveModel | RestoredModel, request: SamplesQuestion) -> SamplesView:
    """Return the predictions and losses of the samples, with the samples if they are unknown."""
    began = time.perf_counter()
    found = _found(model)
    if not isinstance(found, _Found):
        return _nothing(found, began)
    judged = judge(found.model, found.excerpt.x, found.excerpt.y)
    verdicts = _judged(judged)
    view: ManySamples = {
        "shows": "samples",
        "predicted": verdicts["predicted"],
        "chances": verdicts["chances"],
        "losses": verdicts["losses"],
        "version": found.excerpt.number,
        "seconds": time.perf_counter() - began,
    }
    if request["known"] != found.excerpt.number:
        view["data"] = _data(found.model, found.excerpt, judged, found.excerpt.x)
    return view


@question("one_sample", "shown", at_checkpoint=True)
def sample_view(model: LiveModel | RestoredModel, request: OneSampleQuestion) -> OneSampleView:
    """Return a sample of the data by its ``number``, with its prediction and its loss."""
    began = time.perf_counter()
    found = _found(model)
    if not isinstance(found, _Found):
        return _nothing(found, began)
    about = sample_number(found.model, found.excerpt, request["number"])
    one = found.excerpt.single(about["number"])
    judged = judge(found.model, one.x, one.y)
    data = _data(found.model, one, judged, found.excerpt.x)
    data["numbers"] = _numbers(np.array([about["number"]]))
    return {
        "shows": "sample",
        "sample": about,
        **_judged(judged),
        "data": data,
        "seconds": time.perf_counter() - began,
    }


@question("projection", "shown", at_checkpoint=True)
def projection_view(
    model: LiveModel | RestoredModel, request: ProjectionQuestion
) -> ProjectionView:
    """Return samples by the principal components of a layer, as many as the request says.

    The layer is that of the name in the request, or the last hidden one.
    """
    began = time.perf_counter()
    found = _found(model)
    if not isinstance(found, _Found):
        return _nothing(found, began)
    dimensions = min(max(request["dimensions"], 2), MOST_DIMENSIONS)
    view = _projection(found, request["layer"], dimensions, request["known"], began)
    if view is None:
        return _nothing("layers", began)
    return view


@dataclass(frozen=True)
class _Found:
    """A model with the samples that are shown."""

    model: LiveModel
    excerpt: Excerpt


def _found(model: LiveModel | RestoredModel) -> _Found | Reason:
    """Return the samples of a model, or why there is nothing to show."""
    if isinstance(model, RestoredModel):
        return "restored"
    excerpt = model.test_excerpt or model.train_excerpt
    if excerpt is None or len(model.outputs) != 1:
        return why_no_sample(model)
    if not model.is_compiled:
        return "loss"
    if not excerpt.y.size:
        return "targets"
    return "outputs" if scale_of(model) is None else _Found(model, excerpt)


def _nothing(reason: Reason, began: float) -> NoSampleView:
    return {"shows": "none", "reason": reason, "seconds": time.perf_counter() - began}


def _judged(judged: Predictions) -> Verdicts:
    chances = judged.chances
    return {
        "predicted": _floats(judged.predicted),
        "chances": None if chances is None else _floats(chances),
        "losses": _floats(judged.losses),
    }


def _data(model: LiveModel, shown: Excerpt, judged: Predictions, all_x: Array) -> SampleData:
    """Return the samples as the page shows them.

    Args:
        all_x: inputs over whose range pictures go from black to white.
    """
    size = image_size(shown.x.shape[1:])
    texts = None if size else _texts(model, shown.x)
    pictures: SamplePictures | None = None
    rows: SampleRows | None = None
    if size is not None:
        height, width, channels = size
        drawn = pixels(shown.x, all_x)
        pictures = {"height": height, "width": width, "channels": channels, "pixels": drawn}
    elif texts is None:
        flat = shown.x.reshape(len(shown.x), -1)
        columns = flat[:, :MOST_COLUMNS]
        rows = {"columns": columns.shape[1], "all": flat.shape[1], "values": _floats(columns)}
    return {
        "tested": is_tested(model),
        "total": shown.total,
        "classes": judged.classes,
        "numbers": _numbers(shown.rows),
        "truth": _floats(judged.truth),
        "pictures": pictures,
        "rows": rows,
        "texts": texts,
    }


def _texts(model: LiveModel, x: Array) -> list[str] | None:
    """Return samples that are sequences of tokens as texts, if the program has a vocabulary of
    which the network embeds as many tokens.
    """
    vocabulary = vocabulary_of(model, x) if x.ndim == 2 else None
    if vocabulary is None:
        return None
    try:
        return [vocabulary.decode(codes[:LONGEST_TEXT]) for codes in x]
    except DataError:  # numbers of another kind
        return None


def _projection(
    found: _Found, name: str, dimensions: int, known: int, began: float
) -> ProjectedSamples | None:
    model, shown = found.model, found.excerpt
    layers = projectable_layers(model)
    if not layers:
        return None
    *before, last = layers
    # The layer before the output is where classes are best told apart.
    usual = before[-1] if before else last
    layer = next((each for each in layers if each.name == name), usual)
    most = MOST_PROJECTED_VALUES // layer.size
    count = min(len(shown.x), MOST_PROJECTED, max(FEWEST_PROJECTED, most))
    chosen = np.arange(count) * len(shown.x) // count
    judged = judge(model, shown.x, shown.y)
    values = layer_values(model, layer, shown.x[chosen])
    try:
        projection = project_values(values, dimensions)
    except DataError:  # too few have finite values
        rows = chosen[np.isfinite(values).all(axis=1)]
        points, explained = np.zeros((len(rows), 2)), [0.0, 0.0]
    else:
        rows = chosen[projection.rows]
        points, explained = projection.points, list(projection.explained)
    verdicts = _judged(judged)
    view: ProjectedSamples = {
        "shows": "points",
        "layer": layer.name,
        "layers": [{"name": each.name, "size": each.size} for each in layers],
        "projected": count,
        "rows": _floats(rows),
        "dimensions": points.shape[1],
        "points": _floats(points),
        "explained": explained,
        "predicted": verdicts["predicted"],
        "chances": verdicts["chances"],
        "losses": verdicts["losses"],
        "version": shown.number,
        "seconds": time.perf_counter() - began,
    }
    if known != shown.number:
        view["data"] = _data(model, shown, judged, shown.x)
    return view


def _floats(values: Array) -> bytes:
    return np.ascontiguousarray(values, "<f4").tobytes()


def _numbers(values: Array) -> bytes:
    return np.ascontiguousarray(values, "<i4").tobytes()
