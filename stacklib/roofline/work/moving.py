"""How long bytes are under way: through memories, over a link, at a rate.

    time = bytes / bandwidth

A memory's bandwidth is that of all chips that hold the bytes, a link's that of one
direction. A bound: nothing waits, and nothing else uses the wires.
"""

from __future__ import annotations

from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.hardware.links import Link
from stacklib.quantity import Quantity, UnitError
from stacklib.quantity.bounds import above_zero, at_least

from .bounds import device_of
from .work import sized


def moving_time(moved: Any, bandwidth: Any) -> Any:
    """Least time of bytes at a rate, such as a drive's or one that was measured.

    Parameters
    ----------
    moved : float, Quantity or array
        Bytes, from none up.
    bandwidth : float, Quantity or array
        Bytes a second, one way; of plain bytes a quantity's number is taken.

    Returns
    -------
    float, Quantity or array
        In seconds.

    Raises
    ------
    ValueError
        For bytes below zero or NaN, or a bandwidth that is not above zero.
    UnitError
        Where one over the other is no time, as of bits at bytes a second; for a
        bandwidth that counts both directions.

    Examples
    --------
    >>> moving_time(Quantity(7, "GB"), Quantity(14, "GB/s")).text()
    '500 ms'
    """
    at_least(0, moved=moved)
    above_zero(bandwidth=bandwidth)
    if "bidirectional" in getattr(bandwidth, "tags", ()):
        raise UnitError(
            f"bandwidth = {bandwidth.text()} counts both directions: bytes go one way; "
            'halve it, .retag("per_direction", factor=0.5)'
        )
    if not isinstance(moved, Quantity):
        if isinstance(bandwidth, Quantity):
            (Quantity(1, "B") / bandwidth).to("s")  # refuses what is no time
        return moved / getattr(bandwidth, "si", bandwidth)
    time = moved / bandwidth
    time.to("s")
    return time


def memory_time(moved: Any, on: str | Accelerator, chips: int = 1) -> Any:
    """Least time in which memories of devices read or write bytes.

    Parameters
    ----------
    moved : float, Quantity or array
        Bytes in all, spread evenly over the chips.
    on : str or Accelerator
        The device, or its name.
    chips : int
        How many of them.

    Returns
    -------
    float, Quantity or array
        In seconds.

    Raises
    ------
    UnknownName, UnknownSpec
        For an unknown device, or one whose bandwidth nobody knows.
    ValueError, UnitError
        For bytes below zero or NaN, ``chips`` below one, what is not in bytes.

    Examples
    --------
    >>> memory_time(Quantity(134, "GB"), "h100-sxm", 8).text()
    '5 ms'
    """
    count, rate = sized(chips, "chips"), device_of(on).memory_bandwidth
    return moving_time(moved, rate if chips == 1 else rate.across(count))


def link_time(moved: Any, over: str | Link, *, achieved: bool = False) -> Any:
    """Least time in which bytes cross a link one way; its latency is left out.

    Parameters
    ----------
    moved : float, Quantity or array
        Bytes that one chip sends.
    over : str or Link
        The link, or its name: all of a chip's lanes together.
    achieved : bool
        At the rate that was measured on it, where one is known.

    Returns
    -------
    float, Quantity or array
        In seconds.

    Raises
    ------
    UnknownName, UnknownSpec
        For an unknown link, or one whose rate nobody knows.
    ValueError, UnitError
        For bytes below zero or NaN, what is not in bytes.

    Examples
    --------
    >>> link_time(Quantity(450, "MB"), "nvlink4").text()
    '1 ms'
    """
    link = over if isinstance(over, Link) else hardware.link(over)
    return moving_time(moved, link.achieved if achieved else link.per_direction)
