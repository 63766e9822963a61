"""The doctor: observes a training from outside, and names its problems.

`Evidence` is collected between chunks of steps (`inspector`, `layer_probe`), or on demand
(`diagnose`). Each illness is a function of the evidence (`checks`), with its limits in
`thresholds`; `remedies` finds the edit of the program that cures it.
"""
