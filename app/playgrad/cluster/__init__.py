"""One run on several processes and machines, over MPI (`mpi4py` with Open MPI or MPICH).

`supervisor` starts the members and watches them; each of them joins by `member`, and `mpi` is how
they exchange tensors and agree.
"""
