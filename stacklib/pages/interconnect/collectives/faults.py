"""Faults planted in a right schedule: each a slip that a person makes."""

from __future__ import annotations

from dataclasses import replace

from stacklib.interconnect.schedules.algorithms import all_reduce
from stacklib.interconnect.schedules.schedule import Schedule, Send
from stacklib.interconnect.schedules.verify import verify

RING = all_reduce(4)


def planted() -> dict[str, Schedule]:
    """The ring of four with one thing wrong in each."""
    sends = RING.sends
    late = max(at for at, send in enumerate(sends) if send.reduce)  # last sum
    swap = sends[5]._replace(chunk=(sends[5].chunk - 1) % RING.chunks)
    half = RING.steps // 2
    turned = [send._replace(step=(send.step + half) % RING.steps) for send in sends]
    return {
        "a send is dropped": _with(sends[:6] + sends[7:]),
        "a wrong chunk is sent": _with((*sends[:5], swap, *sends[6:])),
        "spread before it is summed": _with(tuple(sorted(turned))),
        "a copy instead of a sum": _with(
            (*sends[:late], sends[late]._replace(reduce=False), *sends[late + 1 :])
        ),
    }


def _with(sends: tuple[Send, ...]) -> Schedule:
    return replace(RING, algorithm="broken", sends=sends)


def first(schedule: Schedule) -> str:
    """The first thing that is wrong."""
    return verify(schedule).faults[0]
