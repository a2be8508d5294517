"""One rank of a sharded training run of the tiny model.

    python -m stacklib.interconnect.sharding.worker_torch CASE.json RANK WORLD MEETING

It prints losses, seconds of each step, bytes that left the interface, and bytes of
weights, gradients and optimizer state that it holds. Every rank takes its sequences of
the same batch; the optimizer is AdamW, which treats each number by itself, so that
parts of a matrix are updated as the whole is.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from stacklib.interconnect.schedules.algorithms import all_reduce
from stacklib.interconnect.schedules.gloo_torch import run_torch
from stacklib.tinylm.config import DATA, read_config
from stacklib.tinylm.recipes import Recipe
from stacklib.tinylm.train_torch import batch_at, text_loss

from .layered_torch import Block, Layered, TensorBlock
from .processes import at_once, carried

KINDS = ("alone", "ddp", "ours", "fsdp", "tensor")
LIMIT = timedelta(seconds=30)


def model_of(kind: str) -> Any:
    """The tiny model from its seed, sharded as the kind says."""
    torch.manual_seed(0)
    config = read_config(DATA / "tiny" / "config.json")
    model = Layered(config, TensorBlock if kind == "tensor" else Block)
    if kind == "ddp":
        return torch.nn.parallel.DistributedDataParallel(model)
    if kind == "fsdp":
        from torch.distributed.fsdp import fully_shard

        for layer in model.layers:
            fully_shard(layer, reshard_after_forward=True)
        fully_shard(model, reshard_after_forward=True)
    return model


def add_up(model: Any, world: int) -> None:
    """Gradients averaged by the book's own ring, all in one array."""
    grads = [p.grad for p in model.parameters()]
    flat = torch.cat([g.reshape(-1) for g in grads])
    total = run_torch(all_reduce(world), flat) / world
    for grad, part in zip(grads, total.split([g.numel() for g in grads]), strict=True):
        grad.copy_(part.view_as(grad))


def local(tensor: Tensor) -> int:
    """Bytes of a tensor that this rank holds."""
    mine = tensor.to_local() if hasattr(tensor, "to_local") else tensor
    return mine.numel() * mine.element_size()


def held(model: Any, optimizer: torch.optim.Optimizer) -> dict[str, int]:
    """Bytes that this rank holds, counted tensor by tensor."""
    weights = list(model.parameters())
    states = [
        value
        for state in optimizer.state.values()
        for name, value in state.items()
        if name != "step"
    ]
    return {
        "weights": sum(map(local, weights)),
        "gradients": sum(local(w.grad) for w in weights if w.grad is not None),
        "state": sum(map(local, states)),
    }


def train(case: dict[str, Any], rank: int, world: int) -> dict[str, Any]:
    """So many steps; the first is not timed."""
    if case["kind"] not in KINDS:
        raise ValueError(f"kind {case['kind']!r}: one of {', '.join(KINDS)}")
    kind, tokens = case["kind"], case["tokens"]
    recipe = Recipe(steps=case["steps"], batch=case["batch"], tokens=tokens)
    model = model_of(kind)
    optimizer = torch.optim.AdamW(model.parameters(), lr=case["rate"], foreach=False)
    split = 1 if kind == "tensor" else world
    first = rank * recipe.batch // split if split > 1 else 0
    told: dict[str, Any] = {"losses": [], "seconds": [], "carried": []}
    for step in range(recipe.steps):
        ids = batch_at(stream(case["length"]), recipe, step)
        ids = ids[first : first + recipe.batch // split]
        if case.get("dies") == rank and step == 1:
            os._exit(9)
        dist.barrier()
        before, start = carried(), time.monotonic()
        loss = text_loss(model(ids[:, :-1]), ids)
        loss.backward()
        if kind == "ours":
            add_up(model, world)
        told["seconds"].append(time.monotonic() - start)
        dist.barrier()
        told["carried"].append(carried() - before)
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        told["losses"].append(mean.item() / world)
        optimizer.step()
        if step + 1 < recipe.steps:
            optimizer.zero_grad()
    return told | {"held": held(model, optimizer)}


def stream(length: int) -> Any:
    """Ids as a text has them: drawn from a seed, few of them often."""
    import numpy as np

    ids = np.random.default_rng(6).geometric(0.01, length)
    return np.minimum(ids, 2047).astype(np.int64)


def as_rank(work: Callable[[dict[str, Any], int, int], dict[str, Any]]) -> None:
    """Meet the other ranks, work on the case with rank and world, print what it tells.

    The command line is as ``run_ranks`` has it.
    """
    case = json.loads(Path(sys.argv[1]).read_text())
    rank, world, meeting = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    first = at_once() if case.get("at_once") else False
    dist.init_process_group(
        "gloo",
        init_method=f"file://{meeting}",
        rank=rank,
        world_size=world,
        timeout=LIMIT,
    )
    told = work(case, rank, world)
    print(json.dumps(told | {"at_once": first}))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    as_rank(train)
