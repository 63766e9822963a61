"""Predictions for a request, the same for both interfaces."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from starlette.requests import Request

from playgrad.serving.batching import VersionRunner
from playgrad.serving.errors import AnswerError
from playgrad.serving.manager import ModelManager
from playgrad.serving.signature import ModelSignature

Array = np.ndarray[Any, Any]
VERSION_HEADER = "Model-Version"


@dataclass(frozen=True)
class Answer:
    """The outputs for a request, and the version that computed them."""

    outputs: list[Array]
    version: int
    signature: ModelSignature


async def answered(
    request: Request,
    manager: ModelManager,
    name: str,
    version: int | None,
    label: str | None,
    arrays: Callable[[ModelSignature], list[Array]],
) -> Answer:
    """Return the outputs of the version that is to answer.

    Args:
        request: its ``state`` gets the version, for the log.
        arrays: returns the inputs, as a signature has them.

    Raises:
        AnswerError: there is no such version, the inputs do not fit, or too many requests wait.
    """
    runner: VersionRunner = manager.held(name, version, label)
    try:
        request.state.answered_by = (name, str(runner.version))
        inputs = arrays(runner.signature)
        request.state.rows = len(inputs[0])
        try:
            async with asyncio.timeout(manager.settings.request_seconds):
                outputs = await runner.outputs(inputs)
        except TimeoutError:
            raise AnswerError(
                504, f"no answer within {manager.settings.request_seconds:g} s."
            ) from None
        return Answer(outputs, runner.version, runner.signature)
    finally:
        runner.release()


def version_header(version: int) -> dict[str, str]:
    """Return the header that names the version of an answer."""
    return {VERSION_HEADER: str(version)}
