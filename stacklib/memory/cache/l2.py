"""The L2 of a device as a cache that can be run."""

from __future__ import annotations

from stacklib.hardware import Accelerator, UnknownSpec
from stacklib.quantity.bounds import whole
from stacklib.roofline.work.bounds import device_of

from .cache import Cache
from .waves import L2_WAYS


def l2_cache(
    on: str | Accelerator, line: int = 128, sector: int | None = None, parts: int = 1
) -> Cache:
    """The L2 of a device, LRU over sets of ``waves.L2_WAYS`` lines.

    Real ones hash the number of a line, by functions that are not published, so that
    no regular stride meets few sets. Here the number of sets is odd, which does the
    same for strides of powers of two; so up to two sets are missing.

    ``line``: bytes of a line: those of a tile for a trace of whole tiles; ``sector``:
    bytes that a miss brings in; the whole line by default.
    """
    device = device_of(on)
    if device.fields["l2_capacity"] is None:
        raise UnknownSpec(f"{device.key}: its last-level cache is unknown")
    whole(parts=parts)
    # Each part keeps a copy of what its half of the chip reads, so together they hold
    # the less. An A100, H100 or H200 has two.
    held = int(device.l2_capacity.si) // parts
    sets = held // (L2_WAYS * line)
    if not sets:
        raise ValueError(f"line = {line}: {L2_WAYS} of them do not fit {held} bytes")
    sets -= sets % 2 == 0  # an odd number, over which strides spread: see above
    return Cache(sets * L2_WAYS * line, L2_WAYS, line, sector)
