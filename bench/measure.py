"""How a peer written in Python is measured; ``web/measure.js`` is the same in JavaScript.

The file stands by itself: it is also pasted before the program that runs in playgrad's page.
"""

from __future__ import annotations

import time


def measure(trainer, settings, now=time.perf_counter):
    """Train and time.

    Args:
        trainer: ``step_and_read() -> loss``, one step; ``steps(n) -> loss``, n steps with the loss
            of the last one read at the end.
        settings: ``first`` steps whose losses are compared between peers, ``budget`` seconds for
            each way of reading, ``least`` and ``most`` steps for that.

    Returns:
        A dict: ``losses`` of the first steps, ``first_step`` (the time by ``now`` when the first
        one had ended), ``once_ms`` and ``each_ms`` a step, ``last_loss``, ``steps`` in all.
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
