"""Prints what a program on two machines sees of its devices: errors, placements, traces."""

import json
from collections import Counter

import numpy as np

import playgrad as pg

graph = pg.Graph()
with graph.as_default():
    rows = pg.placeholder("int32", (2,), name="rows")
    with pg.device("cpu:0"):
        near = pg.constant(np.ones((3, 2), np.float32)) * 2.0
    with pg.device("cpu:1"):
        far = pg.gather(near, rows * rows, name="far")  # checked when it is computed
    with pg.device("cpu:0"):
        total = pg.reduce_sum(far, name="total")
    with pg.device("cpu:2"):
        nowhere = pg.add(total, 1.0, name="nowhere")
    with pg.device("10.86.0.2/cpu:1"):
        copied = pg.add(total, 1.0, name="copied")

said = {}
with pg.Session(graph, "cpu") as session:
    fed = {rows: np.array([0, 1], np.int32)}
    for name, fetched, feeds in (
        ("absent", nowhere, fed),
        ("copied", copied, fed),
        ("index", total, {rows: np.array([0, 2], np.int32)}),
    ):
        try:
            session.run(fetched, feeds)
        except Exception as error:
            said[name] = "\n".join([str(error), *getattr(error, "__notes__", ())])
    trace = pg.Trace()
    for _ in range(2):
        session.run(total, fed, trace=trace)
    devices = Counter(event.device for event in trace.events)
    said["events"] = dict(devices)
    said["seconds"] = trace.seconds
    timed = session.trace(total, fed).trace
    said["clocks"] = timed.clocks
    said["table"] = str(timed)
    summary = session.placement_summary(total, fed)
    said["placement"] = [row["device"] for row in summary.as_dict()["rows"]]
    said["summary"] = str(summary)
print(json.dumps(said))
