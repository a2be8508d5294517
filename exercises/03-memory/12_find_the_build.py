"""Find the build.

level: derive

A data sheet prints gigabytes and terabytes a second. From these two figures alone,
and from what stacks there are, find every package that gives both.

A stack of your generation has `pins` data pins and 4, 8, 12 or `16` dies; a die holds
`die_gbit` gigabits, and the trade prints eight of them as a GB; a pin runs at most
`top_rate` Gbit/s. From 1 to `16` stacks fit. All stacks are alike, and the device is
sold with all of its dies: the printed capacity must be met exactly.

Return a list of `(stacks, height)`, fewest stacks first, then the lower height. A
device that nobody can build gives an empty list.

hint: Try all counts and heights. Two sums decide: stacks x height x die_gbit / 8
against the capacity, and the rate that each pin would need, 8 x bandwidth over all
pins, against the top rate. Mind the units: GB and TB/s, and bits on a pin.
"""

from itertools import product

from stacklib import hardware
from stacklib.grading import expect
from stacklib.memory.stack.builds import package_builds
from stacklib.quantity import Quantity

# ---- your answer ----


def find_builds(capacity_gb, bandwidth_tb, pins, die_gbit, top_rate):
    """Every (stacks, height) that gives the capacity, with pins that can run it."""
    found = []
    for stacks, height in product(range(1, 17), (4, 8, 12, 16)):
        rate = 8 * 1000 * bandwidth_tb / (stacks * pins)
        if stacks * height * die_gbit / 8 == capacity_gb and rate <= top_rate:
            found.append((stacks, height))
    return found


# ---- tests ----

HEIGHTS = (4, 8, 12, 16)
# capacity, bandwidth, and the generation that is asked for it
CASES = {
    "an H100": (80, 3.35, "hbm3"),
    "an H100 with ten times the bandwidth": (80, 35, "hbm3"),
    "an MI300X": (192, 5.3, "hbm3"),
    "a B200": (192, 8, "hbm3e"),
    "a B300": (288, 8, "hbm3e"),
    "Maia 200": (216, 7, "hbm3e"),
    "one stack of HBM3": (16, 0.8, "hbm3"),
    "an H100 beside eight stacks of HBM3E": (80, 3.35, "hbm3e"),
    "a B200 at 12 TB/s on six stacks": (144, 12, "hbm3e"),
    "nothing that dies divide": (100, 1, "hbm3"),
}


def given(case):
    size, rate, key = CASES[case]
    made = hardware.stack_generation(key)
    return {
        "capacity_gb": size,
        "bandwidth_tb": rate,
        "pins": int(made.memory.pins.si),
        "die_gbit": made.dies[0],
        "top_rate": made.top_rate.to("Gbit/s").value,
    }


def answered(case):
    """The reader's builds, as pairs of whole numbers."""
    found = expect.sequence(find_builds(**given(case)), "a list of (stacks, height)")
    pairs = [expect.sequence(pair, "a list of (stacks, height)", 2) for pair in found]
    return [tuple(map(expect.whole, pair)) for pair in pairs]


def from_the_package(capacity_gb, bandwidth_tb, pins, die_gbit, top_rate, bits=8):
    """All stacks that hold the capacity, the slow ones taken out."""
    return [
        (n, h)
        for n, h in product(range(1, 17), HEIGHTS)
        if n * h * die_gbit == 8 * capacity_gb
        and n * pins * top_rate >= bits * 1000 * bandwidth_tb
    ]


MISTAKES = {
    "a byte is eight bits; your pins carry bytes": {"bits": 1},
    "you let a pin run at any rate": {"top_rate": 1e9},
}


def test_find_builds():
    mine = {case: answered(case) for case in CASES}
    wanted = {case: from_the_package(**given(case)) for case in CASES}
    for words, changed in MISTAKES.items():
        mistaken = {c: from_the_package(**{**given(c), **changed}) for c in CASES}
        if mine == mistaken != wanted:
            raise expect.Mistake(words)
    for case, right in wanted.items():
        if mine[case] != right and sorted(mine[case]) == sorted(right):
            raise expect.Mistake(
                f"{case}: all are there; fewest stacks first, then the lower height"
            )
        if mine[case] != right:
            said = "" if right else "; nothing can be built"
            raise expect.Mistake(f"{case}: {mine[case]} instead of {right}{said}")


def test_the_package_of_the_book():
    """What the book finds, where nothing is kept back, you find too."""
    for case, (size, rate, key) in CASES.items():
        book = package_builds(Quantity(size, "GB"), Quantity(rate, "TB/s"), key)
        wanted = [(b.stacks, b.height) for b in book.found if b.spare == 0]
        missing = [pair for pair in wanted if pair not in answered(case)]
        if missing:
            raise expect.Mistake(f"{case}: {missing[0]} is missing")
