"""Section 8.6: Where does a cache go that does not fit?"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from stacklib.memory import Tier
from stacklib.memory.cache.replacement import belady_misses, misses
from stacklib.memory.cache.traces import conversations
from stacklib.memory.tiers.seen import tiers_from
from stacklib.models import get
from stacklib.paged_kv.tiered import Served, TieredCache, fetch_time
from stacklib.paged_kv.transfer import Transfer, kv_transfer
from stacklib.pages import chain
from stacklib.pages.serving.prefix import first_token
from stacklib.quantity import Quantity, chosen, counted, quoted

DEVICE, MODEL, CHIPS, CONTEXT = chain.DEVICE, chain.MODEL, chain.TP, chain.CONTEXT
BLOCK, LONG = chain.posts.BLOCK, int(quoted("session.turn_1").si)  # tokens
LENGTH, ROOM, DOUBLE = 20_000, 300, 600  # blocks asked for, and blocks that fit
ROOMS = (50, 100, 200, 300, 400, 600)
SHORT = 4_000  # blocks asked for where tiers are run
NEAR, FAR = 100, 200  # blocks that fit two tiers there
NAMES = {"host": "DDR5 of the host", "cxl": "CXL of the host", "drive": "NVMe"}


# -- bytes on their way back -------------------------------------------------------


@cache
def tiers() -> dict[str, Tier]:
    """The tiers below a chip's own memory, as the chip sees them."""
    known = {tier.name: tier for tier in tiers_from("sm", device=DEVICE)}
    return {key: known[name] for key, name in NAMES.items()}


def memory() -> Tier:
    """The chip's own memory."""
    return tiers_from("sm", device=DEVICE)[1]


def share(tokens: int) -> Quantity:
    """Bytes of so many tokens' keys and values that lie on one of eight chips."""
    chips = chosen(CHIPS, label="chips")
    size = get(MODEL).kv_bytes(tokens, "bf16") / chips
    return size.named(f"a chip's share of {tokens:,} tokens")


def fetched(tier: str, tokens: int = CONTEXT) -> Quantity:
    """Seconds until they have come back; every chip fetches its own at once."""
    time = fetch_time(tiers()[tier], share(tokens))
    return time.named(f"{tokens:,} tokens fetched from the {tier}")


def computed() -> Quantity:
    """Seconds in which eight chips compute a prompt, by the estimate, as 8.4 has it."""
    return first_token(CONTEXT).named("the prompt computed")


def computed_block() -> Quantity:
    """The same for one block of it."""
    blocks = chosen(CONTEXT // BLOCK, label="blocks of the prompt")
    return (computed() / blocks).named("a block computed")


def step() -> Quantity:
    """Products, attention and norms of the one token that has to be computed anyway."""
    names = (*chain.READ[:2], chain.NORMS)
    return chain.time("08-serving/tiers", *names, after=False)


def sent(tokens: int, dtype: str, over: str, rails: int) -> Transfer:
    """A cache on its way to another server."""
    way = kv_transfer(MODEL, tokens, dtype=dtype, over=over, rails=rails)
    words = f"{tokens:,} tokens in {dtype} over {rails} x {over}"
    return replace(way, time=way.time.named(words))


# -- who leaves --------------------------------------------------------------------


@cache
def trace(length: int = LENGTH) -> tuple[int, ...]:
    """Blocks as turns of conversations ask for them."""
    return tuple(conversations(length))


@cache
def missed(policy: str, room: int = ROOM) -> Quantity:
    """Blocks that had to be computed; every block must come in to be used."""
    keys, label = list(trace()), f"misses of {policy}, {room} blocks"
    if policy == "belady":
        return counted(belady_misses, keys, room, False, label=label)
    return counted(misses, keys, room, policy, label=label)


def over_lru(policy: str, room: int = ROOM) -> Quantity:
    """Misses of a policy over those of LRU."""
    return missed(policy, room) / missed("lru", room)


def saved(policy: str, room: int = ROOM) -> Quantity:
    """Share of LRU's misses that a policy avoids."""
    return (1 - over_lru(policy, room)).named(f"LRU's misses saved by {policy}")


def room_saves() -> Quantity:
    """Share of LRU's misses that twice the room avoids."""
    return (1 - missed("lru", DOUBLE) / missed("lru", ROOM)).named("saved by room")


def distinct() -> int:
    """Blocks that are ever asked for: nobody has them the first time."""
    return len(set(trace()))


# -- tiers at work -----------------------------------------------------------------


@cache
def served(policy: str, near: int = NEAR, far: int = FAR, drive: int = 0) -> Served:
    """What becomes of a trace on a chip's memory, the host's, and a drive."""
    own = [memory(), tiers()["host"], tiers()["drive"]]
    size = share(BLOCK)
    rooms = zip(own, (near, far, drive), strict=True)
    held = [replace(tier, capacity=room * size) for tier, room in rooms if room]
    keys = trace(SHORT)
    return TieredCache(held, policy, block=size, trace=keys).run(keys)


def stall(policy: str, near: int = NEAR, far: int = FAR, drive: int = 0) -> Quantity:
    """Mean wait of a block that is asked for, fetched or computed."""
    told = served(policy, near, far, drive)
    asked = counted(len, trace(SHORT), label="blocks asked for")
    words = f"mean wait under {policy}, {near}, {far} and {drive} blocks"
    return (told.stall(computed_block()) / asked).named(words)


def shared_drive() -> Quantity:
    """A block's way from one drive that all chips share."""
    chips = chosen(CHIPS, label="chips")
    time = fetch_time(tiers()["drive"], share(BLOCK) * chips)
    return time.named("a block from one drive for all chips")


def places(policy: str, tier: int, near: int = NEAR, far: int = FAR) -> int:
    """Blocks that a tier of two served; those computed for the tier after the last."""
    told = served(policy, near, far)
    return (*told.hits, told.misses)[tier]


def distances(near: int = NEAR, far: int = FAR) -> tuple[int, ...]:
    """The same under LRU, told by reuse distances alone."""
    from stacklib.memory.cache.reuse import reuse_distances

    found = [d for d in reuse_distances(trace(SHORT)).tolist() if d >= 0]
    first = sum(d < near for d in found)
    second = sum(near <= d < near + far for d in found)
    return first, second, SHORT - first - second
