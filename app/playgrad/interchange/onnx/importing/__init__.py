"""ONNX files as playgrad models."""
