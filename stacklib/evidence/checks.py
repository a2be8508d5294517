"""Checks: functions that compute what a claim says, marked with the claim's id.

They stand with the pages that show their claims, and nothing here knows where: the
ledger is judged by the checks it is given. A check returns a Quantity, or a ``Finding``
when there is something to say beyond the number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from typing import Any, TypeVar

from stacklib.quantity import Quantity

DECLARED = ("", "conflict", "cited", "open")
MARK = "__claims__"  # on a function: its claims, each with what it is called with


@dataclass(frozen=True)
class Finding:
    """What a check found.

    Attributes
    ----------
    computed : Quantity or None
        Our value; None only for a *cited* or *open* verdict.
    why : str
        The reason in a sentence or two; its numbers come from quantities.
    then : Quantity or None
        Our value under the condition that stands in the mark.
    to : Quantity or None
        The other end, where what we compute is a range.
    verdict : str
        Empty, or ``conflict``, ``cited`` or ``open`` where no ratio can decide.
    condition : str
        Filled in from the mark; a check that writes it here is refused.
    """

    computed: Quantity | None
    why: str = ""
    then: Quantity | None = None
    to: Quantity | None = None
    verdict: str = ""
    condition: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in DECLARED:
            raise ValueError(
                f"a check may not declare {self.verdict!r}: the ratio decides; "
                f"it may declare {', '.join(DECLARED[1:])}"
            )
        if self.computed is None and self.verdict not in ("cited", "open"):
            raise ValueError("a finding without a value is 'cited' or 'open'")
        if self.verdict and not self.why:
            raise ValueError(f"a verdict of {self.verdict!r} needs its reason")

    @classmethod
    def cited(cls, why: str) -> Finding:
        """What no model can compute; ``why`` names the source that says it."""
        return cls(None, why, verdict="cited")

    @classmethod
    def open(cls, why: str) -> Finding:
        """What nobody has settled; ``why`` says what would settle it."""
        return cls(None, why, verdict="open")


Check = Callable[[], Quantity | Finding]
F = TypeVar("F", bound=Callable[..., Any])


def claim(id: str, *arguments: Any, right_if: str = "") -> Callable[[F], F]:
    """Mark a function as the check of a claim.

    Parameters
    ----------
    id : str
        The claim's id in the ledger.
    *arguments
        What the function is called with, where one function checks several claims.
    right_if : str
        "the chip is an H100": a reading under which the claim may be right. It is
        written here, before anything is computed; the check then returns the value
        under it (``then``) whatever that value is.
    """

    def mark(function: F) -> F:
        marks = {**getattr(function, MARK, {}), id: (arguments, right_if)}
        setattr(function, MARK, marks)
        return function

    return mark


def carried(module: ModuleType) -> dict[str, Check]:
    """The checks written in a module, by the ids of their claims."""
    return {
        id: partial(_run, function, arguments, right_if)
        for function in vars(module).values()
        if getattr(function, "__module__", "") == module.__name__
        for id, (arguments, right_if) in getattr(function, MARK, {}).items()
    }


def _run(
    function: Callable[..., Quantity | Finding],
    arguments: tuple[Any, ...],
    right_if: str,
) -> Quantity | Finding:
    """What a check finds, with the condition of its mark.

    Raises ValueError for a condition that the check wrote itself, and where mark and
    value do not come together: neither may depend on what is found.
    """
    found = function(*arguments)
    if not isinstance(found, Finding):
        return found if not right_if else Finding(found, condition=right_if)
    if found.condition:
        raise ValueError("a condition stands in the mark: @claim(..., right_if=...)")
    return replace(found, condition=right_if)
