"""Write the instrument.

level: build
project: P3.2

Suppose that shared memory has 32 banks, that a word has 4 bytes, that word w lies in
bank `w % 32`, and that a bank gives one word in a pass. Lanes that want the same word
share it; lanes that want different words of one bank take turns.

A request of a word a lane or less is served in one phase. Suppose that at `width = 8`
the first half of the warp is served, then the second; at `width = 16` a quarter at a
time. A phase takes as many passes as its busiest bank has distinct words to give.

Write `passes`: for each phase its passes, as a list. `addresses` holds the byte
address of each of `32` lanes, None for a lane that is masked off; `width` is 1, 2, 4, 8
or 16. A phase in which nobody asks takes 0. Then `conflicts`: the passes beyond one a
phase, which is what a profiler shows.

hint: An address is not a word: divide by 4. A lane of `width = 16` wants four. Put
the words of a phase into a set, and count them by bank.
"""

import random

from stacklib.grading import expect
from stacklib.memory import bank_access

# ---- your answer ----


def passes(addresses, width):
    """Passes of each phase, in order, as a list."""
    together = 32 if width <= 4 else 128 // width
    found = []
    for start in range(0, 32, together):
        words = set()
        for address in addresses[start : start + together]:
            if address is not None:
                first = address // 4
                words |= set(range(first, first + max(1, width // 4)))
        banks = [word % 32 for word in words]
        found.append(max((banks.count(bank) for bank in set(banks)), default=0))
    return found


def conflicts(addresses, width):
    """Passes beyond one a phase."""
    return sum(max(0, n - 1) for n in passes(addresses, width))


# ---- tests ----

RNG = random.Random(3)
REQUESTS = {
    "a row of fp32": ([4 * lane for lane in range(32)], 4),
    "a column of 32 fp32": ([128 * lane for lane in range(32)], 4),
    "one word for all": ([64] * 32, 4),
    "two words of a bank": ([128 * (lane % 2) for lane in range(32)], 4),
    "a row of fp16": ([2 * lane for lane in range(32)], 2),
    "a column of 65 fp16": ([130 * lane for lane in range(32)], 2),
    "8 bytes in order": ([8 * lane for lane in range(32)], 8),
    "16 bytes in order": ([16 * lane for lane in range(32)], 16),
    "ldmatrix as it lies": ([128 * (i % 8) + 16 * (i // 8) for i in range(32)], 16),
    "half the warp": ([128 * i if i % 2 else None for i in range(32)], 4),
    "nobody in the second half": ([8 * i for i in range(16)] + [None] * 16, 8),
    "at random": ([4 * RNG.randrange(512) for _ in range(32)], 4),
    "16 bytes at random": ([16 * RNG.randrange(128) for _ in range(32)], 16),
}


def no_broadcast(addresses, width):
    """Lanes that want the same word counted apart."""
    together = 32 if width <= 4 else 128 // width
    found = []
    for start in range(0, 32, together):
        part = [a for a in addresses[start : start + together] if a is not None]
        banks = [(a // 4 + i) % 32 for a in part for i in range(max(1, width // 4))]
        found.append(max((banks.count(bank) for bank in set(banks)), default=0))
    return found


def one_phase(addresses, width):
    """All lanes served together, however wide."""
    words = {
        a // 4 + extra
        for a in addresses
        if a is not None
        for extra in range(max(1, width // 4))
    }
    banks = [word % 32 for word in words]
    return [max((banks.count(bank) for bank in banks), default=0)]


def by_address(addresses, width):
    """Bytes taken for words."""
    together = 32 if width <= 4 else 128 // width
    found = []
    for start in range(0, 32, together):
        part = {a for a in addresses[start : start + together] if a is not None}
        words = {a + i for a in part for i in range(max(1, width // 4))}
        banks = [word % 32 for word in words]
        found.append(max((banks.count(bank) for bank in set(banks)), default=0))
    return found


MISTAKES = {
    "Lanes that want the same word share it, in one pass.": no_broadcast,
    "A wide request comes in phases; yours serves the whole warp at once.": one_phase,
    "Those are addresses. A word has 4 bytes, and banks count words.": by_address,
}


def test_passes():
    for name, (addresses, width) in REQUESTS.items():
        right = list(bank_access(addresses, width).ways)
        mine = counted(addresses, width)
        if mine != right:
            expect.reading("bank conflicts", bank_access(addresses, width).extra)
            why = explained() or f"the phases take {right}"
            raise expect.Mistake(f"{name}: {expect.clip(mine)}: {why}")


def counted(addresses, width):
    """The reader's passes."""
    found = expect.sequence(passes(list(addresses), width), "a list of passes")
    return [*map(expect.whole, found)]


def explained():
    """The mistake that gives the reader's passes wherever they are wrong."""
    for text, slip in MISTAKES.items():
        found = [
            counted(*request) == slip(*request)
            for request in REQUESTS.values()
            if counted(*request) != list(bank_access(*request).ways)
        ]
        if all(found):
            return text
    return ""


def test_conflicts():
    mine = {
        name: expect.whole(conflicts(list(addresses), width))
        for name, (addresses, width) in REQUESTS.items()
    }
    every = {name: bank_access(*request) for name, request in REQUESTS.items()}
    if mine == {name: access.passes for name, access in every.items()}:
        raise expect.Mistake(
            "those are all passes. The first of each phase is no conflict."
        )
    for name, access in every.items():
        if mine[name] != access.extra:
            raise expect.Mistake(
                f"{name}: {mine[name]}: a profiler shows {access.extra}"
            )
    expect.reading("bank conflicts", mine["a column of 32 fp32"])
