"""Figures of a program: arrays as pictures, and plots of numbers.

`show` and `plot` describe a figure as plain data (`pictures`, `series`). The observer of the
program shows it; without one it is printed as text (`text`). `png` and `svg` write files.
"""
