"""One process of a run over sockets: `gloo_worker.py CASES.json RANK WORLD MEETING`.

It prints, for every case, when it began and ended each round: the clock is the
machine's, so that the parent can compare ranks.
"""

import json
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch
import torch.distributed as dist

from stacklib.interconnect.schedules import algorithms
from stacklib.interconnect.schedules.gloo_torch import run_torch
from stacklib.interconnect.schedules.schedule import Schedule
from stacklib.interconnect.sharding.processes import at_once, carried

LIMIT = timedelta(seconds=60)
ELEMENT = 4  # bytes, of int32 and of fp32


def schedule_of(case: dict[str, Any]) -> Schedule:
    """The schedule of a case."""
    make = getattr(algorithms, case["collective"])
    return make(case["ranks"], case["algorithm"])


def library(case: dict[str, Any], tensor: torch.Tensor, world: int) -> None:
    """The library's own collective."""
    collective = case["collective"]
    if collective == "all_reduce":
        dist.all_reduce(tensor)
    elif collective == "broadcast":
        dist.broadcast(tensor, 0)
    elif collective == "all_gather":
        dist.all_gather_into_tensor(tensor.new_empty(tensor.numel() * world), tensor)
    elif collective == "reduce_scatter":
        dist.reduce_scatter_tensor(tensor.new_empty(tensor.numel() // world), tensor)
    else:
        dist.all_to_all_single(torch.empty_like(tensor), tensor)


def wanted(case: dict[str, Any], rank: int, arrays: list[torch.Tensor]) -> torch.Tensor:
    """What a collective gives a rank, by its definition."""
    n, kind = len(arrays), case["collective"]
    whole = sum(arrays[1:], arrays[0])
    if kind == "all_reduce":
        return whole
    if kind == "broadcast":
        return arrays[0]
    if kind == "all_gather":
        return torch.cat(arrays)
    if kind == "reduce_scatter":
        return whole.chunk(n)[rank]
    return torch.cat([array.chunk(n)[rank] for array in arrays])


def run_case(case: dict[str, Any], rank: int, world: int, device: str) -> Any:
    """Rounds of one case: beginnings, ends, bytes that left the interface."""
    if case["collective"] == "pingpong":
        return pingpong(case, rank, device)
    count = case["bytes"] // ELEMENT
    if case["collective"] == "all_gather":
        count //= case["ranks"]  # an all-gather takes each rank's part
    own = case["algorithm"] != "library"
    schedule = schedule_of(case) if own else None

    def once(tensor: torch.Tensor) -> torch.Tensor | None:
        if schedule is not None:
            return run_torch(schedule, tensor)
        library(case, tensor, world)
        return None

    exact = [torch.arange(count, dtype=torch.int32) + r for r in range(case["ranks"])]
    mine = exact[min(rank, case["ranks"] - 1)].to(device)
    got = once(mine)
    if got is not None and rank < case["ranks"]:
        if not torch.equal(got.cpu(), wanted(case, rank, exact)):
            raise AssertionError(f"rank {rank}: {case['id']} is not exact")
    tensor = torch.ones(count, device=device)
    told: dict[str, Any] = {"began": [], "ended": []}
    dist.barrier()
    before = carried()
    for _ in range(case["rounds"]):
        dist.barrier()
        told["began"].append(time.monotonic())
        once(tensor)
        if device != "cpu":
            torch.cuda.synchronize()
        told["ended"].append(time.monotonic())
        tensor.fill_(1.0)
    dist.barrier()
    return told | {"carried": (carried() - before) / case["rounds"]}


def pingpong(case: dict[str, Any], rank: int, device: str) -> Any:
    """A message there and back; half of it is one way."""
    tensor = torch.ones(max(1, case["bytes"] // ELEMENT), device=device)
    times = []
    for _ in range(case["rounds"] + 1):
        dist.barrier()
        start = time.monotonic()
        if rank == 0:
            dist.send(tensor, 1)
            dist.recv(tensor, 1)
        elif rank == 1:
            dist.recv(tensor, 0)
            dist.send(tensor, 0)
        times.append((time.monotonic() - start) / 2)
    return {"one_way": times[1:]}


def main() -> None:
    """All cases of a file, in order."""
    rank, world = int(sys.argv[2]), int(sys.argv[3])
    given = json.loads(Path(sys.argv[1]).read_text())
    backend = given.get("backend", "gloo")
    device = f"cuda:{rank}" if backend == "nccl" else "cpu"
    torch.set_num_threads(1)
    if backend == "nccl":
        torch.cuda.set_device(rank)
    first = at_once()
    dist.init_process_group(
        backend,
        init_method=given.get("meeting", f"file://{sys.argv[4]}"),
        rank=rank,
        world_size=world,
        timeout=LIMIT,
    )
    told = [run_case(case, rank, world, device) for case in given["cases"]]
    dist.barrier()
    print(json.dumps({"cases": told, "at_once": first}))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
