"""``pg.sweep``: many settings of a function, tried at the same time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any
from weakref import finalize

from playgrad.errors import DataError, GraphError
from playgrad.parallel.ray_cluster import Ray
from playgrad.runtime.hooks import get_hooks
from playgrad.sweeps.halving import Halving
from playgrad.sweeps.space import Between, Value

if TYPE_CHECKING:
    from playgrad.sweeps.result import SweepResult


def sweep(
    train: Callable[..., Any],
    *,
    grid: Mapping[str, Sequence[Value]] | None = None,
    random: Mapping[str, Between | Sequence[Value]] | None = None,
    trials: int | None = None,
    parallel: int | None = None,
    metric: str | None = None,
    mode: str = "auto",
    halving: Halving | None = None,
    ray: Ray | None = None,
    seed: int = 0,
    folder: str | Path | None = None,
    verbose: int = 1,
) -> SweepResult:
    """Call ``train`` with many settings, in several processes, and compare the results.

    A trial that fails is started once more. With a ``folder``, a sweep that was interrupted
    continues where it was.

    Args:
        train: a function with the settings as keywords. It returns a number, numbers by their
            names, or what ``fit`` returns; a model that it trains by ``fit`` may speak for itself.
        grid: values by the names of settings, all combinations of which are tried.
        random: ranges (`between`) or values, from which each trial draws.
        trials: the number of trials; by default the combinations of ``grid``.
        parallel: how many run at the same time; by default one for every two cores, or with
            ``ray`` as many as the cluster holds.
        metric: the number to compare; by default what the function returned, ``val_loss``, or
            ``loss``.
        mode: "min" or "max", which is better; "auto" asks the model's loss or metric, and takes
            smaller numbers of a function to be better.
        halving: ends trials early that do worse than most; see `Halving`.
        ray: the cluster on which trials run, and what each takes; without it, this machine.
        seed: of what is drawn, and of each trial's weights.
        folder: for the record and the weights of the best; by default a temporary one, which goes
            with the result.
        verbose: 1 to print a line for each trial.

    Raises:
        DataError: there is nothing to try, or a number is out of bounds.
        GraphError: the function cannot be sent, or its results cannot be compared.
        CheckpointError: the folder cannot be written, or has another sweep.
        DeviceError: Ray is not installed, or cannot be reached.
    """
    pool = get_hooks().trial_pool(train)
    if pool is None and sys.platform == "emscripten":
        raise GraphError(
            "pg.sweep runs processes, which a browser does not have.",
            hint="Run the program in playgrad's page, or on the desktop.",
        )
    if pool is not None and ray is not None:
        raise GraphError("a page cannot reach a Ray cluster.", hint="Leave out ray.")
    from playgrad.sweeps.subject import Subject  # these take time to import
    from playgrad.sweeps.sweep import Sweep, print_trial

    if mode not in ("auto", "min", "max"):
        raise DataError(f"mode must be 'auto', 'min' or 'max', got {mode!r}.")
    subject = Subject.of_function(train, sent=pool is None)
    path = Path(mkdtemp(prefix="playgrad-") if folder is None else folder)
    remove = partial(rmtree, path, ignore_errors=True) if folder is None else lambda: None
    try:
        trial_sweep = Sweep(
            subject, grid or {}, random or {}, trials, path,
            metric=metric, mode=mode, halving=halving, options={"seed": seed}, parallel=parallel,
            ray=ray, report=print_trial if verbose else lambda trial: None, pool=pool,
        )  # fmt: skip
        if verbose and (former := trial_sweep.folder.former):
            print(f"continuing: {len(former)} trials in {path} have ended", flush=True)
        result = trial_sweep.run()
    except BaseException:
        remove()
        raise
    finalize(result, remove)
    return result
