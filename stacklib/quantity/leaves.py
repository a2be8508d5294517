"""Leaves that a page or a model makes itself, each saying truly what it is.

A size that the page picks is ``chosen``, a judgement ``assumed``, the outcome of a run
``counted``, a fact of physics or arithmetic ``constant``. What was read somewhere keeps
its source (``Quantity(..., source=..., kind="spec")``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial, wraps
from inspect import signature
from typing import Any, ParamSpec, overload

from .constants import CONSTANTS
from .core import Quantity, _fill, _make, _wrap
from .names import resolve
from .source import Source
from .units import UnitError, parse

P = ParamSpec("P")
_LONG = 40  # characters of an argument that are shown


def chosen(value: float, unit: str = "", label: str = "") -> Quantity:
    """A given of the page, which the reader may change: *we take*.

    Parameters
    ----------
    value, unit
        As ``Quantity`` takes them.
    label : str
        What it is called in formulas.
    """
    return Quantity(value, unit, label=label, kind="chosen")


def assumed(
    value: float,
    unit: str = "",
    label: str = "",
    *,
    why: str,
    source: Source | None = None,
    key: str = "",
) -> Quantity:
    """A judgement, listed with its reason by ``stacklib assumptions``.

    Parameters
    ----------
    value, unit
        As ``Quantity`` takes them.
    label : str
        What it is called in formulas.
    why : str
        The reason, one sentence.
    source, key
        Where the judgement leans on a document or stands in a record.

    Raises
    ------
    ValueError
        For an empty reason or label.
    """
    if not why.strip() or not label.strip():
        raise ValueError(f"assumed {value!r}: say what it is and why")
    made = Quantity(value, unit, label=label, source=source, kind="assumed", key=key)
    return _make(made, note=why.strip())


def constant(name: str) -> Quantity:
    """A physical or mathematical constant by name; ``CONSTANTS`` is the whole table.

    Raises
    ------
    UnknownName
        For a name that is not in the table; lists the candidates.
    """
    row = CONSTANTS[resolve(name, tuple(CONSTANTS), "constant")]
    source = Source(*row.source) if row.source else None
    made = Quantity(row.value, row.unit, label=row.label, kind="constant")
    return _make(made, source=source, key=name)


def one_of(unit: str, label: str = "") -> Quantity:
    """Exactly one of a unit: ``bandwidth * one_of("s")`` is what passes in a second."""
    return Quantity(1, unit, label=label or f"one {unit}", kind="constant")


@overload
def counted(
    function: Callable[..., Any],
    *args: Any,
    unit: str = "",
    label: str = "",
    take: str | Callable[[Any], Any] = "",
    shown: str = "",
    **kwargs: Any,
) -> Quantity: ...


@overload
def counted(
    *, unit: str = "", label: str = "", shown: str = ""
) -> Callable[[Callable[P, Any]], Callable[P, Quantity]]: ...


def counted(
    function: Callable[..., Any] | None = None,
    *args: Any,
    unit: str = "",
    label: str = "",
    take: str | Callable[[Any], Any] = "",
    shown: str = "",
    **kwargs: Any,
) -> Any:
    """What a run counted, with the function and its arguments as its inputs.

    Without a function it is a decorator: what the function below it returns is told
    so, and ``label`` may name its parameters in braces.

    Parameters
    ----------
    function : callable
        Called with ``args`` and ``kwargs``; quantities reach it as plain numbers
        when they have no unit.
    unit : str
        Of the outcome.
    label : str
        What it is called in formulas; default the call.
    take : str or callable
        Which part of the outcome: an attribute, or a function of it.
    shown : str
        Unit in which it is printed; default that of the outcome.

    Raises
    ------
    UnitError
        When the outcome is not one finite number, or ``function`` only converts
        one, so that no run is named.

    Examples
    --------
    >>> counted(max, [3, 1, 2], label="the largest").text()
    '3'
    >>> @counted(unit="B", label="bytes of {many} numbers")
    ... def size(many):
    ...     return 4 * many
    >>> size(3).label, size(3).text()
    ('bytes of 3 numbers', '12 B')
    """
    if function is None:
        return partial(_counting, unit, label, shown)
    if function in (float, int, round):
        raise UnitError(
            f"counted({function.__name__}, ...) names no run: give the function that "
            "ran with its arguments, or sum and what it adds up"
        )
    outcome = function(*map(_plain, args), **{k: _plain(v) for k, v in kwargs.items()})
    if callable(take):
        outcome = take(outcome)
    elif take:
        outcome = getattr(outcome, take)
    call = _call(function, args, kwargs, take if isinstance(take, str) else "")
    if isinstance(outcome, Quantity):
        unit, outcome = unit or outcome.unit, outcome.to(unit or outcome.unit).value
    read = parse(unit or "1")
    try:
        si = float(f"{float(outcome) * read.factor:.12g}")
    except (TypeError, ValueError):
        raise UnitError(f"{call} gave {outcome!r}, not a number") from None
    checked = Quantity(si)  # finite, or refused
    inputs = tuple(x for x in (*args, *kwargs.values()) if isinstance(x, Quantity))
    blank = object.__new__(Quantity)
    made = _fill(
        blank,
        checked.si,
        read,
        label or call,
        "counted",
        None,
        "counted",
        inputs,
        "",
        "",
        call,
        "",
    )
    return made.to(shown) if shown else made


def _counting(
    unit: str, label: str, shown: str, function: Callable[..., Any]
) -> Callable[..., Quantity]:
    takes = signature(function)

    @wraps(function)
    def told(*args: Any, **kwargs: Any) -> Quantity:
        given = takes.bind(*args, **kwargs)
        given.apply_defaults()

        @wraps(function)  # the call that is told is the one that a reader can type
        def run(*values: Any) -> Any:
            return function(**dict(zip(given.arguments, values, strict=True)))

        words = label.format(**given.arguments)
        return counted(
            run, *given.arguments.values(), unit=unit, label=words, shown=shown
        )

    return told


def stamp(q: Quantity, family: str) -> Quantity:
    """``q`` as a prediction of ``family``, whose error band goes with it."""
    return _make(_wrap(q), family=family)


def _plain(value: Any) -> Any:
    if not isinstance(value, Quantity) or value.shown.dims:
        return value
    return int(value.si) if value.si == int(value.si) else value.si


def _call(
    function: Callable[..., Any], args: Iterable[Any], kwargs: dict[str, Any], take: str
) -> str:
    """The call as it can be read: ``misses(650 values, 64, 'lru')``."""
    name = getattr(function, "__qualname__", type(function).__name__)
    name = name.replace("<lambda>", "a run").replace("<locals>.", "")
    words = [_word(a) for a in args]
    words += [f"{key}={_word(value)}" for key, value in kwargs.items()]
    return f"{name}({', '.join(words)})" + (f".{take}" if take else "")


def _word(value: Any) -> str:
    if isinstance(value, Quantity):
        return value.label or value.text()
    if isinstance(getattr(value, "key", None), str):  # a device, a model
        return str(value.key)
    if callable(value):
        return getattr(value, "__name__", "a function")
    if isinstance(value, str | bool | int | float | type(None)):
        text = repr(value)
    elif hasattr(value, "shape"):
        text = "×".join(map(str, value.shape)) + " values"
    elif hasattr(value, "__len__") and len(value) > 4:
        text = f"{len(value):,} values"
    else:
        text = repr(value)
    if " object at 0x" in text:
        return type(value).__name__
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"
