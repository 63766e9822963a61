"""Structured operations as kernels: for each family a function `KernelRequest -> Lowering`."""
