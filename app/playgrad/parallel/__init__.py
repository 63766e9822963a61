"""Parallelism as graph rewrites: plain nodes on several devices, that can be looked at."""

from playgrad.parallel.replicate import replicate
from playgrad.parallel.strategies import DataParallel, Pipeline, Strategy
from playgrad.parallel.towers import mirrored_gradients

__all__ = ["DataParallel", "Pipeline", "Strategy", "mirrored_gradients", "replicate"]
