"""The leaf walk: a check must stand on facts, never on its own answer.

Nor may a number that somebody chose, or quoted without a record of it, decide: what
multiplies the result counts whole things, and a quote is more than its own label.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from stacklib.quantity import Quantity, UnitError

from . import ground
from .judge import AGREES, RIGHT_IF, Judgement
from .kinds import WRONG
from .ledger import CLAIMS, Claim

TYPED = ("chosen", "assumed", "constant")
REFUTING = (WRONG, RIGHT_IF)
ALLOWED = ("spec", "config", "measured", "counted", *TYPED)
NO_FACT = "no leaf is a field, a measurement or a counted run: it is all typed"
TIMES_ONE = "its last step is a product with 1, which computes nothing"
FITTED = (
    "{name} = {value} multiplies it: no whole number of things, and not the claim's"
)
UNNAMED = "its condition takes {name} = {value}: made to fit, for no document prints it"
ADDED = "{name} is typed and added to it in the claim's own unit"
DERIVED = "{name} was made from the quoted payload: multiplied back, it is the quote"
UNRECORDED = "{name} is quoted on the spot: no record holds its words and place"
ITSELF = "{name} is what the claim's own document says: it agrees with itself"
ONE_DOCUMENT = (
    "it is arithmetic on figures of one document, {title}: hand on what that prints, "
    "or compute"
)
COUNTED = (("token", 1),)  # a batch, whole by itself
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def _is_own_claim(leaf: Quantity, claimed: Quantity) -> bool:
    try:
        return math.isclose(leaf.to(claimed.unit or "1").si, claimed.si, rel_tol=1e-9)
    except UnitError:  # another dimension: cannot be the claim
        return False


def _is_quote(leaf: Quantity) -> bool:
    """Whether it is a quote that our records keep, and no claim's own value."""
    quoted = leaf.kind == "claimed" and leaf.key
    return bool(quoted) and not leaf.key.startswith(CLAIMS)


def _name(leaf: Quantity) -> str:
    return leaf.label or leaf.text(digits=6)


def _fault(leaf: Quantity, claimed: Quantity | None) -> str | None:
    name = _name(leaf)
    record = _is_quote(leaf)
    if leaf.kind not in ALLOWED and not record:
        return f"leaf {name} is {leaf.kind}, not one of {', '.join(ALLOWED)}"
    if leaf.kind in TYPED and leaf.kind != "constant" and not leaf.label:
        return f"leaf {name} is {leaf.kind} and has no name"
    if leaf.source is not None and leaf.source.title.startswith("derived: quoted"):
        return DERIVED.format(name=name)
    # A sourced fact, or a count, may agree with a claim about that very fact; a number
    # typed into the check may not.
    typed = leaf.kind in TYPED or (leaf.source is None and leaf.kind != "counted")
    if typed and claimed is not None and _is_own_claim(leaf, claimed):
        return f"leaf {name} is the claimed value itself"
    return None


def _is_fact(leaf: Quantity) -> bool:
    record = _is_quote(leaf)
    return leaf.kind in ("spec", "config", "measured", "counted") or bool(record)


def _is_times_one(tree: Quantity) -> bool:
    """A last step that changes neither the number nor what it is a number of."""
    if tree.op not in ("*", "/"):
        return False
    ones = [x for x in tree.inputs if x.kind == "constant" and x.si == 1]
    return any(not one.shown.dims and not one.label.startswith("to ") for one in ones)


def _factors(tree: Quantity, power: int = 1) -> Iterator[tuple[Quantity, int]]:
    """What multiplies the result, and what divides it, down to sums and leaves."""
    if tree.op in ("*", "/"):
        first, second = tree.inputs
        yield from _factors(first, power)
        yield from _factors(second, power if tree.op == "*" else -power)
    elif tree.op in ground.PICKS:
        yield from _factors(next(x for x in tree.inputs if x.si == tree.si), power)
    elif len(tree.inputs) == 1 and tree.kind != "counted":
        yield from _factors(tree.inputs[0], power)
    else:
        yield tree, power


def _is_whole(value: float) -> bool:
    value = abs(value)
    return value > 0 and math.isclose(value, round(value), rel_tol=1e-9)


def _fitted(tree: Quantity, claim: Claim) -> str | None:
    """A typed number that no count of things can be: it may have been made to fit."""
    printed = {float(n.replace(",", "")) for n in NUMBER.findall(claim.text)}
    together, names = 1.0, []
    sizes, of, left = 1.0, [], Counter[str]()  # a size over a size is a number, too
    units, over = 1.0, Counter[str]()  # and so is a unit over a unit
    for part, power in _factors(tree):
        if part.op in ("+", "-", "^"):
            inside = (_fitted(x, claim) for x in part.inputs)
            if found := next(filter(None, inside), None):
                return found
        if part.kind == "constant":
            units *= part.si**power if part.shown.dims else 1
            over.update({dim: n * power for dim, n in part.shown.dims})
        free = part.kind in ("chosen", "assumed") or (
            part.kind == "constant" and not part.label
        )
        if not free or part.value in printed:
            continue
        if part.kind == "assumed" and part.shown.dims:
            continue  # a physical size, with its reason
        # 72 % is no 72, and one GB for a GiB is one.
        number = part.value if part.shown.dims or part.value == 1 else part.si
        small = part.kind == "constant" and number and _is_whole(1 / number)
        if not (_is_whole(number) or small):
            return FITTED.format(name=_name(part), value=f"{number:.6g}")
        if not part.shown.dims:
            together *= number**power
            names.append(_name(part))
        elif part.kind != "constant" and part.shown.dims != COUNTED:
            sizes *= part.si**power
            of.append(_name(part))
            left.update({dim: n * power for dim, n in part.shown.dims})
    if of and not any(left.values()):
        together, names = together * sizes, names + of
    if not any(over.values()) and not (_is_whole(units) or _is_whole(1 / units)):
        return FITTED.format(name="a unit", value=f"{units:.6g}")
    if not (_is_whole(together) or _is_whole(1 / together)):
        return FITTED.format(name=" and ".join(names), value=f"{together:.6g}")
    return None


def _unnamed(tree: Quantity, claim: Claim) -> str | None:
    """A number of a condition that nobody would name: neither round nor the claim's."""
    printed = {float(n.replace(",", "")) for n in NUMBER.findall(claim.text)}
    for leaf in tree.leaves():
        told = f"{abs(leaf.value):.12g}".replace(".", "").strip("0")
        named = len(told) < 3 or leaf.value in printed or math.log2(leaf.value) % 1 == 0
        if leaf.kind == "chosen" and not named:
            return UNNAMED.format(name=_name(leaf), value=f"{leaf.value:.6g}")
    return None


def _added(tree: Quantity) -> str | None:
    """A typed addend of a bare sum, which can make any number of any other."""
    if tree.op not in ("+", "-"):
        return None
    typed = (x for x in tree.inputs if x.kind in ("chosen", "constant"))
    return next((ADDED.format(name=_name(x)) for x in typed if x.shown.dims), None)


def _quoted(tree: Quantity, claim: Claim, word: str) -> str | None:
    """Figures of one document: arithmetic on them, or one that has no record.

    They may refute. The claim's own document may be added up: it can but agree.
    """
    facts = ground.facts(tree)
    counts = any(leaf.kind == "counted" for leaf in tree.leaves())
    if counts or not facts or any(fact.kind != "claimed" for fact in facts):
        return None
    titles = {fact.source.title for fact in facts if fact.source}
    if ground.looked_up(tree):
        (fact, *_) = facts
        if titles == {claim.source} and word == AGREES:
            return ITSELF.format(name=_name(fact))
        own = any(f"{title}.{fact.label}" == fact.key for title in titles)
        return UNRECORDED.format(name=_name(fact)) if own else None
    one = len(titles) == 1 < len(facts) and titles != {claim.source}
    one = one and word not in REFUTING
    return ONE_DOCUMENT.format(title=titles.pop()) if one else None


def _tree_faults(computed: Quantity, claim: Claim, word: str) -> list[str]:
    claimed = claim.quantity() if claim.is_number else None
    # A quantity without inputs was looked up or typed, not computed; it counts
    # only when it is a fact with a source.
    if not (computed.inputs or computed.source or computed.kind == "counted"):
        return ["the check computes nothing: no leaf stands under its value"]
    told = (_fault(leaf, claimed) for leaf in computed.leaves())
    if faults := [fault for fault in told if fault]:
        return faults
    if _is_times_one(computed):
        return [TIMES_ONE]
    if not any(map(_is_fact, computed.leaves())):
        return [NO_FACT]
    decides = (
        _fitted(computed, claim),
        _added(computed),
        _quoted(computed, claim, word),
    )
    return [fault for fault in decides if fault]


def leaf_faults(judgement: Judgement) -> list[str]:
    """What is wrong with the ground a judgement stands on; empty when sound.

    A check that failed is a fault; one that computes no value has none.

    Parameters
    ----------
    judgement : Judgement
        A row of the ledger.
    """
    claim = judgement.claim
    if judgement.failure:
        return [f"{claim.id}: its check fails: {judgement.failure}"]
    under = [end for end in (judgement.then, judgement.then_to) if end is not None]
    faults = [
        fault
        for tree in (*judgement.ends, *under)
        for fault in _tree_faults(tree, claim, judgement.verdict)
    ]
    faults += [fault for tree in under if (fault := _unnamed(tree, claim))]
    return [f"{claim.id}: {fault}" for fault in faults]
