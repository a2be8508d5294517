"""Computed again, or fetched?

level: build

A server keeps blocks of a KV cache in a chip's memory, which holds `near` of them, and
in the host's, which holds `far`. A block is in one of the two at most.

- `served(keys, near, far)`: a tuple of three counts over a trace of keys: blocks found
  in the chip's memory, blocks found in the host's, and blocks computed. Whatever is
  asked for is in the chip's memory afterwards, where it counts as used last. When that
  memory is full, the block used longest ago sinks to the host's. When the host's is
  full, the block that came there longest ago is lost.
- `quickest(size, ways, compute)`: the name of the quickest way to have a block of
  `size` bytes. `ways` names ways to fetch it, each with `(latency, bandwidth, links)`:
  seconds until the first byte, bytes per second of one link, and links over which the
  block is spread evenly. Where none is quicker than `compute` seconds, the name is
  `"compute"`.

The times at the end are those of a block of Llama-3-70B on eight chips.

hint: Two ordered lists, the one used or come last at the end of each. What is found in
the host's memory leaves it before the chip's memory lets something sink.
"""

from functools import cache

from stacklib.grading import expect
from stacklib.memory.cache.traces import conversations
from stacklib.memory.tiers.seen import tiers_from
from stacklib.models import get

# ---- your answer ----


def served(keys, near, far):
    """Blocks found near, blocks found far, blocks computed."""
    chip, host, counts = [], [], [0, 0, 0]
    for key in keys:
        if key in chip:
            counts[0] += 1
            chip.remove(key)
        elif key in host:
            counts[1] += 1
            host.remove(key)
        else:
            counts[2] += 1
        if len(chip) == near:
            host.append(chip.pop(0))
            if len(host) > far:
                host.pop(0)
        chip.append(key)
    return tuple(counts)


def quickest(size, ways, compute):
    """The quickest way to have a block."""
    times = {"compute": compute}
    for name, (latency, bandwidth, links) in ways.items():
        times[name] = latency + size / (links * bandwidth)
    return min(times, key=times.get)


# ---- tests ----

ROOMS = ((1, 1), (2, 3), (30, 60), (100, 200))


@cache
def traces():
    talk = conversations(2_000)
    back = [0, 1, 2, 3, 0, 1, 2, 3, 4, 0, 5, 1, 0, 2, 6, 3, 0, 1]
    loop = list(range(7)) * 6
    return {"conversations": talk, "who come back": back, "a loop": loop}


def tiers(keys, near, far, copies=False, up=True, touch=True, lost="oldest"):
    """Both memories as dictionaries in order, with what may go wrong."""
    chip, host, counts = {}, {}, [0, 0, 0]
    for key in keys:
        place = 0 if key in chip else 1 if key in host else 2
        counts[place] += 1
        if place == 0:
            if touch:
                chip[key] = chip.pop(key)
            continue
        if place == 1 and not up:
            host[key] = host.pop(key)
            continue
        if place == 1 and not copies:
            del host[key]
        if len(chip) == near:
            gone = next(iter(chip))
            del chip[gone]
            host.pop(gone, None)
            host[gone] = None
            if len(host) > far:
                keep = list(host)
                del host[keep[0] if lost == "oldest" else keep[-2]]
        chip[key] = None
    return tuple(counts)


SLIPS = {
    "a block that comes up leaves a copy in the host's memory; it is in one place": {
        "copies": True
    },
    "what is found in the host's memory stays there; it comes up to the chip": {
        "up": False
    },
    "a block found in the chip's memory counts as used last": {"touch": False},
    "the host loses what came last; it is to lose what came longest ago": {
        "lost": "newest"
    },
}


def test_served():
    for name, keys in traces().items():
        for near, far in ROOMS:
            try:
                mine = tuple(int(count) for count in served(list(keys), near, far))
            except (TypeError, ValueError) as error:
                raise expect.Mistake(f"{name}: {error}; three counts") from None
            right = tiers(keys, near, far)
            if mine == right:
                continue
            for text, how in SLIPS.items():
                if mine == tiers(keys, near, far, **how):
                    raise expect.Mistake(f"{name}, {near} and {far}: {text}")
            total = len(keys)
            if len(mine) != 3 or sum(mine) != total:
                raise expect.Mistake(
                    f"{name}: {mine} for {total} accesses; each is in one count"
                )
            raise expect.Mistake(f"{name}, {near} and {far}: {mine} is not so")
    for near, far in ROOMS[2:]:
        counts = served(traces()["conversations"], near, far)
        expect.reading(f"{near} and {far} blocks, near, far, computed", str(counts))


WAYS = {
    "host": (600e-9, 55e9, 8),
    "own drives": (60e-6, 14e9, 8),
    "one drive": (60e-6, 14e9, 1),
    "one rail": (1e-6, 50e9, 1),
}


def least(size, ways, compute, latency=1, links=True, bits=1):
    """The name, with what may be left out."""
    times = {"compute": compute}
    for name, (wait, rate, count) in ways.items():
        spread = count if links else 1
        times[name] = latency * wait + bits * size / (rate * spread)
    return min(times, key=times.get)


CASES = [
    (size, {name: WAYS[name] for name in names}, compute)
    for size in (4_000, 655_360, 5_242_880, 80_000_000)
    for names in (tuple(WAYS), ("own drives", "one rail"), ("one drive",), ())
    for compute in (5e-6, 65e-6, 310e-6, 5e-3)
]
LEFT_OUT = {
    "The latency is missing: a small block waits for little else.": {"latency": 0},
    "The block is spread over its links, and each carries a part.": {"links": False},
    "Those are bits; sizes and rates are in bytes.": {"bits": 8},
}


def test_quickest():
    mine = [quickest(*case) for case in CASES]
    if mine != [least(*case) for case in CASES]:
        for text, how in LEFT_OUT.items():
            if mine == [least(*case, **how) for case in CASES]:
                raise expect.Mistake(text)
        at = next(i for i, case in enumerate(CASES) if mine[i] != least(*case))
        size, ways, compute = CASES[at]
        raise expect.Mistake(
            f"{size:,} B by {', '.join(ways) or 'no way'}, computed in {compute:g} s: "
            f"{mine[at]!r} is not the quickest"
        )
    block = get("llama-3-70b").kv_bytes(16, "bf16").si
    _, _, host, _, drive = tiers_from("sm")
    for name, tier, links in (
        ("from the host", host, 8),
        ("from eight drives", drive, 8),
        ("from one drive", drive, 1),
    ):
        way = tier.latency.si, tier.bandwidth.si, links
        time = way[0] + block / (way[1] * way[2])
        verdict = quickest(block, {name: way}, 310e-6)
        expect.reading(f"a block {name}, {1e6 * time:.1f} us", verdict)
