"""Conflicts beside what we compute, and what is wrong with the ground they stand on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import Quantity, UnitError

from .checks import CHECKS
from .ledger import CAUSES, VERDICTS, Conflict, get, load

AGREE_WITHIN = 0.02
SOURCED = ("spec", "config", "measured", "assumed")


@dataclass(frozen=True)
class Ruling:
    """A conflict, our value, and how far it is from the sources'.

    Parameters
    ----------
    conflict : Conflict
        The row.
    computed : Quantity or None
        What its check computes; None where nothing can be.
    gap : float or None
        Computed over the sources' value, less one.
    """

    conflict: Conflict
    computed: Quantity | None
    gap: float | None


def rule(id: str) -> Ruling:
    """Run the check of a conflict.

    Parameters
    ----------
    id : str
        For example ``"nvlink5"``.

    Raises
    ------
    UnknownConflict
        For an id that is not in the file.
    ValueError
        When a row with a check has no number to hold it to.
    """
    conflict = get(id)
    if id not in CHECKS:
        return Ruling(conflict, None, None)
    computed, stated = CHECKS[id](), conflict.quantity()
    if stated is None:
        raise ValueError(f"{id}: a check needs a value in spec_conflicts.csv")
    ours = computed.to(conflict.unit or "1")
    return Ruling(conflict, ours, ours.si / stated.si - 1)


def _leaf_faults(id: str, computed: Quantity, stated: Quantity | None) -> list[str]:
    faults = []
    grounded = False
    for leaf in computed.leaves():
        if leaf.kind in SOURCED and leaf.source is not None:
            grounded = True
        elif leaf.shown.dims and not (leaf.kind == "constant" and leaf.label):
            # a definition, such as the bytes of a number format, has a name
            faults.append(f"{id}: leaf {leaf.text()} has a unit and no source")
        elif stated is not None and _same(leaf, stated):
            faults.append(f"{id}: leaf {leaf.text()} is the stated value itself")
    if not grounded:
        faults.append(f"{id}: no leaf is a published figure")
    return faults


def _same(leaf: Quantity, stated: Quantity) -> bool:
    try:
        return math.isclose(leaf.to(stated.unit or "1").si, stated.si, rel_tol=1e-9)
    except UnitError:
        return False


def ruling_faults(ruling: Ruling) -> list[str]:
    """What is wrong with one ruling; empty when it is sound.

    Parameters
    ----------
    ruling : Ruling
        From ``rule``.
    """
    row, gap = ruling.conflict, ruling.gap
    if ruling.computed is None or gap is None:
        return [] if row.value is None else [f"{row.id}: a value and no check"]
    faults = _leaf_faults(row.id, ruling.computed, row.quantity())
    agree = abs(gap) <= AGREE_WITHIN
    if not agree and not row.explained:
        faults.append(
            f"{row.id}: computed {ruling.computed.text(digits=4)}, {gap:+.1%} from "
            f"{row.value:g} {row.unit}: explain it"
        )
    if agree and row.explained:
        faults.append(f"{row.id}: explains a gap of {gap:+.2%}, which is none")
    return faults


def rows(cause: str = "", verdict: str = "") -> list[dict[str, Any]]:
    """The conflicts as plain rows, for a page or a table.

    Parameters
    ----------
    cause : str
        One of ``CAUSES``; all without it.
    verdict : str
        One of ``VERDICTS``; all without it.

    Returns
    -------
    list of dict
        ``id, item, devices, claimed, verdict, correct, computed, quantity, gap,
        cause, why, explained, source, confidence``; ``computed`` is a text and
        ``quantity`` the Quantity with its derivation, empty and None where nothing
        can be computed.

    Raises
    ------
    ValueError
        For a cause or verdict that does not exist.
    """
    for word, known, what in ((cause, CAUSES, "cause"), (verdict, VERDICTS, "verdict")):
        if word and word not in known:
            raise ValueError(f"no {what} {word!r}: {', '.join(known)}")
    chosen = [
        rule(row.id)
        for row in load()
        if cause in ("", row.cause) and verdict in ("", row.verdict)
    ]
    return [_row(ruling) for ruling in chosen]


def _row(ruling: Ruling) -> dict[str, Any]:
    row, computed = ruling.conflict, ruling.computed
    return {
        "id": row.id,
        "item": row.item,
        "devices": row.devices,
        "claimed": row.claimed,
        "verdict": row.verdict,
        "correct": row.correct,
        "computed": "" if computed is None else _text(computed),
        "quantity": computed,
        "gap": None if ruling.gap is None else float(f"{ruling.gap:.3g}"),
        "cause": row.cause,
        "why": row.why,
        "explained": row.explained,
        "source": row.source,
        "confidence": row.confidence,
    }


def _text(computed: Quantity) -> str:
    kept = [t for t in sorted(computed.tags) if t != "per_chip"]
    words = [t.replace("_", " ") for t in kept]
    return " ".join([computed.text(digits=4), *words])
