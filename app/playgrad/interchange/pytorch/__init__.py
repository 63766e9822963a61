"""Networks as programs of PyTorch with their weights."""
