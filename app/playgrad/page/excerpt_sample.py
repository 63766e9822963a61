"""The sample of the model's data that a view of the page shows."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

import numpy as np

from playgrad.data.excerpt import Excerpt
from playgrad.page.built_model import BuiltModel
from playgrad.page.shown_model import LiveModel

Array = np.ndarray[Any, Any]


class SampleNumber(TypedDict):
    """`number`: from 0; `count`: how many samples there are; `tested`: not trained with, or null if
    that is unknown, because the program has not trained the model."""

    number: int
    count: int
    tested: bool | None


def excerpt_sample(model: LiveModel, number: int) -> tuple[Array, Array, SampleNumber] | None:
    """Return a sample with its target, each with a batch dimension, and the page's facts about it.

    The sample is from the test data, or from the training data if there is no test data; None if
    the model keeps neither.

    Args:
        number: the index of the sample in the data; after the last, counting begins again.
    """
    excerpt = model.test_excerpt or model.train_excerpt
    if excerpt is None:
        return None
    about = sample_number(model, excerpt, number)
    return *excerpt.sample(about["number"]), about


def sample_number(model: LiveModel, excerpt: Excerpt, number: int) -> SampleNumber:
    """Return the page's facts about the index of a sample; past the last, it begins again."""
    count = excerpt.count
    return {"number": number % count, "count": count, "tested": is_tested(model)}


def is_tested(model: LiveModel) -> bool | None:
    """Return whether the model was not trained with the samples; None if that is unknown."""
    return model.tested if isinstance(model, BuiltModel) else model.test_excerpt is not None


def why_no_sample(model: LiveModel) -> Literal["program", "data"]:
    """Return the reason why the model keeps no samples, as a word for the page."""
    is_built = isinstance(model, BuiltModel)
    return "program" if is_built and len(model.inputs) == len(model.outputs) == 1 else "data"
