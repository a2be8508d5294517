"""How many warps hide a load?

level: estimate

According to its data sheet an H100 has 132 units, with four schedulers each, runs at
1.98 GHz and reads 3.35 TB/s from memory. Suppose that a load takes 670 cycles. A warp
has `32` threads, a scheduler holds at most `16` warps. Work out with pencil and paper
what has to be under way.

Return plain numbers in the unit that each function names. Within a fiftieth of the
exact number counts as right.

hint: Little's law: what is under way is the rate times the time that each is under
way. Bytes a second times seconds, or instructions a cycle times cycles. All units
share the bandwidth equally, and so do the schedulers of a unit.
"""

from stacklib.grading import expect

# ---- your answer ----


def bytes_under_way():
    """Bytes that one unit has to have under way for its part of the bandwidth."""
    return 3.35e12 * 670 / 1.98e9 / 132


def warps_of_one_load():
    """Warps a scheduler needs for that, with one load of 4 bytes a thread."""
    return bytes_under_way() / 4 / (32 * 4)


def warps_of_four_loads():
    """The same with four independent loads of 4 bytes a thread."""
    return warps_of_one_load() / 4


def warps_for_arithmetic():
    """Warps a scheduler needs to issue every cycle, where each instruction needs the
    result of the one before it, after 4 cycles, and there are two such chains."""
    return 4 / 2


# ---- tests ----

UNITS, CLOCK = 132, 1.98e9
chip = 3.35e12 * 670 / CLOCK  # Little's law
needed = chip / UNITS
warps = needed / 4 / 128
# An addition is waited for 4 cycles, in each of 2 chains.
wait, chains = 4, 2


def test_bytes_under_way():
    expect.number(
        bytes_under_way(),
        needed,
        unit="B",
        rel=0.02,
        mistakes={
            "That is for the whole chip; it has 132 units.": chip,
            "That is one scheduler's part; a unit has four.": needed / 4,
            "That takes the 670 for nanoseconds; they are cycles.": needed
            * CLOCK
            / 1e9,
        },
    )


def test_warps_of_one_load():
    expect.number(
        warps_of_one_load(),
        warps,
        rel=0.02,
        mistakes={
            "Those are the warps of a unit; a scheduler has a quarter.": 4 * warps,
            "Those are threads; a warp has 32.": 32 * warps,
            "A load of a warp is 32 times 4 bytes, not 4.": 4 * 32 * warps,
        },
    )


def test_warps_of_four_loads():
    expect.number(
        warps_of_four_loads(),
        warps / 4,
        rel=0.02,
        mistakes={
            "Four loads a thread are four times as much under way: fewer warps, not "
            "more.": 4 * warps,
        },
    )


def test_warps_for_arithmetic():
    expect.number(
        warps_for_arithmetic(),
        wait / chains,
        rel=0.001,
        mistakes={
            "Two chains in a warp do the work of two warps.": wait,
            "Two chains halve what is needed; they do not double it.": wait * chains,
        },
    )
