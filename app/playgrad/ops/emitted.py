"""All emitters: importing this module registers them (`playgrad.ops.emitters`)."""

from playgrad.ops.convolution import emit_convolution as emit_convolution
from playgrad.ops.convolution import emit_pooling as emit_pooling
from playgrad.ops.elementwise import emit_elementwise as emit_elementwise
from playgrad.ops.emitters import emitted_operations as emitted_operations
from playgrad.ops.emitters import emitter_of as emitter_of
from playgrad.ops.products import emit_matmul as emit_matmul
