"""A number line, live: any format, one number, three ways to round it."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

from stacklib.plots.layout import raised
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Mark, Spec, axis, chart, line, places
from stacklib.plots.spec import readout
from stacklib.quantizers import FORMATS, Format
from stacklib.quantizers.formats import ROUNDINGS

NUMBERS = tuple(
    round(m * 2.0**e, 10) for e in range(-20, 18) for m in (1.0, 1.2, 1.4, 1.7)
)
NEAR = 8  # codes to each side, in a format of too many to list
WIDE = 2.5  # of the number: up to there a short format is drawn, from zero
ABOVE = 1.25  # of the widest gap: where the given number stands
START = 0.3


def controls() -> list[dict[str, Any]]:
    """A menu of every format that has a row, and the number to encode."""
    near = min(NUMBERS, key=lambda x: abs(x - START))
    return [
        choices.select("form", "Format", [[n, n] for n in FORMATS], "e4m3fn"),
        choices.slider("number", "Number", NUMBERS, near),
        choices.select("sign", "Sign", [["plus", "+"], ["minus", "-"]], "plus"),
        choices.select("rounding", "Rounding", [[r, r] for r in ROUNDINGS], "nearest"),
    ]


def magnitudes(form: Format, code: int, around: float) -> list[float]:
    """Numbers to draw from zero up: of a short format to the first past ``WIDE``."""
    if form.bits <= 8:
        line = [x for x in form.values if x >= 0]
        inside = [x for x in line if x <= around * WIDE]
        return line[: max(len(inside) + 1, 2)]
    body = code & (1 << form.bits - 1) - 1
    near = range(max(0, body - NEAR), min(form.top, body + NEAR) + 1)
    return [form.decode(at) for at in near]


def octaves(last: float) -> tuple[list[float], list[str]]:
    """Powers of two that part a line from zero: the last, and two below it."""
    top = math.frexp(last)[1] - 1
    powers = [(2.0**k, k) for k in range(top - 2, top + 1)]
    plain = range(-3, 14)  # powers that are read as numbers
    names = [f"{x:g}" if k in plain else raised(2, k) for x, k in powers]
    return [0.0, *(x for x, _ in powers)], ["0", *names]


def magnitude(form: Format, held: list[float], number: float) -> dict[str, Any]:
    """The line itself: octaves of a short format, both ends of some of a long one."""
    said = "Magnitude"
    if form.bits > 8:
        near = [min(held[0], number), max(held[-1], number)]
        room = 0.03 * (near[1] - near[0])
        ends, names = [held[0], held[-1]], [f"{x:.8g}" for x in (held[0], held[-1])]
        return axis(
            said, limits=[near[0] - room, near[1] + room], ticks=ends, names=names
        )
    last = min(WIDE * number, 1.05 * max(held[-1], 1.2 * number))
    last = max(last, 1.05 * held[1])
    ticks, names = octaves(last)
    return axis(said, limits=[0, last], ticks=ticks, names=names)


def teeth(
    held: list[float], last: float, number: float, found: float
) -> tuple[list[Mark], float]:
    """A tooth on each number, as high as the gap to the next; and the highest.

    The given number stands over them, joined to what it is stored as.
    """
    gaps = [b - a for a, b in itertools.pairwise(held)]
    high = dict(zip(held, [*gaps, gaps[-1]], strict=True))  # the last as before it
    shown = [x for x in held if x <= last]
    most = max(high[x] for x in shown)
    marks: list[Mark] = [
        places(shown, 0, "numbers held", to=[high[x] for x in shown], at="key")
    ]
    if found in high:
        marks.append(
            line([number, found], [ABOVE * most, high[found]], "", "predicted")
        )
        marks.append(places(found, 0, "stored", to=high[found], lit=True, at="key"))
    return [*marks, here(number, ABOVE * most, "your number")], most


def bits_of(form: Format, code: int) -> str:
    """Sign, exponent and significand of a code, apart."""
    text = f"{code:0{form.bits}b}"
    row = form.row
    cut = len(text) - row.significand
    parts = [text[: cut - row.exponent], text[cut - row.exponent : cut], text[cut:]]
    return " ".join(part for part in parts if part)


def explore(*, form: str, number: float, sign: str, rounding: str) -> Spec:
    """The numbers of a format around one, and what that one becomes."""
    chosen = Format(form)
    x = -number if sign == "minus" else number
    seed = random.Random(f"{form} {x}").randrange(1000)
    draw = seed if rounding == "stochastic" else None
    code = chosen.encode(x, rounding=rounding, seed=draw)
    found = chosen.decode(code)
    held = magnitudes(chosen, code, number)
    across = magnitude(chosen, held, number)
    marks, most = teeth(held, across["limits"][1], number, abs(found))
    told = f"{form} holds {x:g} as {found:.6g}."
    message = None
    if not math.isfinite(found):
        message = f"{x:g} has no number in {form}: it becomes {found}."
    elif found == 0:
        message = f"{x:g} is below the numbers of {form}: it becomes zero."
    if found * x < 0:
        message = f"{form} has no sign: the nearest it has is {found:g}."
    said = []
    if math.isfinite(found):
        off = abs(found - x) / abs(x)
        said = [
            readout("stored", "Magnitude stored", counted(abs(found), "stored")),
            readout("off", "Relative error", counted(off, "error"), "share", unit="%"),
        ]
    return chart(
        f"{told} Its bits: {bits_of(chosen, code)}.",
        x=across,
        y=axis("Gap to the next number", limits=[0, 1.5 * most]),
        marks=marks,
        readouts=said,
        message=message,
    )
