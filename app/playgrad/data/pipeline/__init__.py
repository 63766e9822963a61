"""The transformations that `playgrad.data.Dataset` is made of."""
