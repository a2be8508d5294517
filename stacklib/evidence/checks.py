"""Checks: functions that compute what a claim says, marked with the claim's id.

They stand with the pages that show their claims, and nothing here knows where: the
ledger is judged by the checks it is given. A check returns a Quantity, or a ``Finding``
when there is something to say beyond the number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from typing import Any, TypeVar

from stacklib.quantity import Quantity

from .kinds import CONVENTIONS, TRUTHS

DECLARED = ("", "conflict", "cited", "open", *TRUTHS)
NEEDS = {
    "cited": re.compile(r"\A(?!.*\brecalled\b).*\b[Ss]ource: \S", re.DOTALL),
    "open": re.compile("To settle it: "),
}
MARK = "__claims__"  # on a function: its claims, each with what it is called with


@dataclass(frozen=True)
class Finding:
    """What a check found.

    Attributes
    ----------
    computed : Quantity or None
        Our value; None only for *cited*, *open*, and a proposition that a document
        settles.
    why : str
        The reason in a sentence or two; its numbers come from quantities.
    then, then_to : Quantity or None
        Our value under the condition that stands in the mark, and its other end.
    to : Quantity or None
        The other end, where what we compute is a range; of a *conflict* what the other
        source has.
    verdict : str
        Empty where the rule of the claim's kind decides. Else ``conflict``, ``cited``,
        ``open``; of a proposition ``true``, ``false``, ``depends``.
    condition : str
        Filled in from the mark; a check that writes it here is refused.
    convention : str
        One of `CONVENTIONS`, where the claim counts so and is off by two.
    stated : str
        Where its document, or the vendor, states that convention.
    """

    computed: Quantity | None
    why: str = ""
    then: Quantity | None = None
    to: Quantity | None = None
    verdict: str = ""
    condition: str = ""
    then_to: Quantity | None = None
    convention: str = ""
    stated: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in DECLARED:
            raise ValueError(
                f"a check may not declare {self.verdict!r}: the rule of its kind "
                f"decides; it may declare {', '.join(DECLARED[1:])}"
            )
        if self.convention not in ("", *CONVENTIONS):
            known = ", ".join(CONVENTIONS)
            raise ValueError(f"no convention {self.convention!r}: {known}")
        if bool(self.convention) != bool(self.stated.strip()):
            raise ValueError("a convention and where it is stated go together")
        if self.computed is None and self.verdict not in ("cited", "open", *TRUTHS):
            raise ValueError("a finding without a value is 'cited' or 'open'")
        self._refuse_without_ground()

    def _refuse_without_ground(self) -> None:
        if self.verdict and not self.why:
            raise ValueError(f"a verdict of {self.verdict!r} needs its reason")
        if self.verdict == "conflict" and self.to is None:
            raise ValueError("a conflict has what each of two sources says: give to=")
        needs = self.verdict
        if needs in TRUTHS:
            needs = "cited" if self.computed is None else ""
        if needs in NEEDS and not NEEDS[needs].search(self.why):
            raise ValueError(
                f"{self.verdict!r} without a ground in its reason: {self.why!r}; name "
                "the document, not our memory, or what would settle it"
            )

    @classmethod
    def cited(cls, why: str) -> Finding:
        """What no model can compute; ``why`` has the document, as ``Source: ...``."""
        return cls(None, why, verdict="cited")

    @classmethod
    def open(cls, why: str) -> Finding:
        """What nobody has settled; ``why`` says ``To settle it: ...``."""
        return cls(None, why, verdict="open")

    @classmethod
    def true(cls, why: str, computed: Quantity | None = None) -> Finding:
        """A proposition that holds.

        Parameters
        ----------
        why : str
            The reason; without a value it names a document, as ``Source: ...``.
        computed : Quantity, optional
            What shows it.
        """
        return cls(computed, why, verdict="true")

    @classmethod
    def false(cls, why: str, computed: Quantity | None = None) -> Finding:
        """A proposition that does not hold.

        Parameters
        ----------
        why, computed
            As of `true`.
        """
        return cls(computed, why, verdict="false")

    @classmethod
    def depends(cls, on: str, why: str, computed: Quantity | None = None) -> Finding:
        """A proposition that holds if ``on`` does, and not otherwise.

        Parameters
        ----------
        on : str
            "the forward pass is meant": the condition.
        why, computed
            As of `true`.
        """
        return cls(computed, f"It holds if {on}. {why}", verdict="depends")


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
