"""The same count three ways: distances, tiers that count, an engine that moves bytes.

People take turns with the tiny model. The engine answers one after the other, with a
pool, a host tier and a file tier; its log says of each full block of a prompt where it
was found. Its pool keeps one block less of what was computed: the last block of a
prompt, which is not full, needs a place, too.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import accumulate, islice, pairwise

from stacklib import tinylm
from stacklib.memory.cache.reuse import reuse_distances
from stacklib.memory.cache.traces import turns
from stacklib.memory.tiers.seen import tiers_from
from stacklib.paged_kv.tiered import TieredCache
from stacklib.quantity import Quantity
from stacklib.serving import Engine, FileTier, HostTier
from stacklib.tinylm import Sampling

SIZE, PEOPLE, TURNS = 8, 8, 60  # tokens of a block; who talks, and how often in all
POOL, HOST, FILE = 65, 60, 60  # blocks
PLACES = ("pool", "host", "file", "computed")


@cache
def asked() -> tuple[tuple[int, ...], ...]:
    """Blocks of each turn; conversations that outgrow the model's context stay away."""
    most = (tinylm.load().config.max_position_embeddings - 2) // SIZE
    fit = (tuple(turn) for turn in turns(PEOPLE) if len(turn) <= most)
    return tuple(islice(fit, TURNS))


def prompt(turn: tuple[int, ...]) -> list[int]:
    """Tokens of a turn: those of its blocks, and one that is new."""
    model = tinylm.load()
    words: list[int] = []
    for block in turn:
        words += random.Random(block).choices(range(model.config.vocab_size), k=SIZE)
    return [*words, model.tokenizer.end]


def touched() -> list[int]:
    """The trace of all turns: from the first block to the last, and back.

    On the way back nothing is missed; it leaves the last block the oldest, as an
    allocator does that frees a sequence from its end.
    """
    return [key for turn in asked() for key in (*turn, *reversed(turn))]


def forth() -> list[int]:
    """Places in that trace of the first touch of each block in each turn."""
    starts = accumulate((2 * len(turn) for turn in asked()), initial=0)
    return [
        at + i
        for at, turn in zip(starts, asked(), strict=False)
        for i in range(len(turn))
    ]


def by_distance() -> tuple[int, ...]:
    """Blocks found in each place, told by their reuse distances."""
    distance = reuse_distances(touched())[forth()].tolist()
    ends = accumulate((POOL - 1, HOST, FILE), initial=0)
    inside = [sum(low <= d < high for d in distance) for low, high in pairwise(ends)]
    return (*inside, len(distance) - sum(inside))


def by_tiers() -> tuple[int, ...]:
    """The same, counted by a cache on tiers."""
    block = Quantity(1, "MB")
    rooms = zip(tiers_from("sm")[1:], (POOL - 1, HOST, FILE), strict=False)
    held = [replace(tier, capacity=room * block) for tier, room in rooms]
    cache = TieredCache(held, "lru", block=block)
    levels = [cache.access(key) for key in touched()]
    found = Counter(levels[at] for at in forth())
    return tuple(found[level] for level in range(len(PLACES)))


@cache
def by_engine() -> tuple[int, ...]:
    """The same, of an engine whose blocks really go to host and file and back."""
    found: Counter[str] = Counter()
    with FileTier(FILE) as file:
        engine = Engine(
            tinylm.load(),
            blocks=POOL,
            block_size=SIZE,
            max_batch=1,
            chunk=512,
            tiers=(HostTier(HOST), file),
        )
        for turn in asked():
            engine.submit(prompt(turn), Sampling(0), most=1)
            while engine.busy:
                engine.step()
            last = next(e for e in reversed(engine.log) if e.what == "admitted")
            found.update(place for _, place in last.detail["found"])
    return tuple(found[place] for place in PLACES)


def found_in(place: str) -> int:
    """Blocks that the engine found in one place."""
    return dict(zip(PLACES, by_engine(), strict=True))[place]
