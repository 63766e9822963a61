"""Weights of other programs, matched with the weights of a network."""
