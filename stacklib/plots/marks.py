"""Figures are written with these: marks, axes, and the chart that holds them.

Each returns the plain dict that ``stacklib.plots.spec`` describes, and raises SpecError
naming what the grammar does not know. Plain Python: live figures run in the reader's
browser.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypedDict, Unpack

from stacklib.evidence import guard
from stacklib.quantity import Quantity
from stacklib.quantity.told import refuse_bare, told
from stacklib.quantity.units import UnitError, parse

from .layout import byte_text, byte_ticks
from .spec import SCALES, SpecError, check, check_mark

Mark = dict[str, Any]
Spec = dict[str, Any]
Numbers = Iterable[float]
LEAVES = {"measured": ("measured",), "claimed": ("claimed", "spec")}
FAINT = 0.16  # shade of cells that stand back


class Rows(list[float]):
    """Numbers of records, as ``rows`` read them: what may be drawn as read.

    - ``evidence``: what a mark of them may say
    - ``of``: the records
    - ``unit``: in which they are
    """

    def __init__(self, evidence: str, unit: str = "") -> None:
        super().__init__()
        self.evidence, self.of, self.unit = evidence, set[str](), unit


def rows(
    read: Iterable[Quantity], unit: str = "", *, evidence: str = "measured"
) -> Rows:
    """Values of quantities that were read, for a mark that says so.

    Parameters
    ----------
    read : iterable of Quantity
        Each rests on a row of a record, and on nothing that says nothing of itself.
    unit : str
        In which the axis has them; default their own.
    evidence : str
        ``measured``, or ``claimed`` of what somebody says, on a data sheet too.

    Raises
    ------
    SpecError
        For a number of no such record, and for one with a unit that holds a
        prediction or a typed number which scales it.
    """
    found = Rows(evidence, unit)
    for one in read:
        refuse_bare(f"a {evidence} mark", one)
        if not any(leaf.kind in LEAVES[evidence] and leaf.key for leaf in one.leaves()):
            raise SpecError(f"a {evidence} mark: {one!r} rests on no row of a record")
        word = told(one) if one.shown.dims else evidence
        if word not in (evidence, "spec") and not _quoted(evidence, one):
            raise SpecError(f"a {evidence} mark: {one!r} is {word}, not {evidence}")
        found.append(one.to(unit).value if unit else one.value)
        found.of |= guard.records(one)
    return found


def _quoted(evidence: str, one: Quantity) -> bool:
    """Whether it is arithmetic on what somebody says and on nothing else."""
    kinds = {leaf.kind for leaf in one.leaves() if leaf.si != 1}
    return evidence == "claimed" and kinds <= {*LEAVES["claimed"], "config"}


def _check_read(mark: Mark, own: Mapping[str, Any]) -> None:
    """What is drawn as read is rows, its spread too, of the device that is named."""
    evidence, what = mark["evidence"], f"{mark['kind']} {mark['name']!r}"
    places = [own.get(axis) for axis in "xy"]
    read = [v for v in places if isinstance(v, Rows) and v.evidence == evidence]
    beside = next((v for v in places[1:] if v and v not in read), [0])
    in_a_row = all(isinstance(v, int) and v == beside[0] for v in beside)
    ends = own.get("spread") or []
    if not read or not in_a_row or not all(isinstance(pair, Rows) for pair in ends):
        raise SpecError(
            f"{what}: typed numbers are not {evidence}; give rows of a record, "
            f"rows(quantities, unit, evidence={evidence!r}), its spread too"
        )
    of = set[str]().union(*(v.of for v in read))
    if other := {name for pair in ends for name in pair.of - of}:
        raise SpecError(f"{what}: its spread is of another record, {min(other)}")
    own_device = "this_machine" if mark.get("this_machine") else None
    guard.refuse_other(what, mark.get("device") or own_device, of)


class About(TypedDict, total=False):
    """What a mark is about: told to the guard, and shown by its colour."""

    layer: int  # of the stack, 1 to 7: its colour
    this_machine: bool  # the colour of the reader's machine
    device: str
    dtype: str
    chips: int
    level: str
    model: str
    batch: int
    role: str


def _mark(
    kind: str, name: str, evidence: str, at: str, about: About, **own: Any
) -> Mark:
    unknown = [key for key in about if key not in About.__annotations__]
    if unknown:
        known = ", ".join(About.__annotations__)
        raise SpecError(f"{kind} {name!r} takes no {unknown[0]!r}; it takes {known}")
    given = {key: value for key, value in own.items() if value is not None}
    mark = {"kind": kind, "evidence": evidence, "name": name, **given, **about}
    if at != "end":
        mark["label_at"] = at
    if evidence in LEAVES and kind != "cells":
        _check_read(mark, own)
    if kind != "cells" or mark["x"]:  # a chart leaves cells without places out
        check_mark(mark)
    return mark


def _listed(values: float | Numbers) -> list[float]:
    if isinstance(values, Rows):
        return values
    return [values] if isinstance(values, (int, float)) else list(values)


def line(
    x: Numbers,
    y: Numbers,
    name: str,
    evidence: str,
    *,
    at: str = "end",
    series: int | None = None,
    **about: Unpack[About],
) -> Mark:
    """A line through points; dashed where it is simulated.

    Parameters
    ----------
    x, y : iterable of float
        Its points, equally many of each.
    name : str
        Written at its end; may be empty.
    evidence : str
        ``predicted`` or ``simulated``; other marks take any in ``spec.KEY``.
    at : str
        Where the name stands: ``end``, ``key`` (under the axis), or ``none``.
    series : int, optional
        Its colour, 0 to 5; without it, by the order of names.
    **about
        Fields of ``About``: what the guard is told, and other colours.
    """
    return _mark("line", name, evidence, at, about, series=series, x=list(x), y=list(y))


def dots(
    x: float | Numbers,
    y: float | Numbers,
    name: str,
    evidence: str,
    *,
    spread: Iterable[Sequence[float]] | None = None,
    each: Iterable[str] | None = None,
    at: str = "end",
    series: int | None = None,
    **about: Unpack[About],
) -> Mark:
    """One point or several, each drawn as ``spec.KEY`` has its evidence.

    A number as ``x`` and ``y`` is one point; ``spread`` is low and high end of each y,
    ``each`` what each is called by who points at it.
    What is ``measured`` or ``claimed`` takes ``rows`` as y, or as x in a row of its
    own, whose number y is; a spread is rows of the same record. ``name``,
    ``evidence``, ``at``, ``series`` and ``about`` are as for ``line``.

    Raises
    ------
    SpecError
        For typed numbers that are called measured or claimed.
    ValueError
        For a device that none of the rows is of.
    """
    ends = None if spread is None else [_listed(pair) for pair in spread]
    names = None if each is None else list(each)
    places = {"x": _listed(x), "y": _listed(y), "spread": ends, "each": names}
    return _mark("dots", name, evidence, at, about, series=series, **places)


def diamonds(
    x: float | Numbers,
    y: float | Numbers,
    name: str,
    *,
    at: str = "end",
    series: int | None = None,
    **about: Unpack[About],
) -> Mark:
    """Dots that somebody claims; ``x``, ``y``, ``name``, ``at``, ``series``, ``about``
    as for ``dots``."""
    return dots(x, y, name, "claimed", at=at, series=series, **about)


def bar(
    start: float,
    end: float,
    row: float,
    name: str,
    evidence: str,
    *,
    at: str = "end",
    series: int | None = None,
    **about: Unpack[About],
) -> Mark:
    """A thick bar along x from ``start`` to ``end``, in a ``row``; seen however short.

    ``name``, ``evidence``, ``at``, ``series`` and ``about`` are as for ``line``.
    """
    return _mark(
        "bar", name, evidence, at, about, series=series, x=[start, end], y=[row, row]
    )


def rule(
    name: str,
    evidence: str,
    *,
    x: float | Rows | None = None,
    y: float | Rows | None = None,
    to: float | None = None,
    at: str = "end",
    series: int | None = None,
    **about: Unpack[About],
) -> Mark:
    """A thin rule up the figure at ``x``, to its top or ``to``; or across it at ``y``.

    Its name stands at its foot, or at its left; ``name``, ``evidence``, ``at``,
    ``series`` and ``about`` are as for ``line``. SpecError for other places.
    """
    if (x is None) == (y is None) or (to is not None and x is None):
        raise SpecError(f"rule {name!r}: x={x}, y={y}, to={to}; x, x and to, or y")
    if y is not None:
        return _mark("hline", name, evidence, at, about, series=series, y=_listed(y))
    assert x is not None  # one of them is given
    up = None if to is None else [to]
    return _mark("vline", name, evidence, at, about, series=series, x=_listed(x), y=up)


def band(
    name: str,
    evidence: str,
    *,
    x: Sequence[float] | None = None,
    y: Sequence[float] | None = None,
    at: str = "end",
    series: int | None = None,
    **about: Unpack[About],
) -> Mark:
    """A tinted range, hatched where impossible: pairs of ``x``, ``y``, or both.

    ``name``, ``evidence``, ``at``, ``series`` and ``about`` are as for ``line``.
    """
    ends = {"x": x and _listed(x), "y": y and _listed(y)}
    return _mark("band", name, evidence, at, about, series=series, **ends)


def cells(
    places: Iterable[tuple[float, float]],
    name: str,
    evidence: str,
    *,
    shade: float | Numbers | None = None,
    texts: Iterable[str] | None = None,
    at: str = "end",
    series: int | None = None,
    **about: Unpack[About],
) -> Mark:
    """Unit squares in a grid of linear axes; a chart leaves out a mark without any.

    ``places`` are columns and rows; ``shade``, 0 to 1 of the colour, is one for all or
    one for each; ``texts`` are up to four characters each. Names stand in a key below;
    ``name``, ``evidence``, ``at``, ``series`` and ``about`` are as for ``line``.
    """
    grid = list(places)
    if isinstance(shade, (int, float)):
        shade = [shade] * len(grid)
    own: dict[str, Any] = {"x": [x for x, _ in grid], "y": [y for _, y in grid]}
    own["shades"] = None if shade is None else list(shade)
    own["texts"] = None if texts is None else list(texts)
    return _mark("cells", name, evidence, at, about, series=series, **own)


def places(
    x: float | Numbers,
    y: float | Numbers,
    name: str,
    evidence: str = "predicted",
    *,
    to: float | Numbers | None = None,
    lit: bool = False,
    at: str = "end",
    series: int | None = None,
    **about: Unpack[About],
) -> Mark:
    """What can be held exactly: the numbers of a format, a lattice of codes.

    Small dots; with ``to`` strokes from ``y`` up to there, the teeth of a number line.

    Parameters
    ----------
    x, y, to : float or sequence of float
        Where they stand; a number as ``y`` or ``to`` is that of all.
    lit : bool
        Whether these are the ones chosen among the others.
    name, evidence, at, series, about
        As for ``line``.
    """
    xs = _listed(x)
    own: dict[str, Any] = {"x": xs, "y": _each(y, xs), "lit": lit or None}
    own["to"] = None if to is None else _each(to, xs)
    return _mark("places", name, evidence, at, about, series=series, **own)


def _each(values: float | Numbers, xs: Sequence[float]) -> list[float]:
    one = isinstance(values, (int, float))
    return _listed(values) * (len(xs) if one else 1)


def years(label: str, first: int, last: int, step: int = 2) -> dict[str, Any]:
    """An axis of calendar years from ``first`` to ``last``, one named a ``step``."""
    some = range(first + -first % step, last + 1, step)
    return axis(label, limits=(first, last), ticks=some, names=[str(y) for y in some])


def sizes(label: str, first: float, last: float) -> dict[str, Any]:
    """A logarithmic axis of bytes from ``first`` to ``last``, in KiB and MiB."""
    some, ends = byte_ticks(first, last), (first, last)
    names = [byte_text(size) for size in some]
    return axis(label, log=True, unit="B", limits=ends, ticks=some, names=names)


def across(count: float) -> list[float]:
    """Limits that show columns or rows 0 to ``count - 1`` of cells or bars."""
    return [-0.6, count - 0.4]


def down(count: float) -> list[float]:
    """``across`` with the first on top."""
    return across(count)[::-1]


def axis(
    label: str,
    *,
    log: bool = False,
    limits: Sequence[float] | None = None,
    unit: str = "",
    ticks: Sequence[float] | None = None,
    names: Sequence[str] | None = None,
) -> dict[str, Any]:
    """One axis of a chart.

    Parameters
    ----------
    label : str
        Words with the unit in brackets, as the reader sees them.
    log : bool
        Whether it is logarithmic.
    limits : pair of float, optional
        Its ends, which may run downwards; else the data decide.
    unit : str
        What the guard reads the values in.
    ticks : sequence of float, optional
        Where they stand; none for an empty sequence.
    names : sequence of str, optional
        What each tick is called.

    Raises
    ------
    SpecError
        For limits that are no pair.
    """
    if limits is not None and len(limits) != 2:
        raise SpecError(f"axis {label!r}: limits {limits!r} are no pair")
    parts = {"limits": limits, "ticks": ticks, "names": names}
    lists = {key: list(part) for key, part in parts.items() if part is not None}
    read = {"unit": unit} if unit else {}
    return {"label": label, "scale": SCALES[log], **read, **lists}


def _check_unit(label: str, values: Any) -> None:
    """What was read in a unit stands on an axis of that unit."""
    _, bracket, told = label.rpartition("(")
    unit = getattr(values, "unit", "")
    with suppress(UnitError):  # words in brackets
        one, other = parse(unit), parse(told.rstrip(")"))
        if unit and bracket and (one.dims, one.factor) != (other.dims, other.factor):
            raise SpecError(f"axis {label!r}: rows in {unit} stand on it")


def chart(
    title: str,
    *,
    x: Mapping[str, Any],
    y: Mapping[str, Any],
    marks: Iterable[Mark],
    readouts: Iterable[Mapping[str, Any]] = (),
    message: str | None = None,
    about: Mapping[str, Any] | None = None,
    table: Mapping[str, Any] | None = None,
    square: bool = False,
) -> Spec:
    """The spec of a figure.

    Parameters
    ----------
    title : str
        A sentence saying what is seen.
    x, y : dict
        From ``axis``.
    marks : iterable of dict
        From ``line``, ``dots`` and the others, first drawn first.
    readouts : iterable of dict
        Of a live figure, from ``readout``.
    message : str, optional
        What a live figure says instead of an answer.
    about : dict, optional
        What the guard is told of the readouts.
    table : dict, optional
        Shown under a live figure: see ``stacklib.plots.spec``.
    square : bool
        Whether it is as wide as high, so that what is round looks round.

    Raises
    ------
    SpecError
        For a spec outside the grammar.
    """
    drawn = [mark for mark in marks if mark["kind"] != "cells" or mark["x"]]
    for mark in drawn:
        _check_unit(x["label"], mark.get("x"))
        _check_unit(y["label"], mark.get("y"))
    made: Spec = {"title": title, "x": dict(x), "y": dict(y), "marks": drawn}
    made |= {"readouts": list(readouts), "message": message}
    extra = {"about": about, "table": table, "square": square or None}
    made |= {key: value for key, value in extra.items() if value is not None}
    check(made)
    return made
