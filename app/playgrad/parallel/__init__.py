"""Parallelism as graph rewrites: plain nodes on several devices, that can be looked at."""

from playgrad.compiler.planner import Automatic, register_planner
from playgrad.parallel.placement.automatic import AutomaticPlanner
from playgrad.parallel.relaxed import AsynchronousDataParallel, LocalSGD, Overlap
from playgrad.parallel.replicate import replicate
from playgrad.parallel.schedules import bubble_formula
from playgrad.parallel.strategies import DataParallel, Pipeline

Strategy = DataParallel | Pipeline | AsynchronousDataParallel | LocalSGD | Overlap
"""Any of the strategies, as ``model.compile(strategy=...)`` accepts them."""

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
]
