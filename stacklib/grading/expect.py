"""What the tests of an exercise call: compare, and say which mistake was made.

The tests stand in the reader's view, so they compute what they expect with
``stacklib`` and state the mistakes worth telling apart as the value each gives::

    expect.number(
        read_time(), step.t_memory, unit="ms",
        mistakes={"You read the weights once a chip.": 2 * step.t_memory},
    )

All of them return None or raise ``Mistake``. Numbers may be plain (then in
``unit``) or a ``Quantity`` (then in any unit of the right kind).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from numbers import Real
from typing import Any, TypeAlias

from stacklib.grading.slips import distance, slip
from stacklib.quantity import Quantity, UnitError

Number: TypeAlias = "float | Quantity"

# What an exercise measured about the answer, shown beside the verdict.
_readings: list[str] = []


class Mistake(AssertionError):
    """A wrong answer; the message says what is wrong with it."""


class ExpectationError(Exception):
    """A test that is itself at fault, such as a mistake that gives the answer."""


def number(
    value: Any,
    expected: Number,
    *,
    unit: str = "",
    rel: float = 0.01,
    mistakes: Mapping[str, Number] | None = None,
) -> None:
    """Hold a number to the expected one, within the relative tolerance ``rel``.

    ``mistakes`` maps a sentence to the number that this mistake gives. Where none
    fits, the slips every reader makes (2, 8, 1000, GB for GiB, percent, reciprocal)
    are looked for.
    """
    known = {text: plain(v, unit) for text, v in (mistakes or {}).items()}
    for text, mistaken in known.items():
        if math.isclose(mistaken, plain(expected, unit), rel_tol=rel):
            raise ExpectationError(f"this mistake gives the right answer: {text}")
    compare(value, expected, unit, rel, lambda: known)


def compare(
    value: Any,
    expected: Number,
    unit: str,
    rel: float,
    mistakes: Callable[[], Mapping[str, Number]],
) -> None:
    """Hold a reader's value to the expected one; ask for mistakes if it differs."""
    mine, right = read(value, unit), plain(expected, unit)
    if math.isclose(mine, right, rel_tol=rel):
        return
    for text, mistaken in mistakes().items():
        if math.isclose(mine, plain(mistaken, unit), rel_tol=rel):
            raise Mistake(f"{shown(mine, unit)}: {text}")
    why = slip(mine, right) or distance(mine, right)
    raise Mistake(f"{shown(mine, unit)}: {why}.")


def read(value: Any, unit: str) -> float:
    """The reader's value as a plain number of ``unit``; Mistake where it is none."""
    wanted = f"a number in {unit}" if unit else "a number"
    if isinstance(value, Quantity):
        try:
            return float(value.to(unit).value)
        except UnitError as error:
            raise Mistake(f"{value}: {wanted} is asked for ({error})") from None
    if value is None:
        raise Mistake(f"nothing came back: {wanted} is asked for; is a return missing?")
    if isinstance(value, bool) or not isinstance(value, Real):
        kind = type(value).__name__
        raise Mistake(f"{clip(value)} is of type {kind}: {wanted} is asked for")
    if not math.isfinite(value):
        raise Mistake(f"{float(value)} is no answer: {wanted} is asked for")
    return float(value)


def plain(value: Number, unit: str) -> float:
    """A number of the test itself, in ``unit``."""
    return float(value.to(unit).value if isinstance(value, Quantity) else value)


def equal(value: Any, expected: Any, *, among: Iterable[Any] = ()) -> None:
    """Hold a word, a whole number or a tuple to exactly the expected one.

    With ``among`` the possible answers are listed to someone who gives another.
    """
    choices = list(among)
    if value is None:
        raise Mistake("nothing came back: is a return missing?")
    if choices and value not in choices:
        options = ", ".join(repr(c) for c in choices)
        raise Mistake(f"{clip(value)}: the answer is one of {options}")
    if value != expected or isinstance(value, bool) != isinstance(expected, bool):
        raise Mistake(f"{clip(value)} is not the answer")


def function_matches(
    f: Callable[..., Any],
    reference: Callable[..., Any],
    cases: Iterable[Mapping[str, Any]],
    *,
    unit: str = "",
    rel: float = 0.01,
    among: Iterable[Any] = (),
    mistakes: Mapping[str, Callable[..., Number]] | None = None,
) -> None:
    """Hold a function to ``reference`` on every case, a mapping of its arguments.

    Shows the first case that fails, and how many agree as a reading. A reference
    that returns a word is compared with ``equal``; each mistake is a function that
    takes the case's arguments too.
    """
    choices, failures, count = list(among), 0, 0
    first: Mistake | None = None
    for case in cases:
        count += 1
        right, value = reference(**case), call(f, case)
        # The mistakes are only worth computing for the failure that is shown.
        known = mistakes if mistakes and not first else {}
        try:
            if isinstance(right, str):
                equal(value, right, among=choices)
            else:
                compare(value, right, unit, rel, partial(values_on, known, case))
        except Mistake as mistake:
            failures += 1
            first = first or Mistake(f"{called(f, case)} gives {mistake}")
    if not count:
        raise ExpectationError("no cases to compare on")
    reading("cases that agree", f"{count - failures} of {count}")
    if first:
        raise first


def values_on(
    mistakes: Mapping[str, Callable[..., Number]], case: Mapping[str, Any]
) -> dict[str, Number]:
    """What each mistake gives for one case."""
    return {text: mistake(**case) for text, mistake in mistakes.items()}


def call(f: Callable[..., Any], case: Mapping[str, Any]) -> Any:
    """The reader's function on one case; an exception carries the call as a note."""
    try:
        return f(**case)
    except Exception as error:
        error.add_note(f"in {called(f, case)}")
        raise


def refuses(
    f: Callable[..., Any],
    case: Mapping[str, Any],
    *,
    because: str,
    error: type[Exception] = ValueError,
) -> None:
    """Hold a function to raising ``error`` for a case that has no answer.

    NotImplementedError passes through: an unwritten function refuses nothing.
    """
    try:
        value = f(**case)
    except NotImplementedError:
        raise
    except error:
        return
    raise Mistake(
        f"{called(f, case)} gives {clip(value)}; it must raise "
        f"{error.__name__}: {because}"
    )


def reading(name: str, value: object, unit: str = "") -> None:
    """Show what an instrument saw, such as ``bank conflicts: 31``."""
    _readings.append(f"{name}: {value} {unit}".rstrip())


def take_readings() -> list[str]:
    """The readings since the last call; the runner shows them."""
    taken = list(_readings)
    _readings.clear()
    return taken


def called(f: Callable[..., Any], case: Mapping[str, Any]) -> str:
    """The call as a reader would type it."""
    name = getattr(f, "__name__", "f")
    arguments = ", ".join(f"{k}={word(v)}" for k, v in case.items())
    return f"{name}({arguments})"


def word(value: Any) -> str:
    """An argument, short: objects of the book by their key."""
    key = getattr(value, "key", None)
    return clip(value) if key is None else repr(key)


def shown(value: float, unit: str) -> str:
    """A number as messages print it."""
    return f"{value:.4g} {unit}".rstrip()


def clip(value: Any, width: int = 60) -> str:
    """The repr of a reader's value, cut to fit a line."""
    text = repr(value)
    return text if len(text) <= width else text[: width - 3] + "..."
