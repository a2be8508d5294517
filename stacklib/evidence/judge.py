"""Verdicts: what we compute beside what is claimed, and the reason in words.

No check chooses *reproduced*, *close* or *wrong*: the rule of the claim's kind does
(`kinds.KINDS`). A condition, which the check's mark states before anything is computed,
can make a wrong claim *right if*; a convention that the source or its vendor states
makes one that is off by two *other convention*. What was only looked up *agrees with
its source* where that prints the claimed number, as does what the claim's document adds
up from figures of its own; what rests on our memory alone is *open*. A check may say
that sources disagree (*conflict*): then both are judged, and the word stands only if
theirs differ. A proposition is *true*, *false* or *depends*. One that fails leaves its
claim *open*, with the failure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.quantity import Quantity

from . import ground
from .checks import Check, Finding
from .kinds import (
    CLOSE,
    CONVENTIONS,
    KINDS,
    REPRODUCED,
    TRUTHS,
    WRONG,
    off_by_two,
)
from .ledger import DOCUMENTS, Claim, sources, titled

RIGHT_IF, AGREES, OTHER = "right if", "agrees with its source", "other convention"
MEANING = {
    REPRODUCED: "the rule of its kind is met",
    CLOSE: "a quantity, a range or a share within 1.5 times",
    OTHER: "off by two, since the claim counts as its source or the vendor states: "
    + ", ".join(CONVENTIONS),
    RIGHT_IF: "wrong, but reproduced under a condition of the source that is named",
    AGREES: "the figure was looked up where it is printed, or follows from figures of "
    "the claim's own document: no model of ours is behind it",
    WRONG: "none of these",
    "true": "a proposition that holds, by what is computed or by a document",
    "false": "a proposition that does not",
    "depends": "a proposition that holds under the condition named, and only then",
    "conflict": "two sources differ on it; both ratios are shown",
    "cited": "no model computes it, and a document that says it is named",
    "open": "what would settle it is named",
}
VERDICTS = tuple(MEANING)
NOT_JUDGED = "not judged here"
NO_CHECK = "No check written yet. To settle it: {how}"
NO_SOURCE = "No document is named. To settle it: {how}"
UNSETTLED = "To settle it: {how}"
CITED = "Source: {source}."
ELSEWHERE = "Its check stands with its page, if there is one: stacklib.pages.claims()."
FAILED = "Its check fails: {error}"
LOOKED_UP = "Not computed: {titles}."
OWN = "It follows from figures of {title} itself, and no model of ours from those."
REMEMBERED = "From memory, with no document read: {labels}."
READ_IT = "To settle it: a document that prints it."
COUNTED_SO = "The claim counts otherwise ({convention}), as {stated} does."
BOTH_RATIOS = "Over the claimed figure: {ratios}."
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
    then_to: Quantity | None = None
    found_by: str = ""  # what else the reason says: of a convention, of a conflict

    @property
    def ends(self) -> list[Quantity]:
        """Our value, or both ends of our range; empty where nothing is computed."""
        return [end for end in (self.computed, self.to) if end is not None]

    @property
    def computed_text(self) -> str:
        """Our value in the claim's unit, to four digits; empty where none is."""
        return _in_words(self.claim, self.ends)

    @property
    def reason(self) -> str:
        """Why, after the condition and its value, before what it stands on."""
        parts = [self._conditional, self.why, self.found_by, self._grounds]
        return " ".join(part for part in parts if part)

    @property
    def _conditional(self) -> str:
        if self.then is None:
            return ""
        if self.verdict == RIGHT_IF:
            return f"Right if {self.condition}: then {self.then_text}."
        return f"If {self.condition}: {self.then_text}."

    @property
    def then_text(self) -> str:
        """Our value under the condition, as `computed_text`."""
        ends = [end for end in (self.then, self.then_to) if end is not None]
        return _in_words(self.claim, ends)

    @property
    def _grounds(self) -> str:
        """The document that was looked up; or what is from memory under a value."""
        if self.verdict == AGREES:
            found = [leaf for end in self.ends for leaf in _read_only(end)]
            if not found:
                return OWN.format(title=titled(self.claim.source))
            titles = dict.fromkeys(_title(leaf) for leaf in found if leaf.source)
            return LOOKED_UP.format(titles="; ".join(titles))
        if self.verdict == "conflict" or "To settle it: " in self.why:
            return ""
        leaves = [leaf for end in self.ends for leaf in ground.recalled(end)]
        labels = "; ".join(dict.fromkeys(leaf.label.strip() for leaf in leaves))
        told = REMEMBERED.format(labels=labels) if labels else ""
        return f"{told} {READ_IT}" if told and self.verdict == "open" else told

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
            "kind": self.claim.kind,
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
        return {**self.row, **more, "then": self.then_text or None}


def _in_words(claim: Claim, ends: list[Quantity]) -> str:
    """Values of ours, the least first: as the claim's, or as evidence for it."""
    ends = sorted(ends, key=lambda end: end.si)
    if claim.is_number:
        return " to ".join(dict.fromkeys(map(claim.in_words, ends)))
    return "; ".join(f"{end.label}: {end.text(digits=4)}".lstrip(": ") for end in ends)


def _title(leaf: Quantity) -> str:
    """Of its document; one of the five that make claims is named as a sentence does."""
    title = leaf.source.title if leaf.source else ""
    return titled(title) if title in DOCUMENTS else title


def _read_only(tree: Quantity) -> list[Quantity]:
    """What a value hands on or reads back; none where it is computed."""
    return ground.looked_up(tree) or ground.read_back(tree)


def _any_recalled(read: list[list[Quantity]]) -> bool:
    return all(read) and any(ground.recalled(leaf) for part in read for leaf in part)


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
    if bool(found.condition) != (found.then is not None):
        raise ValueError(
            f"{claim.id}: a condition and the value under it (then=) go together, "
            "whatever that value is"
        )
    _refuse_other_words(claim, found)
    if found.computed is None:
        return Judgement(found.verdict, None, None, claim, found.why)
    verdict, ratio, more = found.verdict, None, ""
    if claim.is_number:
        verdict, ratio, more = _decided(claim, found)
    return Judgement(
        verdict,
        ratio,
        found.computed,
        claim,
        found.why,
        found.condition,
        found.then,
        to=found.to,
        then_to=found.then_to,
        found_by=more,
    )


def _refuse_other_words(claim: Claim, found: Finding) -> None:
    """A proposition has no ratio, and a number no truth."""
    said = found.verdict or found.computed
    if claim.is_number and found.verdict in TRUTHS:
        raise ValueError(f"{claim.id} is a {claim.kind}, and {said!r} is no ratio")
    if not claim.is_number and found.verdict not in (*TRUTHS, "open"):
        known = ", ".join(TRUTHS)
        raise ValueError(f"{claim.id} is a proposition, not {said!r}: {known} or open")


def _compared(claim: Claim, ends: list[Quantity]) -> tuple[str, float | None]:
    claimed = [claim.number(end) for end in claim.ends or (claim.value,)]
    return KINDS[claim.kind].judge([claim.in_unit(end) for end in ends], claimed)


def _decided(claim: Claim, found: Finding) -> tuple[str, float | None, str]:
    """Word, ratio, and what more is to be said of them."""
    assert found.computed is not None
    ends = [found.computed] if found.to is None else [found.computed, found.to]
    word, ratio = _compared(claim, ends)
    if found.verdict == "conflict":
        each = [_compared(claim, [end]) for end in ends]
        ratios = " and ".join("none" if r is None else f"{r:.3g}" for _, r in each)
        word = "conflict" if len({said for said, _ in each}) > 1 else word
        return word, ratio, BOTH_RATIOS.format(ratios=ratios)
    if found.verdict:
        return found.verdict, ratio, ""
    if found.convention:
        if not off_by_two(ratio):
            raise ValueError(
                f"{claim.id}: {found.convention} is off by two, not {ratio:.3g}"
            )
        more = COUNTED_SO.format(convention=found.convention, stated=found.stated)
        return OTHER, ratio, more
    if word == WRONG and found.then is not None and not ground.from_memory(found.then):
        under = [found.then] if found.then_to is None else [found.then, found.then_to]
        word = RIGHT_IF if _compared(claim, under)[0] == REPRODUCED else word
    return _on_its_ground(word, claim, ends), ratio, ""


def _on_its_ground(word: str, claim: Claim, ends: list[Quantity]) -> str:
    """A figure that was read agrees with its source; one remembered, with nobody."""
    read = [_read_only(end) for end in ends]
    if all(map(ground.from_memory, ends)) or _any_recalled(read):
        return "open"
    if word != REPRODUCED:
        return word
    if all(ground.of_document(end, claim.source) for end in ends):
        return AGREES
    if not all(read):
        return word
    if claim.kind == "count":
        return AGREES
    claimed = sorted(claim.ends or (claim.value,))
    ours = sorted(claim.in_unit(end) for end in ends)
    if len(ours) != len(claimed):
        return word
    ends_of_both = zip(ours, map(claim.number, claimed), strict=True)
    return AGREES if all(end.prints(our) for our, end in ends_of_both) else word


def _unchecked(claim: Claim) -> Judgement:
    if source := sources().get(claim.id):
        return Judgement("cited", None, None, claim, CITED.format(source=source))
    forms = {"external": NO_SOURCE, "unverifiable": UNSETTLED}
    why = forms.get(claim.first_verdict, NO_CHECK).format(how=claim.how)
    return Judgement("open", None, None, claim, why)
