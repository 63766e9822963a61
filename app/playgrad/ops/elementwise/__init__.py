"""Elementwise operations, their definition and their fused kernels."""
