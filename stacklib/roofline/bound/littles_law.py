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

from ..work.bounds import device_of


def _positive(**values: Any) -> None:
    for name, value in values.items():
        least = value.min() if getattr(value, "shape", ()) else value
        if isinstance(least, bool) or not getattr(least, "si", least) > 0:
            raise ValueError(f"{name} = {value}: must be above zero")


def concurrency(latency: Any, throughput: Any) -> Any:
    """What has to be in flight: bytes for a bandwidth, loads for a rate of loads.

    Parameters
    ----------
    latency : float, Quantity or array
        Seconds from the question to the answer.
    throughput : float, Quantity or array
        What comes out a second.

    Raises
    ------
    ValueError
        For what is not above zero.

    Examples
    --------
    >>> concurrency(600e-9, 3.35e12)
    2010000.0
    """
    _positive(latency=latency, throughput=throughput)
    return latency * throughput


def throughput(in_flight: Any, latency: Any, ceiling: Any) -> Any:
    """What comes out a second with so much in flight, at most the ceiling.

    Parameters
    ----------
    in_flight : float, Quantity or array
        Bytes asked for and not yet here.
    latency : float, Quantity or array
        Seconds from the question to the answer.
    ceiling : float, Quantity or array
        Bytes a second that can be delivered.

    Raises
    ------
    ValueError
        For what is not above zero.
    """
    _positive(in_flight=in_flight, latency=latency, ceiling=ceiling)
    return minimum(ceiling, in_flight / latency)


def share(in_flight: Any, latency: Any, ceiling: Any) -> Any:
    """Share of the ceiling that is reached with so much in flight, at most 1.

    Parameters
    ----------
    in_flight, latency, ceiling : float, Quantity or array
        As in ``throughput``.

    Raises
    ------
    ValueError
        For what is not above zero.
    """
    return throughput(in_flight, latency, ceiling) / ceiling


def askers(latency: Any, throughput: Any, each: Any) -> Any:
    """How many threads must wait at once when each has so many bytes in flight.

    Parameters
    ----------
    latency, throughput : float, Quantity or array
        As in ``concurrency``.
    each : float, Quantity or array
        Bytes one thread has in flight: the size of a load times independent loads.

    Raises
    ------
    ValueError
        For what is not above zero.

    Examples
    --------
    >>> askers(600e-9, 3.35e12, 4)
    502500
    """
    _positive(each=each)
    return ceil(concurrency(latency, throughput) / each)


def load_latency(on: str | Accelerator, level: str = "dram") -> Quantity:
    """Time of a dependent load on an idle device, as others measured it.

    Parameters
    ----------
    on : str or Accelerator
        The device, or its name.
    level : str
        One of ``hardware.microarchitectures.LEVELS``.

    Raises
    ------
    UnknownName, UnknownSpec
        For an unknown device, or one whose clock or latency nobody published.
    """
    device = device_of(on)
    cycles = hardware.microarchitecture(device).latency(level)
    return (cycles / device.clock).named(f"{device.short} {level} load latency")


@dataclass(frozen=True, slots=True)
class InFlight:
    """What a device's memory wants in flight, and what its threads can ask for.

    Attributes
    ----------
    device : Accelerator
        Whose memory.
    latency, bandwidth : Quantity
        The two factors.
    needed : Quantity
        Bytes in flight that keep the memory busy.
    threads : Quantity
        Threads that have to wait at once.
    resident : Quantity
        Threads the device can hold.
    each : Quantity
        Bytes one thread has in flight.
    """

    device: Accelerator
    latency: Quantity
    bandwidth: Quantity
    needed: Quantity
    threads: Quantity
    resident: Quantity
    each: Quantity

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
    each: int | Quantity = 4,
    latency: Quantity | None = None,
) -> InFlight:
    """Little's law for a device's memory.

    Parameters
    ----------
    on : str or Accelerator
        The device, or its name.
    each : int or Quantity
        Bytes one thread has in flight.
    latency : Quantity, optional
        Of a load; default that of an idle memory, as measured.

    Raises
    ------
    ValueError
        For bytes or a latency that are not above zero.
    UnknownName, UnknownSpec
        For an unknown device, or one of unknown bandwidth, units, threads or, where
        no latency is given, clock or latency.

    Examples
    --------
    >>> in_flight("h100-sxm", 4, Quantity(600, "ns")).needed.text()
    '2.01 MB'
    """
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
