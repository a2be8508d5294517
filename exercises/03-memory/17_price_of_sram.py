"""What SRAM costs to make.

level: derive

A bit cell has an area. Sense amplifiers, decoders and wires take their share, so only
part of a memory is cells. And a processed wafer has a price. That is all you need.

- `area(cell, efficiency)`: square millimetres that hold a GB, when a cell takes `cell`
  square micrometres and the share `efficiency` of the memory is cells. A GB is `1e9`
  bytes.
- `dollars(cell, efficiency, wafer, diameter)`: what that silicon costs, in USD, when
  a round wafer of `diameter` millimetres costs `wafer` USD. Forget rim and defects.
- `efficiency_of(cell, megabits, die)`: the share of a real die that is cells, when
  `die` square millimetres hold `megabits * 2**20` bits.

hint: Convert lengths before you square them: `1 mm = 1000 um`. The memory is larger
than its cells. And check whether your formula for a circle wants radius or diameter.
"""

from math import pi

from stacklib import cost
from stacklib.cost.memory import array_efficiency, sram_area
from stacklib.grading import expect
from stacklib.quantity import Quantity

# ---- your answer ----


def area(cell, efficiency):
    """Square millimetres of memory for a gigabyte."""
    return 8e9 * cell * 1e-6 / efficiency


def dollars(cell, efficiency, wafer, diameter):
    """USD of silicon for a gigabyte."""
    whole = pi / 4 * diameter**2
    return area(cell, efficiency) / whole * wafer


def efficiency_of(cell, megabits, die):
    """Share of a die that is cells."""
    return megabits * 2**20 * cell * 1e-6 / die


# ---- tests ----

NODES = ("n7", "n5", "n2")  # nodes with one published cell
SHARES = (0.35, 0.55, 0.7)


def cell_of(node):
    return cost.fact("cell", node).high.to("µm2").value


def cases(**more):
    return [
        {"cell": cell_of(n), "efficiency": s, **more} for n in NODES for s in SHARES
    ]


def node_of(cell):
    return next(n for n in NODES if cell_of(n) == cell)


def right_area(cell, efficiency):
    found = sram_area(node_of(cell), Quantity(efficiency))
    return found.low.to("mm2").value


def test_area():
    expect.function_matches(
        area,
        right_area,
        cases(),
        unit="mm2",
        mistakes={
            "You took 1,000 square micrometres for a square millimetre; a square has "
            "two sides.": lambda cell, efficiency: 1e3 * right_area(cell, efficiency),
            "You counted a cell for each byte; a byte is eight bits.": (
                lambda cell, efficiency: right_area(cell, efficiency) / 8
            ),
            "You multiplied by the share that is cells: the memory would be smaller "
            "than its cells.": (
                lambda cell, efficiency: right_area(cell, efficiency) * efficiency**2
            ),
        },
    )


def right_dollars(cell, efficiency, wafer, diameter):
    node = node_of(cell)
    price = cost.wafer_price(node).low.to("USD").value
    made = cost.sram(node, Quantity(efficiency)).low.to("USD/GB").value
    return made / price * wafer * (300 / diameter) ** 2


def test_dollars():
    expect.function_matches(
        dollars,
        right_dollars,
        cases(wafer=16000.0, diameter=300.0) + cases(wafer=9000.0, diameter=200.0),
        unit="USD",
        mistakes={
            "You took the diameter for the radius; the wafer is a quarter of that.": (
                lambda **case: right_dollars(**case) / 4
            ),
            "A wafer is round; you took it for a square.": (
                lambda **case: right_dollars(**case) * pi / 4
            ),
            "That is for a GiB; a gigabyte is 10^9 bytes here.": (
                lambda **case: right_dollars(**case) * 1.024**3
            ),
        },
    )


def test_efficiency_of():
    """AMD's cache dies and TSMC's blocks, from their published densities."""
    nodes = {"vcache": "n7", "n3": "n5", "n2": "n2"}
    found = [
        {"cell": cell_of(nodes[key]), "megabits": 512, "die": 512 / density}
        for key in nodes
        for density in (cost.fact("array", key).low.to("Mibit/mm2").value,)
    ]

    def right(cell, megabits, die):
        return megabits * 2**20 * cell * 1e-6 / die

    expect.function_matches(
        efficiency_of,
        right,
        found,
        mistakes={
            "Each byte of the die counted once; these are bits already.": (
                lambda **case: 8 * right(**case)
            ),
        },
    )
    inside = array_efficiency()
    share = expect.read(expect.call(efficiency_of, found[0]))
    expect.number(share, inside.low.si, rel=0.02)
    expect.reading("of AMD's cache die is cells", f"{100 * share:.0f} %")
