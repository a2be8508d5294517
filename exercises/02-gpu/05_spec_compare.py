"""Three cards, one basis.

level: estimate
project: P2.5

A shop's table lists three cards with their FP16 tensor rate. The numbers are right and
cannot be compared: each is printed on another basis. Suppose it lists the RTX 4090 with
330 TFLOP/s (2:4 sparsity, sums in FP32), the RTX 5090 with 838 TFLOP/s (2:4 sparsity,
sums in FP16), and the A100 with 624 TFLOP/s (2:4 sparsity).

Suppose further that sums in FP16 run at twice the rate of sums in FP32 on the GeForce
cards, and alike on the A100. Memory bandwidths, from the data sheets: 1008 GB/s,
1792 GB/s, 2039 GB/s.

Give each card's dense rate with FP32 sums in TFLOP/s, and its ridge in FLOP/B. Within
a twentieth counts as right.

hint: Undo one factor at a time. Of four weights a sparse product skips two, and the
rate counts all four. Where the page says FP16 sums, undo them as well. The ridge is the
dense rate over the bandwidth.
"""

from stacklib import hardware, roofline
from stacklib.grading import expect

# ---- your answer ----


def dense_rates():
    """TFLOP/s of the RTX 4090, the RTX 5090 and the A100: dense, sums in FP32."""
    return 330 / 2, 838 / 2 / 2, 624 / 2


def ridges():
    """FLOP/B of the same three."""
    bandwidths = 1.008, 1.792, 2.039  # TB/s
    return tuple(r / b for r, b in zip(dense_rates(), bandwidths, strict=True))


# ---- tests ----

CARDS = ("rtx-4090", "rtx-5090", "a100")


def test_dense_rates():
    rates = expect.sequence(dense_rates(), "a list of three rates", 3)
    for key, rate in zip(CARDS, rates, strict=True):
        device = hardware.get(key)
        peak = device.peak("fp16")
        mistakes = {"That rate is sparse: two of four weights are skipped.": 2 * peak}
        if key == "rtx-5090":
            mistakes["Those sums are kept in FP16; with FP32 sums it is slower."] = (
                device.peak("fp16", accumulate="fp16")
            )
            mistakes.pop("That rate is sparse: two of four weights are skipped.")
            mistakes["That rate is sparse, and its sums are kept in FP16."] = 4 * peak
        expect.number(rate, peak, unit="TFLOP/s", rel=0.05, mistakes=mistakes)


def test_ridges():
    found_ridges = expect.sequence(ridges(), "a list of three ridges", 3)
    for key, found in zip(CARDS, found_ridges, strict=True):
        expect.number(
            found,
            roofline.ridge(key, "fp16"),
            unit="FLOP/B",
            rel=0.05,
            mistakes={
                "The ridge of a dense product needs the dense rate.": 2
                * roofline.ridge(key, "fp16")
            },
        )
