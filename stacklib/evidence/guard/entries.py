"""What a table or figure says it shows: plain, JSON-able, small.

An entry is ``{"kind", "name", "rows"}``. A row names its device, or why it has none,
number format, chips, model, evidence and feasibility; its values are cells
``[number, unit, role]``, where the number may be a list (the points of a mark). A role
is needed only where neither unit nor label tells it:

=============  ============================================================
``resident``   bytes that must fit in memory (other bytes are traffic)
``link``       a rate over a link, not over the device's memory
``part``       a part of a step's time, which alone may be short
``share``      a plain number that is a share of a whole (``%`` always is)
``ratio``      a percentage that may pass one hundred
``spec``       read from a data sheet, not predicted
``written``    bytes written back, no more than the ``dirtied`` of their row
``read``       bytes brought in, no more than the ``touched`` of their row
=============  ============================================================

``run`` follows the role of what a run made: of that two machines agree to one part in
ten thousand, of all else in every digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stacklib.quantity import Quantity
from stacklib.quantity.runs import counts, ran, six

from .owners import listed, model_of, owner

MIME = "application/vnd.stacklib.guard+json"
RUN = "run"
KINDS = ("table", "figure")
LAWS = {"written": "dirtied", "read": "touched"}  # the first is never the larger
ROLES = (
    "",
    "resident",
    "link",
    "part",
    "share",
    "ratio",
    "spec",
    "signed",
    *LAWS,
    *LAWS.values(),
)
EVIDENCE = (
    *("spec", "predicted", "simulated", "measured", "claimed", "data sheet", "yours"),
    "impossible",
)

_shown: list[dict[str, Any]] = []


def cell(value: Any, unit: str = "", role: str = "") -> list[Any]:
    """One registered value: ``[number or list, unit, role]``.

    Parameters
    ----------
    value : Quantity, float or sequence of float
        A Quantity brings its unit, and the role ``spec`` when it was read.
    unit : str
        Unit of plain numbers.
    role : str
        One of the roles above; empty when the unit tells it.

    Raises
    ------
    ValueError
        For an unknown role.
    """
    if role not in ROLES:
        raise ValueError(f"guard role {role!r}: one of {', '.join(ROLES[1:])}")
    if isinstance(value, Quantity):
        role = role or ("spec" if value.kind in ("spec", "claimed") else "")
        return [six(value.value), value.unit, role]
    if isinstance(value, Sequence):
        return [[six(float(v)) for v in value], unit, role]
    return [six(float(value)), unit, role]


def of_run(value: Any, evidence: str) -> bool:
    """Whether a run made a value, so that another processor may make its last digits
    others: by its derivation; numbers without one where they are shown as simulated.

    Parameters
    ----------
    value : Quantity, float or sequence of float
        As `cell` takes it.
    evidence : str
        The evidence of its row.
    """
    if isinstance(value, Quantity):
        return ran(value)
    each = value if isinstance(value, Sequence) else [value]
    return evidence == "simulated" and not all(counts(six(float(v))) for v in each)


def row(
    name: str,
    values: Mapping[str, list[Any]],
    *,
    device: str | None = None,
    dtype: str | None = None,
    chips: int = 1,
    evidence: str = "predicted",
    feasible: bool = True,
    level: str | None = None,
    model: str | None = None,
    batch: int = 1,
    of: Iterable[str] = (),
    run: Sequence[str] = (),
) -> dict[str, Any]:
    """One row of an entry.

    Parameters
    ----------
    name : str
        What the reader calls it.
    values : mapping of str to cell
        By column.
    device, dtype : str, optional
        Key of the device and number format whose limits bind the row; or
        ``none: why``. Without it, see ``of``.
    chips : int
        How many of that device share the work.
    evidence : str
        ``claimed`` and ``impossible`` rows may break limits: they say so.
    feasible : bool
        False for a row that does not fit; it may carry no time, rate or price.
    level : str, optional
        Memory level of a bandwidth, when it is not the device's main memory.
    model, batch : str, int
        Whose tokens a second these are, and of how many sequences together.
    of : iterable of str
        Records that its numbers stand on, see `records`: one device or model among
        them is the row's.
    run : sequence of str
        Columns that a run made, see `of_run`: their roles say so.

    Raises
    ------
    ValueError
        For unknown evidence, or fewer than one chip or sequence.
    """
    if evidence not in EVIDENCE:
        raise ValueError(f"evidence {evidence!r}: one of {', '.join(EVIDENCE)}")
    for what, count in (("chips", chips), ("batch", batch)):
        if count < 1:
            raise ValueError(f"{what}={count!r}: at least one")
    of = set(of)
    return {
        "row": name,
        "device": device or owner(of, values),
        "dtype": dtype,
        "chips": chips,
        "evidence": evidence,
        "feasible": bool(feasible),
        "level": level,
        "model": model or model_of(of),
        "batch": batch,
        "values": {
            name: [*about, f"{role} {RUN}".strip() if name in run else role]
            for name, (*about, role) in values.items()
        },
    }


def entry(kind: str, name: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """An entry for ``register``.

    Parameters
    ----------
    kind, name : str
        ``table`` or ``figure``, and its name.
    rows : sequence of dict
        As ``row`` makes them.

    Raises
    ------
    ValueError
        For an unknown kind.
    """
    if kind not in KINDS:
        raise ValueError(f"guard kind {kind!r}: one of {', '.join(KINDS)}")
    own = listed(kind, name)
    told = [{**row, "device": row["device"] or own} for row in rows]
    return {"kind": kind, "name": name, "rows": told}


def register(entry: dict[str, Any]) -> None:
    """Add what is being shown to this process's register.

    Parameters
    ----------
    entry : dict
        As the function ``entry`` makes it.
    """
    _shown.append(entry)


def shown() -> list[dict[str, Any]]:
    """Everything registered in this process, in order."""
    return list(_shown)
