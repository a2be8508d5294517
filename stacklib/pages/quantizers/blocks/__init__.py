"""Section 7.3: What does a shared exponent cost?"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib.quantity import Quantity, counted, counting, log2
from stacklib.quantizers import Format
from stacklib.quantizers.scheme import fact

SEED, DRAWN = 5, 1 << 19  # of the drawn numbers
PHASES = tuple(2 ** (k / 8) for k in range(8))  # sizes of numbers within an octave
# a scheme, and what the integral calls it
WAYS = {
    "mxfp8_e4m3": ("e4m3fn", 32, "floor"),
    "mxfp6_e2m3": ("e2m3", 32, "floor"),
    "mxint8": ("int8", 32, "floor"),
    "mxfp4": ("e2m1", 32, "floor"),
    "nvfp4": ("e2m1", 16, "e4m3"),
}


def bits(scheme: str) -> Quantity:
    """Bits of a number, scales counted."""
    return fact(scheme, "bits", "bit", label=f"bits of a number, {scheme}")


@counting("bytes of 64 numbers, {scheme}", unit="B")
def packed(scheme: str) -> int:
    """Bytes of a row of 64 numbers, as they stand in a file."""
    import numpy as np

    from stacklib.quantizers import quantize

    tensor = 4 if scheme == "nvfp4" else 0  # one for all, not for these
    return int(quantize(np.ones(64, np.float32), scheme).nbytes) - tensor


# -- the rule --------------------------------------------------------------------------

# half way between a place of E2M1 and the next: to even is up, and gguf goes down
GOES_UP = (0.75, 1.75, 3.5)


@counting("share of half ways that gguf rounds down")
def half_ways() -> float:
    """Share of the model's weights in MXFP4 that nearest even rounds away from zero,
    and gguf, which takes the first of two places as near, towards it.
    """
    import numpy as np

    from stacklib.quantizers import quantize
    from stacklib.quantizers.blocks import scale_values
    from stacklib.tinylm import load

    tied = many = 0
    for weight in load().weights.values():
        if weight.ndim == 2:
            scale = scale_values()[quantize(weight, "mxfp4").scales][..., None]
            sizes = np.abs(weight).reshape(*scale.shape[:-1], -1) / scale
            tied += int(np.isin(sizes, GOES_UP).sum())
            many += weight.size
    return tied / many


@cache
def _sizes() -> Any:
    """Largest magnitudes of drawn blocks of 32, of all sizes within an octave."""
    import numpy as np

    random = np.random.default_rng(SEED)
    drawn = np.abs(random.standard_normal((1 << 15, 32))).max(axis=1)
    return np.concatenate([drawn * phase for phase in PHASES]).astype(np.float32)


@counting("blocks cut, {element}, {rule}")
def cut(element: str, rule: str) -> float:
    """Share of blocks of normal numbers whose largest one is cut off."""
    from stacklib.quantizers.blocks import scale_codes, scale_values

    scale = scale_values()[scale_codes(_sizes(), element, rule)]
    return float((_sizes() / scale > Format(element).largest).mean())


def octave(element: str) -> Quantity:
    """The power of two above an element's end."""
    return fact(element, "octave", label="top of the octave")


def above(element: str) -> Quantity:
    """Share of an octave's logarithms that lies between an end and its top."""
    end = fact(element, "largest", label="end of the element")
    return log2(octave(element) / end).named("share above")


@counting("error of {element}, {rule}, {block}, by integral")
def loss(element: str, rule: str, block: int = 32) -> float:
    """Root of the expected squared error, normal numbers of all sizes, relative."""
    return _root(element, block, rule)


def _root(element: str, block: int, rule: str) -> float:
    from stacklib.quantizers import expected_error

    found = [expected_error(element, block, rule, sigma=s) for s in PHASES]
    return float((sum(found) / len(found)) ** 0.5)


def rule_rows() -> list[dict[str, Any]]:
    """Each rule: its scales for three largest magnitudes, what it cuts and costs."""
    largest = (5.0, 6.5, 7.0)
    return [
        {
            "rule": rule,
            **{f"largest {x:g}": scale_of(x, rule) for x in largest},
            "cut": cut("e2m1", rule),
            "MXFP4 off by": loss("e2m1", rule),
            "MXFP8 off by": loss("e4m3fn", rule),
        }
        for rule in rules()
    ]


@counting("scale of a block whose largest number is {largest}, {rule}")
def scale_of(largest: float, rule: str) -> float:
    """Scale of a block of E2M1 by its largest magnitude."""
    import numpy as np

    from stacklib.quantizers.blocks import scale_codes, scale_values

    return float(scale_values()[scale_codes(np.float32([largest]), "e2m1", rule)][0])


# -- three ways ------------------------------------------------------------------------


def by_integral(scheme: str) -> float:
    """Root of the expected squared error of normal numbers of all sizes."""
    return _root(*WAYS[scheme])


@cache
def _drawn() -> Any:
    import numpy as np

    return np.random.default_rng(SEED).standard_normal(DRAWN).astype(np.float32)


def by_drawing(scheme: str) -> float:
    """The same of numbers that were drawn and went through the codec."""
    import numpy as np

    from stacklib.quantizers import dequantize, quantize

    found = 0.0
    for phase, part in zip(PHASES, np.split(_drawn(), len(PHASES)), strict=True):
        x = part * np.float32(phase)
        off = (dequantize(quantize(x, scheme)) - x).astype(np.float64)
        found += float((off**2).sum() / (x.astype(np.float64) ** 2).sum())
    return (found / len(PHASES)) ** 0.5


@cache
def _matrices() -> tuple[Any, ...]:
    from stacklib.tinylm import load

    return tuple(w for w in load().weights.values() if w.ndim == 2)


def of_the_model(scheme: str) -> float:
    """The same of all matrices of the book's own model."""
    import numpy as np

    from stacklib.quantizers import dequantize, quantize

    off = total = 0.0
    for w in _matrices():
        found = dequantize(quantize(w, scheme))
        off += float(((found - w).astype(np.float64) ** 2).sum())
        total += float((w.astype(np.float64) ** 2).sum())
    return (off / total) ** 0.5


def of_the_model_foretold(scheme: str) -> float:
    """By integral, each matrix with its own standard deviation."""
    import numpy as np

    from stacklib.quantizers import expected_error

    off = total = 0.0
    for w in _matrices():
        square = float((w.astype(np.float64) ** 2).sum())
        sigma = (square / w.size) ** 0.5
        off += square * expected_error(*WAYS[scheme], sigma=sigma)
        total += square
    return (off / total) ** 0.5


def three_ways(scheme: str) -> dict[str, Quantity]:
    """Integral, drawn numbers, the model's tensors beside their own integral."""
    ways = {
        "integral": by_integral,
        "drawn": by_drawing,
        "model": of_the_model,
        "model, integral": of_the_model_foretold,
    }
    return {
        name: counted(fn, scheme, label=f"{scheme}, {name}")
        for name, fn in ways.items()
    }


@counting("{of}, apart from the integral")
def apart(of: str) -> float:
    """Largest distance over all schemes: ``drawn`` or ``model`` from the integral."""
    pairs = {
        "drawn": (by_drawing, by_integral),
        "model": (of_the_model, of_the_model_foretold),
    }
    one, other = pairs[of]
    return max(abs(one(s) / other(s) - 1) for s in WAYS)


@counting("{scheme}, drawn")
def table_error(scheme: str) -> float:
    """Error of drawn normal numbers in a scheme that the integral does not have."""
    import numpy as np

    from stacklib.quantizers import dequantize, quantize

    x = _drawn()
    off = dequantize(quantize(x, scheme)) - x
    return float(np.sqrt((off**2).mean() / (x**2).mean()))


def rules() -> tuple[str, ...]:
    """The rules of an MX scale."""
    from stacklib.quantizers.blocks import RULES

    return RULES
