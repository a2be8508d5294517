"""Section 3.3: Why do all lanes wait for one bank?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from random import Random

from stacklib.hardware.warp_rules import rule
from stacklib.memory import Swizzle, Tile, bank_conflicts
from stacklib.memory.warp.banks import BANKS, bank_access, words_of
from stacklib.memory.warp.swizzle import Place, padded
from stacklib.memory.warp.swizzle_proof import requests
from stacklib.memory.warp.swizzle_search import Search, search_swizzle
from stacklib.memory.warp.tiles import least_ways
from stacklib.quantity import Quantity, bytes_per_element, chosen, counted

WORDS = range(2**12)  # of the memory whose words conflict at random


def ways(addresses: Sequence[int], width: int, what: str) -> Quantity:
    """A conflict as words over the banks they fall in, where these share evenly.

    ``width``: bytes each accesses, at most a word.
    """
    words = {w for a in addresses for w in words_of(a, width)}
    banks = sorted(word % BANKS for word in words)
    met = counted(distinct, banks, label=f"banks that {what} meets")
    lanes = rule("lanes")
    if len(words) != lanes.si or len(words) != met.si * bank_conflicts(
        addresses, width
    ):
        raise ValueError(
            f"{what}: {len(words)} words are uneven over {met.text()} banks"
        )
    return (lanes / met).named("ways")


def distinct(banks: Sequence[int]) -> int:
    return len(set(banks))


def column(tile: Tile, padding: int = 0, place: Place | None = None) -> Quantity:
    """Ways of a column of a tile that was placed, or whose rows were padded."""
    place = place or padded(tile.pitch, padding)
    lanes = [place(offset) for offset in tile.down().requests[0]]
    return ways(lanes, tile.width, "a column")


def chunk_places(swizzle: Swizzle) -> int:
    """Places that the same chunk of eight rows of 128 bytes falls in."""
    return len({swizzle(128 * row) // 16 % 8 for row in range(8)})


def matrix(swizzle: Swizzle) -> Quantity:
    """Ways of eight rows of 16 bytes, 128 bytes apart."""
    chunk = (8 * bytes_per_element("fp16")).named("bytes an ldmatrix lane takes")
    rows = rule("banks") * rule("word") / chunk
    return rows / counted(chunk_places, swizzle, label="places the chunks fall in")


def random_ways(draws: int) -> float:
    """Mean conflict of 32 words at random."""
    rng = Random(0)
    ways = [
        bank_conflicts([4 * rng.choice(WORDS) for _ in range(32)]) for _ in range(draws)
    ]
    return sum(ways) / draws


def served(family: Sequence[tuple[int, int]]) -> int:
    """Requests that prove the swizzles of a family of tiles."""
    return sum(1 for width, pitch in family for _ in requests(width, pitch))


@cache
def trying(tile: Tile, top: int) -> Search:
    """Every swizzle of whole chunks below bit ``top``, tried on all three readers."""
    readers = [tile.along(), tile.down(), tile.matrices()]
    return search_swizzle(readers, keep=16, top=top)


def floor(tile: Tile, chunk: Quantity) -> Quantity:
    """Ways that no placement of whole chunks beats: lanes over the banks in reach."""
    reachable = rule("banks") / (chunk / rule("word"))
    found = rule("lanes") / reachable
    assert found.si == least_ways(tile.down(), int(chunk.si))
    return found.named("ways at least")


def remedies(
    tile: Tile, places: dict[str, tuple[Place, int]]
) -> list[dict[str, object]]:
    """Rows of a table: what each placement of a tile does to its three readers."""
    return [
        {
            "placement": name,
            **{
                f"{p.name} (ways)": _worst(p.requests, p.width, place)
                for p in (tile.along(), tile.down(), tile.matrices())
            },
            "bytes added": chosen(extra, "B", label="padding")
            / chosen(tile.pitch, "B", label="row"),
        }
        for name, (place, extra) in places.items()
    ]


def _worst(
    requests: Sequence[Sequence[int]], width: int, place: Callable[[int], int]
) -> int | None:
    """The worst conflict; None where some lane could not make its access."""
    placed = [[place(offset) for offset in lanes] for lanes in requests]
    if any(address % width for lanes in placed for address in lanes):
        return None
    return max(bank_access(lanes, width).degree for lanes in placed)
