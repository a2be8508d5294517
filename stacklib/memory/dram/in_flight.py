"""Bandwidth against bytes in flight: what waiting in line adds to Little's law.

Little's law caps a memory's rate at bytes in flight over latency. The latency is that
of an idle memory only while nobody waits for anybody. Here the memory is a closed
network: so many requests go round a road (wires, caches, the array; always the same
time) and one of many queues (the data bus of a channel), and come back for the next.

``closed_rate`` solves it exactly for service of random length by mean value analysis
(M. Reiser and S. Lavenberg, J. ACM 1980); ``closed_run`` runs it event by event.
Standard library only.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity, assumed, chosen, counted, one_of, stamp
from stacklib.quantity.bounds import at_least, whole
from stacklib.roofline.bound import littles_law
from stacklib.roofline.work.bounds import device_of

from .parts import dram_part

ACCESS = assumed(
    64, "B", "bytes of a DRAM access", why="a burst of HBM3 brings as many"
)
PIN = one_of("bit", "bit of a pin")


def closed_rate(requests: int, channels: int, service: float, road: float) -> float:
    """Requests a second of a closed network of equal queues, exactly.

    With ``n`` requests, one that arrives at a queue finds what ``n - 1`` would leave
    there on average; from that the time it waits, and the rate, follow one by one.
    """
    whole(requests=requests, channels=channels)
    if not service > 0 or not road >= 0:
        raise ValueError(f"service = {service!r}, road = {road!r}: seconds from 0 on")
    queued, rate = 0.0, 0.0
    for n in range(1, requests + 1):
        stay = service * (1 + queued / channels)
        rate = n / (road + stay)
        queued = rate * stay
    return rate


def closed_run(
    requests: int,
    channels: int,
    service: float,
    road: float,
    *,
    rounds: int = 200,
    random_service: bool = True,
    seed: int = 1,
) -> float:
    """The same network run event by event: requests served a second."""
    whole(requests=requests, channels=channels, rounds=rounds)
    if not service > 0 or not road >= 0:
        raise ValueError(f"service = {service!r}, road = {road!r}: seconds from 0 on")
    draw = random.Random(seed)
    length: Callable[[], float] = (
        (lambda: draw.expovariate(1 / service)) if random_service else (lambda: service)
    )
    free = [0.0] * channels  # when each queue has served all that wait in it
    arrivals = [(road * draw.random(), i) for i in range(requests)]
    heapq.heapify(arrivals)
    # The first fifth is not counted: the queues fill.
    total, skipped, since, last = requests * rounds, requests * rounds // 5, 0.0, 0.0
    for done in range(total):
        at, request = heapq.heappop(arrivals)
        queue = draw.randrange(channels)
        free[queue] = max(free[queue], at) + length()
        last = max(last, free[queue])
        heapq.heappush(arrivals, (free[queue] + road, request))
        if done == skipped:
            since = at
    return (total - skipped) / (last - since)


@dataclass(frozen=True, slots=True)
class Saturation:
    """What a streaming kernel draws from a device's memory."""

    device: Accelerator
    in_flight: Quantity  # bytes of loads under way when every thread waits for its own
    idle_limit: Quantity
    waiting: Quantity  # time that requests spend waiting for each other
    share: Quantity  # share of the bandwidth with that time on top of the idle latency
    bound: str  # ``concurrency`` where too little is asked for, else ``dram``


def channels_of(device: Accelerator) -> Quantity:
    """Pseudo-channels of a device with HBM: its pins over those of one."""
    kind = device.memory_type.upper()
    if not kind.startswith("HBM") or kind.startswith("HBM4"):
        raise ValueError(f"{device.short} has {kind}; HBM2 to HBM3e are known here")
    part = dram_part("hbm3" if kind.startswith("HBM3") else "hbm2e")
    pins = (part.width / PIN).named("data pins of a pseudo-channel")
    return (device.memory_pins / pins).named(f"pseudo-channels of {device.short}")


def saturate(
    on: str | Accelerator,
    each: int,  # bytes that a thread loads before it waits
    threads: int | None = None,
    *,
    stored: int = 0,  # bytes that a thread writes for these loads
) -> Saturation:
    """Share of its memory's bandwidth that a device's threads can draw."""
    device = device_of(on)
    held = int(device.max_threads_per_unit.si)
    threads = held if threads is None else threads
    whole(each=each, threads=threads)
    at_least(0, stored=stored)
    if threads > held:
        raise ValueError(f"threads = {threads}: a unit of {device.short} holds {held}")
    asked = (
        chosen(threads, label="threads a unit")
        * device.compute_units
        * chosen(each, "B", label="bytes loaded a thread")
    ).named("bytes of loads in flight")
    both = chosen(each + stored, "B", label="bytes moved a thread")
    moved = both / chosen(each, "B", label="bytes loaded a thread")
    peak, latency = device.memory_bandwidth, littles_law.load_latency(device)
    flying = (asked * moved).named("bytes in flight, stores with their loads")
    idle = littles_law.share(flying, latency, peak).named("share, nobody waiting")
    most = hardware.efficiency_quantity("dram_mixed" if stored else "dram_read")
    served = (peak * most).named("bandwidth that the bus delivers")
    waiting = _waiting(flying, latency, served, channels_of(device))
    share = littles_law.throughput(flying, latency + waiting, served) / peak
    bound = "dram" if idle.si >= most.si else "concurrency"
    return Saturation(
        device,
        asked,
        idle,
        waiting,
        stamp(share.named("share of the bandwidth"), "C"),
        bound,
    )


def _waiting(
    flying: Quantity, latency: Quantity, served: Quantity, channels: Quantity
) -> Quantity:
    """Time that accesses wait for each other, from the rate of the closed network."""
    service = ACCESS.si * channels.si / served.si  # seconds of an access in its channel
    accesses = max(1, round(flying.si / ACCESS.si))
    road = max(0.0, latency.si - service)
    return counted(
        _wait,
        accesses,
        round(channels.si),
        service,
        road,
        latency.si,
        unit="s",
        label="time waiting for others, by mean value analysis",
    )


def _wait(
    accesses: int, channels: int, service: float, road: float, latency: float
) -> float:
    """Seconds of a round trip beyond the latency of a quiet memory."""
    rate = closed_rate(accesses, channels, service, road)
    return max(0.0, accesses / rate - latency)
