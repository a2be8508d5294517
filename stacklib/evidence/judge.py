"""Verdicts: computed over claimed, and the reason in words.

No check chooses *reproduced*, *close* or *wrong*: the ratio does, at both ends where
the claim or our value is a range. A condition, which the check's mark states before
anything is computed, can make a claim that is off *right if*. What was only looked up
*agrees with its source*; what agrees with a figure from memory alone is *cited*. A
check may say that sources disagree (*conflict*). One that fails leaves its claim
*open*, with the failure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.quantity import Quantity

from . import ground, ranges
from .checks import Check, Finding
from .ledger import Claim, sources

RIGHT_IF, AGREES = "right if", "agrees with its source"
VERDICTS = (
    "reproduced",
    "close",
    RIGHT_IF,
    AGREES,
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
LOOKED_UP = "Not computed: {titles}."
REMEMBERED = "From memory, with no document read: {labels}."
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
    to: Quantity | None = None  # the other end of a range of ours
    place: str = ""  # of ours in a claimed range: inside, overlaps, outside

    @property
    def ends(self) -> list[Quantity]:
        """Our value, or both ends of our range; empty where nothing is computed."""
        return [end for end in (self.computed, self.to) if end is not None]

    @property
    def computed_text(self) -> str:
        """Our value in the claim's unit, to four digits; empty where none is."""
        ends = sorted(self.ends, key=lambda end: end.si)
        texts = dict.fromkeys(self.claim.in_words(end) for end in ends)
        return " to ".join(texts)

    @property
    def reason(self) -> str:
        """Why, after the condition and its value, before what it stands on."""
        parts = [self._conditional, self.why, self._grounds]
        return " ".join(part for part in parts if part)

    @property
    def _conditional(self) -> str:
        if self.then is None:
            return ""
        then, condition = self.claim.in_words(self.then), self.condition
        if self.verdict == RIGHT_IF:
            return f"Right if {condition}: then {then}."
        return f"If {condition}: {then}."

    @property
    def _grounds(self) -> str:
        """The document that was looked up; or what is from memory under a value."""
        if self.verdict == AGREES:
            found = [leaf for end in self.ends for leaf in _read_only(end)]
            titles = dict.fromkeys(leaf.source.title for leaf in found if leaf.source)
            return LOOKED_UP.format(titles="; ".join(titles))
        if self.verdict in ("open", "conflict"):
            return ""
        leaves = [leaf for end in self.ends for leaf in ground.recalled(end)]
        labels = "; ".join(dict.fromkeys(leaf.label.strip() for leaf in leaves))
        return REMEMBERED.format(labels=labels) if labels else ""

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
        then = None if self.then is None else self.claim.in_words(self.then)
        more = {"computed": tree, "condition": self.condition, "then": then}
        return {**self.row, **more, "place": self.place, "why": self.why}


def _read_only(tree: Quantity) -> list[Quantity]:
    """What a value hands on or reads back; none where it is computed."""
    return ground.looked_up(tree) or ground.read_back(tree)


def _any_recalled(read: list[list[Quantity]]) -> bool:
    return all(read) and any(ground.recalled(leaf) for part in read for leaf in part)


def claimed_ends(claim: Claim) -> tuple[Quantity, Quantity]:
    """The ends of a claimed range, the same twice for one number."""
    low, high = claim.ends or (claim.value, claim.value)
    return claim.quantity(low), claim.quantity(high)


def ratio_of(ends: list[Quantity], claim: Claim) -> float | None:
    """Ours over the claimed end that it leaves most; None for a claim of zero."""
    low, high = claimed_ends(claim)
    ours = [end.to(low.unit or "1").si for end in ends]
    return None if low.si == 0 else ranges.farthest(ours, low.si, high.si)


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
    answers a claim which is none, and for a condition without its value.
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
    if bool(found.condition) != (found.then is not None):
        raise ValueError(
            f"{claim.id}: a condition and the value under it (then=) go together, "
            "whatever that value is"
        )
    ends = [found.computed] if found.to is None else [found.computed, found.to]
    ratio = ratio_of(ends, claim)
    return Judgement(
        found.verdict or _word(claim, ends, ratio, found.then),
        ratio,
        found.computed,
        claim,
        found.why,
        found.condition,
        found.then,
        to=found.to,
        place=_place(claim, ends),
    )


def _word(
    claim: Claim, ends: list[Quantity], ratio: float | None, then: Quantity | None
) -> str:
    """The verdict that follows from the ratio, the condition, and the ground."""
    word = verdict_of(ratio, ends[0])
    if word == "reproduced":
        read = [_read_only(end) for end in ends]
        if all(map(ground.from_memory, ends)) or _any_recalled(read):
            return "cited"
        return AGREES if all(read) else word
    if word == "wrong" and then is not None and not ground.from_memory(then):
        right = verdict_of(ratio_of([then], claim), then) == "reproduced"
        return RIGHT_IF if right else word
    return word


def _place(claim: Claim, ends: list[Quantity]) -> str:
    """Where ours lies, when either side is a range."""
    low, high = claimed_ends(claim)
    if low.si == 0 or (len(ends) == 1 and claim.ends is None):
        return ""
    return ranges.place([e.to(low.unit or "1").si for e in ends], low.si, high.si)


def _unchecked(claim: Claim) -> Judgement:
    if source := sources().get(claim.id):
        return Judgement("cited", None, None, claim, CITED.format(source=source))
    forms = {"external": NO_SOURCE, "unverifiable": UNSETTLED}
    why = forms.get(claim.first_verdict, NO_CHECK).format(how=claim.how)
    return Judgement("open", None, None, claim, why)
