"""An account: lines that share out the work of a step, so that no two count the same.

The work is that of ``models.operations``: each operation moves bytes and multiplies. A
line says which operations' bytes and arithmetic it covers, and an account adds up only
lines that cover different ones. What no operation counts (activations between kernels,
launches, exchanges) stands in lines of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, make_dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from stacklib.hardware.errors import error_band
from stacklib.quantity import Quantity, maximum, resolve
from stacklib.quantity.core import _make

if TYPE_CHECKING:
    from stacklib.cost.spans import Span

BYTES, ARITHMETIC = "bytes", "arithmetic"


class Cover(NamedTuple):
    """The bytes or the arithmetic of an operation, in every layer that has it."""

    part: str  # ``attention``, ``mlp``, ``norms`` or ``head``
    name: str  # as ``models.operations`` calls it
    what: Literal["bytes", "arithmetic"]

    def __str__(self) -> str:
        return f"the {self.what} of {self.name!r} ({self.part})"


class DoubleCount(ValueError):
    """Two lines of one account cover the same bytes or the same arithmetic."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an account.

    - ``name``: what it is called, in tables too
    - ``section``: the section of the book that owns it, ``04-kernels/launches``
    - ``bytes``, ``operations``: of the operations it covers, over all chips: weights
      and cache moved, and operations of arithmetic
    - ``beside``: bytes that no operation counts: activations, what crosses links
    - ``t_bytes``, ``t_arithmetic``, ``t_fixed``: seconds of moving, seconds of
      arithmetic under which moving hides (or the other way round), and seconds that do
      not overlap with either; None where there are none
    - ``spent``: joules by what they are of, as ``joules.spent`` has them; None in
      plain seconds, for launches and sampling, and where nobody publishes what it
      takes: then ``note`` says so
    - ``family``: whose error band it carries; ``""``: a count, or a published cost
    - ``regime``: which part of the family, in words
    - ``covers``: what of ``models.operations`` it stands for
    - ``note``: what is left out, or who will count it
    - ``whole``: the account that it was taken out of: ``say`` refuses to add up its
      time and that of a line of another
    """

    name: str
    section: str
    bytes: Any = 0.0
    operations: Any = 0.0
    beside: Any = 0.0
    t_bytes: Any = None
    t_arithmetic: Any = None
    t_fixed: Any = None
    spent: dict[str, Span] | None = None
    family: str = ""
    regime: str = ""
    covers: frozenset[Cover] = frozenset()
    note: str = ""
    whole: str = ""

    @property
    def time(self) -> Any:
        """Seconds: what binds it, bytes or arithmetic, and what overlaps with neither.

        None for a line that nothing here can time yet.
        """
        moving, computing, time = self.t_bytes, self.t_arithmetic, self.t_fixed
        if moving is not None and computing is not None:
            moving = maximum(moving, computing)
        elif moving is None:
            moving = computing
        if moving is not None:
            time = moving if time is None else moving + time
        return _of(time, self.name, self.whole)

    @property
    def joules(self) -> Span | None:
        """Energy of what it moves, multiplies and sends, from the least to the most.

        Of no chip that only stands by; None where ``spent`` is.
        """
        known = [*(self.spent or {}).values()]
        return sum(known[1:], known[0]) if known else None

    def noted(self, why: str) -> Line:
        """The line with one more note after its own."""
        return replace(self, note="; ".join(filter(None, (self.note, why))))

    @property
    def bound(self) -> str:
        """``bytes`` or ``arithmetic``; empty where not both of them count."""
        if self.t_bytes is None or self.t_arithmetic is None:
            return ""
        return ARITHMETIC if bool(self.t_arithmetic > self.t_bytes) else BYTES


# The same fields, not yet frozen: a frozen object sets each of them by a call of its
# own, which took a quarter of an account in plain seconds.
_OPEN = make_dataclass(
    "_Open",
    [(f.name, Any, field(default=f.default)) for f in fields(Line)],
    slots=True,
)


def line_of(name: str, section: str, *given: Any, **named: Any) -> Line:
    """A ``Line``, as its class makes it, in a fifth of the time."""
    made: Any = _OPEN(name, section, *given, **named)
    made.__class__ = Line
    line: Line = made
    return line


@dataclass(frozen=True, slots=True, repr=False)
class Band:
    """From ``low`` to ``high`` times the total, and how lines were put together."""

    low: float
    high: float
    words: str


@dataclass(frozen=True, slots=True, repr=False)
class Account:
    """The lines of a token or a prompt, and what there is to cover.

    ``account["output matrix"]`` is a line, ``a - b`` the differences line by line.
    """

    title: str
    mode: str  # ``limit`` or ``calibrated``
    lines: tuple[Line, ...]
    work: frozenset[Cover]  # what the operations move and multiply
    note: str

    def __repr__(self) -> str:
        rows = [f"<Account {self.title}, {self.mode}: {_text(self.total())}"]
        rows += [f"  {line.name}: {_text(line.time)}" for line in self.lines]
        return "\n".join([*rows, f"  {self.note}>"])

    def _repr_html_(self) -> str:
        from stacklib.quantity.face import card

        rows = [(x.name, x.time) for x in self.lines if isinstance(x.time, Quantity)]
        return card(f"{self.title}, {self.mode}", [*rows, ("total", self.total())])

    def __getitem__(self, name: str) -> Line:
        """The line of this name; ``UnknownName`` with the nearest for any other."""
        known = {line.name: line for line in self.lines}
        line = known[resolve(name, known, "line", exact=True)]
        traced = isinstance(line.time, Quantity)
        return replace(line, whole=self.id) if traced else line

    @property
    def id(self) -> str:
        """What tells it from another: the account with the same lines has the same."""
        return f"{self.title}, {self.mode}, {_text(self._sum(), 9)}"

    def total(self) -> Any:
        """Seconds of all lines, one after the other.

        Raises
        ------
        DoubleCount
            When two lines cover the same bytes or arithmetic; names both.
        """
        if twice := _twice(tuple((line.name, line.covers) for line in self.lines)):
            raise DoubleCount(twice)
        total = self._sum()
        return _of(total, self.title, self.id if isinstance(total, Quantity) else "")

    def _sum(self) -> Any:
        times = [time for line in self.lines if (time := line.time) is not None]
        return sum(times[1:], times[0])

    def missing(self) -> tuple[Cover, ...]:
        """What the step moves or multiplies and no line covers."""
        covered = frozenset[Cover]().union(*(line.covers for line in self.lines))
        return tuple(sorted(self.work - covered))

    def with_(self, line: Line) -> Account:
        """The account with the line of this name in place of its own.

        Raises
        ------
        UnknownName
            When it has no line of this name.
        """
        self[line.name]
        line = replace(line, whole="")
        new = tuple(line if x.name == line.name else x for x in self.lines)
        return replace(self, lines=new)

    def __sub__(self, other: Account) -> dict[str, Any]:
        """Seconds by line that the other one saves; a line that one lacks is zero."""
        if not isinstance(other, Account):
            return NotImplemented
        found = {}
        for name in dict.fromkeys(x.name for x in (*self.lines, *other.lines)):
            ours, theirs = (_time_of(account, name) for account in (self, other))
            if ours is None and theirs is None:
                continue
            gone = ours if theirs is None else -1 * theirs if ours is None else None
            found[name] = ours - theirs if gone is None else gone
        return found

    def band(self) -> Band:
        """The band of the total: lines of one family err together, families apart.

        Both ends of the printed 90 % band of each line's cell, weighed by its seconds;
        the families' shares are added as squares, those of one family as they are.
        """
        total, silent = _plain(self.total()), set[str]()
        below, above = dict[str, float](), dict[str, float]()
        for line in self.lines:
            if line.time is None or not line.family:
                continue
            band, letter = error_band(line.family), line.family[0]
            if band is None or not band.low:
                silent.add(line.family)
                continue
            share = _plain(line.time) / total
            below[letter] = below.get(letter, 0.0) + share * (1 - band.low)
            above[letter] = above.get(letter, 0.0) + share * (band.high - 1)
        words = "lines of one family err together, families apart"
        if any(line.covers and not line.family for line in self.lines):
            words += "; lines at their limit carry none"
        if silent:
            words += f"; no band for {', '.join(sorted(silent))}"
        low, high = (sum(x * x for x in e.values()) ** 0.5 for e in (below, above))
        return Band(1 - low, 1 + high, words)

    def rows(self) -> list[dict[str, Any]]:
        """A row a line: seconds, what binds it, bytes, operations, joules, section."""
        return [
            {
                "line": line.name,
                "time": line.time,
                "bound by": line.bound,
                "bytes": line.bytes,
                "operations": line.operations,
                "joules": line.joules,
                "section": line.section,
            }
            for line in self.lines
        ]


@lru_cache(maxsize=1024)
def _twice(lines: tuple[tuple[str, frozenset[Cover]], ...]) -> str:
    """What two lines both cover, in words; empty where nothing is."""
    seen: dict[Cover, str] = {}
    for name, covered in lines:
        for cover in sorted(covered):
            if cover in seen:
                return (
                    f"{cover} stand in two lines, {seen[cover]!r} and {name!r}: take "
                    "one of them out, or its cover"
                )
            seen[cover] = name
    return ""


def _time_of(account: Account, name: str) -> Any:
    return next((x.time for x in account.lines if x.name == name), None)


def _plain(value: Any) -> float:
    return float(value.si if isinstance(value, Quantity) else value)


def _of(time: Any, label: str, whole: str) -> Any:
    """A time under its name, as a part of an account."""
    if not isinstance(time, Quantity):
        return time
    return _make(time, label=label, whole=whole)


def _text(value: Any, digits: int = 3) -> str:
    if value is None:
        return "not timed"
    if isinstance(value, Quantity):
        return value.text(None, digits)
    return f"{1e3 * value:.{digits}g} ms" if isinstance(value, float) else "a sweep"


def covers(pairs: Iterable[tuple[str, str, bool, bool]]) -> frozenset[Cover]:
    """Covers of (part, name, whether it moves bytes, whether it multiplies)."""
    return frozenset(
        Cover(part, name, what)  # type: ignore[arg-type]
        for part, name, moves, multiplies in pairs
        for what, there in ((BYTES, moves), (ARITHMETIC, multiplies))
        if there
    )
