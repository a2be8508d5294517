"""A matrix whose weights are places.

level: derive

A weight of few bits is a code, and `levels` says which number each code stands for. An
input's products with all levels are made once; a weight then only picks one of them.

- `sums(x, codes, levels)`: the list of outputs. `codes[i][o]` is the code between
  input `i` and output `o`. The inputs count how often they are multiplied: each may be
  as often as there are levels, whatever the number of outputs.
- `sharing(transistors, weights, bits)`: how many weights have to share one adder of so
  many bits. A weight itself takes 1 transistor, an adder 28 for each bit, and nothing
  else is on the chip.
- `context(transistors, weights, kv)`: tokens of context whose cache fits if all that
  the weights leave is SRAM, 6 transistors for a bit; `kv` bytes of cache for a token.
- `faster(weights, rate, clock, adders)`: how many times as fast as the given rate
  (tokens per second) the sums alone would be, if each of the adders adds one product a
  cycle at `clock` Hz and every weight is used once for a token.

hint: Divide the whole budget first: whatever each place could spend beyond itself, its
group pools to buy a single circuit. Mind bytes where bits were asked.
"""

from stacklib.grading import expect

# ---- your answer ----


def sums(x, codes, levels):
    """Outputs of the matrix, every weight a choice."""
    total = [0] * len(codes[0])
    for value, row in zip(x, codes, strict=True):
        ready = [value * level for level in levels]
        for out, code in enumerate(row):
            total[out] += ready[code]
    return total


def sharing(transistors, weights, bits):
    """Weights that share an adder."""
    return 28 * bits / (transistors / weights - 1)


def context(transistors, weights, kv):
    """Tokens whose cache fits."""
    return (transistors - weights) / 6 / 8 / kv


def faster(weights, rate, clock, adders):
    """Sums a second over those that the rate needs."""
    return adders * clock / (weights * rate)


# ---- tests ----


class Input:
    """A number that counts how often it is multiplied."""

    def __init__(self, value):
        self.value, self.used = value, 0

    def __mul__(self, other):
        self.used += 1
        return self.value * other

    __rmul__ = __mul__


INT4 = [code - 16 if code > 7 else code for code in range(16)]
TERNARY = [0, 1, -1]
CASES = (
    ([5, -2], [[3, 15, 0, 8] * 9, [8, 1, 7, 12] * 9], INT4),
    ([1, 0, -7], [[2, 0] * 5, [1, 1] * 5, [2, 1] * 5], TERNARY),
    ([3], [[4, 0, 11, 4] * 6], [n * n for n in range(16)]),
)


def test_sums():
    for values, codes, levels in CASES:
        x = [Input(value) for value in values]
        found = sums(x, [list(row) for row in codes], list(levels))
        if found is None:
            raise expect.Mistake("nothing came back: is a return missing?")
        right = [
            sum(v * levels[row[o]] for v, row in zip(values, codes, strict=True))
            for o in range(len(codes[0]))
        ]
        raw = [
            sum(v * row[o] for v, row in zip(values, codes, strict=True))
            for o in range(len(codes[0]))
        ]
        if list(found) != right:
            if list(found) == raw:
                raise expect.Mistake("a code is a place: the level there is the number")
            if list(found) == right[: len(found)]:
                raise expect.Mistake(f"{len(found)} outputs came back, of {len(right)}")
            raise expect.Mistake("those are not the sums")
        most = max(one.used for one in x)
        if most > len(levels):
            raise expect.Mistake(
                f"an input was multiplied {most} times for {len(levels)} levels: make "
                "its products once"
            )
    expect.reading("outputs that agree", sum(len(c[0]) for _, c, _ in CASES))


CHIPS = (
    {"transistors": 53e9, "weights": 8.03e9},
    {"transistors": 100e9, "weights": 20e9},
    {"transistors": 9e9, "weights": 3e9},
)


def test_sharing():
    expect.function_matches(
        sharing,
        lambda transistors, weights, bits: (
            28 * bits * weights / (transistors - weights)
        ),
        [{**chip, "bits": bits} for chip in CHIPS for bits in (16, 24)],
        rel=1e-6,
        mistakes={
            "The weight itself takes one of its transistors.": (
                lambda transistors, weights, bits: 28 * bits * weights / transistors
            ),
            "An adder has as many cells as its sum has bits.": (
                lambda transistors, weights, bits: (
                    28 * weights / (transistors - weights)
                )
            ),
            "That is adders for a weight; the question is weights for an adder.": (
                lambda transistors, weights, bits: (
                    (transistors - weights) / weights / (28 * bits)
                )
            ),
        },
    )


def test_context():
    expect.function_matches(
        context,
        lambda transistors, weights, kv: (transistors - weights) / (48 * kv),
        [{**chip, "kv": kv} for chip in CHIPS for kv in (131072, 65536)],
        unit="token",
        rel=1e-6,
        mistakes={
            "A byte has eight bits.": lambda transistors, weights, kv: (
                (transistors - weights) / (6 * kv)
            ),
            "The weights are on the chip, too.": lambda transistors, weights, kv: (
                transistors / (48 * kv)
            ),
            "A bit of SRAM takes six transistors.": lambda transistors, weights, kv: (
                (transistors - weights) / (8 * kv)
            ),
        },
    )


def test_faster():
    expect.function_matches(
        faster,
        lambda weights, rate, clock, adders: clock / (weights * rate / adders),
        [
            {"weights": 8.03e9, "rate": 17e3, "clock": 1e9, "adders": n}
            for n in (136_510, 1e6, 67e6)
        ],
        rel=1e-6,
        mistakes={
            "Every weight is used for each token: weights times rate is due.": (
                lambda weights, rate, clock, adders: adders * clock / weights
            ),
            "That is the inverse: what is needed over what there is.": (
                lambda weights, rate, clock, adders: weights * rate / (adders * clock)
            ),
        },
    )
