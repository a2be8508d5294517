"""One word, by hand.

level: estimate

Two H100s hold Llama-3-70B, half of the weights each. You send one word and one
word comes back. Work out with pencil and paper how long the chips take, and on
what they spend it.

From the model's card: 70 billion weights, two bytes each in bf16. From the data
sheet of H100 SXM: 3.35 TB/s between memory and chip, and 989 TFLOP/s of dense
bf16 arithmetic. Suppose that every weight is read once for the word and takes
part in one multiply and one add, and that the two chips work at the same time.

Return plain numbers in the unit that each function names. Within a twentieth of
the exact number counts as right.

hint: Everything here is a product or a quotient of the four numbers above. Write
the unit behind each number and cancel: bytes divided by bytes a second leaves
seconds. A multiply and an add are two FLOP.
"""

from stacklib import hardware, models
from stacklib.grading import expect
from stacklib.quantity import Quantity

# ---- your answer ----


def bytes_per_chip():
    """GB that one chip reads from its memory for one word."""
    return 2 * 70 / 2


def reading_time():
    """Milliseconds one chip needs to read them."""
    return bytes_per_chip() / 3350 * 1e3


def arithmetic_time():
    """Microseconds one chip needs for its half of the arithmetic."""
    flop = 2 * 70e9 / 2
    return flop / 989e12 * 1e6


def waiting_share():
    """Share of the reading time in which the arithmetic units wait, from 0 to 1."""
    return 1 - arithmetic_time() / (1e3 * reading_time())


# ---- tests ----

model = models.get("llama-3-70b")
h100 = hardware.get("h100-sxm")
weights = model.weight_bytes("bf16")
flop = Quantity(2, "FLOP") * model.parameters


def test_bytes_per_chip():
    expect.number(
        bytes_per_chip(),
        weights / 2,
        unit="GB",
        rel=0.05,
        mistakes={
            "One chip holds and reads half of the model.": weights,
            "A bf16 weight has two bytes.": weights / 4,
        },
    )


def test_reading_time():
    expected = weights / 2 / h100.memory_bandwidth
    expect.number(reading_time(), expected, unit="ms", rel=0.05)


def test_arithmetic_time():
    expected = flop / 2 / h100.peak("bf16")
    expect.number(
        arithmetic_time(),
        expected,
        unit="µs",
        rel=0.05,
        mistakes={
            "A multiply and an add are two FLOP; and the sparse peak "
            "is not for these weights.": expected / 2,
        },
    )


def test_waiting_share():
    reading = weights / h100.memory_bandwidth
    working = flop / h100.peak("bf16") / reading
    expect.number(
        waiting_share(),
        1 - working,
        rel=0.002,
        mistakes={"That is the share in which they work.": working},
    )
