"""What the lanes of a warp ask for: addresses, checked before anything is counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["WARP", "WIDTHS", "lane_addresses", "strided"]

WARP = 32  # lanes
WIDTHS = (1, 2, 4, 8, 16)  # bytes one lane can load or store at once


def lane_addresses(addresses: Iterable[int | None], width: int) -> list[int | None]:
    """The addresses of one request, lane by lane.

    Parameters
    ----------
    addresses : iterable of int or None
        Byte address of each lane, at most 32; None for a lane that is masked off.
    width : int
        Bytes a lane accesses: 1, 2, 4, 8 or 16.

    Raises
    ------
    ValueError
        For another width, no lane, more than 32, an address that is no whole number
        or below zero, or one that is no multiple of the width, which hardware
        refuses too. Names the lane.
    """
    if isinstance(width, bool) or width not in WIDTHS:
        raise ValueError(f"width = {width!r}: a lane accesses 1, 2, 4, 8 or 16 bytes")
    lanes = list(addresses)
    if not 1 <= len(lanes) <= WARP:
        raise ValueError(f"{len(lanes)} addresses: a warp has 1 to {WARP} lanes")
    for lane, address in enumerate(lanes):
        if address is None:
            continue
        if isinstance(address, bool) or not hasattr(address, "__index__"):
            raise ValueError(f"lane {lane}: address {address!r} is no whole number")
        if address < 0:
            raise ValueError(f"lane {lane}: address {address} is below zero")
        if address % width:
            raise ValueError(
                f"lane {lane}: address {address} is no multiple of its {width} bytes"
            )
    return lanes


def strided(
    stride: int, *, width: int = 4, base: int = 0, lanes: int = WARP
) -> Sequence[int]:
    """Addresses of lanes that read every ``stride``-th element of an array.

    Parameters
    ----------
    stride : int
        Elements from one lane to the next; 0 broadcasts.
    width : int
        Bytes of an element.
    base : int
        Byte address of the first.
    lanes : int
        How many take part.
    """
    return (
        range(base, base + lanes * stride * width, stride * width)
        if stride
        else ([base] * lanes)
    )
