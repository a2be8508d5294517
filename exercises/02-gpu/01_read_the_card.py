"""What can the card in this slot do?

level: estimate
project: P2.1

A friend's workstation is slow. Suppose `nvidia-smi -q`, run while a model is being
served, says this (shortened; an illustration in its format):

```
    Product Name                          : NVIDIA GeForce RTX 4090
            PCIe Generation
                Max                       : 4
                Current                   : 3
            Link Width
                Max                       : 16x
                Current                   : 8x
    FB Memory Usage
        Total                             : 24564 MiB
    Clocks
        SM                                : 2520 MHz
        Memory                            : 10251 MHz
```

The data sheet adds 384 pins to memory, and 330 TFLOP/s in FP16 with 2:4 sparsity and
sums in FP32, at a clock of 2520 MHz. Suppose a pin carries two bits in a cycle of the
memory clock that nvidia-smi prints, and a lane of PCI Express 3.0 carries 8 Gbit/s
each way, of which 128 bits in every 130 are yours.

Fill the spec sheet as the card runs now. Within a hundredth counts as right.

hint: Every line has a trap. The total is in binary units. *Max* is what the card could
do in another slot. A link has two directions, and a copy uses one. A dense product
cannot use the zeros that the sparse rate counts.
"""

from stacklib import gpu, hardware
from stacklib.grading import expect

# ---- your answer ----


def memory():
    """Memory the driver offers, in GB (1e9 bytes)."""
    return 24564 * 2**20 / 1e9


def bandwidth():
    """Memory bandwidth at the clock that is shown, in GB/s."""
    return 384 * 2 * 10251e6 / 8 / 1e9


def copy_rate():
    """The most a copy from the host can reach, in GB/s."""
    return 8 * 8e9 * 128 / 130 / 8 / 1e9


def ridge():
    """FLOP for every byte from which dense FP16 products are compute-bound, FLOP/B."""
    return 330e12 / 2 / (bandwidth() * 1e9)


# ---- tests ----

SHEET = gpu.spec_sheet(
    hardware.read_smi(hardware.smi_sample("rtx4090_riser"))[0], "fp16"
)


def test_memory():
    expect.number(
        memory(),
        SHEET.memory,
        unit="GB",
        mistakes={"nvidia-smi counts in MiB; you read them as MB.": 24.564},
    )


def test_bandwidth():
    right = SHEET.bandwidth_now
    best = SHEET.bandwidth
    expect.number(
        bandwidth(),
        right,
        unit="GB/s",
        mistakes={
            "A pin carries two bits in a cycle of that clock.": right / 2,
            "That is the highest memory clock, not the one shown.": best,
        },
    )


def test_copy_rate():
    now, best = SHEET.link_now.si / 1e9, SHEET.link.si / 1e9
    expect.number(
        copy_rate(),
        now,
        unit="GB/s",
        mistakes={
            "That is the link at its maximum; look at what is current.": best,
            "Those are both directions; a copy uses one.": 2 * now,
        },
    )


def test_ridge():
    right = SHEET.ridge_now
    expect.number(
        ridge(),
        right,
        unit="FLOP/B",
        mistakes={"The sparse rate counts products that nobody does.": 2 * right},
    )
