"""Claims on what a few bits can say: range, digits, layouts."""

import math

from stacklib.evidence import Finding, claim
from stacklib.gpu.tensor.kinds import floats
from stacklib.quantity import counted, counting
from stacklib.quantizers import Format

BLACKWELL = "blackwell"


def digits(name: str) -> float:
    """Decimal digits of a significand, its leading one counted."""
    return (Format(name).row.significand + 1) * math.log10(2)


def kept_digits(name: str) -> int:
    """Decimal digits that always come back from the format unchanged."""
    return math.floor(Format(name).row.significand * math.log10(2))


def four_bit_layouts(names: tuple[str, ...]) -> list[str]:
    """Floating-point formats of four bits among some names."""
    forms = map(Format, names)
    return [form.name for form in forms if form.bits == 4 and form.row.exponent]


@counting("least normal {name}")
def least_normal(name: str) -> float:
    """The smallest number with a leading one."""
    return Format(name).least_normal


@counting("largest {name}")
def largest(name: str) -> float:
    """The largest number of a format."""
    return Format(name).largest


@claim("fp32-range", "fp32")
@claim("tf32-digits", "tf32")
@claim("bf16-digits", "bf16")
def decimal_digits(name: str) -> Finding:
    """Bits of the significand times the decimal logarithm of two."""
    form = Format(name)
    return Finding(
        counted(digits, name, label=f"decimal digits of {name}"),
        why=f"{form.row.significand + 1} bits, the leading one counted; "
        f"{kept_digits(name)} digits always come back unchanged. Normal numbers have "
        f"magnitudes from {form.least_normal:.2g} to {form.largest:.2g}.",
    )


@claim("fp16-range", "fp16")
@claim("e4m3-range", "e4m3fn")
@claim("e5m2-range", "e5m2")
def reach(name: str) -> Finding:
    """The ends, from exponent, significand, bias and special codes."""
    form = Format(name)
    ieee = Format("e4m3").largest
    other = {
        "e4m3fn": " One code of each sign is NaN and none is infinity; by IEEE 754's "
        f"rule the same bits would end at {ieee:g}."
    }
    return Finding(
        least_normal(name),
        to=largest(name),
        why=f"Normal numbers; the least of all is {form.smallest:.3g}. The document "
        f"gives the ends as powers of ten.{other.get(name, '')}",
    )


@claim("fp4-variants")
def layouts() -> Finding:
    """Four-bit floating-point formats that a Blackwell tensor core multiplies."""
    known = four_bit_layouts(floats(BLACKWELL))
    e3m0 = Format("e3m0")
    return Finding(
        counted(len, known, label="four-bit floats of a Blackwell tensor core"),
        why=f"PTX takes {' and '.join(known).upper()} alone, the element of OCP's MX "
        "formats and of NVFP4. E3M0 stands in papers: powers of two from "
        f"{e3m0.smallest:g} to {e3m0.largest:g}, no digit behind the first. As a "
        "list of layouts the claim is right, as two modes of Blackwell it is not.",
    )


@claim("fp4-4bit-exp-mantissa")
def exponent_and_mantissa() -> Finding:
    """Bits of the exponent and of the significand of E2M1."""
    row = Format("e2m1").row
    return Finding(
        counted(
            sum,
            (row.exponent, row.significand),
            unit="bit",
            label="exponent and significand of E2M1",
        ),
        why=f"{row.exponent} of exponent and {row.significand} of significand. The "
        "fourth bit is the sign.",
    )
