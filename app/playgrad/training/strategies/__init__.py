"""Strategies: ways to train one model on several devices, one file each."""
