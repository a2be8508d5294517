"""A number with unit, source and derivation that survives arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

from .arithmetic import finite, product, raised, total
from .meeting import Comparison, cross_factor, on_basis, same_basis, with_clock
from .source import Source
from .units import (
    Unit,
    UnitError,
    axis_of,
    format_number,
    keep_tags,
    parse,
    readable,
)

# What a leaf may be; `leaves` makes those that need more than a value and a unit.
SOURCED = ("spec", "config", "measured", "claimed")
MAKERS = {
    "chosen": "chosen(value, unit, label)",
    "assumed": "assumed(value, unit, label, why=...)",
    "counted": "@counting(label) above the public function that runs",
    "constant": "constant(name), a row of CONSTANTS",
}
KINDS = (*SOURCED, *MAKERS, "bare")


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Quantity:
    """One number with its unit, where it came from and how it was computed.

    Parameters
    ----------
    value : float
        The number, in ``unit``.
    unit : str
        For example ``"TB/s"``, ``"GB/s per_direction"``, ``"TFLOP/s dense"``;
        empty for a plain number.
    label : str
        What it is called in formulas.
    source : Source, optional
        Where it was read.
    kind : str
        ``spec``, ``config``, ``measured`` or ``claimed`` where it was read, with its
        ``key``; ``bare`` when nothing is said, which is fine in a reader's own
        arithmetic and refused in the book. ``chosen``, ``assumed``, ``counting`` and
        ``constant`` make the other leaves.
    key : str
        The record it was read from, such as ``h100-sxm.memory_bandwidth``.

    Raises
    ------
    UnitError
        For NaN, infinity, a bool, an array or text as value, an unreadable
        unit, an unknown kind, one that another function makes, or one that was read
        and names no record.

    Examples
    --------
    >>> weights = Quantity(141.1, "GB", label="weights")
    >>> bandwidth = Quantity(3.35, "TB/s", label="bandwidth")
    >>> (weights / bandwidth).text()
    '42.1 ms'
    """

    si: float
    shown: Unit
    label: str
    kind: str
    source: Source | None
    op: str
    inputs: tuple[Any, ...]
    key: str
    family: str
    note: str  # the reason of an assumption, the call of a count
    whole: str  # the account whose line it is, with which alone it is added up

    __array_ufunc__ = None  # NumPy arrays defer to us, and we refuse them

    def __init__(
        self,
        value: float,
        unit: str = "",
        *,
        label: str = "",
        source: Source | None = None,
        kind: str = "bare",
        key: str = "",
    ) -> None:
        if kind != "bare":
            _witnessed(value, unit, kind, key)
        shown = parse(unit or "1")
        si = finite(finite(value) * shown.factor)
        _fill(self, si, shown, label, kind, source, "", (), key, "", "", "")

    # -- views ---------------------------------------------------------------

    @property
    def unit(self) -> str:
        """Display unit with tags, as ``Quantity(value, unit)`` would read it."""
        return self.shown.text if self.shown.symbol or self.shown.tags else ""

    @property
    def value(self) -> float:
        """The number in the display unit."""
        return self.si / self.shown.factor

    @property
    def tags(self) -> frozenset[str]:
        """Words such as ``per_direction`` that forbid silent mixing."""
        return self.shown.tags

    def to(self, unit: str) -> Quantity:
        """The same quantity in another unit.

        Bits become bytes and MAC become FLOP here, where it can be seen, and
        nowhere else. Tags are kept; a tag in ``unit`` must already hold.

        Raises
        ------
        UnitError
            When the dimensions differ or the tags disagree.
        """
        target = parse(unit)
        factor = cross_factor(self, target)
        if target.tags - self.tags:
            raise UnitError(
                f"{self.text()} is not marked {', '.join(target.tags - self.tags)}; "
                "state it with .retag(tag, factor=...)"
            )
        tags = keep_tags(self.tags, target.dims)
        shown = replace(target, tags=tags)
        if factor == 1.0:
            return _make(self, shown=shown)
        inputs = (self, _wrap(factor))
        return _computed(self.si * factor, shown, "*", inputs, self.label)

    def retag(self, tag: str, factor: float = 1.0) -> Quantity:
        """The same thing on another basis; UnitError for one that says nothing of it.

        Parameters
        ----------
        tag : str
            ``per_direction``, ``bidirectional``, ``dense``, ``sparse``,
            ``per_core``, ``per_chip``, ``per_node`` or ``per_rack``.
        factor : float
            What one unit on the old basis is on the new one.
        """
        shown = on_basis(self, tag)
        step = _wrap(factor).named(f"to {tag}")
        return _computed(self.si * step.si, shown, "*", (self, step), self.label)

    def at_clock(self, clock: Quantity) -> Quantity:
        """The same rate, or latency in cycles, marked with the clock it was taken at.

        Rates of two clocks cannot be added, compared or divided, and a latency in
        cycles can be multiplied by its own clock's period alone.

        Raises
        ------
        UnitError
            For a clock that is not in Hz, a time, or a rate that has another clock.
        """
        return _make(self, shown=with_clock(self, clock))

    def across(self, count: Quantity | int) -> Quantity:
        """All of ``count`` such things together: the product, freed of its scope.

        ``bandwidth.across(8)`` is the bandwidth of eight chips, no longer
        ``per_chip``.
        """
        product = self * count
        tags = frozenset(t for t in product.tags if axis_of(t) != "scope")
        return _make(product, shown=replace(product.shown, tags=tags))

    def named(self, label: str) -> Quantity:
        """The same quantity under a name; formulas stop at named quantities."""
        return _make(self, label=label)

    def text(self, unit: str | None = None, digits: int = 3) -> str:
        """Number and unit for a reader, for example ``"21.1 ms"``.

        Of a count that is known exactly three digits are as good as six: 65,504.
        """
        q = self.to(unit) if unit is not None else self
        shown = q.shown
        if unit is None and shown.factor == 1.0:
            shown = readable(q.si, shown, exact=digits > 6)
        if 3 <= digits < 6 and shown.factor == 1 and 1e3 <= abs(q.si) < 1e6:
            from .told import exact_count

            digits = 6 if exact_count(q) else digits
        return shown.behind(format_number(q.si / shown.factor, digits))

    def explain(self) -> str:
        """The derivation as text: formula, inputs, sources."""
        from .tree import explain

        return explain(self)

    def leaves(self) -> Iterator[Quantity]:
        """Every input that was not computed, in order, repeats included."""
        if not self.inputs or self.kind == "counted":
            yield self
        for part in self.inputs:
            if isinstance(part, Comparison):
                for side in part.inputs:
                    yield from side.leaves()
            else:
                yield from part.leaves()

    def tree(self) -> dict[str, Any]:
        """The derivation as plain dicts, with how the number was come by."""
        from .told import told
        from .tree import tree

        return {**tree(self), "evidence": told(self)}

    def __repr__(self) -> str:
        name = f"{self.label} = " if self.label else ""
        tags = " ".join(["", *sorted(self.tags)])
        return f"{name}{self.text()}{tags}"

    def __format__(self, spec: str) -> str:
        """``f"{q:ms}"`` gives the unit ``ms``, ``f"{q:.2 ms}"`` two digits of it, and
        ``f"{q:.2f}"`` two decimals, as of a float, with the unit.
        """
        from .formats import formatted

        return formatted(self, spec)

    def _repr_html_(self) -> str:
        from .face import shown

        return shown(self)

    # -- arithmetic ----------------------------------------------------------

    def __add__(self, other: object) -> Quantity:
        return _sum(self, other, "+")

    def __radd__(self, other: object) -> Quantity:
        if type(other) is int and other == 0:  # the start value of sum()
            return self
        return _sum(_wrap(other), self, "+")

    def __sub__(self, other: object) -> Quantity:
        return _sum(self, other, "-")

    def __rsub__(self, other: object) -> Quantity:
        return _sum(_wrap(other), self, "-")

    def __mul__(self, other: object) -> Quantity:
        return _product(self, other, "*")

    def __rmul__(self, other: object) -> Quantity:
        return _product(_wrap(other), self, "*")

    def __truediv__(self, other: object) -> Quantity:
        return _product(self, other, "/")

    def __rtruediv__(self, other: object) -> Quantity:
        return _product(_wrap(other), self, "/")

    def __pow__(self, power: object) -> Quantity:
        si, shown = raised(self, power)
        return _computed(si, shown, "^", (self, _wrap(power)))

    def __neg__(self) -> Quantity:
        return _product(self, -1, "*")

    def __round__(self, digits: int = 0) -> Quantity:
        """Rounded in its own unit, ``round(time, 3)``; the derivation says so."""
        si = round(self.value, digits) * self.shown.factor
        return _computed(si, self.shown, "round", (self, _wrap(digits)), self.label)

    def __abs__(self) -> Quantity:
        return self if self.si >= 0 else -self

    def __float__(self) -> float:
        if self.shown.dims:
            raise UnitError(
                f"{self.text()} has a unit; take .value (in {self.unit}) or .si"
            )
        return self.si

    # -- comparison ----------------------------------------------------------

    def _compare(self, other: object, op: str, test: Callable) -> Comparison:
        right = _wrap(other)
        same_basis(self, right, op)
        return Comparison(bool(test(self.si, right.si)), op, (self, right))

    def __lt__(self, other: object) -> Comparison:
        return self._compare(other, "<", lambda a, b: a < b)

    def __le__(self, other: object) -> Comparison:
        return self._compare(other, "<=", lambda a, b: a <= b)

    def __gt__(self, other: object) -> Comparison:
        return self._compare(other, ">", lambda a, b: a > b)

    def __ge__(self, other: object) -> Comparison:
        return self._compare(other, ">=", lambda a, b: a >= b)

    def __eq__(self, other: object) -> Any:
        if other is None or isinstance(other, str):
            return False
        return self._compare(other, "==", lambda a, b: a == b)

    def __ne__(self, other: object) -> Any:
        if other is None or isinstance(other, str):
            return True
        return self._compare(other, "!=", lambda a, b: a != b)

    def __hash__(self) -> int:
        return hash((self.si, self.shown.dims))

    def __bool__(self) -> bool:
        return self.si != 0


_SLOTS = tuple(field.name for field in fields(Quantity))


def _witnessed(value: object, unit: str, kind: str, key: str) -> None:
    """UnitError for a leaf that says more of itself than it can show."""
    told = f"Quantity({value!r}, {unit!r}, kind={kind!r})"
    if kind not in KINDS:
        raise UnitError(f"unknown kind {kind!r}: use one of {', '.join(KINDS)}")
    if kind in MAKERS:
        raise UnitError(f"{told}: a {kind} number is made by {MAKERS[kind]}")
    if not key:
        raise UnitError(
            f"{told}: it names no record; take it from one (recorded(), quoted(), a "
            "spec's field, a row), or say chosen() or assumed(why=)"
        )


def _fill(q: Quantity, *values: Any) -> Quantity:
    for name, value in zip(_SLOTS, values, strict=True):
        object.__setattr__(q, name, value)
    return q


def _make(q: Quantity, **changes: Any) -> Quantity:
    values = [changes.get(name, getattr(q, name)) for name in _SLOTS]
    return _fill(object.__new__(Quantity), *values)


def _computed(
    si: float, shown: Unit, op: str, inputs: tuple[Any, ...], label: str = ""
) -> Quantity:
    blank = object.__new__(Quantity)
    texts = ("",) * 4
    values = (finite(si), shown, label, "computed", None, op, inputs, *texts)
    return _fill(blank, *values)


def _wrap(other: object) -> Quantity:
    """A number in a formula: whole ones, their reciprocals and pi belong to it."""
    if isinstance(other, Quantity):
        return other
    number = Quantity(other)  # type: ignore[arg-type]
    inverse = 1 / number.si if 0 < abs(number.si) < 1 else number.si
    near = round(inverse) if math.isfinite(inverse) else 0
    whole = abs(inverse - near) <= 1e-12 * abs(inverse)
    return _make(number, kind="constant") if whole or other == math.pi else number


def _sum(a: Quantity, other: object, op: str) -> Quantity:
    b = _wrap(other)
    return _computed(*total(a, b, op), op, (a, b))


def _product(a: Quantity, other: object, op: str) -> Quantity:
    b = _wrap(other)
    return _computed(*product(a, b, op), op, (a, b))
