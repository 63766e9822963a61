"""Networks as layers models of TensorFlow.js."""
