"""Divergence: what a warp pays when its lanes want different paths.

A warp issues every path that at least one of its lanes takes, one after the other, with
the other lanes switched off (CUDA C++ Programming Guide, "SIMT architecture"). So the
price is the number of distinct paths in a warp, whatever their shares: two of a two-way
branch, up to 32 of a switch. Three ways to the same number: ``passes`` counts distinct
paths, `gpu.launch` runs the kernel ``many_ways`` and counts instructions, ``masked``
does the work on this machine, under masks, and returns what it computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stacklib.quantity.bounds import whole

WARP = 32
COMMON = 5  # of `many_ways` whatever happens: index, two loads, a store, the end
CHOICE = 2  # compare and branch, for each path there is
STEP = 1  # of a path, for every unit of its work: a multiply-add


def checked(paths: Sequence[int], width: int) -> list[int]:
    """Path numbers of whole warps."""
    whole(width=width)
    found = [int(path) for path in paths]
    if not found or any(n != p or n < 0 for n, p in zip(found, paths, strict=True)):
        raise ValueError("paths: whole numbers from 0, one a lane, at least one")
    return found


def passes(paths: Sequence[int], width: int = WARP) -> list[int]:
    """Passes of each warp: how many distinct paths its lanes take."""
    found = checked(paths, width)
    at = range(0, len(found), width)
    # The last warp may be part empty.
    return [len(set(found[i : i + width])) for i in at]


def instructions(paths: Sequence[int], ways: int, work: int) -> int:
    """Warp instructions of ``kernels.many_ways``, in closed form."""
    whole(0, ways=ways, work=work)
    each = passes(paths)
    if max(paths) >= ways:
        raise ValueError(f"path {max(paths)}: there are {ways}, from 0")
    return sum(COMMON + CHOICE * ways + STEP * work * taken for taken in each)


def masked(x: Any, paths: Any, work: int) -> tuple[Any, int]:
    """The same work on this machine: each path on whole warps, under a mask.

    ``x``: (n,) a number a thread; n is a multiple of 32; ``paths``: (n,) its path.
    """
    import numpy as np

    whole(0, work=work)
    rows = np.array(x, np.int64).reshape(-1, WARP)
    wants = np.asarray(checked(list(np.ravel(paths)), WARP)).reshape(rows.shape)
    done = 0
    for path in np.unique(wants):
        mask = wants == path
        warps = np.nonzero(mask.any(axis=1))[0]  # others jump over this path
        done += len(warps)
        values, on = rows[warps], mask[warps]
        for _ in range(work):
            values = np.where(on, 3 * values + path, values)
        rows[warps] = values
    return rows.ravel(), done
