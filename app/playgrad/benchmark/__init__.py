"""How fast a machine trains: the workloads of the benchmark, on its devices, beside a known card.

`SpeedRun` measures a piece at a time, so that a page can stop between the pieces; `report` has the
numbers as plain data and as a table. The page's Lab and ``playgrad bench`` use both.
"""
