"""Parallelism as graph rewrites: plain nodes on several devices, that can be looked at."""

from playgrad.parallel.replicate import replicate
from playgrad.parallel.towers import mirrored_gradients

__all__ = ["mirrored_gradients", "replicate"]
