"""Looks inside models and graphs: values, gradients, weights and samples, without an effect on them."""
