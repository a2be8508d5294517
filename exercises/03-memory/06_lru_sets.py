"""Build the cache.

level: build

Write `misses(addresses, size, ways, line)`: how many accesses of a trace miss a cache
of `size` bytes with lines of `line` bytes and `ways` places in each set. It is empty
at the start.

An address belongs to the line of number `address // line`. A line may lie only in the
set whose number is the line's, modulo the number of sets. A set keeps `ways` lines.
When it is full and a line comes that is not there, the one used longest ago leaves.
A line counts as used when it comes in and whenever it is hit.

Your count is held to the book's simulator on traces that tell mistakes apart.

hint: A list for each set, the line used last at its end. An access looks for its line
in the list of its set: if it is there, take it out, if not, count a miss and drop the
first when the list is full. Then append the line.
"""

from functools import cache, partial

from stacklib.grading import expect
from stacklib.memory.cache.replacement import misses as of_keys
from stacklib.memory.cache.replacement import set_misses
from stacklib.memory.cache.traces import zipf

# ---- your answer ----


def misses(addresses, size, ways, line):
    """Accesses that miss an LRU cache of this shape."""
    sets = [[] for _ in range(size // (ways * line))]
    missed = 0
    for address in addresses:
        number = address // line
        held = sets[number % len(sets)]
        if number in held:
            held.remove(number)
        else:
            missed += 1
            if len(held) == ways:
                held.pop(0)
        held.append(number)
    return missed


# ---- tests ----

SHAPES = ((4096, 4, 64), (4096, 1, 64), (2048, 2, 32), (4096, 64, 64), (8192, 8, 128))


@cache
def traces():
    popular = [64 * key + 8 * (i % 8) for i, key in enumerate(zipf(3000, 400))]
    column = [i % 32 * 1024 + i // 32 * 8 for i in range(2000)]
    loop = [i * 64 % (65 * 64) for i in range(1000)]
    stream = [8 * i for i in range(2000)]
    return {"popular": popular, "column": column, "loop": loop, "stream": stream}


class Named(list):
    """A trace that prints by its name."""

    def __init__(self, name):
        super().__init__(traces()[name])
        self.key = name


def cases():
    return [
        {"addresses": Named(name), "size": size, "ways": ways, "line": line}
        for size, ways, line in SHAPES
        for name in traces()
    ]


def counted(addresses, size, ways, line, policy="lru"):
    numbers = [address // line for address in addresses]
    return set_misses(numbers, size // (ways * line), ways, policy)


def last_kept(addresses, size, ways, line):
    """Misses if the line used last is the one that leaves."""
    sets, missed = [[] for _ in range(size // (ways * line))], 0
    for number in (address // line for address in addresses):
        held = sets[number % len(sets)]
        if number in held:
            held.remove(number)
        else:
            missed += 1
            if len(held) == ways:
                held.pop()
        held.append(number)
    return missed


def by_address(addresses, size, ways, line):
    """Misses if the set is taken from the address and not from the line's number."""
    sets, missed = [[] for _ in range(size // (ways * line))], 0
    for address in addresses:
        held, number = sets[address % len(sets)], address // line
        if number in held:
            held.remove(number)
        else:
            missed += 1
            if len(held) == ways:
                held.pop(0)
        held.append(number)
    return missed


def any_place(addresses, size, ways, line):
    return of_keys([address // line for address in addresses], size // line, "lru")


def no_lines(addresses, size, ways, line):
    return set_misses(addresses, size // (ways * line), ways)


def too_many_sets(addresses, size, ways, line):
    return set_misses([address // line for address in addresses], size // line, ways)


def test_misses():
    expect.function_matches(
        misses,
        counted,
        cases(),
        rel=1e-12,
        mistakes={
            "Those are the hits; the accesses that miss are asked for.": (
                lambda **c: len(c["addresses"]) - counted(**c)
            ),
            "The line that leaves is the one that came in first. A hit has to make its "
            "line the last one used.": partial(counted, policy="fifo"),
            "The line used last leaves; LRU drops the one used longest ago.": last_kept,
            "The set is taken from the address. Neighbouring bytes belong to one line, "
            "and so to one set: take it from the line's number.": by_address,
            "Any line lies anywhere in your cache. It may only lie in its own set.": (
                any_place
            ),
            "Every byte is a line of its own in yours: divide the address by the bytes "
            "of a line.": no_lines,
            "Your cache has as many sets as lines, and so `ways` times its size.": (
                too_many_sets
            ),
        },
    )
    first = traces()["popular"]
    share = expect.read(misses(first, 4096, 4, 64)) / len(first)
    expect.reading("hit rate of popular keys", f"{100 * (1 - share):.1f} %")
