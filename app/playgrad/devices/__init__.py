"""Devices: what runs kernels, and the only two files that know a host."""
