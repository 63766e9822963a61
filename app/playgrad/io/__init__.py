"""Weights files: safetensors and npz, and PyTorch's, which are only read."""

from playgrad.io.weights import (
    FORMATS,
    check_match,
    decode,
    encode,
    encode_checked,
    load,
    load_metadata,
    save,
)

__all__ = [
    "FORMATS",
    "check_match",
    "decode",
    "encode",
    "encode_checked",
    "load",
    "load_metadata",
    "save",
]
