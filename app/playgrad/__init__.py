"""playgrad: a dataflow-graph engine and a neural-network playground."""

__version__ = "0.1.0"
