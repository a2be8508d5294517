"""Instructions into packets.

level: build

A packet is issued whole, and one a cycle. Each of its slots feeds some units and holds
one instruction or none. What an instruction needs must have been issued in an earlier
packet. A program is a list of `(unit, needs)`: the unit of each instruction, and the
numbers of the instructions before it that it needs. `slots` is a list with, for each
slot, the units that it feeds: `["load store", "vector", "vector tensor"]`.

- `chain(program)`: packets that the needs alone demand, however wide a packet is.
- `crowd(program, slots, unit)`: packets that the instructions of one unit demand, if
  nothing needed anything.
- `fewest(program, slots)`: the fewest packets. Programs have at most 8 instructions, so
  you may try everything; slots feed enough units for each program.

hint: Two bounds are no answer: a program can be slower than its chain and than each of
its crowds. Search packet by packet over which instructions are done. What is issued
earlier than it must be never hurts, so sets of done instructions are all that counts.
"""

from itertools import combinations

from stacklib.accelerators.packets.pack import fewest as searched
from stacklib.accelerators.packets.pack import pack
from stacklib.grading import expect

# ---- your answer ----


def chain(program):
    """The longest chain of needs, in packets."""
    long = []
    for _, needs in program:
        long.append(1 + max((long[n] for n in needs), default=0))
    return max(long)


def crowd(program, slots, unit):
    """Packets for the instructions of one unit."""
    count = sum(u == unit for u, _ in program)
    room = sum(unit in slot.split() for slot in slots)
    return -(-count // room)


def fewest(program, slots):
    """The fewest packets."""

    def fits(units, free):
        if not units:
            return True
        return any(
            units[0] in slot.split() and fits(units[1:], free[:at] + free[at + 1 :])
            for at, slot in enumerate(free)
        )

    states, packets = {frozenset()}, 0
    everything = frozenset(range(len(program)))
    while everything not in states:
        packets += 1
        states = {
            done | set(now)
            for done in states
            for many in range(1, len(slots) + 1)
            for now in combinations(sorted(everything - done), many)
            if all(set(program[i][1]) <= done for i in now)
            and fits([program[i][0] for i in now], list(slots))
        }
    return packets


# ---- tests ----

FOUR = ["load store scalar", "load store scalar", "vector scalar", "vector tensor"]
KINDS = "load load tensor load vector vector store scalar".split()
TILE = list(zip(KINDS, ([], [], [0, 1], [], [2, 3], [4], [5], []), strict=True))
PROGRAMS = {
    "tile": (TILE, FOUR),
    "flat": ([("vector", [])] * 7, FOUR),
    "late": ([("load", []), ("load", [0]), *[("vector", [1])] * 5], FOUR),
    "wide": ([("load", [])] * 5 + [("tensor", [0, 4])], FOUR),
    "mixed": ([("scalar", [])] * 3 + [("vector", [])] * 3 + [("load", [2, 5])], FOUR),
    "one": ([("load", []), ("store", [0]), ("scalar", [])], ["load store scalar"]),
}


def rows(program):
    """The same with registers: each instruction writes one that bears its number."""
    return [
        ("go", unit, [f"r{n}" for n in needs], [f"r{at}"])
        for at, (unit, needs) in enumerate(program)
    ]


def packed(program, slots):
    return pack(rows(program), slots)


def right_chain(program):
    return pack(rows(program), len(program)).cycles


def test_chain():
    expect.function_matches(
        chain,
        right_chain,
        [{"program": program} for program, _ in PROGRAMS.values()],
        rel=1e-9,
        mistakes={
            "Count packets and not the steps between them.": (
                lambda program: right_chain(program) - 1
            ),
            "The packet that holds most needs is not the longest chain.": (
                lambda program: 1 + max(len(needs) for _, needs in program)
            ),
        },
    )


def test_crowd():
    def right(program, slots, unit):
        alone = [(u, []) for u, _ in program if u == unit]
        return packed(alone, slots).cycles

    expect.function_matches(
        crowd,
        right,
        [
            {"program": program, "slots": slots, "unit": unit}
            for program, slots in PROGRAMS.values()
            for unit in dict.fromkeys(u for u, _ in program)
        ],
        rel=1e-9,
        mistakes={
            "A packet that is not full is a packet: round up.": (
                lambda program, slots, unit: (
                    sum(u == unit for u, _ in program)
                    // sum(unit in slot.split() for slot in slots)
                )
            ),
            "Not every slot feeds this unit.": lambda program, slots, unit: (
                -(-sum(u == unit for u, _ in program) // len(slots))
            ),
        },
    )


def test_fewest():
    def right(program, slots):
        return searched(packed(program, slots))

    def crowds(program, slots):
        return max(crowd_of(program, slots, u) for u in {u for u, _ in program})

    def crowd_of(program, slots, unit):
        return packed([(u, []) for u, _ in program if u == unit], slots).cycles

    expect.function_matches(
        fewest,
        right,
        [{"program": p, "slots": s} for p, s in PROGRAMS.values()],
        rel=1e-9,
        mistakes={
            "That is a bound: what is crowded may also have to wait.": (
                lambda program, slots: max(right_chain(program), crowds(program, slots))
            ),
            "Slots alone do not decide: instructions need one another, and units.": (
                lambda program, slots: -(-len(program) // len(slots))
            ),
            "Unlimited slots: that is the chain alone.": (
                lambda program, slots: right_chain(program)
            ),
        },
    )
