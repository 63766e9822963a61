"""Integer arithmetic of quantized networks, with the same bits on every device.

An int8 tensor stands for numbers ``scale * (q - zero_point)``. docs/quantized-arithmetic.md is the
specification.
"""
