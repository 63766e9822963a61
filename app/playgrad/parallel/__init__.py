"""Parallelism as graph rewrites: plain nodes on several devices, which can be inspected.

The strategies are defined in `playgrad.training.strategies`, above this package. They are imported
when they are first used, because the modules that define them import this package.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from playgrad.compiler.planner import Automatic, register_planner
from playgrad.io.writing import write_once, writes_files
from playgrad.parallel.placement.automatic import AutomaticPlanner
from playgrad.parallel.replicate import replicate
from playgrad.parallel.schedules import bubble_formula

if TYPE_CHECKING:
    from playgrad.training.strategies.asynchronous import AsynchronousDataParallel
    from playgrad.training.strategies.base import Strategy
    from playgrad.training.strategies.data_parallel import DataParallel
    from playgrad.training.strategies.local_sgd import LocalSGD
    from playgrad.training.strategies.overlap import Overlap
    from playgrad.training.strategies.pipeline import Pipeline

register_planner(AutomaticPlanner())

__all__ = [
    "AsynchronousDataParallel",
    "Automatic",
    "DataParallel",
    "LocalSGD",
    "Overlap",
    "Pipeline",
    "Strategy",
    "bubble_formula",
    "replicate",
    "write_once",
    "writes_files",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("playgrad.training.strategies.registry"), name)


def __dir__() -> list[str]:
    return __all__
