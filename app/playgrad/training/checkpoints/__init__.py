"""Checkpoints of training: one record, its file, when it is made, and training on from it."""
