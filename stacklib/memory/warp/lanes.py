"""What the lanes of a warp ask for: addresses, checked before anything is counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index

__all__ = ["WARP", "WIDTHS", "check_width", "lane_addresses", "strided", "whole"]

WARP = 32  # lanes
WIDTHS = (1, 2, 4, 8, 16)  # bytes one lane can load or store at once


def whole(value: object, name: str, least: int | None = None) -> int:
    """A whole number as an int."""
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    # NumPy's whole numbers pass too; a bool does not.
    if number is None or isinstance(value, bool):
        raise ValueError(f"{name} = {value!r}: a whole number is needed")
    if least is not None and number < least:
        raise ValueError(f"{name} = {number}: {least} or more is needed")
    return number


def check_width(width: object) -> int:
    """The width of an access, if lanes can have it."""
    if isinstance(width, bool) or width not in WIDTHS:
        raise ValueError(f"width = {width!r}: a lane accesses 1, 2, 4, 8 or 16 bytes")
    return int(width)


def lane_addresses(addresses: Iterable[int | None], width: int) -> list[int | None]:
    """The addresses of one request, lane by lane.

    ``width``: bytes a lane accesses: 1, 2, 4, 8 or 16.
    """
    check_width(width)
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
        # Hardware refuses it, too.
        if address % width:
            raise ValueError(
                f"lane {lane}: address {address} is no multiple of its {width} bytes"
            )
        lanes[lane] = index(address)
    return lanes


def strided(
    stride: int, *, width: int = 4, base: int = 0, lanes: int = WARP
) -> Sequence[int]:
    """Addresses of lanes that read every ``stride``-th element of an array.

    ``width``: bytes of an element; ``base``: byte address of the first lane.
    """
    # 0 broadcasts, below zero walks backwards; field i of an array of structs of n
    # fields is stride n from a base of i elements.
    step = whole(stride, "stride") * check_width(width)
    base, lanes = whole(base, "base", 0), whole(lanes, "lanes", 1)
    if lanes > WARP:
        raise ValueError(f"lanes = {lanes}: a warp has 1 to {WARP}")
    if base + (lanes - 1) * step < 0:
        raise ValueError(
            f"stride = {stride} from byte {base} ends at {base + (lanes - 1) * step}: "
            f"start at {-(lanes - 1) * step} or above"
        )
    return range(base, base + lanes * step, step) if step else [base] * lanes
