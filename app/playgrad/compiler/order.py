"""Orders the reads and writes of variables that are updated in place.

On a GPU an update overwrites the variable's buffer. Every reader of the old value gets a control
edge to the writer; a reader that has to run after the write (or a fetch) reads a copy made before.
"""

from __future__ import annotations

from playgrad.compiler.program import Program, Rewriter
from playgrad.graph.opdef import register
from playgrad.graph.tensor import Node, Tensor
from playgrad.graph.traversal import topological
from playgrad.ops import expr as e
from playgrad.ops.define import elementwise_op
from playgrad.ops.state import is_variable

COPY = register(elementwise_op("copy", lambda attrs: (e.Leaf(0),), None))


def order_writes(program: Program) -> Program:
    """Add the control edges and copies that make in-place updates safe."""
    needed = set(program.order())
    consumers = {
        tensor: [node for node in readers if node in needed]
        for tensor, readers in program.consumers().items()
    }
    before: dict[Node, list[Node]] = {}  # writer -> nodes that must run before it
    copied: dict[Tensor, set[Node | None]] = {}  # tensor -> readers of its copy; None: fetches
    followers = _followers(needed)
    for versions in _versions(program).values():
        for value, writer in zip(versions, [t.node for t in versions[1:]], strict=False):
            before.setdefault(writer, []).append(value.node)
            if (writer.device or "").startswith("cpu"):
                continue  # arrays on the host are replaced, never overwritten
            later = _descendants(writer, followers)
            for reader, through in _readers(value, consumers, program):
                if reader is writer:
                    continue
                if reader is None or reader in later:
                    copied.setdefault(through, set()).add(reader)
                else:
                    before[writer].append(reader)
    return _rewrite(program, before, copied)


def _followers(nodes: set[Node]) -> dict[Node, list[Node]]:
    followers: dict[Node, list[Node]] = {}
    for node in nodes:
        for before in node.predecessors:
            followers.setdefault(before, []).append(node)
    return followers


def _descendants(node: Node, followers: dict[Node, list[Node]]) -> set[Node]:
    seen: set[Node] = set()
    pending = [node]
    while pending:
        for follower in followers.get(pending.pop(), []):
            if follower not in seen:
                seen.add(follower)
                pending.append(follower)
    return seen


def _versions(program: Program) -> dict[str, list[Tensor]]:
    """For each written variable the tensors that share its buffer, in the order of writing."""
    order = program.order()
    versions: dict[str, list[Tensor]] = {}
    for node in order:
        if is_variable(node):
            versions.setdefault(node.name, []).insert(0, node.outputs[0])
        elif node.op.writes:
            for name, output in zip(node.attrs["variables"], node.outputs, strict=True):
                versions.setdefault(name, []).append(output)
    return {name: values for name, values in versions.items() if len(values) > 1}


def _readers(
    tensor: Tensor, consumers: dict[Tensor, list[Node]], program: Program
) -> list[tuple[Node | None, Tensor]]:
    """Who reads the buffer of ``tensor``, also through aliases, and through which tensor."""
    found: list[tuple[Node | None, Tensor]] = []
    if tensor in program.fetches:
        found.append((None, tensor))
    for node in dict.fromkeys(consumers.get(tensor, [])):
        found.append((node, tensor))
        if node.op.alias:
            found.extend(_readers(node.outputs[0], consumers, program))
    return found


def _rewrite(
    program: Program,
    before: dict[Node, list[Node]],
    copied: dict[Tensor, set[Node | None]],
) -> Program:
    rewriter = Rewriter(program)
    copies: dict[Tensor, Tensor] = {}
    order = topological(
        set(program.order()), lambda node: [*node.predecessors, *before.get(node, [])]
    )
    for node in order:
        inputs = [
            copies[tensor] if node in copied.get(tensor, ()) else rewriter.tensors[tensor]
            for tensor in node.inputs
        ]
        earlier = [rewriter.nodes[other] for other in before.get(node, [])]
        earlier += [copies[t].node for t in _same_buffer(node, copies, before)]
        new = rewriter.copy(node, inputs=inputs, controls=[n for n in earlier if n is not None])
        for old, tensor in zip(node.outputs, new.outputs, strict=True):
            if old in copied:
                copies[old] = rewriter.add(
                    COPY, [tensor], {}, like=node, name=f"{node.name}/before_update"
                ).output
    result = rewriter.finish()
    result.fetches = [
        copies[old] if None in copied.get(old, ()) else new
        for old, new in zip(program.fetches, result.fetches, strict=True)
    ]
    return result


def _same_buffer(
    node: Node, copies: dict[Tensor, Tensor], before: dict[Node, list[Node]]
) -> list[Tensor]:
    """Tensors whose copy must be made before ``node`` overwrites their buffer."""
    return [tensor for tensor in copies if tensor.node in before.get(node, [])]

