"""From lanes to bytes.

level: estimate

Suppose a GPU with 12 links of its own, each with 4 lanes *in each direction*, and a
lane that runs at 53.125 Gbit/s. Suppose Ethernet's line code: blocks of 256 bits of
data with one header bit, and after every 20 blocks 300 bits of parity. The data sheet
adds up both directions of all links. Suppose beside it a network port that is sold as
200 Gbit/s, one direction, its code already taken off, and a buffer of 16 GiB to send.

Work out, each as a plain number:

- `share_of_data()`: the share of a lane's bits that is data.
- `one_direction()`: GB/s of all links in one direction, after the code.
- `in_print()`: GB/s as the data sheet prints it.
- `cliff()`: how many times as fast a buffer goes to another GPU over all links as
  through the port.
- `milliseconds()`: the time of the buffer over all links, in one direction, without
  any latency.

A GB has ten to the ninth bytes, a GiB 2**30. Do not round on the way.

hint: Begin with one frame: some blocks and their parity. How many bits is it, and how
many of them are data?
"""

from stacklib.grading import expect

# ---- your answer ----


def share_of_data():
    """The share of a lane's bits that is data."""
    return 20 * 256 / (20 * 257 + 300)


def one_direction():
    """GB/s in one direction."""
    return 12 * 4 * 53.125 * share_of_data() / 8


def in_print():
    """GB/s, both directions added up."""
    return 2 * one_direction()


def cliff():
    """Links over port, like for like."""
    return one_direction() / (200 / 8)


def milliseconds():
    """The time of 16 GiB."""
    return 16 * 2**30 / (one_direction() * 1e9) * 1e3


# ---- tests ----

LINKS, LANES, RATE, PORT, REL = 12, 4, 53.125, 200, 0.005


def frame():
    """The bits of a frame, one after the other: data or not."""
    return ([False] + [True] * 256) * 20 + [False] * 300


SHARE = sum(frame()) / len(frame())
ONE = LINKS * LANES * RATE * SHARE / 8
SIZE = 16 * 2**30


def test_share_of_data():
    expect.number(
        share_of_data(),
        SHARE,
        rel=0.001,
        mistakes={
            "The parity is missing: 300 bits after every 20 blocks.": 256 / 257,
            "The header bits are missing: one for each block.": 5120 / 5420,
            "That is what the code adds for each bit of data, not what it leaves of "
            "those sent.": 5440 / 5120,
        },
    )


def test_one_direction():
    expect.number(
        one_direction(),
        ONE,
        unit="GB/s",
        rel=REL,
        mistakes={
            "You counted the lanes of both directions.": 2 * ONE,
            "That is what the lanes run at; the code takes a part.": ONE / SHARE,
            "The lanes are four in each direction, not two.": ONE / 2,
            "That is one link; the GPU has twelve.": ONE / LINKS,
            "These are Gbit/s; a byte has eight bits.": 8 * ONE,
        },
    )


def test_in_print():
    expect.number(
        in_print(),
        2 * ONE,
        unit="GB/s",
        rel=REL,
        mistakes={
            "The data sheet adds up both directions.": ONE,
            "Both directions are counted, and counted once more.": 4 * ONE,
        },
    )


def test_cliff():
    right = ONE / (PORT / 8)
    expect.number(
        cliff(),
        right,
        rel=REL,
        mistakes={
            "A sum of both directions over one: count the same on both sides.": (
                2 * right
            ),
            "The port is sold in bits: divide it by eight.": right / 8,
            "A sum of both directions in bytes, over one direction in bits.": (
                right / 4
            ),
        },
    )
    expect.reading("what is printed over what is printed", 2 * ONE / PORT)


def test_milliseconds():
    right = SIZE / (ONE * 1e9) * 1e3
    expect.number(
        milliseconds(),
        right,
        unit="ms",
        rel=REL,
        mistakes={
            "A transfer uses one direction; the sum of both does not carry it.": (
                right / 2
            ),
            "16 GiB are more than 16 GB.": 16e9 / (ONE * 1e9) * 1e3,
            "The lanes run faster than data arrives: take off the code.": right * SHARE,
        },
    )
    expect.reading("of 16 GiB over the port", SIZE / (PORT / 8 * 1e9) * 1e3, "ms")
