"""Devices, which run kernels, and the only two packages that know a host."""
