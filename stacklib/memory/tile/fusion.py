"""A chain of elementwise operations: array by array, block by block, or fused.

Each operation reads one array and writes one. Run one after the other over arrays that
no cache holds, every result goes out to memory and comes back. Run block by block, or
in one kernel, only the first array comes in and only the last goes out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stacklib.quantity import minimum
from stacklib.quantity.bounds import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray


def chain_bytes(operations: Any, elements: Any, width: Any, near: Any = 1) -> Any:
    """Bytes that cross to memory and back.

    A line is fetched before it is overwritten, so an array that is written crosses
    twice: 3 crossings an operation, or 3 in all.
    """
    return 3 * operations / minimum(near, operations) * elements * width


def chain_trace(
    operations: int, elements: int, width: int, block: int, line: int = 64
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Lines that a chain touches, and which of them it writes, for a `Cache`.

    Between the first array and the last, results go back and forth between two
    arrays of ``block`` elements, which every block uses again.

    ``line``: bytes of a line.
    """
    import numpy as np

    whole(operations=operations, block=block)
    if elements % block or block * width % line:
        raise ValueError(
            f"{elements} elements in blocks of {block}: the blocks divide them and "
            f"are whole {line}-byte lines"
        )
    size, span = elements * width, block * width
    first, last, between = 0, size, [2 * size, 2 * size + span]
    parts = []
    for at in range(0, size, span):
        lines: NDArray[Any] = np.arange(0, span, line, dtype=np.int64)
        source = first + at
        for step in range(operations):
            end = step == operations - 1
            target = last + at if end else between[step % 2]
            # read a line, write a line, and on
            parts.append(np.stack((source + lines, target + lines), axis=1).ravel())
            source = target
    addresses = np.concatenate(parts)
    writes: NDArray[Any] = np.zeros(len(addresses), np.bool_)
    writes[1::2] = True
    return addresses, writes
