"""Did you time what you think? Three timers, and what each of them reads.

A timer takes a device (``stacklib.roofline.timing.queued``), a kernel and a number of
calls, and gives seconds a call. Beside each stands the closed form of its reading:
with ``launch`` seconds for the host to enqueue a call and ``seconds`` for the
device to run it. The closed forms take floats, quantities or arrays.
"""

from __future__ import annotations

import math
from statistics import mean, median
from typing import Any

from stacklib.quantity import Quantity, ceil, counted, maximum, minimum
from stacklib.quantity.bounds import whole

from .queued import Device, Kernel

# -- timers ------------------------------------------------------------------------


def time_naive(device: Device, kernel: Kernel, calls: int = 1) -> float:
    """Clock, launch, clock: the host's time to hand over the work."""
    whole(calls=calls)
    began = device.clock()
    for _ in range(calls):
        device.launch(kernel)
    return (device.clock() - began) / calls


def time_synchronised(device: Device, kernel: Kernel, calls: int = 1) -> float:
    """Drain the queue, clock, launch, drain it again, clock."""
    whole(calls=calls)
    device.synchronize()
    began = device.clock()
    for _ in range(calls):
        device.launch(kernel)
    device.synchronize()
    return (device.clock() - began) / calls


def time_events(
    device: Device, kernel: Kernel, calls: int = 1, backlog: Kernel | None = None
) -> float:
    """Mark, launch, mark: the device reads its own clock as it passes the marks."""
    whole(calls=calls)
    device.synchronize()
    # Then the host is ahead of the device, and no launch shows.
    if backlog is not None:
        device.launch(backlog)
    first = device.record()
    for _ in range(calls):
        device.launch(kernel)
    last = device.record()
    device.synchronize()
    return device.elapsed(first, last) / calls


def time_carefully(
    device: Device,
    kernel: Kernel,
    *,
    warmups: int = 3,
    calls: int = 1,
    samples: int = 11,
    cold: bool = False,
) -> list[float]:
    """Warm up, then sample the synchronised timer again and again."""
    whole(samples=samples)
    whole(0, warmups=warmups)
    if cold and calls != 1:
        raise ValueError(f"calls={calls}: after a flush only the first call is cold")
    for _ in range(warmups):
        device.launch(kernel)
    found = []
    for _ in range(samples):
        # As in a program whose other work goes through the cache.
        if cold:
            device.flush()
        found.append(time_synchronised(device, kernel, calls))
    return found


def summary(samples: list[float]) -> dict[str, float]:
    """Least, median and mean of some samples. ``samples``: seconds, one or more."""
    if not samples:
        raise ValueError("no samples: time something first")
    return {"min": min(samples), "median": median(samples), "mean": mean(samples)}


# -- what each of them reads ---------------------------------------------------------


def naive_reading(
    launch: Any, seconds: Any, calls: Any = 1, depth: Any | None = None
) -> Any:
    """What ``time_naive`` reads a call, device idle at the start.

    Launches alone while the queue has room. Once it is full the host has to wait,
    and the reading creeps towards the truth from below.
    """
    if depth is None:
        return launch * calls / calls
    behind = calls - minimum(calls, depth)  # calls that had to wait for a place
    waited = behind * seconds + minimum(calls, 2) * launch
    return maximum(calls * launch, waited) / calls


def synchronised_reading(launch: Any, seconds: Any, calls: Any = 1) -> Any:
    """What ``time_synchronised`` reads a call.

    The first launch shows, and then, of every call, the slower of the two.
    """
    return (launch + seconds + (calls - 1) * maximum(launch, seconds)) / calls


def event_reading(launch: Any, seconds: Any, calls: Any = 1, backlog: Any = 0.0) -> Any:
    """What ``time_events`` reads a call.

    ``backlog``: seconds the device is still busy when the host records the first mark.
    """
    # Once the backlog covers the launches, this is the device's time alone.
    full = backlog + calls * seconds  # never a gap
    late = launch + seconds + (calls - 1) * maximum(launch, seconds)
    return (maximum(full, late) - backlog) / calls


def first_call_reading(first: Any, seconds: Any, calls: Any = 1) -> Any:
    """Mean of some calls of which the first pays a cost of its own."""
    return seconds + first / calls


def boosted_reading(seconds: Any, calls: Any, boost: Any, boost_s: Any) -> Any:
    """Mean of some calls on a device that starts fast and slows as it gets warm."""
    fast = minimum(calls * seconds / boost, boost_s)
    return (fast + calls * seconds - fast * boost) / calls


def calls_needed(seconds: Any, tick: Any, error: Any) -> Any:
    """Calls between two clock readings so that the clock's step drowns."""
    # One reading is off by up to a tick.
    return ceil(tick / (seconds * error))


def _middle_delay(samples: int) -> float:
    """Mean of the middle one of so many delays, in units of their mean."""
    return math.fsum(1 / i for i in range(samples // 2 + 1, samples + 1))


def disturbed_readings(seconds: Any, others: Any, samples: int) -> tuple[Any, Any, Any]:
    """Expected least, median and mean of samples that other work only ever lengthens.

    What it adds is taken as exponential: mostly little, sometimes much. The k-th
    smallest of n such delays has the mean ``others`` x (1/n + ... + 1/(n-k+1)).
    """
    whole(samples=samples)
    if samples % 2 == 0:
        raise ValueError(f"samples={samples}: take an odd number, for its middle one")
    middle: Any = _middle_delay(samples)
    if isinstance(others, Quantity):
        middle = counted(_middle_delay, samples, label="mean of the middle delay")
    return seconds + others / samples, seconds + others * middle, seconds + others
