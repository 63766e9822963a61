"""Parallelism as graph rewrites: plain nodes on several devices, that can be looked at."""

from playgrad.parallel.replicate import replicate
from playgrad.parallel.schedules import bubble_formula
from playgrad.parallel.strategies import DataParallel, Pipeline, Strategy
from playgrad.parallel.towers import mirrored_gradients

__all__ = [
    "DataParallel",
    "Pipeline",
    "Strategy",
    "bubble_formula",
    "mirrored_gradients",
    "replicate",
]
