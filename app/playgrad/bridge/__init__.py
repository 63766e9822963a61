"""Names of Keras, TensorFlow 1 and PyTorch, and their equivalents in playgrad.

The editor offers these as fixes, and the errors of a program name them: one table for both.
"""

from playgrad.bridge.advice import advice
from playgrad.bridge.table import TABLE

__all__ = ["TABLE", "advice"]
