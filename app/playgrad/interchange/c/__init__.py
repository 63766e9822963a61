"""Quantized networks as C."""
