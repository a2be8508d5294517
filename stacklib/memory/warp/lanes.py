"""What the lanes of a warp ask for: addresses, checked before anything is counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stacklib.quantity.bounds import is_whole, whole

WARP = 32  # lanes
WIDTHS = (1, 2, 4, 8, 16)  # bytes one lane can load or store at once


def check_width(width: object) -> int:
    """The width of an access, if lanes can have it."""
    if not is_whole(width) or width not in WIDTHS:
        raise ValueError(f"width = {width!r}: a lane accesses 1, 2, 4, 8 or 16 bytes")
    return int(width)


def check_lanes(stride: int, base: int, lanes: int) -> tuple[int, int, int]:
    """What lanes at equal distances are given by, as plain numbers."""
    if not is_whole(stride):  # below zero too
        raise ValueError(f"stride = {stride!r}: a whole number is needed")
    whole(0, base=base)
    whole(lanes=lanes)
    if lanes > WARP:
        raise ValueError(f"lanes = {lanes}: a warp has 1 to {WARP}")
    return int(stride), int(base), int(lanes)


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
        if type(address) is not int:
            if not is_whole(address):
                raise ValueError(f"lane {lane}: address {address!r} is no whole number")
            lanes[lane] = int(address)
        if address < 0:
            raise ValueError(f"lane {lane}: address {address} is below zero")
        # Hardware refuses it, too.
        if address % width:
            raise ValueError(
                f"lane {lane}: address {address} is no multiple of its {width} bytes"
            )
    return lanes


def strided(
    stride: int, *, width: int = 4, base: int = 0, lanes: int = WARP
) -> Sequence[int]:
    """Addresses of lanes that read every ``stride``-th element of an array.

    ``width``: bytes of an element; ``base``: byte address of the first lane.
    """
    # 0 broadcasts, below zero walks backwards; field i of an array of structs of n
    # fields is stride n from a base of i elements.
    stride, base, lanes = check_lanes(stride, base, lanes)
    step = stride * check_width(width)
    if base + (lanes - 1) * step < 0:
        raise ValueError(
            f"stride = {stride} from byte {base} ends at {base + (lanes - 1) * step}: "
            f"start at {-(lanes - 1) * step} or above"
        )
    return range(base, base + lanes * step, step) if step else [base] * lanes
