"""Looks inside models and graphs without an effect on them: values, gradients, weights."""
