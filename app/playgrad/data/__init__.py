"""Data sets and input pipelines.

``playgrad.data.source.set_source`` sets where the bytes of data sets are loaded from.
"""

from playgrad.data.dataset import Dataset
from playgrad.data.idx import parse_idx
from playgrad.data.mnist import mnist
from playgrad.data.pipeline.base import AUTOTUNE, INFINITE, UNKNOWN
from playgrad.data.png import decode_png
from playgrad.data.read_files import read_csv, read_idx, read_npz, read_png
from playgrad.data.toys import circle, gauss, spiral, xor

__all__ = [
    "AUTOTUNE",
    "INFINITE",
    "UNKNOWN",
    "Dataset",
    "circle",
    "decode_png",
    "gauss",
    "mnist",
    "parse_idx",
    "read_csv",
    "read_idx",
    "read_npz",
    "read_png",
    "spiral",
    "xor",
]
