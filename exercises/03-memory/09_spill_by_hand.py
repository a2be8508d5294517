"""Spill by hand.

level: build

A scratchpad holds `capacity` blocks, all of one size. A program reads blocks in the
order of `trace`, a list of names. Before a block is read it must be in the scratchpad;
where there is no room, another leaves.

- `lru(trace, capacity)`: how many blocks are copied in if the one that leaves is the
  one that was read longest ago.
- `belady(trace, capacity)`: the same if the one leaves that is needed furthest in the
  future. One that is never needed again is furthest of all.
- `snake(blocks, rounds)`: a trace that reads the names 0 to blocks - 1 in every round,
  and for which `lru` copies as few as `belady` does.

Then run them on a loop with one block too many, and look at the readings.

hint: For Belady, look up from the present position where each block that is held comes
next in the trace. For the snake, think about what LRU still holds when a round ends.
"""

from stacklib.grading import expect
from stacklib.memory.scratchpad.operations import cyclic_loads

# ---- your answer ----


def lru(trace, capacity):
    """Blocks copied in, the longest unread leaves."""
    held, loads = [], 0
    for name in trace:
        if name in held:
            held.remove(name)
        else:
            loads += 1
            if len(held) == capacity:
                held.pop(0)
        held.append(name)
    return loads


def belady(trace, capacity):
    """Blocks copied in, the one needed furthest in the future leaves."""
    held, loads = set(), 0

    def next_use(name, after):
        for at in range(after, len(trace)):
            if trace[at] == name:
                return at
        return len(trace)

    for at, name in enumerate(trace):
        if name in held:
            continue
        loads += 1
        if len(held) == capacity:
            held.remove(max(held, key=lambda block: next_use(block, at)))
        held.add(name)
    return loads


def snake(blocks, rounds):
    """A trace of all blocks in each round, kind to LRU."""
    there = list(range(blocks))
    return [b for r in range(rounds) for b in (there[::-1] if r % 2 else there)]


# ---- tests ----


def loop(blocks, rounds):
    return list(range(blocks)) * rounds


def simulate(trace, capacity, choose):
    """Copies if ``choose`` names the block that leaves."""
    held, loads = {}, 0
    for at, name in enumerate(trace):
        if name not in held:
            loads += 1
            if len(held) == capacity:
                del held[choose(held, trace, at)]
        held[name] = at
    return loads


def oldest(held, trace, at):
    return min(held, key=held.get)


def newest(held, trace, at):
    return max(held, key=held.get)


def coming(name, trace, at):
    return trace.index(name, at) if name in trace[at:] else len(trace)


def furthest(held, trace, at):
    return max(held, key=lambda name: coming(name, trace, at))


def nearest(held, trace, at):
    return min(held, key=lambda name: coming(name, trace, at))


def first_in(trace, capacity):
    """FIFO: reading a block again does not renew it."""
    held, loads = [], 0
    for name in trace:
        if name not in held:
            loads += 1
            if len(held) == capacity:
                held.pop(0)
            held.append(name)
    return loads


CASES = [
    {"trace": trace, "capacity": capacity}
    for trace in (
        list("abacabdacab"),
        list("abcabdabcabdab"),
        loop(6, 4),
        list("abcdaebfacgadbe"),
    )
    for capacity in (2, 3, 4)
]


def test_lru():
    expect.function_matches(
        lru,
        lambda trace, capacity: simulate(trace, capacity, oldest),
        CASES,
        rel=1e-9,
        mistakes={
            "A block read again becomes the newest; yours kept its old place.": (
                first_in
            ),
            "The most recently read block left.": (
                lambda trace, capacity: simulate(trace, capacity, newest)
            ),
            "You counted every read; one that is there is not copied in.": (
                lambda trace, capacity: len(trace)
            ),
        },
    )


def test_belady():
    for case in CASES:
        copies = expect.whole(expect.call(belady, case))
        if copies < simulate(**case, choose=furthest):
            raise expect.Mistake(
                f"{expect.called(belady, case)} gives {copies} copies: fewer than any "
                "choice can do with, if every block is copied in that is not there"
            )
    expect.function_matches(
        belady,
        lambda trace, capacity: simulate(trace, capacity, furthest),
        CASES,
        rel=1e-9,
        mistakes={
            "The block needed soonest left; it is the worst choice.": (
                lambda trace, capacity: simulate(trace, capacity, nearest)
            ),
            "That is LRU; look into the future.": (
                lambda trace, capacity: simulate(trace, capacity, oldest)
            ),
        },
    )


def test_the_cliff():
    blocks, rounds = 16, 8
    trace = loop(blocks, rounds)
    for answer in (lru, belady):
        expect.whole(answer(trace, blocks))
    expect.reading("copies, room for all", lru(trace, blocks))
    expect.reading("copies, one short, LRU", lru(trace, blocks - 1))
    expect.reading("copies, one short, Belady", belady(trace, blocks - 1))
    expect.number(lru(trace, blocks - 1), blocks * rounds, rel=1e-9)
    # Belady's count is that of the section's closed form.
    right = cyclic_loads(blocks, blocks - 1, rounds, "belady")
    expect.number(belady(trace, blocks - 1), right, rel=1e-9)


def test_snake():
    blocks, rounds = 12, 6
    what = f"a trace of {blocks * rounds} reads"
    said = expect.sequence(snake(blocks, rounds), what, blocks * rounds)
    trace = [*map(expect.whole, said)]
    for r in range(rounds):
        if sorted(trace[r * blocks : (r + 1) * blocks]) != list(range(blocks)):
            raise expect.Mistake(f"round {r} does not read every block once")
    for capacity in (5, 11):
        copies = simulate(trace, capacity, oldest)
        best = simulate(trace, capacity, furthest)
        expect.reading(f"copies by LRU, room for {capacity}", copies)
        if copies > best:
            raise expect.Mistake(
                f"LRU copies {copies} with room for {capacity}, Belady {best}: every "
                "round should begin with what LRU still holds"
            )
