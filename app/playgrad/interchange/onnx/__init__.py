"""ONNX files: playgrad's operations as those of ONNX."""
