"""Quantized networks as TensorFlow Lite files."""
