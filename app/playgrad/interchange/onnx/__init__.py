"""ONNX files: playgrad's operations in terms of ONNX operators."""
