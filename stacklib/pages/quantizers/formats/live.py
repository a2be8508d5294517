"""A number line, live: any format, one number, three ways to round it."""

from __future__ import annotations

import math
import random
from typing import Any

from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Mark, Spec, axis, chart, dots
from stacklib.plots.spec import readout
from stacklib.quantizers import FORMATS, Format
from stacklib.quantizers.formats import ROUNDINGS

NUMBERS = tuple(
    round(m * 2.0**e, 10) for e in range(-20, 18) for m in (1.0, 1.2, 1.4, 1.7)
)
NEAR = 8  # codes to each side, in a format of too many to list
WIDE = 4.0  # of the number, to each side of it, is drawn
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
    """Numbers above zero to draw: of a short format all within ``WIDE`` of a size."""
    if form.bits <= 8:
        return [x for x in form.values if around / WIDE <= x <= around * WIDE]
    body = code & (1 << form.bits - 1) - 1
    near = range(max(1, body - NEAR), min(form.top, body + NEAR) + 1)
    return [form.decode(at) for at in near]


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
    line = magnitudes(chosen, code, number)
    marks: list[Mark] = [here(number, 1.5, "your number")]
    if line:
        held = dots(
            line, [1.0] * len(line), f"numbers of {form}", "predicted", at="key"
        )
        marks.insert(0, held)
    ends = [min([number / WIDE, *line]) * 0.9, max([number * WIDE, *line]) * 1.1]
    if chosen.bits > 8 and line:
        ends = [min(line[0], number) * 0.999, max(line[-1], number) * 1.001]
    told = f"{form} holds {x:g} as {found:.6g}."
    message = None
    if not math.isfinite(found):
        message = f"{x:g} has no number in {form}: it becomes {found}."
    elif found == 0:
        message = f"{x:g} is below the numbers of {form}: it becomes zero."
    else:
        marks.append(dots([abs(found)], [0.5], "what is stored", "predicted", at="key"))
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
        x=axis("Magnitude", log=True, limits=ends),
        y=axis("Given above, stored below", limits=[0, 2], ticks=[]),
        marks=marks,
        readouts=said,
        message=message,
    )
