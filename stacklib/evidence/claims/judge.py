"""Verdicts: computed over claimed, and the reason in words.

A check is a function that returns a Quantity, or a ``Finding`` when there is
something to say beyond the number. No check chooses *reproduced*, *close* or
*wrong*: the ratio does. A check may name a condition under which the claim is
right (at best *close*), or say that sources disagree (*conflict*).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from stacklib.quantity import Quantity

from .ledger import Claim, get, load, sources

VERDICTS = ("reproduced", "close", "wrong", "conflict", "cited", "open")
REPRODUCED_WITHIN = 0.10
CLOSE_WITHIN = 2.0
DECLARED = ("", "conflict", "cited", "open")
NO_CHECK = "No check written yet. To settle it: {how}"
NO_SOURCE = "No document is named. To settle it: {how}"
UNSETTLED = "To settle it: {how}"
CITED = "Source: {source}."
FIRST_REVIEW = "A first review called it {verdict}."
# What the first review's words come to in ours.
FIRST_AS_OURS = {"external": "cited", "unverifiable": "open"}


@dataclass(frozen=True)
class Finding:
    """What a check found.

    Attributes
    ----------
    computed : Quantity or None
        Our value; None only for a *cited* or *open* verdict.
    why : str
        The reason in a sentence or two; its numbers come from quantities.
    condition : str
        "the chip is an H100": the claim is right only then.
    then : Quantity or None
        Our value under that condition; it must reproduce the claim.
    verdict : str
        Empty, or ``conflict``, ``cited`` or ``open`` where no ratio can decide.
    """

    computed: Quantity | None
    why: str = ""
    condition: str = ""
    then: Quantity | None = None
    verdict: str = ""

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
        if bool(self.condition) != (self.then is not None):
            raise ValueError("a condition needs the value computed under it (then=)")


@dataclass(frozen=True)
class Judgement:
    """A claim, our value, their ratio and the verdict."""

    verdict: str
    ratio: float | None
    computed: Quantity | None
    claim: Claim
    why: str
    condition: str = ""
    then: Quantity | None = None

    @property
    def computed_text(self) -> str:
        """Our value in the claim's unit, to four digits; empty where none is."""
        if self.computed is None:
            return ""
        return self.claim.in_words(self.computed)

    @property
    def first_review(self) -> str:
        """What the first review said, in a line, where it is not our verdict."""
        said = self.claim.first_verdict
        if FIRST_AS_OURS.get(said, said) == self.verdict:
            return ""
        return FIRST_REVIEW.format(verdict=FIRST_AS_OURS.get(said, said))

    def as_dict(self) -> dict[str, Any]:
        """JSON-able: the claim, the verdict and the derivation."""
        return {
            "id": self.claim.id,
            "chapter": self.claim.chapter,
            "source": self.claim.source,
            "document": self.claim.document,
            "claim": self.claim.text,
            "claimed": self.claim.claimed,
            "verdict": self.verdict,
            "ratio": None if self.ratio is None else float(f"{self.ratio:.3g}"),
            "computed": None if self.computed is None else self.computed.tree(),
            "condition": self.condition,
            "why": self.why,
            "first_review": self.claim.first_verdict,
        }


Check = Callable[[], Quantity | Finding]
_checks: dict[str, Check] = {}


def check(id: str) -> Callable[[Check], Check]:
    """Register the check of one claim.

    Raises
    ------
    UnknownClaim
        When the ledger has no such id.
    ValueError
        When the claim has a check already.
    """
    get(id)

    def register(function: Check) -> Check:
        if id in _checks:
            raise ValueError(f"claim {id!r} has two checks")
        _checks[id] = function
        return function

    return register


def checked() -> list[str]:
    """Ids of the claims that have a check, in ledger order."""
    _import_chapters()
    return [claim.id for claim in load() if claim.id in _checks]


@cache
def _import_chapters() -> None:
    package = importlib.import_module(__package__)
    for module in pkgutil.iter_modules(package.__path__):
        if module.name.startswith("chapter_"):
            importlib.import_module(f"{__package__}.{module.name}")


def ratio_of(computed: Quantity, claimed: Quantity) -> float | None:
    """Computed over claimed in the claim's unit; None for a claim of zero."""
    ours = computed.to(claimed.unit or "1")
    return None if claimed.si == 0 else ours.si / claimed.si


def verdict_of(ratio: float | None, computed: Quantity) -> str:
    """Verdict from a ratio; a claim of zero is right only if we get zero."""
    if ratio is None:
        return "wrong" if computed.si else "reproduced"
    if abs(ratio - 1) <= REPRODUCED_WITHIN + 1e-12:
        return "reproduced"
    return "close" if 1 / CLOSE_WITHIN <= ratio <= CLOSE_WITHIN else "wrong"


def _conditional(claim: Claim, found: Finding) -> str:
    """``close``, once the named condition has been shown to make the claim right."""
    assert found.then is not None
    ratio = ratio_of(found.then, claim.quantity())
    if verdict_of(ratio, found.then) != "reproduced":
        raise ValueError(
            f"{claim.id}: under {found.condition!r} we get {found.then.text()}, "
            f"which does not reproduce {claim.claimed}"
        )
    return "close"


def _unchecked(claim: Claim) -> Judgement:
    source = sources().get(claim.id, "")
    if source:
        return Judgement("cited", None, None, claim, CITED.format(source=source))
    form = {"external": NO_SOURCE, "unverifiable": UNSETTLED}.get(
        claim.first_verdict, NO_CHECK
    )
    return Judgement("open", None, None, claim, form.format(how=claim.how))


def judge(id: str) -> Judgement:
    """Run the check of a claim and compare.

    Raises
    ------
    UnknownClaim
        For an id that is not in the ledger.
    TypeError
        When the check returned something without a derivation.
    ValueError
        When a check computes a ratio for a claim that is not a number, or names
        a condition under which the claim is still not right.
    """
    _import_chapters()
    claim = get(id)
    if id not in _checks:
        return _unchecked(claim)
    found = _checks[id]()
    if isinstance(found, Quantity):
        found = Finding(found)
    if not isinstance(found, Finding):
        raise TypeError(f"the check of {id!r} returned {found!r}, not a Quantity")
    return _judged(claim, found)


def _judged(claim: Claim, found: Finding) -> Judgement:
    if found.computed is None:
        return Judgement(found.verdict, None, None, claim, found.why)
    if not claim.is_number:
        raise ValueError(
            f"{claim.id}: {claim.claimed!r} is not a number; a check of it returns "
            "a Finding with verdict 'cited' or 'open' and no value"
        )
    ratio = ratio_of(found.computed, claim.quantity())
    verdict = found.verdict or verdict_of(ratio, found.computed)
    if found.condition:
        verdict = _conditional(claim, found)
    return Judgement(
        verdict, ratio, found.computed, claim, found.why, found.condition, found.then
    )
