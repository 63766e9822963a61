"""Reductions along axes: sum, mean, maximum, argmax, softmax and cross-entropy."""
