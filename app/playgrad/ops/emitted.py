"""All emitters: importing this module registers them (`playgrad.ops.emitters`)."""

from playgrad.ops import emit_attention as emit_attention
from playgrad.ops.arrays import emit_indices as emit_indices
from playgrad.ops.arrays import emit_moves as emit_moves
from playgrad.ops.control import emit_loop as emit_loop
from playgrad.ops.convolution import emit_convolution as emit_convolution
from playgrad.ops.convolution import emit_grouped as emit_grouped
from playgrad.ops.convolution import emit_pooling as emit_pooling
from playgrad.ops.convolution import emit_resize as emit_resize
from playgrad.ops.convolution import emit_windows as emit_windows
from playgrad.ops.elementwise import emit_elementwise as emit_elementwise
from playgrad.ops.emitters import emitted_operations as emitted_operations
from playgrad.ops.emitters import emitter_of as emitter_of
from playgrad.ops.products import emit_matmul as emit_matmul
from playgrad.ops.random import emit_random as emit_random
from playgrad.ops.recurrent import emit_cells as emit_cells
from playgrad.ops.reductions import emit_ctc as emit_ctc
from playgrad.ops.reductions import emit_reduce as emit_reduce
from playgrad.ops.reductions import emit_rows as emit_rows
from playgrad.ops.training import emit_training as emit_training
