"""The leaf walk: a check must stand on facts, never on its own answer."""

from __future__ import annotations

import math

from stacklib.quantity import Quantity, UnitError

from .judge import Judgement

TYPED = ("chosen", "assumed", "constant")
ALLOWED = ("spec", "config", "measured", "counted", *TYPED)
NO_FACT = "no leaf is a field, a measurement or a counted run: it is all typed"
TIMES_ONE = "its last step is a product with 1, which computes nothing"


def _is_own_claim(leaf: Quantity, claimed: Quantity) -> bool:
    try:
        return math.isclose(leaf.to(claimed.unit or "1").si, claimed.si, rel_tol=1e-9)
    except UnitError:  # another dimension: cannot be the claim
        return False


def _fault(leaf: Quantity, claimed: Quantity) -> str | None:
    name = leaf.label or leaf.text(digits=6)
    record = leaf.kind == "claimed" and leaf.key  # a quote that our database keeps
    if leaf.kind not in ALLOWED and not record:
        return f"leaf {name} is {leaf.kind}, not one of {', '.join(ALLOWED)}"
    if leaf.kind in TYPED and leaf.kind != "constant" and not leaf.label:
        return f"leaf {name} is {leaf.kind} and has no name"
    # A sourced fact, or a count, may agree with a claim about that very fact; a number
    # typed into the check may not.
    typed = leaf.kind in TYPED or (leaf.source is None and leaf.kind != "counted")
    if typed and _is_own_claim(leaf, claimed):
        return f"leaf {name} is the claimed value itself"
    return None


def _is_fact(leaf: Quantity) -> bool:
    record = leaf.kind == "claimed" and leaf.key
    return leaf.kind in ("spec", "config", "measured", "counted") or bool(record)


def _is_times_one(tree: Quantity) -> bool:
    """A last step that changes neither the number nor what it is a number of."""
    if tree.op not in ("*", "/"):
        return False
    ones = [x for x in tree.inputs if x.kind == "constant" and x.si == 1]
    return any(not one.shown.dims and not one.label.startswith("to ") for one in ones)


def _tree_faults(computed: Quantity, claimed: Quantity) -> list[str]:
    # A quantity without inputs was looked up or typed, not computed; it counts
    # only when it is a fact with a source.
    if not (computed.inputs or computed.source or computed.kind == "counted"):
        return ["the check computes nothing: no leaf stands under its value"]
    told = (_fault(leaf, claimed) for leaf in computed.leaves())
    if faults := [fault for fault in told if fault]:
        return faults
    if _is_times_one(computed):
        return [TIMES_ONE]
    return [] if any(map(_is_fact, computed.leaves())) else [NO_FACT]


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
    trees = [*judgement.ends, *([] if judgement.then is None else [judgement.then])]
    return [
        f"{claim.id}: {fault}"
        for tree in trees
        for fault in _tree_faults(tree, claim.quantity())
    ]
