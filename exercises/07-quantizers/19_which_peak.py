"""Bytes or multipliers?

level: derive

Weights in few bits are read sooner. Whether a token comes sooner depends on what it
reads besides, and on what is multiplied. A step serves `batch` sequences. It reads all
`quantized` weights, of `bits` each with their scales, `plain` weights of `16` bits, and
for each sequence its `cache`, in bytes.

- `step_bytes(quantized, bits, plain, cache, batch)`: the bytes of a step.
- `peak(weights, inputs, peaks)`: the rate at which a product runs. `weights` and
  `inputs` are the bits of a code on either side, and `peaks` the dense rate of a tensor
  core by the bits of its operands, which are alike: `{16: ..., 8: ..., 4: ...}`. A code
  can be expanded to a wider format on the way, never narrowed.
- `step_time(moved, work, bandwidth, rate)`: seconds of a step, when bytes and products
  overlap.
- `gain(quantized, bits, plain, cache, batch, bandwidth, rates)`: how many times as many
  tokens a second as with all weights in `16` bits. `rates` is a pair: the rate of
  products before and after. A weight takes a multiplication and an addition for each
  sequence.

hint: A tensor core multiplies operands of a kind, so the narrower one is widened until
both are alike. In the gain the cache and the plain weights stand on both sides.
"""

from stacklib.grading import expect

# ---- your answer ----


def step_bytes(quantized, bits, plain, cache, batch):
    """Bytes that a step reads."""
    return quantized * bits / 8 + plain * 2 + batch * cache


def peak(weights, inputs, peaks):
    """Rate of the product of two operands."""
    return peaks[max(weights, inputs)]


def step_time(moved, work, bandwidth, rate):
    """Seconds of a step."""
    return max(moved / bandwidth, work / rate)


def gain(quantized, bits, plain, cache, batch, bandwidth, rates):
    """Tokens a second over those with weights in 16 bits."""
    work = 2 * (quantized + plain) * batch
    times = [
        step_time(
            step_bytes(quantized, width, plain, cache, batch), work, bandwidth, rate
        )
        for width, rate in zip((16, bits), rates, strict=True)
    ]
    return times[0] / times[1]


# ---- tests ----

PEAKS = {16: 2.25e15, 8: 4.5e15, 4: 9e15}
MODEL = {"quantized": 68.5e9, "bits": 4.125, "plain": 1.05e9, "cache": 1.34e9}
SMALL = {"quantized": 7e9, "bits": 4.5, "plain": 0.5e9, "cache": 0.2e9}
BYTES = [{**case, "batch": batch} for case in (MODEL, SMALL) for batch in (1, 7, 64)]
PAIRS = [(16, 16), (4, 16), (4, 8), (4, 4), (8, 8), (8, 16)]


def moved(quantized, bits, plain, cache, batch):
    """Bits of everything, then bytes."""
    return (quantized * bits + plain * 16 + 8 * cache * batch) / 8


def test_step_bytes():
    expect.function_matches(
        step_bytes,
        moved,
        BYTES,
        unit="B",
        mistakes={
            "Each sequence has a cache of its own; the weights are shared.": (
                lambda quantized, bits, plain, cache, batch: moved(
                    quantized, bits, plain, cache, 1
                )
            ),
            "The weights are read once for all sequences, not once for each.": (
                lambda quantized, bits, plain, cache, batch: (
                    batch * moved(quantized, bits, plain, cache, 1)
                )
            ),
            "The plain weights are still in 16 bits.": (
                lambda quantized, bits, plain, cache, batch: moved(
                    quantized + plain, bits, 0, cache, batch
                )
            ),
        },
    )


def test_peak():
    expect.function_matches(
        peak,
        lambda weights, inputs, peaks: min(peaks[weights], peaks[inputs]),
        [{"weights": w, "inputs": x, "peaks": PEAKS} for w, x in [*PAIRS, (16, 8)]],
        mistakes={
            "The bits of the weights alone do not decide.": (
                lambda weights, inputs, peaks: peaks[weights]
            ),
            "That is the rate of the narrower operand; it is widened before the "
            "product.": lambda weights, inputs, peaks: peaks[min(weights, inputs)],
        },
    )


TIMES = [
    {"moved": 39e9, "work": 1.4e11, "bandwidth": 26.8e12, "rate": 7.9e15},
    {"moved": 39e9, "work": 9e14, "bandwidth": 26.8e12, "rate": 7.9e15},
]


def slower(moved, work, bandwidth, rate):
    """Whichever takes longer."""
    return sorted([moved / bandwidth, work / rate])[1]


def test_step_time():
    expect.function_matches(
        step_time,
        slower,
        TIMES,
        unit="s",
        mistakes={
            "They overlap: the longer of both counts, not their sum.": (
                lambda moved, work, bandwidth, rate: moved / bandwidth + work / rate
            ),
            "With many sequences the products take longer than the bytes.": (
                lambda moved, work, bandwidth, rate: moved / bandwidth
            ),
        },
    )


RATES = [(7.9e15, 7.9e15), (7.9e15, 15.8e15)]
GAINS = [
    {**MODEL, "cache": cache, "batch": batch, "bandwidth": 26.8e12, "rates": rates}
    for batch, cache in ((1, 1.34e9), (64, 1.34e9), (1024, 0.05e9))
    for rates in RATES
]


def expected_gain(quantized, bits, plain, cache, batch, bandwidth, rates):
    """Times of both, each the slower of its two."""
    work = 2 * batch * (quantized + plain)
    both = (16, rates[0]), (bits, rates[1])
    wide, narrow = (
        slower(moved(quantized, b, plain, cache, batch), work, bandwidth, rate)
        for b, rate in both
    )
    return wide / narrow


def test_gain():
    expect.function_matches(
        gain,
        expected_gain,
        GAINS,
        mistakes={
            "That is the ratio of the bits; a step reads more than these weights.": (
                lambda bits, **rest: 16 / bits
            ),
            "The wider weights are multiplied at the first rate, the narrow ones at "
            "the second.": lambda rates, **rest: expected_gain(
                rates=(rates[1], rates[1]), **rest
            ),
        },
    )
    for batch in (1, 64):
        case = {**MODEL, "batch": batch, "bandwidth": 26.8e12, "rates": RATES[0]}
        found = expect.read(gain(**case))
        expect.reading(f"gain with {batch} sequences", f"{found:.2f}")
