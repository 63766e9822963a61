"""The workloads of the benchmark. The library has them, since every page can measure some."""

from playgrad.benchmark.workloads import WORKLOADS, Workload, flops, weights_of

__all__ = ["WORKLOADS", "Workload", "flops", "weights_of"]
