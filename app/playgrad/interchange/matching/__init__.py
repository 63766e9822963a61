"""Weights of other programs, matched with those of a network."""
