"""Keys and values on their way to another machine: bytes, rails, milliseconds.

Each chip of a server has a rail, a network port of its own, and holds its share of
every block. Blocks go out one after another on all rails at once; a block is there
when its last share is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.hardware import link as link_of
from stacklib.hardware.links import Link
from stacklib.models import LanguageModel
from stacklib.quantity import Quantity, chosen
from stacklib.quantity.bounds import above_zero, at_least, whole
from stacklib.roofline.work.fit import model_of


def transfer_time(size: Any, rate: Any, rails: Any = 1, latency: Any = 0.0) -> Any:
    """Seconds until all bytes have crossed, spread evenly over rails.

    Floats, quantities or arrays.

    - ``size``: bytes in all;
    - ``rate``: bytes a second of one rail, one direction;
    - ``latency``: seconds from a rail's end to its other.
    """
    return size / (rails * rate) + latency


def run_transfer(
    blocks: int, block: float, rate: float, rails: int = 1, latency: float = 0.0
) -> list[float]:
    """When each block has come, share by share: the plain reading of the sum.

    A rail sends its share of a block when the one before has left it.

    - ``blocks``: how many; ``block``: bytes of each; the others as in `transfer_time`.
    """
    whole(blocks=blocks, rails=rails)
    above_zero(block=block, rate=rate)
    at_least(0, latency=latency)
    free = [0.0] * rails  # when each rail may send again
    came = []
    for _ in range(blocks):
        free = [at + block / rails / rate for at in free]
        came.append(max(free) + latency)
    return came


@dataclass(frozen=True, slots=True)
class Transfer:
    """One sequence's cache on its way."""

    size: Quantity  # bytes in all
    time: Quantity  # until the last has come
    rails: Quantity


def kv_transfer(
    model: str | LanguageModel,
    tokens: int,
    *,
    dtype: str = "bf16",
    over: str | Link = "ib-ndr",
    rails: int = 1,
) -> Transfer:
    """A sequence's keys and values over the rails of a server, at line rate.

    Nothing is overlapped with their computing, and no message costs anything of its
    own: a layer's keys and values may leave while the next layer is computed, and
    then only the last layer's time is seen.

    Parameters
    ----------
    model : str or LanguageModel
        Whose cache it is.
    tokens : int
        Tokens in it.
    dtype : str
        Format of the cache.
    over : str or Link
        The network link of one rail.
    rails : int
        How many; the cache is spread evenly over them.

    Raises
    ------
    ValueError
        For counts that make no sense; unknown names with the nearest.

    Examples
    --------
    >>> kv_transfer("llama-3-70b", 50_000, rails=8).time.text("ms")
    '41 ms'
    """
    whole(tokens=tokens, rails=rails)
    shape = model_of(model)
    way = over if isinstance(over, Link) else link_of(over)
    count = chosen(rails, label="rails")
    size = shape.kv_bytes(tokens, dtype)
    time = transfer_time(size, way.link_bandwidth.across(1), count, way.latency)
    return Transfer(size, time.named("transfer of the cache"), count)
