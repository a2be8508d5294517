"""Traces to try a replacement policy on: popular keys, scans and loops, conversations.

The same seed gives the same trace on every machine. Keys are whole numbers from 0.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import accumulate, chain, count, islice

from stacklib.quantity.bounds import above_zero, whole

_SYSTEM_BLOCKS = 12  # of a prompt that all conversations of an application share
_APPLICATIONS = 3


def zipf(
    length: int, keys: int = 3000, exponent: float = 1.1, seed: int = 0
) -> list[int]:
    """Keys of which the k-th is asked for in proportion to k to the -``exponent``."""
    whole(length=length, keys=keys)
    above_zero(exponent=exponent)
    weights = list(accumulate(k**-exponent for k in range(1, keys + 1)))
    return random.Random(seed).choices(range(keys), cum_weights=weights, k=length)


def scans_and_loops(length: int, loop: int = 330, seed: int = 0) -> list[int]:
    """Popular keys, interrupted by scans of new keys and by loops over old ones."""
    whole(length=length, loop=loop)
    r = random.Random(seed)
    new = count(loop + 400)
    found: list[int] = []
    while len(found) < length:
        phase = r.random()
        if phase < 0.15:
            found += [next(new) for _ in range(r.randint(50, 400))]
        elif phase < 0.25:
            # A loop goes through its keys three times each time it comes.
            found += 3 * list(range(loop))
        else:
            hot = (int(400 * r.random() ** 3) for _ in range(r.randint(100, 500)))
            found += [loop + key for key in hot]
    return found[:length]


def turns(people: int = 60, seed: int = 0) -> Iterator[list[int]]:
    """Blocks of a KV cache as each turn of a conversation needs them, without end.

    Each turn reads the blocks of a system prompt shared with others, then all earlier
    blocks of its own conversation, then writes some new ones. Who spoke last is more
    likely to speak again; conversations end, and others begin.
    """
    whole(people=people)
    r = random.Random(seed)
    new = count(_APPLICATIONS * _SYSTEM_BLOCKS)

    def begun() -> list[int]:
        first = _SYSTEM_BLOCKS * r.randrange(_APPLICATIONS)
        return list(range(first, first + _SYSTEM_BLOCKS))

    held = [begun() for _ in range(people)]  # the last to speak is at the end
    while True:
        blocks = held.pop(int(people * r.random() ** 0.4))
        blocks += [next(new) for _ in range(r.randint(1, 6))]
        yield list(blocks)
        held.append(blocks if r.random() < 0.9 else begun())


def conversations(length: int, people: int = 60, seed: int = 0) -> list[int]:
    """Blocks of a KV cache as ``turns`` of conversations touch them, prefix first."""
    whole(length=length)
    return list(islice(chain.from_iterable(turns(people, seed)), length))


TRACES: dict[str, Callable[..., list[int]]] = {
    "popular keys": zipf,
    "scans and loops": scans_and_loops,
    "conversations": conversations,
}
