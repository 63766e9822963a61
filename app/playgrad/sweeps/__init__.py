"""Sweeps: many settings of one program or function, tried at the same time, and compared."""
