"""Gates, one by one.

level: build

A circuit is a list of cells `(kind, a, b)`. Every bit has a number: 0 and 1 are the
constants, then come the inputs, then each cell's output in the order of the list. `a`
and `b` are the bits that a cell reads, always with smaller numbers than its own. Kinds
are "&" (AND), "|" (OR), "^" (XOR), "~" (NOT, reads `a` alone).

- `settle(cells, inputs)`: the bits that the cells show, in the order of the list;
  `inputs` is a list of zeros and ones.
- `area(cells)`: transistors in static CMOS: 6 for an AND or an OR, 12 for an XOR, 2 for
  a NOT.
- `narrower(narrow, wide, place, product)`: a MAC unit has `place` transistors
  with a multiplier of `wide` bits, which has `product` of them and follows the square
  of its width. The share of the transistors that is left at `narrow` bits.

hint: cells come in an order in which each can be computed, so one walk is enough. Only
the multiplier becomes smaller.
"""

import random

from stacklib.accelerators.rtl import gates, netlist
from stacklib.grading import expect

# ---- your answer ----


def settle(cells, inputs):
    """What each cell shows."""
    bits = [0, 1, *inputs]
    for kind, a, b in cells:
        if kind == "&":
            bits.append(bits[a] & bits[b])
        elif kind == "|":
            bits.append(bits[a] | bits[b])
        elif kind == "^":
            bits.append(bits[a] ^ bits[b])
        else:
            bits.append(1 - bits[a])
    return bits[2 + len(inputs) :]


def area(cells):
    """Transistors of all cells."""
    each = {"&": 6, "|": 6, "^": 12, "~": 2}
    return sum(each[kind] for kind, _, _ in cells)


def narrower(narrow, wide, place, product):
    """Share of a place that is left."""
    rest = place - product
    return (rest + product * (narrow / wide) ** 2) / place


# ---- tests ----

KEPT = netlist.stored("byte_split")
FULL_ADDER = [("^", 2, 3), ("^", 5, 4), ("&", 2, 3), ("&", 5, 4), ("|", 7, 8)]


def of_package(cells, inputs):
    bits = [0, 1, *inputs]
    net = netlist.Netlist("", {"in": len(inputs)}, {}, (), tuple(cells))
    gates.settle(net, bits, 1)
    return bits[2 + len(inputs) :]


def circuits():
    pick = random.Random(6)
    found = [(FULL_ADDER, [x >> n & 1 for n in range(3)]) for x in range(8)]
    for size in (5, 40, 200):
        cells = [
            (pick.choice("&|^~"), pick.randrange(2 + 4 + n), pick.randrange(2 + 4 + n))
            for n in range(size)
        ]
        found.append((cells, [pick.randrange(2) for _ in range(4)]))
    many = 2 + sum(KEPT.inputs.values()) + len(KEPT.states)
    found.append((list(KEPT.cells), [pick.randrange(2) for _ in range(many - 2)]))
    return found


def no_constants(cells, inputs):
    """Bits counted from the inputs on."""
    bits = list(inputs)
    for kind, a, b in cells:
        x, y = (bits[n % len(bits)] for n in (a, b))
        bits.append({"&": x & y, "|": x | y, "^": x ^ y, "~": 1 - x}[kind])
    return bits[len(inputs) :]


def test_settle():
    for cells, inputs in circuits():
        mine = expect.call(settle, {"cells": cells, "inputs": inputs})
        right = of_package(cells, inputs)
        if mine == right:
            continue
        if mine == no_constants(cells, inputs):
            raise expect.Mistake("Bits 0 and 1 are the constants, not the inputs.")
        if mine == [0, 1, *inputs, *right]:
            raise expect.Mistake(
                "Only what the cells show is asked, not what they read."
            )
        if not isinstance(mine, list) or len(mine) != len(right):
            raise expect.Mistake(
                f"{len(cells)} cells show {len(cells)} bits, in a list."
            )
        first = next(n for n, bit in enumerate(right) if mine[n] != bit)
        kind, a, b = cells[first]
        raise expect.Mistake(
            f"cell {first} is {kind!r} of bits {a} and {b} and shows {right[first]}; "
            f"yours shows {mine[first]!r}"
        )


def test_area():
    sizes = {"&": 6, "|": 6, "^": 12, "~": 2}

    def right(cells):
        return sum(sizes[kind] for kind, _, _ in cells)

    expect.function_matches(
        area,
        right,
        [{"cells": FULL_ADDER}, {"cells": list(KEPT.cells)}, {"cells": []}],
        mistakes={
            "An XOR has twice the transistors of an AND.": lambda cells: sum(
                {**sizes, "^": 6}[kind] for kind, _, _ in cells
            ),
            "That is the number of cells.": lambda cells: len(cells),
        },
    )
    value = expect.call(area, {"cells": list(KEPT.cells)})
    expect.reading("transistors of the byte-split multiplier, without registers", value)


def test_narrower():
    def right(narrow, wide, place, product):
        return (place - product + product * (narrow / wide) ** 2) / place

    expect.function_matches(
        narrower,
        right,
        [
            {"narrow": 7, "wide": 8, "place": 6172, "product": 3358},
            {"narrow": 4, "wide": 8, "place": 1000, "product": 250},
            {"narrow": 8, "wide": 8, "place": 90, "product": 30},
        ],
        rel=1e-9,
        mistakes={
            "Only the multiplier follows the square; the sum and the registers stay.": (
                lambda narrow, wide, place, product: (narrow / wide) ** 2
            ),
            "The multiplier follows the square of its width.": (
                lambda narrow, wide, place, product: (
                    (place - product + product * narrow / wide) / place
                )
            ),
            "That is what is saved.": (
                lambda narrow, wide, place, product: (
                    1 - right(narrow, wide, place, product)
                )
            ),
        },
    )
