"""Section 8.3: Where does the next token go?"""

from __future__ import annotations

import random
from functools import cache
from typing import Any

from stacklib.models import get
from stacklib.paged_kv import BlockAllocator, Sequence
from stacklib.paged_kv.reserve import (
    Share,
    filled,
    filled_by_allocator,
    filled_by_counting,
    reserved,
    serve,
)
from stacklib.pages import chain
from stacklib.pages.serving import fits
from stacklib.quantity import Quantity, chosen, counted, counting, recorded
from stacklib.serving.estimates.room import Room

MODEL, DEVICE, CONTEXT = chain.MODEL, chain.DEVICE, chain.CONTEXT
BLOCK, LONGEST = chain.posts.BLOCK, get(MODEL).max_context  # tokens
# The small memory of the experiment: so many tokens of room, for sequences up to that.
SLOTS, SMALL, REQUESTS = 16_000, 1534, 400
SPARE = (2, 8, 16)  # blocks kept free for each that runs
SIZES = (4, 16, 64, 256)
ANSWERS = 4  # that one prompt is asked for


def cached(tokens: int) -> Quantity:
    """Bytes of a sequence's cache."""
    return get(MODEL).kv_bytes(tokens, "bf16").named(f"cache of {tokens:,} tokens")


def block_bytes() -> Quantity:
    """Bytes of a block, all layers of it."""
    return get(MODEL).kv_bytes(BLOCK, "bf16").named("a block of the cache")


def table_blocks() -> Quantity:
    """Blocks of the case's sequence."""
    one = BlockAllocator(CONTEXT, BLOCK)
    return counted(one.needed, CONTEXT, label="blocks of the sequence")


def held(context: int) -> Room:
    """The eight chips' room for sequences that take so much each, as in 8.1."""
    return fits.machine(context)


def longest() -> Quantity:
    """Tokens of the longest sequence."""
    return get(MODEL).size("max_context", "max context").named("longest sequence")


def lost() -> Quantity:
    """Share of reservations of the longest that holds no token."""
    return (1 - reserved(longest())).named("share lost by reserving the longest")


def in_memory(longest: int) -> Quantity:
    """Mean tokens of a sequence met at a random moment."""
    return ((chosen(longest, label="longest") + 2) / 3).named("mean length in memory")


def ways(block: int) -> tuple[Quantity, Quantity, Quantity]:
    """Share of slots filled: closed form, every moment counted, and the allocator."""
    size = chosen(block, label="tokens of a block")
    closed = filled(in_memory(SMALL), size).named(f"filled, blocks of {block}")
    moments = counted(filled_by_counting, SMALL, block, label=f"counted, {block}")
    run = counted(filled_by_allocator, SMALL, block, label=f"allocator, {block}")
    return closed, moments, run


@cache
def served(scheme: str, spare: int = SPARE[1], requests: int = REQUESTS) -> Share:
    """The small memory under one scheme."""
    draw = random.Random(83)
    lengths = [draw.randrange(1, SMALL + 1) for _ in range(requests)]
    return serve(lengths, SLOTS, scheme, longest=SMALL, block=BLOCK, spare=spare)


@counting("{what}, {scheme}, {spare}")
def told(scheme: str, what: str, spare: int = SPARE[1]) -> float:
    """One field of what came of it: ``tokens``, ``later``, ``never``, ``free``, ..."""
    return float(getattr(served(scheme, spare), what))


def more() -> Quantity:
    """Sequences that run with blocks over those with reservations of the longest."""
    many, few = (told(s, "running") for s in ("blocks", "the longest"))
    return (many / few).named("sequences at once, blocks over reservations")


def blocks_of_answers(forked: bool) -> int:
    """Blocks of four answers to one prompt just begun, forked or asked apart."""
    pool = BlockAllocator(4 * CONTEXT, BLOCK)
    first = pool.allocate(range(CONTEXT - 1), publish=False)
    assert first
    many = [first]
    for n in range(1, ANSWERS):
        more = (
            pool.fork(first)
            if forked
            else pool.allocate([-n, *range(CONTEXT - 2)], publish=False)
        )
        assert more
        many.append(more)
    for n, one in enumerate(many):
        pool.append(one, n)
    return pool.stats().owned


def peer() -> Quantity:
    """Requests a second over nano-vllm's, nothing shared, in one run."""
    file = "benchmarks/results/block_manager.json"
    times = [
        recorded(file, f"unshared, {who}", "times_s/median", unit="s", label=who)
        for who in ("nano-vllm", "stacklib")
    ]
    return (times[0] / times[1]).named("requests per second over nano-vllm's")


# -- a small pool, step by step ------------------------------------------------------

POOL, STEPS = 24, 30
EVENTS = {
    0: ("A asks", "A", 10),
    4: ("B asks, and begins as A does", "B", 13),
    8: ("A's answer is forked, as C", "C", 0),
    14: ("A is done", "A", -1),
    18: ("D asks what A had asked", "D", 15),
    24: ("B is done", "B", -1),
}


def replay(step: int, size: int) -> tuple[BlockAllocator, dict[str, Sequence], str]:
    """A pool after so many steps, who is in it, and what happened last."""
    pool, live, last = BlockAllocator(POOL, size), dict[str, Sequence](), ""
    for now in range(step + 1):
        pool.step = now
        if now in EVENTS:
            last, who, what = EVENTS[now]
            _happen(pool, live, who, what)
        for who, sequence in live.items():
            pool.append(sequence, 1000 * now + ord(who))
    return pool, live, last


def _happen(
    pool: BlockAllocator, live: dict[str, Sequence], who: str, what: int
) -> None:
    made: Any = None
    if what < 0:
        pool.free(live.pop(who))
    elif what:
        made = pool.allocate(range(what), owner=who)
    else:
        made = pool.fork(live["A"], owner=who)
    if made is not None:
        live[who] = made
