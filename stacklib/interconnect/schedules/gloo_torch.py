"""A schedule run by processes that send and receive, over any backend of torch.

Every process runs the same schedule and does its own part: per step one message to each
rank that it has chunks for, one from each that has some for it, all at the same time;
then what came is added or copied. Switches are processes too, the last ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from stacklib.interconnect.schedules.run import chunk_width, result_shape, runnable
from stacklib.interconnect.schedules.schedule import Schedule, Send
from stacklib.quantity.bounds import above_zero

Holds = dict[int, torch.Tensor]


def run_torch(
    schedule: Schedule, tensor: torch.Tensor, *, group: Any = None, limit: float = 60.0
) -> torch.Tensor:
    """What this process's rank holds after a schedule, the same in every process.

    - ``tensor``: this rank's array, of one shape and type in all processes, as ``run``
      takes it; a switch gives one of which only the shape counts, and gets it back.
    - ``group``: a process for each rank and switch; the default group if None.
    - ``limit``: seconds that a step may take before a peer counts as dead.
    - raises ``ValueError`` for a group of another size or a schedule that cannot be
      run, ``RuntimeError`` with step and rank for a peer that does not answer.
    """
    above_zero(limit=limit)
    if not dist.is_initialized():
        raise ValueError("no process group: call torch.distributed.init_process_group")
    rank, world = dist.get_rank(group), dist.get_world_size(group)
    if world != schedule.nodes:
        raise ValueError(
            f"{world} processes for {schedule.ranks} ranks and {schedule.switches}"
            f" switches: {schedule.nodes} are needed"
        )
    runnable(schedule)
    shape = tuple(tensor.shape)
    width = chunk_width(schedule, shape)
    holds = _cut(schedule, rank, tensor, width)
    for step, sends in enumerate(schedule.by_step()):
        mine = [s for s in sends if rank in (s.source, s.destination)]
        if mine:
            _take(step, mine, rank, holds, tensor.new_empty(width), group, limit)
    if rank >= schedule.ranks:
        return tensor
    groups, keep, end = result_shape(schedule, shape)
    nothing = tensor.new_zeros(width)  # where a wrong schedule brings nothing
    whole = torch.cat([holds.get(chunk, nothing) for chunk in schedule.ends(rank)])
    return whole.reshape(groups, -1)[:, :keep].reshape(end)


def _cut(schedule: Schedule, rank: int, tensor: torch.Tensor, width: int) -> Holds:
    """Chunks that a rank begins with, padded with zeros; a switch has none."""
    if rank >= schedule.ranks:
        return {}
    chunks = schedule.begins(rank)
    padded = tensor.new_zeros(len(chunks) * width)
    count = min(tensor.numel(), padded.numel())
    padded[:count] = tensor.detach().reshape(-1)[:count]
    return dict(zip(chunks, padded.reshape(-1, width), strict=True))


def _take(
    step: int,
    sends: list[Send],
    rank: int,
    holds: Holds,
    empty: torch.Tensor,
    group: Any,
    limit: float,
) -> None:
    """One step: messages out and in, then what came is added or copied."""
    outgoing = _by_peer((s.destination, s) for s in sends if s.source == rank)
    incoming = _by_peer((s.source, s) for s in sends if s.destination == rank)
    came = {peer: empty.repeat(len(listed)) for peer, listed in incoming.items()}
    ops, peers = [], []
    for peer, listed in outgoing.items():
        message = torch.cat([holds[s.chunk] for s in listed])
        ops.append(dist.P2POp(dist.isend, message, _global(peer, group), group))
        peers.append(peer)
    for peer, buffer in came.items():
        ops.append(dist.P2POp(dist.irecv, buffer, _global(peer, group), group))
        peers.append(peer)
    try:
        works = dist.batch_isend_irecv(ops)
    except RuntimeError as error:
        raise RuntimeError(f"step {step}: rank {rank} cannot send: {error}") from error
    for at, work in enumerate(works):
        # a backend that joins its messages has one work for all of them
        who = peers[at] if len(works) == len(peers) else sorted(set(peers))
        try:
            work.wait(timedelta(seconds=limit))
        except RuntimeError as error:
            raise RuntimeError(
                f"step {step}: rank {rank} waits for rank {who}: {error}"
            ) from error
    for peer, listed in incoming.items():
        for send, piece in zip(listed, came[peer].split(empty.numel()), strict=True):
            there = holds.get(send.chunk) if send.reduce else None
            holds[send.chunk] = piece if there is None else there + piece


def _by_peer(pairs: Iterable[tuple[int, Send]]) -> dict[int, list[Send]]:
    """Sends by the other rank, in the order in which both sides know them."""
    found: dict[int, list[Send]] = {}
    for peer, send in pairs:
        found.setdefault(peer, []).append(send)
    return found


def _global(peer: int, group: Any) -> int:
    """A rank's number among all processes."""
    return peer if group is None else dist.get_global_rank(group, peer)
