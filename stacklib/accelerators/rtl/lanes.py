"""Many products through one netlist: a bit of a machine word for each.

One pass over the gates computes as many test vectors as the words are long.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stacklib.quantity.bounds import whole

from .gates import run
from .netlist import Netlist, NetlistError

WORD = np.uint64


def pack(values: ArrayLike, width: int) -> list[NDArray[np.uint64]]:
    """Whole numbers in two's complement: a word for each of ``width`` bits."""
    whole(width=width)
    numbers = np.asarray(values)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise ValueError(
            f"{numbers.dtype} of shape {numbers.shape}: one row of whole numbers fits"
        )
    half = 1 << width - 1
    if numbers.size and not -half <= numbers.min() <= numbers.max() < half:
        raise ValueError(
            f"{numbers.min()} to {numbers.max()}: {width} bits hold {-half} to "
            f"{half - 1}"
        )
    planes = numbers.astype(np.int64) >> np.arange(width)[:, None] & 1
    room = -(-len(numbers) // 64) * 64
    spread: NDArray[np.uint8] = np.zeros((width, room), np.uint8)
    spread[:, : len(numbers)] = planes
    return list(np.packbits(spread, axis=1, bitorder="little").view(WORD))


def unpack(words: list[NDArray[np.uint64]], count: int) -> NDArray[np.int64]:
    """The ``count`` numbers in two's complement that ``pack`` made these words of."""
    planes = np.stack(words).view(np.uint8)
    bits = np.unpackbits(planes, axis=1, count=count, bitorder="little")
    *low, sign = (1 << n for n in range(len(words)))
    return np.array([*low, -sign], np.int64) @ bits.astype(np.int64)


def products(netlist: Netlist, a: ArrayLike, b: ArrayLike) -> NDArray[np.int64]:
    """Products of many pairs of matrices at once, on the gates of an array.

    - ``a``: count x rows x depth, ``b``: count x depth x columns.
    """
    left, right = np.asarray(a), np.asarray(b)
    if left.ndim != 3 or right.ndim != 3 or left.shape[::2] != right.shape[:2]:
        raise ValueError(f"shapes {left.shape} and {right.shape} do not chain")
    if not left.shape[2]:
        raise ValueError(f"shapes {left.shape} and {right.shape}: an empty product")
    count, rows, depth = left.shape
    cols = right.shape[2]
    _offers(netlist, f"a{rows - 1}", f"b{cols - 1}", f"c{rows - 1}_{cols - 1}")
    zeros = np.zeros(count, left.dtype)

    def edges() -> Iterator[dict[str, Any]]:
        for t in range(rows + cols + depth - 2):
            at = {
                f"a{r}": left[:, r, t - r] if 0 <= t - r < depth else zeros
                for r in range(rows)
            }
            for c in range(cols):
                at[f"b{c}"] = right[:, t - c, c] if 0 <= t - c < depth else zeros
            yield {name: pack(v, netlist.inputs[name]) for name, v in at.items()}

    last = _last(netlist, edges(), count)
    places = [f"c{r}_{c}" for r in range(rows) for c in range(cols)]
    sums = [netlist.taken(netlist.outputs[place]) for place in places]
    found = [unpack([last[n] for n in bits], count) for bits in sums]
    return np.stack(found, axis=1).reshape(count, rows, cols)


def split_products(netlist: Netlist, a: ArrayLike, w: ArrayLike) -> NDArray[np.int64]:
    """Wide numbers times narrow ones in the two passes of a byte-split multiplier."""
    wide, narrow = np.asarray(a), np.asarray(w)
    if wide.shape != narrow.shape:
        raise ValueError(f"shapes {wide.shape} and {narrow.shape}: one number each")
    _offers(netlist, "a", "w", "high", "total")
    count, words = len(wide), -(-len(wide) // 64)
    fed: dict[str, Any] = {
        "a": pack(wide, netlist.inputs["a"]),
        "w": pack(narrow, netlist.inputs["w"]),
    }
    passes = [fed | {"high": [np.full(words, high, WORD)]} for high in (0, 2**64 - 1)]
    last = _last(netlist, passes, count)
    return unpack([last[n] for n in netlist.outputs["total"]], count)


def _offers(netlist: Netlist, *names: str) -> None:
    there = {*netlist.inputs, *netlist.outputs}
    if missing := [name for name in names if name not in there]:
        raise NetlistError(f"no {', '.join(missing)} in {netlist.about}")


def _last(netlist: Netlist, feeds: Any, count: int) -> list[Any]:
    ones: NDArray[np.uint64] = np.full(-(-count // 64), 2**64 - 1, WORD)
    return deque(run(netlist, feeds, ones), maxlen=1)[0]
