"""What happens first: control dependencies.

A dataflow graph has no order of lines: an operation runs as soon as
its inputs are there, and a variable is read before anything changes
it. If a read must wait for an update, say so with a control
dependency. Here a counter is read both ways, and an average moves
each time that a number is fed. Expect the averages 4, 6 and 7.
"""

import numpy as np

import playgrad as pg

counter = pg.Variable(np.float32(0), name="counter")
increase = counter.assign_add(1.0)
early = pg.identity(counter, name="early")  # its input is the value from before the run
with pg.control_dependencies([increase]):
    late = counter.read_value()  # read where this control edge puts it

number = pg.placeholder("float32", (), name="number")
average = pg.Variable(np.float32(0), name="average")
moved = average.assign(average + (number - average) / 2)
with pg.control_dependencies([moved]):
    # To fetch this sum is to move the average, too: a control edge is an edge.
    answer = average.read_value() + 0

with pg.Session() as session:
    for _ in range(3):
        before, after = session.run([early, late])
        print(f"the counter before it is increased: {before:.0f}, after: {after:.0f}")
    for _ in range(3):
        print(f"fed 8, the average is {session.run(answer, {number: 8.0}):.0f}")
