"""A model file on a laptop: tokens a second by chip.

level: estimate
project: P5.3

A laptop's chip has one memory for all of its units, and one reader. So a token takes as
long as it takes to read the file. Suppose `q4_0`, which keeps `32` weights in `18`
bytes: `16` of codes and a scale.

- `file_gb(billions, bytes_of_block, weights_of_block)`: gigabytes of a file of so many
  billions of weights.
- `roof(gb, gb_per_s)`: tokens a second, if all of it is read for each.
- `share(measured, gb, gb_per_s)`: the part of that roof that a measured rate reaches.
- `largest(gb_per_s, least)`: gigabytes of the largest file that still has `least`
  tokens a second at the roof.

With hardware: `llama-bench -m FILE -n 128 -p 0` on a Mac; the published table of
llama.cpp has chips from M1 on. A share of `0.5` to `0.8` is usual.

hint: A block is what the file repeats. The rest is one division each, and the last is
`roof` turned round.
"""

from stacklib.grading import expect

# ---- your answer ----


def file_gb(billions, bytes_of_block, weights_of_block):
    """Gigabytes of the file."""
    return billions * bytes_of_block / weights_of_block


def roof(gb, gb_per_s):
    """Tokens a second at most."""
    return gb_per_s / gb


def share(measured, gb, gb_per_s):
    """Part of the roof that is reached."""
    return measured / roof(gb, gb_per_s)


def largest(gb_per_s, least):
    """Gigabytes that may be read for each token."""
    return gb_per_s / least


# ---- tests ----

CHIPS = [{"gb": gb, "gb_per_s": rate} for gb in (3.8, 39.7) for rate in (100, 546, 800)]


def test_file_gb():
    expect.function_matches(
        file_gb,
        lambda billions, bytes_of_block, weights_of_block: (
            billions / weights_of_block * bytes_of_block
        ),
        [
            {"billions": b, "bytes_of_block": size, "weights_of_block": 32}
            for b in (6.7, 70.6)
            for size in (18, 34)
        ],
        unit="GB",
        rel=1e-6,
        mistakes={
            "Half a byte a weight leaves the scales of the blocks out.": (
                lambda billions, bytes_of_block, weights_of_block: (
                    billions * (bytes_of_block - 2) / weights_of_block
                )
            ),
            "Those are gigabits.": (
                lambda billions, bytes_of_block, weights_of_block: (
                    8 * billions * bytes_of_block / weights_of_block
                )
            ),
        },
    )


def test_roof():
    expect.function_matches(
        roof,
        lambda gb, gb_per_s: 1 / (gb / gb_per_s),
        CHIPS,
        unit="token/s",
        rel=1e-6,
        mistakes={
            "That is the time of a token; a rate is one over it.": (
                lambda gb, gb_per_s: gb / gb_per_s
            ),
        },
    )


def test_share():
    expect.function_matches(
        share,
        lambda measured, gb, gb_per_s: measured * gb / gb_per_s,
        [{"measured": m, **chip} for chip in CHIPS for m in (3.0, 12.5)],
        rel=1e-6,
        mistakes={
            "That is the roof over what was measured.": (
                lambda measured, gb, gb_per_s: gb_per_s / gb / measured
            ),
            "In per cent it is a hundred times the share.": (
                lambda measured, gb, gb_per_s: 100 * measured * gb / gb_per_s
            ),
        },
    )


def test_largest():
    expect.function_matches(
        largest,
        lambda gb_per_s, least: gb_per_s / least,
        [{"gb_per_s": rate, "least": n} for rate in (100, 546) for n in (5, 20)],
        unit="GB",
        rel=1e-6,
        mistakes={
            "More tokens a second leave less to read for each.": (
                lambda gb_per_s, least: gb_per_s * least
            ),
        },
    )
    expect.reading("an M4 Max at reading speed", largest(546, 20), "GB")
