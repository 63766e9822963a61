"""Reductions along axes: sums, means, maxima, softmax, cross-entropy."""
