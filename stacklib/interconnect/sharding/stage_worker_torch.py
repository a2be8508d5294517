"""One stage of a pipeline that trains the tiny model, a process among others.

    python -m stacklib.interconnect.sharding.stage_worker_torch CASE RANK WORLD MEETING

It prints, of each step, its work with times, the loss, and the bytes of activations
kept at the most; of the last, the sum of the gradients' squares, and the bytes kept
after each piece of work. Each step starts from the same weights, so that all are alike.
With ``stages`` 1, each process is a pipeline by itself that holds every part.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from stacklib.interconnect.pipelines.order import (
    BACKWARD,
    FORWARD,
    INPUTS,
    WEIGHTS,
    Pipeline,
    Work,
    pipeline,
)
from stacklib.tinylm.config import DATA, read_config
from stacklib.tinylm.model_torch import Decoder
from stacklib.tinylm.recipes import Recipe
from stacklib.tinylm.train_torch import batch_at

from .stages_torch import EMBEDDING, Part, Tag, carry_out
from .worker_torch import as_rank, stream

WAYS = ("forward", "backward", "tied")


class Gloo:
    """A wire over gloo's send and receive; what is for oneself stays here."""

    def __init__(self, stage: int, parts: int) -> None:
        self.stage, self.parts = stage, parts
        self.own: dict[Tag, Tensor] = {}
        self.sent: list[Any] = []  # tensors stay alive until they have left

    def number(self, tag: Tag) -> int:
        """A tag as gloo wants it."""
        way, microbatch, to = tag
        return (microbatch * self.parts + to) * len(WAYS) + WAYS.index(way)

    def send(self, tensor: Tensor, stage: int, tag: Tag) -> None:
        """Hand a tensor over to a stage."""
        if stage == self.stage:
            self.own[tag] = tensor
            return
        whole = tensor.contiguous()
        handle = dist.isend(whole, stage, tag=self.number(tag))
        self.sent.append((handle, whole))

    def receive(self, shape: Sequence[int], stage: int, tag: Tag) -> Tensor:
        """Wait for a tensor of a stage."""
        if stage == self.stage:
            return self.own.pop(tag)
        found = torch.empty(tuple(shape))
        dist.recv(found, stage, tag=self.number(tag))
        return found

    def flush(self) -> None:
        """Wait until all has left."""
        for handle, _ in self.sent:
            handle.wait()
        self.sent = []


def plan_of(case: dict[str, Any]) -> Pipeline:
    """A schedule by name; ``turns`` and ``apart`` finish a microbatch and go on."""
    stages, many, chunks = case["stages"], case["microbatches"], case["chunks"]
    if case["schedule"] not in ("turns", "apart"):
        return pipeline(stages, many, case["schedule"], chunks)
    back = (BACKWARD,) if case["schedule"] == "turns" else (INPUTS, WEIGHTS)
    order = [
        Work(kind, k, c)
        for k in range(many)
        for ways, places in (((FORWARD,), range(chunks)), (back, range(chunks)[::-1]))
        for c in places
        for kind in ways
    ]
    return Pipeline((tuple(order),), many, chunks, case["schedule"])


def steps(case: dict[str, Any], stage: int) -> dict[str, Any]:
    """So many steps of a stage; each told with its times."""
    stages, many, plan = case["stages"], case["microbatches"], plan_of(case)
    torch.manual_seed(0)
    whole = Decoder(read_config(DATA / "tiny" / "config.json"))
    count = stages * plan.chunks
    mine = {at: Part(whole, at, count) for at in range(count) if at % stages == stage}
    recipe = Recipe(steps=1, batch=many * case["sequences"], tokens=case["tokens"])
    ids = batch_at(stream(case["length"]), recipe, 0)
    wire = Gloo(stage, count)
    told: dict[str, Any] = {"spans": [], "losses": [], "kept": []}
    for step in range(case["steps"]):
        for part in mine.values():
            part.zero_grad()
        if case.get("dies") == stage and step == 1:
            sys.exit(9)
        dist.barrier()
        done = carry_out(plan, stage, mine, ids.split(case["sequences"]), wire)
        wire.flush()
        told["spans"].append([(*work, start, end) for work, start, end in done.spans])
        told["losses"].append(done.loss)
        told["kept"].append(done.kept)
    square = 0.0
    for at, part in mine.items():
        for name, weight in part.weights.items():
            if name != EMBEDDING or at == 0:  # the last part's is the same one
                square += float((weight.grad.double() ** 2).sum())
    return told | {"square": square, "after": done.after}


def work(case: dict[str, Any], rank: int, world: int) -> dict[str, Any]:
    """This rank's stage; of one stage, each process is a pipeline by itself."""
    if case["stages"] not in (1, world):
        raise ValueError(f"{case['stages']} stages in {world} processes: 1 or {world}")
    return steps(case, rank if case["stages"] > 1 else 0)


if __name__ == "__main__":
    as_rank(work)
