"""Little's law: what is in flight = how long each takes x how many come out.

    concurrency = latency x throughput                  (J. Little, 1961)

It holds for customers in a shop and for bytes on their way from memory. A memory
that delivers a byte for every byte asked, some hundred nanoseconds later, is only
busy while enough bytes have been asked for. Nothing is assumed about the order in
which they come back, only that nothing is lost.

Left out: that a busy memory takes longer to answer than an idle one. The latency is
an argument; ``load_latency`` gives that of an idle memory as it was measured.

The formulas take floats, quantities or arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity, ceil, chosen, minimum
from stacklib.quantity.bounds import above_zero

from ..work.bounds import device_of


def concurrency(latency: Any, throughput: Any) -> Any:
    """What has to be in flight: bytes for a bandwidth, loads for a rate of loads.

    ``latency``: seconds from the question to the answer.
    """
    above_zero(latency=latency, throughput=throughput)
    return latency * throughput


def throughput(in_flight: Any, latency: Any, ceiling: Any) -> Any:
    """What comes out a second with so much in flight, at most the ceiling.

    ``in_flight``: bytes asked for and not yet here; ``ceiling``: bytes a second that
    can be delivered.
    """
    above_zero(in_flight=in_flight, latency=latency, ceiling=ceiling)
    return minimum(ceiling, in_flight / latency)


def share(in_flight: Any, latency: Any, ceiling: Any) -> Any:
    """Share of the ceiling that is reached with so much in flight, at most 1."""
    return throughput(in_flight, latency, ceiling) / ceiling


def time_per_load(chains: Any, latency: Any, bandwidth: Any, line: Any) -> Any:
    """Seconds a load when independent chains of dependent loads overlap.

        seconds a load = max(latency / chains, line / bandwidth)

    ``latency``: seconds of a load of one chain alone; ``bandwidth``: bytes a second of
    one core that streams through a working set of the same size; ``line``: bytes a load
    moves. Left out: how many misses a core can keep track of, the cost of address
    translation, the instructions of the loop.
    """
    above_zero(chains=chains, line=line)
    return line / throughput(chains * line, latency, bandwidth)


def askers(latency: Any, throughput: Any, each: Any) -> Any:
    """How many threads must wait at once when each has so many bytes in flight."""
    above_zero(each=each)
    return ceil(concurrency(latency, throughput) / each)


def load_latency(on: str | Accelerator, level: str = "dram") -> Quantity:
    """Time of a dependent load on an idle device, as others measured it."""
    device = device_of(on)
    latency = hardware.level(device, level).known("latency")
    return latency.named(f"{device.short} {level} load latency")


@dataclass(frozen=True, slots=True)
class InFlight:
    """What a device's memory wants in flight, and what its threads can ask for."""

    device: Accelerator  # whose memory
    latency: Quantity
    bandwidth: Quantity
    needed: Quantity  # bytes in flight that keep the memory busy
    threads: Quantity  # threads that have to wait at once
    resident: Quantity  # threads the device can hold
    each: Quantity  # bytes one thread has in flight

    @property
    def asked(self) -> Quantity:
        """Bytes in flight when every resident thread waits for its own."""
        return (self.resident * self.each).named("bytes asked for")

    @property
    def reached(self) -> Quantity:
        """Share of the bandwidth with every resident thread waiting, at most 1."""
        return minimum(1.0, self.asked / self.needed).named("share of the bandwidth")

    @property
    def occupancy(self) -> Quantity:
        """Share of the resident threads that is needed; above 1 they do not suffice."""
        return (self.needed / self.asked).named("share of the threads that is needed")


def in_flight(
    on: str | Accelerator,
    each: int | Quantity = 4,  # bytes one thread has in flight
    latency: Quantity | None = None,
) -> InFlight:
    """Little's law for a device's memory."""
    device = device_of(on)
    if not isinstance(each, Quantity):
        each = chosen(each, "B", label="bytes in flight a thread")
    # By default the latency of an idle memory; a loaded one takes longer.
    time = load_latency(device) if latency is None else latency
    bandwidth = device.memory_bandwidth
    needed = concurrency(time, bandwidth).named("bytes in flight for the bandwidth")
    slots = device.max_threads_per_unit * device.compute_units
    return InFlight(
        device=device,
        latency=time,
        bandwidth=bandwidth,
        needed=needed,
        threads=askers(time, bandwidth, each).named("threads needed"),
        resident=slots.named(f"threads {device.short} can hold"),
        each=each,
    )
