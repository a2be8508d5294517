"""Which products a generation's tensor cores have, and under which name.

The kinds and what they may mix are those of ``mma`` and ``tcgen05.mma`` in the PTX ISA
(9.1, target notes of ``mma``: FP8 from sm_89, FP6, FP4 and block scales on sm_120a and
with ``tcgen05``); how they add is MMA-Sim's, see ``scaled``. Integers are those of the
instruction behind the printed rate: ``mma.sync`` takes INT4 on Hopper as well,
``wgmma`` does not.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib.quantity import UnknownName, resolve
from stacklib.quantizers import FORMATS, Format

from ..issue.instructions import Arithmetic, arithmetic, generations, instruction

CAPABILITY = {
    "volta": "7.0",
    "turing": "7.5",
    "ampere": "8.0",
    "ada": "8.9",
    "hopper": "9.0",
    "blackwell": "10.0",
    "rtx_blackwell": "12.0",
}
SMALL = ("e4m3fn", "e5m2", "e3m2", "e2m3", "e2m1")  # these may be mixed
SCALED = ("blackwell", "rtx_blackwell")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of product: what it multiplies and how its scales come in."""

    name: str
    form: str  # whose rule it follows
    scale: str = ""  # format of the scales
    block: int = 0  # numbers that share one
    grouped: bool = False  # sixteen products are added before they are scaled

    def rule(self, generation: str) -> Arithmetic:
        """How the generation adds them; terms are sums of sixteen where grouped."""
        plain = arithmetic(generation, self.form)
        if not self.grouped:
            return plain
        return Arithmetic(plain.generation, self.form, 4, 35, 23, plain.source)


MX = ("mxf8f6f4", "mxf4", "mxf4nvf4")


def floats(generation: str) -> tuple[str, ...]:
    """Floating-point formats that a generation multiplies without scales."""
    found = []
    for form in FORMATS:
        try:
            found.append(arithmetic(generation, form).dtype)
        except UnknownName:
            continue
    return tuple(dict.fromkeys(found))


def integers(generation: str) -> tuple[str, ...]:
    """Whole numbers that a generation multiplies."""
    key = resolve(generation, generations(), "generation")
    behind = instruction(CAPABILITY[key])
    return tuple(name for name in behind.k if name.startswith("int"))


def has(generation: str) -> str:
    """What a generation has, in a line."""
    key = resolve(generation, generations(), "generation")
    double = () if key in ("volta", "turing") else ("fp64",)
    scaled = MX if key in SCALED else ()
    return ", ".join((*floats(key), *integers(key), *double, *scaled))


def kind_of(
    generation: str, left: str, right: str, scale: str, block: int, asked: str = ""
) -> Kind:
    """The kind of a product of two formats and their scales, or why there is none."""
    key = resolve(generation, generations(), "generation")
    forms = [Format(left).name, Format(right).name]
    known = floats(key)
    if not set(forms) <= set(known) or (scale and key not in SCALED):
        what = " x ".join(forms) + (f" with {scale} scales" if scale else "")
        raise UnknownName(f"{key} tensor cores have no {what}; they have: {has(key)}")
    if forms[0] != forms[1] and not set(forms) <= set(SMALL):
        raise UnknownName(
            f"{forms[0]} x {forms[1]}: only {', '.join(SMALL)} may be mixed"
        )
    if not scale:
        return Kind("f8f6f4" if forms[0] in SMALL else forms[0], forms[0])
    return _scaled(forms, scale, block, asked)


def _scaled(forms: list[str], scale: str, block: int, asked: str) -> Kind:
    """One of the three kinds with scales."""
    fours = set(forms) == {"e2m1"}
    kinds = {("mxf8f6f4", "e8m0", 32): set(forms) <= set(SMALL)}
    kinds |= {("mxf4", "e8m0", 32): fours, ("mxf4nvf4", "e8m0", 16): fours}
    kinds[("mxf4nvf4", "e4m3fn", 16)] = fours
    fit = [k for k, ok in kinds.items() if ok and k[1] == scale and block in (0, k[2])]
    fit = [k for k in fit if asked in ("", k[0])]
    if not fit:
        options = [f"{n} ({s}, {b})" for (n, s, b), ok in kinds.items() if ok]
        raise UnknownName(
            f"{' x '.join(forms)} with a scale of {scale} for {block or 'any'} numbers"
            f"{' as ' + asked if asked else ''}: no such kind; there are "
            f"{', '.join(options)}"
        )
    # four bits on both sides go the faster way, unless the other is asked for
    name, _, size = fit[-1]
    return Kind(name, forms[0], scale, size, grouped=name != "mxf8f6f4")
