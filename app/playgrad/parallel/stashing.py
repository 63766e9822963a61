"""Pipelines without a flush: each micro-batch is a separate update (Narayanan et al. 2019).

Each stage updates its weights after each backward pass, so the forward pass of a micro-batch may
use older weights than training on one device would. Its backward pass uses the weights of its
forward pass, which are kept until then: *weight stashing*. The passes run in the order of 1F1B. So,
of p stages, stage s computes micro-batch m with weights that miss its last ``min(m, p - 1 - s)``
updates.

A training step is a window of micro-batches, after which the pipeline runs empty. Within it updated
weights are ordinary tensors, versions that live as long as something reads them. The last versions
are written to the variables at the end, unless the window's loss is not finite. Optimizers count
micro-batches, not windows, for bias correction and learning-rate schedules.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from playgrad.dtypes import dtype
from playgrad.errors import GraphError
from playgrad.graph.copying import CopyMap
from playgrad.graph.tensor import Node, Tensor
from playgrad.graph.traversal import ancestors
from playgrad.ops.core.build import as_tensor, constant
from playgrad.ops.elementwise.definitions import where
from playgrad.ops.state import Variable, group, is_variable, value_of
from playgrad.parallel.distribution import Distribution
from playgrad.parallel.partition import Partition
from playgrad.parallel.passes import Pass
from playgrad.parallel.rewriting import Rewriting


@dataclass(frozen=True)
class _Updates:
    """The parts of a step's update.

    Attributes:
        writes: run for each micro-batch: writes that depend on means other than recorded ones, that
            is on gradients or on statistics of the batch.
        per_batch: ``writes`` and the nodes between these means and them.
        factors: nodes that they need and that depend on no batch: learning rates.
        gate: the flag, computed from recorded means, that all of them read, if there is one.
        trained: tensors of the variables that are written.
        counters: tensors of the integer variables that count steps.
    """

    writes: tuple[Node, ...]
    per_batch: frozenset[Node]
    factors: tuple[Node, ...]
    gate: Tensor | None
    trained: tuple[Tensor, ...]
    counters: tuple[Tensor, ...]

    @staticmethod
    def of(step: Partition) -> _Updates:
        """Divide the update of ``step``.

        Raises:
            GraphError: it depends on more of the loss than whether it is finite.
        """
        recorded = {t.node for n in step.update if n.op.name == "record" for t in n.inputs}
        columns = recorded & set(step.means)
        per_batch = _downstream(step.update, set(step.means) - columns)
        judged = _downstream(step.update, columns) - per_batch
        writes = tuple(node for node in step.update if node in per_batch and node.op.writes)
        needed = ancestors(writes) & set(step.update)
        flags = {t for n in needed & per_batch for t in n.inputs if t.node in judged | columns}
        gate = flags.pop() if len(flags) == 1 else None
        if flags or (gate is not None and (gate.dtype, gate.spec.size) != ("bool", 1)):
            raise GraphError(
                "updates of an asynchronous pipeline may depend only on whether the loss is "
                "finite, not on its value."
            )
        variables = {node.name: node.outputs[0] for node in step.common if is_variable(node)}
        trained = {name for node in writes for name in node.attrs["variables"]}
        used = {t for node in needed for t in node.inputs}
        return _Updates(
            writes,
            frozenset(per_batch & needed),
            tuple(n for n in step.update if n in needed and n not in per_batch | judged),
            gate,
            tuple(variables[name] for name in sorted(trained)),
            tuple(
                tensor
                for name, tensor in variables.items()
                if name in step.written - trained and tensor in used and _counts(tensor)
            ),
        )


class Stashing(Rewriting):
    """A rewrite in which each micro-batch is a separate update."""

    def __init__(
        self,
        step: Partition,
        batch: int,
        distribution: Distribution,
        scope: str,
        mirrors: Mapping[Variable, Sequence[Variable]] | None = None,
    ) -> None:
        super().__init__(step, batch, distribution, scope, mirrors)
        (self.replica,) = self.replicas
        self.updates = _Updates.of(step)
        columns = {t.node for n in step.update if n.op.name == "record" for t in n.inputs}
        self.means = [mean for mean in step.means if mean in columns]
        trained = {tensor.node for tensor in self.updates.trained}
        versions = _downstream([n for n in step.common if not is_variable(n)], trained)
        self.versioned = [node for node in step.common if node in versions]
        self.newest: dict[Tensor, Tensor] = {}

    def _pass(self, entry: Pass, nodes: Sequence[Node], task: str | None) -> None:
        if not entry.backward:
            self._stash(entry, task)
        super()._pass(entry, nodes, task)
        if entry.backward:
            self._update_stage(entry)

    def _version(self, variable: Tensor) -> Tensor:
        """The newest version of ``variable``, a variable of the original step."""
        return self.newest.get(variable, self.replica.whole[variable])

    def _stash(self, entry: Pass, task: str | None) -> None:
        """Keep the weights of a stage's forward pass for its backward pass."""
        part = self.replica.parts[entry.micro_batch]
        for variable in self.updates.trained:
            if self.step.stage[variable.node] == entry.stage:
                part[variable] = self._version(variable)
        for node in self.versioned:
            if self.step.stage[node] == entry.stage:
                self.replica.copy(node, part, task)

    def _update_stage(self, entry: Pass) -> None:
        """Compute the next version of a stage's variables."""
        writes = [n for n in self.updates.writes if self.step.stage[n] == entry.stage]
        if not writes:
            return
        part = self.replica.parts[entry.micro_batch]
        task = f"update {entry.micro_batch}"
        into = CopyMap(self.graph, self.replica.whole)
        needed = ancestors(writes)
        for mean in self.step.means:
            value = part.get(mean.inputs[0])
            if mean in needed and value is not None:
                into[mean.outputs[0]] = value
        for variable in self.updates.trained:
            into[variable] = self._version(variable)
        with self.replica.at(writes[0], task):
            if self.updates.gate is not None:
                into[self.updates.gate] = constant(True)
            for counter in self.updates.counters:
                into[counter] = self._count(counter, entry.micro_batch)
        for node in (*self.updates.factors, *self.step.update):
            if node in needed and (node in self.updates.per_batch or node in self.updates.factors):
                self._copy_update(node, into, task, entry.stage)

    def _copy_update(self, node: Node, into: CopyMap, task: str, stage: int) -> None:
        if node not in self.updates.writes:
            self.replica.copy(node, into, task, stage=stage)
            return
        values = self.replica.copy(node, into, task, op=value_of(node.op))
        for name, value in zip(node.attrs["variables"], values.outputs, strict=True):
            self.newest[self.step.graph.node(name).outputs[0]] = value

    def _count(self, counter: Tensor, micro_batch: int) -> Tensor:
        """The number of updates before that of ``micro_batch``."""
        windows = self.replica.whole[counter]
        size = len(self.replica.parts)
        return windows * as_tensor(size, self.graph, counter.dtype) + as_tensor(
            micro_batch, self.graph, counter.dtype
        )

    def _update(self, task: str | None) -> None:
        """Once per window: write the last versions, count and record."""
        whole = self.replica.whole
        skipped = {*self.updates.per_batch, *self.updates.factors} - set(self.updates.writes)
        # A weight that is constrained after its update is written twice; once is enough here.
        last = {name: node for node in self.updates.writes for name in node.attrs["variables"]}
        for node in self.step.update:
            if node in self.updates.writes:
                names = [name for name in node.attrs["variables"] if last[name] is node]
                self._write(node, names, task)
            elif node not in skipped:
                self.replica.copy(node, whole, task)

    def _write(self, node: Node, names: Sequence[str], task: str | None) -> None:
        """Write the last versions of the variables ``names`` in place of ``node``."""
        whole = self.replica.whole
        gate = None if self.updates.gate is None else whole[self.updates.gate]
        written = []
        for name in names:
            variable = self.graph.node(name).outputs[0]
            assert isinstance(variable, Variable)
            with self.replica.at(node, task):
                value = self._version(variable)
                written.append(
                    variable.assign(value if gate is None else where(gate, value, variable))
                )
        with self.replica.at(node, task):
            whole.nodes[node] = group(*written) if written else None


def _downstream(order: Sequence[Node], sources: Collection[Node]) -> set[Node]:
    """The nodes of ``order`` that depend on ``sources``."""
    dependent: set[Node] = set()
    for node in order:
        if any(tensor.node in dependent or tensor.node in sources for tensor in node.inputs):
            dependent.add(node)
    return dependent


def _counts(tensor: Tensor) -> bool:
    return tensor.spec.size == 1 and dtype(tensor.dtype).name in ("int32", "uint32")
