"""The steps of a rewrite: copies of a training step's nodes for replicas and micro-batches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, pairwise

from playgrad.dtypes import dtype
from playgrad.errors import GraphError
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.pad_slice import slice_
from playgrad.ops.state import Variable, group, is_variable
from playgrad.parallel.distribution import Distribution
from playgrad.parallel.partition import MEAN, SPLIT, Partition
from playgrad.parallel.replicas import Replica, mirror_name
from playgrad.parallel.schedules import Pass


class Rewriting:
    """One rewrite under way: synchronous, the replicas one copy of the variables each."""

    def __init__(self, step: Partition, batch: int, distribution: Distribution, scope: str) -> None:
        self.step = step
        self.graph = step.graph
        self.batch = batch
        self.distribution = distribution
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
        self.meetings = step.meetings  # what micro-batches add up to
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
                elif node.op.name == "placeholder":  # what is fed is fed once, for all
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
        """The variable itself, or a copy of it: its first value is what the original has."""
        variable = node.outputs[0]
        assert isinstance(variable, Variable)
        device = replica.device(node)
        if replica.number == 0:
            self.homes[node.name] = device
        elif self.step.mirrored(node):
            name = mirror_name(node.name, replica.number)
            with self.graph.reenter_scope(""), self.graph.device(device):
                mirror = Variable(variable.initial_value, name, trainable=False)
            self.mirrors.setdefault(variable, []).append(mirror)
            variable = mirror
        replica.share_variable(node, variable)

    # Without micro-batches: gradients are added up while the backward pass goes on.

    def _data_parallel(self) -> None:
        forward = [node for node in self.step.part if node.phase != "gradient"]
        backward = [node for node in self.step.part if node.phase == "gradient"]
        buckets = self._buckets(backward)
        whole = len(buckets) == 1
        self._pass(Pass(0, 0, False), forward, None if whole else "forward")
        for number, (_, nodes) in enumerate(buckets):
            self._pass(Pass(0, 0, True), nodes, None if whole else f"backward {number}")
            # One behind: the next bucket is computed while the last one is under way.
            if number:
                self._reduce(buckets[number - 1][0], f"all_reduce {number - 1}")
        self._reduce(buckets[-1][0], None if whole else f"all_reduce {len(buckets) - 1}")
        self._update(None if whole else "update")

    def _buckets(self, backward: Sequence[Node]) -> list[tuple[list[Node], list[Node]]]:
        """Means to be taken together, with the nodes of the backward pass up to them."""
        waiting = {m.inputs[0].node: [] for m in self.step.meetings}  # type: dict[Node, list[Node]]
        for meeting in self.step.meetings:
            waiting[meeting.inputs[0].node].append(meeting)
        early = set(waiting) - set(backward)  # loss and metrics
        bucket = [meeting for node in early for meeting in waiting[node]]
        buckets: list[tuple[list[Node], list[Node]]] = []
        nodes: list[Node] = []
        size = 0
        for node in backward:
            nodes.append(node)
            bucket += waiting.get(node, ())
            size += sum(_bytes(meeting) for meeting in waiting.get(node, ()))
            if size >= self.distribution.bucket_bytes:
                buckets.append((bucket, nodes))
                bucket, nodes, size = [], [], 0
        if bucket or not buckets:
            buckets.append((bucket, nodes))
        elif nodes:
            buckets[-1][1].extend(nodes)
        order = {meeting: place for place, meeting in enumerate(self.step.meetings)}
        return [(sorted(bucket, key=order.__getitem__), nodes) for bucket, nodes in buckets]

    # With micro-batches or stages: by the schedule.

    def _pipeline(self) -> None:
        nodes: dict[tuple[int, bool], list[Node]] = {}
        for node in self.step.part:
            key = (self.step.stage[node], node.phase == "gradient")
            nodes.setdefault(key, []).append(node)
        for entry in self.distribution.schedule:
            self._pass(entry, nodes.get((entry.stage, entry.backward), []), self._task(entry))
        for meeting in self.meetings:
            for replica in self.replicas:
                done = sum(
                    (replica.number, meeting, m) in self.summed for m in range(len(replica.parts))
                )
                if done != len(replica.parts):
                    raise GraphError(f"the schedule leaves out a pass that '{meeting.name}' needs.")
        self._reduce(self.meetings, "update")
        self._update("update")

    def _task(self, entry: Pass) -> str:
        name = f"{'backward' if entry.backward else 'forward'} {entry.micro_batch}"
        if len(set(self.distribution.devices[0])) < len(self.distribution.devices[0]):
            name += f" of stage {entry.stage}"
        return f"{name} of stream {entry.stream}" if self.distribution.streams > 1 else name

    # What both are made of.

    def _pass(self, entry: Pass, nodes: Sequence[Node], task: str | None) -> None:
        """Copy ``nodes`` for a micro-batch, in step on all replicas: they may meet on the way."""
        micro = entry.micro_batch
        chosen = [r for r in self.replicas if self.distribution.stream(r.number) == entry.stream]
        for node in nodes:
            if node.op.name == MEAN:
                self._meet(node, chosen, micro, task)
                continue
            for replica in chosen:
                part = replica.parts[micro]
                first, rows = replica.rows[micro]
                if node.op.name == SPLIT:
                    whole = replica.whole[node.inputs[0]]
                    shape = whole.spec.static_shape
                    with replica.at(node, task):
                        start = [first] + [0] * (len(shape) - 1)
                        part[node.outputs[0]] = slice_(whole, start, [rows, *shape[1:]])
                elif node.op.name == "dropout":  # a part draws its rows of the whole batch's masks
                    replica.copy(node, part, task, first_row=first)
                else:
                    replica.copy(node, part, task)
        self._sum_up(chosen, micro, task)

    def _meet(self, node: Node, replicas: Sequence[Replica], micro: int, task: str | None) -> None:
        """A mean over replicas in the midst of a pass, over micro-batches of the same number."""
        rows = [replica.rows[micro][1] for replica in replicas]
        scaled = []
        for replica, own in zip(replicas, rows, strict=True):
            value = replica.parts[micro][node.inputs[0]]
            with replica.at(node, task):
                scaled.append(value * (own / sum(rows)) if len(rows) > 1 else value)
        totals = scaled
        if len(replicas) > 1:
            with self.graph.phase(node.phase), self.graph.task(task):
                devices = [replica.device(node) for replica in replicas]
                totals = self.distribution.collectives.all_reduce(scaled, devices)
        for replica, total in zip(replicas, totals, strict=True):
            replica.parts[micro][node.outputs[0]] = total

    def _sum_up(self, replicas: Sequence[Replica], micro: int, task: str | None) -> None:
        """Add what has come out of a micro-batch to the replica's sums, weighted by its rows."""
        for meeting in self.meetings:
            for replica in replicas:
                key = (replica.number, meeting)
                value = replica.parts[micro].get(meeting.inputs[0])
                if value is None or (*key, micro) in self.summed:
                    continue
                self.summed.add((*key, micro))
                with replica.at(meeting, task):
                    term = value * (replica.rows[micro][1] / self.batch)
                    self.sums[key] = self.sums[key] + term if key in self.sums else term

    def _reduce(self, meetings: Sequence[Node], task: str | None) -> None:
        """Each replica gets the sums over all replicas."""
        by_stage: dict[int, list[Node]] = {}
        for meeting in meetings:
            by_stage.setdefault(self.step.stage[meeting], []).append(meeting)
        for stage, own in by_stage.items():
            sums = [[self.sums[replica.number, m] for m in own] for replica in self.replicas]
            if self.distribution.apart:
                sums = [
                    self._own_means(*pair, own, task)
                    for pair in zip(self.replicas, sums, strict=True)
                ]
            elif len(self.replicas) > 1:
                devices = [replica.devices[stage] for replica in self.replicas]
                with self.graph.phase("update"), self.graph.task(task):
                    sums = self.distribution.collectives.all_reduce_many(
                        sums, devices, self.distribution.bucket_bytes
                    )
            for replica, totals in zip(self.replicas, sums, strict=True):
                for meeting, total in zip(own, totals, strict=True):
                    replica.whole.replace(meeting, [total], total.node)

    def _own_means(
        self, replica: Replica, sums: Sequence[Tensor], meetings: Sequence[Node], task: str | None
    ) -> list[Tensor]:
        """What a replica has summed, as means over its own share of the batch."""
        scale = self.batch / sum(rows for _, rows in replica.rows)
        means = []
        for meeting, total in zip(meetings, sums, strict=True):
            with replica.at(meeting, task):
                means.append(total * scale)
        return means

    def _update(self, task: str | None) -> None:
        for replica in self.replicas:
            for node in self.step.update:
                # The history of losses is the same on all: the first keeps it.
                if replica.number == 0 or node.op.name != "record":
                    replica.copy(node, replica.whole, task)


def _bytes(meeting: Node) -> int:
    spec = meeting.outputs[0].spec
    return dtype(spec.dtype).device_bytes(spec.size)
