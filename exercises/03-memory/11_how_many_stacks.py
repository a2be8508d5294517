"""How many stacks?

level: estimate

From the data sheet of MI300X: 192 GB and 5.3 TB/s, of HBM3 whose pins run 5.2 Gbit/s
each. A stack of HBM3 has `1,024` data pins. Suppose its dies hold 16 Gbit, which the
trade calls 2 GB. Work out with pencil and paper what stands beside the chip.

Return plain numbers in the unit that each function names. Within a fiftieth of the
exact number counts as right; counts must be whole.

hint: A pin moves bits, a data sheet prints bytes, and eight bits make a byte. First
the bandwidth of one stack, then how many of them make that of the chip, then what
each must hold. The height is that over what a die holds.
"""

from stacklib import hardware
from stacklib.grading import expect
from stacklib.memory import builds_of

# ---- your answer ----


def stack_bandwidth():
    """GB/s of one stack."""
    return 1024 * 5.2 / 8


def stacks():
    """Stacks beside the chip."""
    return round(5300 / stack_bandwidth())


def stack_capacity():
    """GB, as printed on the box, of one stack."""
    return 192 / stacks()


def dies_a_stack():
    """DRAM dies of a stack."""
    return round(stack_capacity() / 2)


# ---- tests ----

mi300x = hardware.get("mi300x")
build = builds_of(mi300x).found[0]
bandwidth = (
    mi300x.memory_pins / mi300x.memory_stacks * mi300x.memory_pin_rate
).si / 8e9


def test_stack_bandwidth():
    expect.number(
        stack_bandwidth(),
        bandwidth,
        unit="GB/s",
        rel=0.02,
        mistakes={
            "That is in gigabits, or of all stacks together. A byte is eight bits, and "
            "the data sheet prints bytes.": 8 * bandwidth,
            "That is one pin in bytes; a stack has 1,024.": bandwidth / 1024,
        },
    )


def test_stacks():
    expect.number(
        stacks(),
        build.stacks,
        rel=0.001,
        mistakes={
            "With the bandwidth of a stack in bits you get too few: a byte is eight "
            "bits.": build.stacks / 8,
        },
    )


def test_stack_capacity():
    expect.number(
        stack_capacity(),
        build.height * build.die_gbit / 8,
        unit="GB",
        rel=0.02,
        mistakes={
            "That is what the whole device holds.": mi300x.memory_capacity.value,
            "That is one die.": build.die_gbit / 8,
        },
    )


def test_dies_a_stack():
    expect.number(
        dies_a_stack(),
        build.height,
        rel=0.001,
        mistakes={
            "You took the 16 of a die for gigabytes; it is gigabits.": build.height / 8,
            "Those are the dies of all stacks.": build.height * build.stacks,
        },
    )
