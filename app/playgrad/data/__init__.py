"""Data sets. ``playgrad.data.source.set_source`` sets where their bytes are loaded from."""

from playgrad.data.idx import parse_idx
from playgrad.data.mnist import mnist
from playgrad.data.toys import circle, gauss, spiral, xor

__all__ = ["circle", "gauss", "mnist", "parse_idx", "spiral", "xor"]
