"""The synchronous rewrite: copies a training step's nodes for replicas and micro-batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice, pairwise

from playgrad.dtypes import dtype
from playgrad.errors import GraphError
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.pad_slice import slice_
from playgrad.ops.state import Variable, group, is_variable
from playgrad.parallel.distribution import Distribution
from playgrad.parallel.partition import MEAN, SPLIT, Partition
from playgrad.parallel.passes import Pass, task_name
from playgrad.parallel.replicas import Replica, mirror_name

EndReduce = Callable[[str | None], None]
"""Ends an all-reduce that has begun, in the task of this name."""


class Rewriting:
    """A rewrite in progress.

    Args:
        mirrors: mirrors that another step has, to be used by this one too.

    Attributes:
        replicas: each has its own copy of the variables.
        means: the means over the terms that micro-batches contribute.
        mirrors, homes: see `DistributedStep`.
        sums: a replica's sum of the terms of a mean so far, by replica and mean.
        summed: the terms in these sums, by replica, mean and micro-batch.
    """

    def __init__(
        self,
        step: Partition,
        batch: int,
        distribution: Distribution,
        scope: str,
        mirrors: Mapping[Variable, Sequence[Variable]] | None = None,
    ) -> None:
        self.step = step
        self.present_mirrors = mirrors or {}
        self.graph = step.graph
        self.batch = batch
        self.distribution = distribution
        self.collectives = distribution.collectives.for_sums(
            list(map(_bytes, step.means)), len(distribution.devices)
        )
        counts = distribution.micro_batches
        parts = sum(counts)
        bounds = [batch * part // parts for part in range(parts + 1)]
        rows = iter([(first, last - first) for first, last in pairwise(bounds)])
        self.replicas = [
            Replica(
                number,
                f"{scope}replica_{number}/" if len(counts) > 1 else scope,
                devices,
                step,
                list(islice(rows, counts[number])),
            )
            for number, devices in enumerate(distribution.devices)
        ]
        self.means = step.means
        self.mirrors: dict[Variable, list[Variable]] = {}
        self.homes: dict[str, str] = {}
        self.sums: dict[tuple[int, Node], Tensor] = {}
        self.summed: set[tuple[int, Node, int]] = set()

    def run(self) -> Node:
        """Add the nodes, and return the one that runs the step."""
        for replica in self.replicas:
            for node in self.step.common:
                if is_variable(node):
                    self._variable(node, replica)
                elif node.op.name == "placeholder":  # fed once, for all replicas
                    replica.whole.replace(node, node.outputs, node)
                else:
                    replica.copy(node, replica.whole, None)
        if self.distribution.is_pipeline or len(self.replicas) == 1:
            self._pipeline()
        else:
            self._data_parallel()
        ends = [replica.whole.node(self.step.run) for replica in self.replicas]
        return group(*(end for end in ends if end is not None), name="step")

    def _variable(self, node: Node, replica: Replica) -> None:
        """Give ``replica`` the variable itself, or a mirror with the same initial value."""
        variable = node.outputs[0]
        assert isinstance(variable, Variable)
        device = replica.device(node)
        if replica.number == 0:
            self.homes[node.name] = device
        elif self.step.mirrored(node):
            if variable in self.present_mirrors:
                mirror = self.present_mirrors[variable][replica.number - 1]
            else:
                name = mirror_name(node.name, replica.number)
                with self.graph.reenter_scope(""), self.graph.device(device):
                    mirror = Variable(
                        variable.initial_value, name, trainable=False, contents=variable.contents
                    )
            self.mirrors.setdefault(variable, []).append(mirror)
            variable = mirror
        replica.share_variable(node, variable)

    # Without micro-batches: gradients are added up during the backward pass.

    def _data_parallel(self) -> None:
        forward = [node for node in self.step.part if node.phase != "gradient"]
        backward = [node for node in self.step.part if node.phase == "gradient"]
        buckets = self._buckets(backward)
        has_tasks = len(buckets) > 1
        self._pass(Pass(0, 0, False), forward, "forward" if has_tasks else None)
        early = self.collectives.starts_early
        ends: list[EndReduce] = []
        for number, (means, nodes) in enumerate(buckets):
            task = f"backward {number}" if has_tasks else None
            self._pass(Pass(0, 0, True), nodes, task)
            if early:
                ends.append(self._begin_reduce(means, task))
            # One behind: the next bucket is computed while the last one is being added up.
            elif number:
                self._reduce(buckets[number - 1][0], f"all_reduce {number - 1}")
        for number, end in enumerate(ends):
            end(f"all_reduce {number}" if has_tasks else None)
        if not early:
            self._reduce(buckets[-1][0], f"all_reduce {len(buckets) - 1}" if has_tasks else None)
        self._update("update" if has_tasks else None)

    def _buckets(self, backward: Sequence[Node]) -> list[tuple[list[Node], list[Node]]]:
        """The means to be taken together, with the nodes of the backward pass up to them."""
        ends: dict[Node, list[Node]] = {}
        for mean in self.step.means:
            ends.setdefault(mean.inputs[0].node, []).append(mean)
        early = set(ends) - set(backward)  # loss and metrics
        bucket = [mean for node in early for mean in ends[node]]
        buckets: list[tuple[list[Node], list[Node]]] = []
        nodes: list[Node] = []
        size = 0
        for node in backward:
            nodes.append(node)
            bucket += ends.get(node, ())
            size += sum(_bytes(mean) for mean in ends.get(node, ()))
            if size >= self.distribution.bucket_bytes:
                buckets.append((bucket, nodes))
                bucket, nodes, size = [], [], 0
        if bucket or not buckets:
            buckets.append((bucket, nodes))
        elif nodes:
            buckets[-1][1].extend(nodes)
        order = {mean: place for place, mean in enumerate(self.step.means)}
        return [(sorted(bucket, key=order.__getitem__), nodes) for bucket, nodes in buckets]

    # With micro-batches or stages: in the order of the pipeline schedule.

    def _pipeline(self) -> None:
        nodes: dict[tuple[int, str], list[Node]] = {}
        kinds = self._kinds()
        for node in self.step.part:
            stage = self.step.stage[node] // self.distribution.width
            nodes.setdefault((stage, kinds[node]), []).append(node)
        for entry in self.distribution.schedule:
            self._pass(entry, nodes.get((entry.stage, entry.kind), []), self._task(entry))
        for mean in self.means:
            for replica in self.replicas:
                parts = range(len(replica.parts))
                if any((replica.number, mean, part) not in self.summed for part in parts):
                    raise GraphError(f"the schedule lacks a pass that '{mean.name}' needs.")
        self._reduce(self.means, "update")
        self._update("update")

    def _kinds(self) -> dict[Node, str]:
        """Return the kind of pass of each node of a part: forward, backward or weights."""
        is_divided = any(entry.part for entry in self.distribution.schedule)
        kinds: dict[Node, str] = {}
        awaited: set[Node] = set()  # by the backward passes of earlier stages
        for node in reversed(self.step.part):
            is_backward = node.phase == "gradient"
            kinds[node] = "backward" if is_backward else "forward"
            if is_divided and is_backward:
                if node not in awaited:
                    kinds[node] = "weights"
                stage = self.step.stage[node] // self.distribution.width
                awaited |= {
                    before
                    for before in node.predecessors
                    if node in awaited
                    or self.step.stage.get(before, 0) // self.distribution.width > stage
                }
        return kinds

    def _task(self, entry: Pass) -> str:
        devices = self.distribution.devices[0]
        return task_name(entry, len(set(devices)) < len(devices), self.distribution.streams > 1)

    # Both.

    def _pass(self, entry: Pass, nodes: Sequence[Node], task: str | None) -> None:
        """Copy ``nodes`` for a micro-batch, one after the other for all replicas of a stream,
        because means inside a pass need all of them."""
        micro = entry.micro_batch
        stream = [r for r in self.replicas if self.distribution.stream(r.number) == entry.stream]
        for node in nodes:
            if node.op.name == MEAN:
                self._mean(node, stream, micro, task)
                continue
            for replica in stream:
                part = replica.parts[micro]
                first, rows = replica.rows[micro]
                if node.op.name == SPLIT:
                    whole = replica.whole[node.inputs[0]]
                    shape = whole.spec.static_shape
                    with replica.at(node, task):
                        start = [first] + [0] * (len(shape) - 1)
                        part[node.outputs[0]] = slice_(whole, start, [rows, *shape[1:]])
                elif node.op.name in ("dropout", "random_uniform_like"):
                    # A part gets its rows of the whole batch's numbers.
                    replica.copy(node, part, task, first_row=first)
                else:
                    replica.copy(node, part, task)
        self._sum_up(stream, micro, task)

    def _mean(self, node: Node, replicas: Sequence[Replica], micro: int, task: str | None) -> None:
        """A mean inside a pass: over the replicas' micro-batches of one number."""
        rows = [replica.rows[micro][1] for replica in replicas]
        scaled = []
        for replica, count in zip(replicas, rows, strict=True):
            value = replica.parts[micro][node.inputs[0]]
            with replica.at(node, task):
                scaled.append(value * (count / sum(rows)) if len(rows) > 1 else value)
        totals = scaled
        if len(replicas) > 1:
            with self.graph.phase(node.phase), self.graph.task(task):
                devices = [replica.device(node) for replica in replicas]
                totals = self.collectives.all_reduce(scaled, devices)
        for replica, total in zip(replicas, totals, strict=True):
            replica.parts[micro][node.outputs[0]] = total

    def _sum_up(self, replicas: Sequence[Replica], micro: int, task: str | None) -> None:
        """Add the terms that a micro-batch has computed to its replica's sums, by their rows."""
        for mean in self.means:
            for replica in replicas:
                key = (replica.number, mean)
                value = replica.parts[micro].get(mean.inputs[0])
                if value is None or (*key, micro) in self.summed:
                    continue
                self.summed.add((*key, micro))
                with replica.at(mean, task):
                    term = value * (replica.rows[micro][1] / self.batch)
                    self.sums[key] = self.sums[key] + term if key in self.sums else term

    def _reduce(self, means: Sequence[Node], task: str | None) -> None:
        """Give each replica the sums over all replicas."""
        self._begin_reduce(means, task)(task)

    def _begin_reduce(self, means: Sequence[Node], task: str | None) -> EndReduce:
        """Begin to add up; the function that is returned gives each replica the sums, in a task of
        its own."""
        ends: list[tuple[list[Node], Callable[[], list[list[Tensor]]]]] = []
        by_stage: dict[int, list[Node]] = {}
        for mean in means:
            by_stage.setdefault(self.step.stage[mean], []).append(mean)
        for stage, of_stage in by_stage.items():
            sums = [[self.sums[replica.number, m] for m in of_stage] for replica in self.replicas]
            if self.distribution.apart:
                sums = [
                    self._local_means(*pair, of_stage, task)
                    for pair in zip(self.replicas, sums, strict=True)
                ]
            end: Callable[[], list[list[Tensor]]] = partial(list, sums)
            if len(self.replicas) > 1 and not self.distribution.apart:
                devices = [replica.devices[stage] for replica in self.replicas]
                with self.graph.phase("update"), self.graph.task(task):
                    end = self.collectives.begin_all_reduce_many(
                        sums, devices, self.distribution.bucket_bytes
                    )
            ends.append((of_stage, end))

        def finish(task: str | None) -> None:
            for of_stage, end in ends:
                with self.graph.phase("update"), self.graph.task(task):
                    sums = end()
                for replica, totals in zip(self.replicas, sums, strict=True):
                    for mean, total in zip(of_stage, totals, strict=True):
                        replica.whole.replace(mean, [total], total.node)

        return finish

    def _local_means(
        self, replica: Replica, sums: Sequence[Tensor], means: Sequence[Node], task: str | None
    ) -> list[Tensor]:
        """The means over a replica's share of the batch, from its sums."""
        scale = self.batch / sum(rows for _, rows in replica.rows)
        results = []
        for mean, total in zip(means, sums, strict=True):
            with replica.at(mean, task):
                results.append(total * scale)
        return results

    def _update(self, task: str | None) -> None:
        for replica in self.replicas:
            for node in self.step.update:
                # The history of losses is the same on all replicas: the first records it.
                if replica.number == 0 or node.op.name != "record":
                    replica.copy(node, replica.whole, task)


def _bytes(mean: Node) -> int:
    spec = mean.outputs[0].spec
    return dtype(spec.dtype).device_bytes(spec.size)
