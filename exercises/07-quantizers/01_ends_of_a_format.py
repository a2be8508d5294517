"""The ends of a format.

level: estimate

A format is a row of a table: bits of the exponent, bits of the significand behind its
leading one, a bias, and what its highest codes mean. A sign goes with each. An
exponent field above zero holds 2 to the field minus the bias, times one and the
significand; field zero holds the subnormal numbers, which have no leading one and the
exponent of field one.

`special` says what the highest codes are:

- `"ieee"`: the highest exponent field is infinity and NaN;
- `"fn"`: the code of all ones is NaN, and there is no infinity;
- `"finite"`: every code is a number.

Pencil and paper do for one row; write the three formulas for any. Begin with
`(4, 3, 7, "fn")`, which is E4M3: is its largest number 480?

- `largest`: the largest number.
- `least_normal`: the smallest above zero that is not subnormal.
- `least_subnormal`: the smallest above zero.

hint: Write down the largest code, field and significand apart, and strike out what is
no number. What is the largest that is left, and which field does it stand in?
"""

from stacklib.grading import expect
from stacklib.quantizers import Format

# ---- your answer ----


def largest(exponent, significand, bias, special):
    """The largest number of a format."""
    field = 2**exponent - 1 - (special == "ieee")
    steps = 1 + (special == "fn")  # of the last place, below two
    return (2 - steps * 2**-significand) * 2.0 ** (field - bias)


def least_normal(exponent, significand, bias, special):
    """The smallest normal number above zero."""
    return 2.0 ** (1 - bias)


def least_subnormal(exponent, significand, bias, special):
    """The smallest number above zero."""
    return 2.0 ** (1 - bias - significand)


# ---- tests ----

STORED = ("fp32", "tf32", "bf16", "fp16", "e5m2", "e4m3fn", "e3m2", "e2m3", "e2m1")
# E4M3 as IEEE would have it, E3M4, and three that nobody has built
OTHERS = (
    (4, 3, 7, "ieee"),
    (3, 4, 3, "ieee"),
    (5, 6, 12, "fn"),
    (2, 2, 0, "finite"),
    (3, 5, 9, "ieee"),
)
NAMES = ("exponent", "significand", "bias", "special")


def rows():
    """The book's rows and others, as arguments."""
    stored = (Format(name).row for name in STORED)
    table = [*((r.exponent, r.significand, r.bias, r.special) for r in stored), *OTHERS]
    return [dict(zip(NAMES, row, strict=True)) for row in table]


def decoded(code, exponent, significand, bias):
    """What a code without its sign stands for, if every code were a number."""
    field, rest = divmod(code, 2**significand)
    lead = 2**significand if field else 0
    return (lead + rest) * 2.0 ** (max(field, 1) - bias - significand)


def at_top(exponent, significand, bias, special, below=None):
    """The number of the last code, or of one so many codes below it."""
    lost = {"finite": 0, "fn": 1, "ieee": 2**significand}
    below = lost[special] if below is None else below
    code = 2 ** (exponent + significand) - 1 - below
    return decoded(code, exponent, significand, bias)


def every_code(**row):
    return at_top(**row, below=0)


def infinity(exponent, significand, bias, special):
    lost = 2**significand - 1 if special == "ieee" else special == "fn"
    return at_top(exponent, significand, bias, special, below=lost)


def all_ieee(exponent, significand, bias, special):
    return at_top(exponent, significand, bias, "ieee")


def test_largest():
    expect.function_matches(
        largest,
        at_top,
        rows(),
        rel=1e-9,
        mistakes={
            "That is the code of all ones, which is NaN in E4M3: its largest number "
            "is one step below.": lambda **row: (
                every_code(**row) if row["special"] == "fn" else at_top(**row)
            ),
            "The highest exponent field of an IEEE format holds no numbers.": (
                lambda **row: (
                    every_code(**row) if row["special"] == "ieee" else at_top(**row)
                )
            ),
            "That is infinity, taken for a number; the largest is one step below.": (
                infinity
            ),
            "Only `ieee` gives up its highest exponent field.": all_ieee,
        },
    )
    row = dict(zip(NAMES, (4, 3, 7, "fn"), strict=True))
    expect.reading("largest number of E4M3", f"{expect.read(largest(**row)):g}")


def test_the_package_of_the_book():
    """What the book encodes to, you find too."""
    for name, row in zip(STORED, rows(), strict=False):
        if expect.read(largest(**row)) != Format(name).largest:
            raise expect.Mistake(f"{name} ends at {Format(name).largest:g}")
        if expect.read(least_subnormal(**row)) != Format(name).smallest:
            raise expect.Mistake(f"{name} begins at {Format(name).smallest:g}")


def test_least_normal():
    expect.function_matches(
        least_normal,
        lambda exponent, significand, bias, special: decoded(
            2**significand, exponent, significand, bias
        ),
        rows(),
        rel=1e-9,
        mistakes={
            "Field zero is that of the subnormal numbers; normal ones begin at one.": (
                lambda bias, **row: 2.0**-bias
            ),
            "That is subnormal: it has no leading one.": (
                lambda **row: at_top(**row, below=at_code(**row))
            ),
        },
    )


def at_code(exponent, significand, bias, special):
    """How far the largest subnormal lies below the last code."""
    return 2 ** (exponent + significand) - 2**significand


def test_least_subnormal():
    expect.function_matches(
        least_subnormal,
        lambda exponent, significand, bias, special: decoded(
            1, exponent, significand, bias
        ),
        rows(),
        rel=1e-9,
        mistakes={
            "Subnormal numbers have the exponent of field one, not that of field "
            "zero.": lambda significand, bias, **row: 2.0 ** (-bias - significand),
            "Below the normal numbers there are others, a significand without its "
            "leading one.": lambda bias, **row: 2.0 ** (1 - bias),
        },
    )
