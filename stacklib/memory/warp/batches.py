"""Many requests at once: sectors and conflicts of whole arrays of addresses.

Row by row the same as ``coalesce`` and ``bank_access``, for machines that issue
requests by the million. Rows are sorted, and where a value differs from the one
before it something new begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .banks import BANKS, WORD
from .coalescing import LINE, SECTOR
from .lanes import WARP, check_width

_OFF = np.int64(np.iinfo(np.int64).max)  # address of a lane that is masked off


@dataclass(frozen=True, slots=True)
class Requests:
    """Many loads or stores, as global memory sees them."""

    sectors: Any  # (requests,)
    lines: Any  # (requests,) cache lines they are in
    asked: Any  # (requests,) distinct bytes asked for

    @property
    def moved(self) -> Any:
        """Bytes of the sectors, (requests,)."""
        return SECTOR * self.sectors

    @property
    def efficiency(self) -> float:
        """Share of all moved bytes that somebody asked for; 0 if nobody did."""
        moved = int(self.moved.sum())
        return float(self.asked.sum()) / moved if moved else 0.0


def _checked(addresses: Any, width: int, active: Any) -> Any:
    """Addresses as (requests, lanes) of int64, lanes that are off at the end."""
    check_width(width)
    asked = np.asarray(addresses)
    if asked.ndim != 2 or not 1 <= asked.shape[1] <= WARP:
        raise ValueError(f"shape {asked.shape}: (requests, 1 to {WARP} lanes) needed")
    if asked.dtype.kind not in "iu":
        raise ValueError(f"addresses of {asked.dtype}: whole numbers are needed")
    on = np.ones(asked.shape, bool) if active is None else np.asarray(active)
    if on.shape != asked.shape or on.dtype != np.bool_:
        raise ValueError(
            f"active is {on.dtype} of shape {on.shape}: bool of {asked.shape} is needed"
        )
    bad = on & ((asked < 0) | (asked % width != 0))
    if bad.any():
        row, lane = map(int, np.argwhere(bad)[0])
        raise ValueError(
            f"request {row}, lane {lane}: address {asked[row, lane]} is below zero or "
            f"no multiple of its {width} bytes"
        )
    return np.where(on, asked.astype(np.int64), _OFF)


def _first_of_run(ordered: Any) -> Any:
    """Where a sorted row shows a value for the first time, masked lanes apart."""
    fresh = np.empty(ordered.shape, bool)
    fresh[:, 0] = True
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=fresh[:, 1:])
    return fresh & (ordered != _OFF)


def coalesce_all(addresses: Any, width: int = 4, active: Any = None) -> Requests:
    """Sectors, lines and bytes asked for of many requests.

    ``active``: (requests, lanes) lanes that take part; default all.
    """
    ordered = np.sort(_checked(addresses, width, active), axis=1)

    def distinct(size: int) -> Any:
        piece = np.where(ordered == _OFF, _OFF, ordered // size)
        return _first_of_run(piece).sum(axis=1)

    return Requests(distinct(SECTOR), distinct(LINE), width * distinct(width))


def bank_ways(addresses: Any, width: int = 4, active: Any = None) -> Any:
    """Ways of each phase of many requests, (requests, phases).

    ``width``: bytes each lane accesses: 1, 2, 4, 8 or 16; ``active``: (requests, lanes)
    lanes that take part; default all.
    """
    lanes = _checked(addresses, width, active)
    requests, count = lanes.shape
    each = max(1, width // WORD)  # words a lane takes
    together = WARP // each
    parts = -(-count // together)
    full = np.full((requests, parts * together), _OFF)
    full[:, :count] = lanes
    off = full == _OFF
    full //= WORD
    words = full[:, :, None] + np.arange(each)
    words[off] = _OFF
    return _ways(words.reshape(-1, WARP)).reshape(requests, parts)


def _ways(words: Any) -> Any:
    """Most distinct words of one bank in each row of 32."""
    words.sort(axis=1)
    fresh = _first_of_run(words)
    # A counter for each row and bank; one more row catches what is not counted.
    counter = (words & (BANKS - 1)) + BANKS * np.arange(len(words))[:, None]
    counter[~fresh] = BANKS * len(words)
    seen = np.bincount(counter.ravel(), minlength=BANKS * len(words) + 1)
    return seen[:-1].reshape(-1, BANKS).max(axis=1)
