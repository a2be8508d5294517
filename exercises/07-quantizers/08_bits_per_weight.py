"""Count the scales.

level: derive

A format of few bits is never alone in memory: its scales lie beside it. Derive the bits
that a weight takes, everything counted.

First `bits_per_weight(element, shared)`: the `element` bits of a weight, and its part
of what it shares. `shared` is a list of `(bits, weights)`: so many bits, once for so
many weights.

Then use it for four schemes of their papers and files:

- `mxfp4()`: suppose 4 bits a weight and an E8M0 scale of 8 for each 32 weights;
- `nvfp4()`: suppose E2M1 and an E4M3 scale for each 16 weights, and an FP32 scale for
  the whole tensor, which here has `4096 * 4096` weights;
- `q4_k()`: suppose 256 weights of 4 bits in eight groups of 32; each group has a scale
  and a minimum of 6 bits, and the 256 have one fp16 for the scales and another for the
  minima;
- `nf4_double()`: NF4 with double quantization. Suppose blocks of 64 weights of 4 bits,
  each block with a scale of 8 bits, and for each 256 of these scales one in FP32.

hint: What a block shares costs each of its weights bits over weights. In NF4, how many
weights stand behind one FP32 number of the second level?
"""

from stacklib.grading import expect

# ---- your answer ----


def bits_per_weight(element, shared):
    """Bits of a weight with its part of what it shares."""
    return element + sum(bits / weights for bits, weights in shared)


def mxfp4():
    """Bits per weight of MXFP4."""
    return bits_per_weight(4, [(8, 32)])


def nvfp4():
    """Bits per weight of NVFP4."""
    return bits_per_weight(4, [(8, 16), (32, 4096 * 4096)])


def q4_k():
    """Bits per weight of q4_k."""
    return bits_per_weight(4, [(6 + 6, 32), (16 + 16, 256)])


def nf4_double():
    """Bits per weight of NF4 with double quantization."""
    return bits_per_weight(4, [(8, 64), (32, 64 * 256)])


# ---- tests ----

CASES = [
    {"element": 4, "shared": [(8, 32)]},
    {"element": 4, "shared": [(16, 128), (4, 128)]},
    {"element": 8, "shared": [(32, 128 * 128)]},
    {"element": 2, "shared": [(4, 16), (4, 16), (32, 256)]},
    {"element": 8, "shared": []},
]
EXACT = 1e-4
FORGOTTEN = "That is the bits of the elements alone; count their scales too."


def counted(element, shared):
    """All bits of so many weights that every share is whole, over the weights."""
    weights = 1
    for _, each in shared:
        weights *= each
    return (weights * element + sum(weights // n * b for b, n in shared)) / weights


def test_bits_per_weight():
    expect.function_matches(
        bits_per_weight,
        counted,
        CASES,
        unit="bit",
        rel=EXACT,
        mistakes={
            FORGOTTEN: lambda element, shared: element,
            "The shared bits lie there once for all their weights, not once for "
            "each.": (lambda element, shared: element + sum(b for b, _ in shared)),
            "Those are bits already, not bytes.": (
                lambda element, shared: element + sum(8 * b / n for b, n in shared)
            ),
        },
    )


def block(weights, bits, element=4):
    """Bits per weight of a block of so many weights with so many bits beside them."""
    return (weights * element + bits) / weights


NF4_TWICE = (64 * 256 * 4 + 256 * 8 + 32) / (64 * 256)


def test_mxfp4():
    expect.number(
        mxfp4(),
        block(32, 8),
        unit="bit",
        rel=EXACT,
        mistakes={FORGOTTEN: 4, "MX shares among 32, not 16.": block(16, 8)},
    )


def test_nvfp4():
    expect.number(
        nvfp4(),
        block(16, 8),
        unit="bit",
        rel=EXACT,
        mistakes={
            FORGOTTEN: 4,
            "That is NF4 with double quantization. NVFP4 is E2M1, and its blocks have "
            "16 weights.": NF4_TWICE,
            "That is MXFP4. NVFP4's blocks are half as long.": block(32, 8),
            "The FP32 scale is one for the tensor, not one for each block.": (
                block(16, 8 + 32)
            ),
        },
    )


def test_q4_k():
    expect.number(
        q4_k(),
        block(256, 8 * (6 + 6) + 2 * 16),
        unit="bit",
        rel=EXACT,
        mistakes={
            FORGOTTEN: 4,
            "A group has a minimum too, and so have the 256.": (block(256, 8 * 6 + 16)),
            "Two fp16 stand behind the groups' scales and minima.": (
                block(256, 8 * (6 + 6))
            ),
        },
    )
    for name, bits in (("MXFP4", mxfp4()), ("NVFP4", nvfp4()), ("q4_k", q4_k())):
        expect.reading(f"bits per weight of {name}", f"{expect.read(bits, 'bit'):.3f}")


def test_nf4_double():
    expect.number(
        nf4_double(),
        NF4_TWICE,
        unit="bit",
        rel=EXACT,
        mistakes={
            FORGOTTEN: 4,
            "That is NF4 whose scales are FP32 still: quantize them once more.": (
                block(64, 32)
            ),
            "One FP32 number stands behind 256 scales, each of 64 weights; not behind "
            "256 weights.": 4 + 8 / 64 + 32 / 256,
            "The scales of the second level take bits too.": block(64, 8),
        },
    )
