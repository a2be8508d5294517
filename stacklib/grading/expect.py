"""What the tests of an exercise call: compare, and say which mistake was made.

They compute what they expect with ``stacklib`` and state the mistakes worth telling
apart as the value each gives::

    expect.number(
        read_time(), step.t_memory, unit="ms",
        mistakes={"You read the weights once a chip.": 2 * step.t_memory},
    )

A wrong answer raises ``Mistake``. A right one is right in any kind (``values``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from stacklib.grading.slips import distance, slip
from stacklib.grading.values import (  # noqa: F401, tests call some as expect.NAME
    Mistake,
    alike,
    clip,
    numbers,
    read,
    sequence,
    shown,
    truth,
    whole,
)
from stacklib.quantity import Quantity

Number: TypeAlias = "float | Quantity"
NEAR = 0.009  # of a mistake; an estimate and the exact number are so far apart

# What an exercise measured about the answer, shown beside the verdict.
_readings: list[str] = []


@dataclass
class Named:
    """Sentences that their own mistake brings, and what is wrong with the others."""

    sentences: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)


_proving: list[Named] = []  # at most one, while the book's own answer is held


@contextmanager
def proving() -> Iterator[Named]:
    """Answer with each mistake that a test states, and ask for its sentence."""
    _proving.append(Named())
    try:
        yield _proving[0]
    finally:
        _proving.clear()


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
    fits, the slips that the unit admits (``slips``) are looked for.
    """
    known = {text: plain(v, unit) for text, v in (mistakes or {}).items()}
    for text, mistaken in known.items():
        if math.isclose(mistaken, plain(expected, unit), rel_tol=rel):
            raise ExpectationError(f"this mistake gives the right answer: {text}")
    mine, right = read(value, unit), plain(expected, unit)
    if not math.isclose(mine, right, rel_tol=rel):
        told = (text for text, v in known.items() if same(mine, v, rel))
        raise Mistake(differs(mine, right, unit, rel, next(told, "")))
    for text, mistaken in known.items():
        prove(text, lambda v: number(v, right, rel=rel, mistakes=known), mistaken)


def prove(text: str, hold: Callable[[Any], None], mistake: Any) -> None:
    """Hold a mistake as if it were an answer, where the book's own is proven."""
    if not _proving:
        return
    named = _proving.pop()
    try:
        hold(mistake)
    except Mistake as said:
        if text.rstrip(".") in str(said):
            named.sentences.add(text)
        else:
            named.faults.append(f"the mistake {text!r} is told as: {said}")
    else:
        named.faults.append(f"the mistake {text!r} is right wherever it is asked")
    finally:
        _proving.append(named)


def same(mine: float, mistaken: float, rel: float) -> bool:
    """Whether a number is what a mistake gives, rather than near it."""
    return math.isclose(mine, mistaken, rel_tol=min(rel, NEAR))


def differs(mine: float, right: float, unit: str, rel: float, known: str = "") -> str:
    """The sentence for a wrong number: a known mistake, a slip, or how far off."""
    why = known or slip(mine, right, unit, rel) or distance(mine, right, rel)
    end = "" if why.endswith((".", "?")) else "."
    return f"{shown(mine, unit)}: {why}{end}"


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
    if choices and not any(alike(value, c) for c in choices):
        options = ", ".join(repr(c) for c in choices)
        raise Mistake(f"{clip(value)}: the answer is one of {options}")
    if not alike(value, expected):
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
    takes the case's arguments too, and counts where it explains what failed.
    """
    choices, cases = list(among), list(cases)
    failed: list[tuple[Mapping[str, Any], float, float]] = []
    for case in cases:
        right, value = reference(**case), call(f, case)
        try:
            if isinstance(right, str):
                equal(value, right, among=choices)
                continue
            mine, wanted = read(value, unit), plain(right, unit)
        except Mistake as mistake:
            raise Mistake(f"{called(f, case)}: {mistake}") from None
        if not math.isclose(mine, wanted, rel_tol=rel):
            failed.append((case, mine, wanted))
    if not cases:
        raise ExpectationError("no cases to compare on")
    reading("cases that agree", f"{len(cases) - len(failed)} of {len(cases)}")
    if failed:
        case, mine, wanted = failed[0]
        known = explaining(mistakes or {}, failed, unit, rel)
        why = differs(mine, wanted, unit, rel, known)
        raise Mistake(f"{called(f, case)} gives {why}")

    def hold(mistake: Callable[..., Any]) -> None:
        again = {"unit": unit, "rel": rel, "mistakes": mistakes}
        function_matches(mistake, reference, cases, **again)  # type: ignore[arg-type]

    for text, given in (mistakes or {}).items():
        prove(text, hold, given)


def explaining(
    mistakes: Mapping[str, Callable[..., Number]],
    failed: Sequence[tuple[Mapping[str, Any], float, float]],
    unit: str,
    rel: float,
) -> str:
    """The mistake that gives what the reader's function gave wherever that failed."""
    for text, mistake in mistakes.items():
        values = ((plain(mistake(**case), unit), mine) for case, mine, _ in failed)
        if all(same(mine, mistaken, rel) for mistaken, mine in values):
            return text
    return ""


def call(f: Callable[..., Any], case: Mapping[str, Any]) -> Any:
    """The reader's function on one case; an exception carries the call as a note."""
    # A list is a copy, so that one that is sorted or emptied spoils no other case.
    given = {k: list(v) if type(v) is list else v for k, v in case.items()}
    try:
        return f(**given)
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
