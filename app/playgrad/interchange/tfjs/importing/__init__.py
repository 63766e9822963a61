"""Models from files of TensorFlow.js."""
