"""Layers that compute in integers. `playgrad.quantize` puts them in the place of others."""
