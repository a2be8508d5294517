"""One process of a gloo run: every collective against exact sums, then a dead peer."""

import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist

from stacklib.interconnect.schedules import algorithms
from stacklib.interconnect.schedules.gloo_torch import run_torch


def wanted(collective: str, rank: int, arrays: list[torch.Tensor]) -> torch.Tensor:
    """What the library's definition of a collective gives a rank."""
    n = len(arrays)
    if collective == "all_reduce":
        return sum(arrays[1:], arrays[0])
    if collective == "broadcast":
        return arrays[0]
    if collective == "all_gather":
        return torch.cat(arrays)
    if collective == "all_to_all":
        return torch.cat([array.chunk(n)[rank] for array in arrays])
    whole = sum(arrays[1:], arrays[0])
    width = -(-whole.numel() // n)
    padded = torch.cat([whole, whole.new_zeros(n * width - whole.numel())])
    return padded[rank * width : (rank + 1) * width]


def main() -> None:
    """Run as ``rank world file seconds``."""
    rank, world, store = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    dist.init_process_group(
        "gloo",
        init_method=f"file://{store}",
        rank=rank,
        world_size=world,
        timeout=timedelta(seconds=float(sys.argv[4])),
    )
    ran = 0
    for collective, table in algorithms.KNOWN.items():
        for algorithm in table:
            switched = algorithm in ("in_switch", "collnet")
            ranks = world - switched  # the last process is the switch
            if ranks < 2:
                continue
            schedule = getattr(algorithms, collective)(ranks, algorithm)
            size = 4 * ranks + (collective != "all_to_all")  # does not divide
            arrays = [torch.arange(size) * 10**r + r for r in range(world)]
            got = run_torch(schedule, arrays[rank])
            if rank < ranks:
                assert torch.equal(got, wanted(collective, rank, arrays[:ranks]))
            ran += 1
    dist.barrier()
    print(f"rank {rank}: {ran} schedules", flush=True)
    alone(rank, world)


def alone(rank: int, world: int) -> None:
    """The last process stays away: the one before it says so and ends."""
    if rank == world - 1:
        time.sleep(2)
    elif rank == world - 2:
        ring = algorithms.all_reduce(world)
        try:
            run_torch(ring, torch.ones(world), limit=0.5)
        except RuntimeError as error:
            print(str(error).split(":")[0], str(error).split(":")[1], flush=True)
    os._exit(0)  # no orderly end: the group is broken on purpose


if __name__ == "__main__":
    main()
