"""Keras' layers that turn texts and categories into numbers, computed by NumPy on the host."""
