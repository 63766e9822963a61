"""Measures a peer written in Python; ``web/measure.js`` is the same in JavaScript.

The file is self-contained: it is also prepended to the program that runs in playgrad's page.
"""

from __future__ import annotations

import time


def measure(trainer, settings, now=time.perf_counter):
    """Train, and measure the time.

    Args:
        trainer: has ``step_and_read() -> loss`` for one step, and ``steps(n) -> loss`` for n steps
            that reads only the last loss.
        settings: ``first``, the number of steps whose losses are compared between peers;
            ``budget`` in seconds for each of the two; ``least`` and ``most`` steps for each.

    Returns:
        A dict: ``losses`` of the first steps; ``first_step``, the time by ``now`` at which the
        first one ended; ``once_ms`` and ``each_ms`` per step; ``last_loss``; total ``steps``.
    """
    losses = [trainer.step_and_read()]
    first_step = now()
    losses += [trainer.step_and_read() for _ in range(settings["first"] - 1)]
    trainer.steps(1)
    started = time.perf_counter()
    trainer.steps(1)
    per_step = time.perf_counter() - started
    fitting = round(settings["budget"] / max(per_step, 1e-6))
    count = max(settings["least"], min(settings["most"], fitting))

    started = time.perf_counter()
    trainer.steps(count)
    once = (time.perf_counter() - started) / count
    started = time.perf_counter()
    for _ in range(count):
        last = trainer.step_and_read()
    each = (time.perf_counter() - started) / count
    return {
        "losses": [float(loss) for loss in losses],
        "first_step": first_step,
        "once_ms": 1000 * once,
        "each_ms": 1000 * each,
        "last_loss": float(last),
        "steps": settings["first"] + 2 + 2 * count,
    }
