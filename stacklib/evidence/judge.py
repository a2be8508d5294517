"""Verdicts: computed over claimed, and the reason in words.

No check chooses *reproduced*, *close* or *wrong*: the ratio does, for a range the ratio
to its nearer end. A value that was looked up and not computed *agrees* with its source;
one that was recalled is *cited*. A check names a condition before anything is compared:
the claim is *right if* it holds, where our value under it reproduces the claim. Or it
says that sources disagree (*conflict*). A check that fails leaves its claim *open*.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import Quantity

from .checks import Check, Finding
from .ledger import Claim, sources

VERDICTS = (
    "reproduced",
    "agrees",
    "right if",
    "close",
    "wrong",
    "conflict",
    "cited",
    "open",
)
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
        """Why, after the condition under which the claim is right, and the range."""
        said = ""
        if self.condition and self.verdict == "right if":
            said = f"Right if {self.condition}. "
        elif self.condition and self.then is not None:
            ours = self.claim.in_words(self.then)
            said = f"Not even if {self.condition}: then {ours}. "
        return said + self.place + self.why

    @property
    def place(self) -> str:
        """Where our value lies in a range that is claimed, in a sentence."""
        if self.computed is None or self.claim.ends is None:
            return ""
        words = "Inside" if within(self.computed, self.claim) else "Outside"
        return f"{words} {self.claim.range_text}. "

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


def within(computed: Quantity, claim: Claim) -> bool:
    """Whether our value lies in the range that is claimed, ends included."""
    if claim.ends is None:
        return False
    low, high = claim.quantities()
    ours = computed.to(low.unit or "1").si
    return low.si * (1 - 1e-9) <= ours <= high.si * (1 + 1e-9)


def ratio_to(computed: Quantity, claim: Claim) -> float | None:
    """Computed over claimed: of a range over its nearer end, and 1 inside it."""
    if claim.ends is None:
        return ratio_of(computed, claim.quantity())
    low, high = claim.quantities()
    if within(computed, claim):
        return 1.0
    below = computed.to(low.unit or "1").si < low.si
    return ratio_of(computed, low if below else high)


def looked_up(computed: Quantity) -> Quantity | None:
    """The one fact that a value is, where nothing was computed from it."""
    facts = [q for q in computed.leaves() if q.kind != "constant"]
    same = len(facts) == 1 and math.isclose(facts[0].si, computed.si, rel_tol=1e-9)
    return facts[0] if same and facts[0].source is not None else None


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
    answers a claim which is none.
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
    ratio = ratio_to(found.computed, claim)
    verdict = found.verdict or _by_ratio(claim, ratio, found.computed)
    if found.then is not None and _right(claim, found.then):
        verdict = "right if"
    return Judgement(
        verdict, ratio, found.computed, claim, found.why, found.condition, found.then
    )


def _right(claim: Claim, then: Quantity) -> bool:
    """Whether our value under a condition reproduces the claim."""
    return verdict_of(ratio_to(then, claim), then) == "reproduced"


def _by_ratio(claim: Claim, ratio: float | None, computed: Quantity) -> str:
    """Verdict from the ratio; what was looked up is not reproduced by us."""
    verdict = verdict_of(ratio, computed)
    if verdict == "reproduced" and claim.ends and not within(computed, claim):
        verdict = "close"
    fact = looked_up(computed)
    if verdict != "reproduced" or fact is None or fact.source is None:
        return verdict
    return "cited" if fact.source.confidence == "recalled" else "agrees"


def _unchecked(claim: Claim) -> Judgement:
    if source := sources().get(claim.id):
        return Judgement("cited", None, None, claim, CITED.format(source=source))
    forms = {"external": NO_SOURCE, "unverifiable": UNSETTLED}
    why = forms.get(claim.first_verdict, NO_CHECK).format(how=claim.how)
    return Judgement("open", None, None, claim, why)
