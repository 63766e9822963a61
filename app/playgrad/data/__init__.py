"""Data sets. Where their bytes come from is set by `playgrad.data.source.set_source`."""

from playgrad.data.idx import parse_idx
from playgrad.data.mnist import mnist
from playgrad.data.toys import circle, gauss, spiral, xor

__all__ = ["circle", "gauss", "mnist", "parse_idx", "spiral", "xor"]
