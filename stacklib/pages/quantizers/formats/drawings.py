"""The drawing of section 7.1: what the bits of a code choose."""

from stacklib.pages.quantizers import formats as page
from stacklib.plots import drawing as d
from stacklib.plots.live.parts import stand
from stacklib.quantity import counted
from stacklib.quantizers import Format

__all__ = ["bits_and_line"]
NAME = "e4m3fn"


def bits_and_line() -> d.Drawing:
    """The exponent chooses an octave of the line, the significand a place in it."""
    form = Format(NAME)
    code = form.encode(page.EXAMPLE)
    row = form.row
    field, rest = code >> row.significand, code & (1 << row.significand) - 1
    title = "The exponent chooses an octave of the line, the significand a place in it."
    scene = d.below(_bits(code, field, rest), _line(field, rest), gap=14)
    return d.draw(scene, name="q-bits-line", title=title)


def _field(name: str, bits: int, value: int, role: str, words: str) -> d.Box:
    lit = frozenset(i for i in range(bits) if value >> bits - 1 - i & 1)
    dark = frozenset(range(bits)) - lit
    cells = d.Cells(
        f"bits of {name}",
        bits,
        side=16.0,
        role=role,
        lit=lit,
        dark=dark,
        words="a one is lit",
    )
    return d.Box(name, [d.line(name, bold=True), words], cells, role=role)


def _bits(code: int, field: int, rest: int) -> d.Node:
    form = Format(NAME)
    row = form.row
    held = counted(form.decode, code, label="what the code stands for")
    given = stand(page, "number", page.EXAMPLE).named("a number")
    parts = d.right_of(
        _field("sign", 1, 0, "layer-6", "plus"),
        _field("exponent", row.exponent, field, "layer-3", "which octave"),
        _field("significand", row.significand, rest, "layer-4", "which place in it"),
        gap=8,
    )
    told = d.Words([(d.Shown(given), " is stored as ", d.Shown(held, None, 5))])
    return d.below(told, parts, gap=8)


def _octave(field: int, lit: int | None) -> d.Box:
    form = Format(NAME)
    row = form.row
    places = 1 << row.significand
    first = field << row.significand
    last = first + places - 1
    low = counted(form.decode, first, label=f"first number of octave {field}")
    step = counted(apart, field, label=f"step of octave {field}")
    nan = frozenset({places - 1}) if last > form.top else frozenset()
    cells = d.Cells(
        f"octave {field}",
        places,
        side=(9.0, 16.0),
        role="layer-4",
        lit=frozenset() if lit is None else frozenset({lit}),
        dark=nan,
        words="NaN is dark" if nan else "",
    )
    told = [
        ("from ", d.Shown(low, None, 3)),
        ("steps of ", d.Shown(step, None, 3)),
    ]
    return d.Box(
        f"from field {field}", told, cells, role="layer-3", lit=lit is not None
    )


def apart(field: int) -> float:
    """Distance between the first two numbers of an octave."""
    form = Format(NAME)
    first = field << form.row.significand
    return form.decode(first + 1) - form.decode(first)


def _line(field: int, rest: int) -> d.Node:
    top = Format(NAME).top >> Format(NAME).row.significand
    shown = (0, 1, field, field + 1, top)
    octaves = [_octave(at, rest if at == field else None) for at in shown]
    return d.grid(octaves, (len(octaves), 2), gap=8)
