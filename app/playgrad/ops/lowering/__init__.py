"""Lowerings of structured operations: functions ``KernelRequest -> Lowering``, by kernel family."""
