"""Sectors by hand.

level: estimate
project: P3.1

Suppose that a warp has 32 lanes and asks for one fp32 number a lane, 4 bytes each;
that memory answers in sectors of 32 bytes, and a sector moves whole; that no cache
holds anything, and every array starts at a multiple of 128 bytes. Work out with pencil
and paper how many sectors one load of the warp moves.

Suppose that particles are structures of 6 fp32 numbers, x first, that one lane takes
one particle, and that the matrix has 1,000 columns of fp32, row after row.

Return whole numbers, and for the last the share as a fraction, no percentage.

hint: Take the address of lane 0 and of lane 31 and divide each by a sector. If the
lanes are less than a sector apart, every sector between the two moves. If they are a
sector or more apart, each lane has its own.
"""

from stacklib.grading import expect
from stacklib.memory import coalesce, sectors

# ---- your answer ----


def shifted():
    """Sectors when lane i reads element i + 5 of an array."""
    return (5 * 4 + 31 * 4) // 32 - (5 * 4) // 32 + 1


def one_field():
    """Sectors when lane i reads x of particle i."""
    return (31 * 24) // 32 + 1


def column():
    """Sectors when lane i reads row i of the first column of the matrix."""
    return 32


def used():
    """Share of the bytes moved for `one_field` that a lane asked for."""
    return 32 * 4 / (32 * one_field())


# ---- tests ----


def particles(fields=6):
    return coalesce(range(0, 32 * 4 * fields, 4 * fields))


def test_shifted():
    expect.number(
        shifted(),
        sectors(range(20, 20 + 128, 4)),
        mistakes={
            "Both ends stick out of a sector now. Where do the first and the last "
            "byte lie?": sectors(range(0, 128, 4)),
            "Those are bytes. A sector holds 32 of them.": 128,
        },
    )


def test_one_field():
    expect.number(
        one_field(),
        len(particles().sectors),
        mistakes={
            "Lanes 24 bytes apart are less than a sector apart: some share one.": 32,
            "Those are the sectors of neighbouring numbers. The next x is a whole "
            "particle away.": 4,
            "You counted lines of 128 bytes. What moves are sectors of them.": (
                particles().lines
            ),
        },
    )


def test_column():
    expect.number(
        column(),
        sectors(range(0, 32 * 4000, 4000)),
        mistakes={
            "Rows are 4,000 bytes long. No lane can move more than one sector for "
            "its number.": 32 * 4000 / 32,
            "That is a row. Down a column each lane is a row further.": 4,
        },
    )


def test_used():
    expect.number(
        used(),
        particles().efficiency,
        rel=0.002,
        mistakes={
            "That is the share of a particle, as if all lanes' bytes were moved "
            "exactly. Divide by the sectors.": 1 / 8,
            "That is what was moved for what was asked for; the share is the other "
            "way round.": 1 / particles().efficiency,
        },
    )
