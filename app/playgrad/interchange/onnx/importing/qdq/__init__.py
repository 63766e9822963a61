"""Quantized networks in ONNX files, in QDQ form, as models of integers."""
