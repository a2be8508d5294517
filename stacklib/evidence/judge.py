"""Verdicts: computed over claimed, and the reason in words.

No check chooses *reproduced*, *close* or *wrong*: the ratio does. A check may name a
condition under which the claim is right (at best *close*), or say that sources
disagree (*conflict*). A check that fails leaves its claim *open*, with the failure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.quantity import Quantity

from .checks import Check, Finding
from .ledger import Claim, sources

VERDICTS = ("reproduced", "close", "wrong", "conflict", "cited", "open")
NOT_JUDGED = "not judged here"
REPRODUCED_WITHIN = 0.10
CLOSE_WITHIN = 2.0
NO_CHECK = "No check written yet. To settle it: {how}"
NO_SOURCE = "No document is named. To settle it: {how}"
UNSETTLED = "To settle it: {how}"
CITED = "Source: {source}."
ELSEWHERE = "Its check stands with its page, if there is one: stacklib.pages.claims()."
FAILED = "Its check fails: {error}"
FIRST_REVIEW = "A first review called it {verdict}."
# What the first review's words come to in ours.
FIRST_AS_OURS = {"external": "cited", "unverifiable": "open"}


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
    failure: str = ""  # of its check, where that raised

    @property
    def computed_text(self) -> str:
        """Our value in the claim's unit, to four digits; empty where none is."""
        return "" if self.computed is None else self.claim.in_words(self.computed)

    @property
    def reason(self) -> str:
        """Why, after the condition under which the claim is right."""
        return (f"Right if {self.condition}. " if self.condition else "") + self.why

    @property
    def first_review(self) -> str:
        """What the first review said, in a line, where it is not our verdict."""
        said = FIRST_AS_OURS.get(self.claim.first_verdict, self.claim.first_verdict)
        if self.verdict in (said, NOT_JUDGED):
            return ""
        return FIRST_REVIEW.format(verdict=said)

    @property
    def row(self) -> dict[str, Any]:
        """What a list shows of it, in plain texts; JSON-able."""
        return {
            "id": self.claim.id,
            "chapter": self.claim.chapter,
            "source": self.claim.source,
            "document": self.claim.document,
            "claim": self.claim.text,
            "claimed": self.claim.claimed,
            "verdict": self.verdict,
            "ratio": None if self.ratio is None else float(f"{self.ratio:.3g}"),
            "computed": self.computed_text,
            "why": self.reason,
            "first_review": self.claim.first_verdict,
        }

    def as_dict(self) -> dict[str, Any]:
        """The row, with the condition by itself and the derivation; JSON-able."""
        tree = None if self.computed is None else self.computed.tree()
        more = {"computed": tree, "condition": self.condition, "why": self.why}
        return {**self.row, **more}


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


def unjudged(claim: Claim) -> Judgement:
    """A row without its check: it may have one, which is not known here."""
    return Judgement(NOT_JUDGED, None, None, claim, ELSEWHERE)


def judge(claim: Claim, check: Check | None) -> Judgement:
    """Run the check of a claim and compare; without one it is *cited* or *open*."""
    if check is None:
        return _unchecked(claim)
    try:
        return judged(claim, check())
    except Exception as error:  # whatever it is, it is this row's alone
        said = f"{type(error).__name__}: {error}"
        why = FAILED.format(error=said)
        return Judgement("open", None, None, claim, why, failure=said)


def judged(claim: Claim, found: Quantity | Finding) -> Judgement:
    """Compare what a check found with the claim.

    Raises TypeError for something without a derivation; ValueError for a number that
    answers a claim which is none, and for a condition that does not make it right.
    """
    if isinstance(found, Quantity):
        found = Finding(found)
    if not isinstance(found, Finding):
        raise TypeError(f"the check of {claim.id!r} returned {found!r}, not a Quantity")
    if found.computed is None:
        return Judgement(found.verdict, None, None, claim, found.why)
    if not claim.is_number:
        raise ValueError(
            f"{claim.id}: {claim.claimed!r} is not a number; a check of it returns "
            "a Finding with verdict 'cited' or 'open' and no value"
        )
    ratio = ratio_of(found.computed, claim.quantity())
    verdict = found.verdict or verdict_of(ratio, found.computed)
    if found.then is not None:
        verdict = _conditional(claim, found.condition, found.then)
    return Judgement(
        verdict, ratio, found.computed, claim, found.why, found.condition, found.then
    )


def _conditional(claim: Claim, condition: str, then: Quantity) -> str:
    """``close``, once the named condition has been shown to make the claim right."""
    if verdict_of(ratio_of(then, claim.quantity()), then) != "reproduced":
        raise ValueError(
            f"{claim.id}: under {condition!r} we get {then.text()}, "
            f"which does not reproduce {claim.claimed}"
        )
    return "close"


def _unchecked(claim: Claim) -> Judgement:
    if source := sources().get(claim.id):
        return Judgement("cited", None, None, claim, CITED.format(source=source))
    forms = {"external": NO_SOURCE, "unverifiable": UNSETTLED}
    why = forms.get(claim.first_verdict, NO_CHECK).format(how=claim.how)
    return Judgement("open", None, None, claim, why)
