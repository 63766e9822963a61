"""Kernels in WebAssembly for the operations, by their names."""
