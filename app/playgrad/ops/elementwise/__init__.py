"""Elementwise operations: their definitions, their kernels, and the fused operations."""
