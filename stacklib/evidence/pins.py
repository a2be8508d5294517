"""What the documents say, and its kind: a claim changes only with a reason beside it.

``data/claims_pinned.toml`` lists every state of the document columns, the one that
holds last, each with its reason. The columns of our own review are free.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import tomllib
from dataclasses import dataclass

from .ledger import DATA, LedgerError

DOCUMENT_COLUMNS = ("id", "seed", "chapter", "claim", "value", "unit", "kind")
PINNED = DATA / "claims_pinned.toml"
CHANGED = (
    "{rows} claims have the digest {digest}, and none of that is pinned. Put back what "
    "was changed, or add to claims_pinned.toml a [[pinned]]: rows, digest and reason"
)


@dataclass(frozen=True)
class Pin:
    """A state of the ledger, and why it came to be."""

    rows: int
    digest: str
    reason: str


def state(ledger: str, reason: str = "") -> Pin:
    """The state of a ledger's document columns, from its text."""
    rows = list(csv.DictReader(io.StringIO(ledger, newline="")))
    told = [[row[name] for name in DOCUMENT_COLUMNS] for row in rows]
    data = json.dumps(told, ensure_ascii=False).encode()
    return Pin(len(rows), hashlib.sha256(data).hexdigest()[:16], reason)


def pinned(text: str) -> list[Pin]:
    """The states of a file of pins, in order; LedgerError for one without a reason."""
    pins = [Pin(**entry) for entry in tomllib.loads(text)["pinned"]]
    for pin in pins:
        told = [other.reason for other in pins].count(pin.reason)
        if len(pin.reason.split()) < 3 or told > 1:
            raise LedgerError(f"claims_pinned.toml: {pin.reason!r} is no reason for it")
    return pins


def fault(ledger: str, pins: str) -> str:
    """What is wrong with a ledger against its pins; empty where nothing is."""
    now, last = state(ledger), pinned(pins)[-1]
    if (now.rows, now.digest) == (last.rows, last.digest):
        return ""
    return CHANGED.format(rows=now.rows, digest=now.digest)


def with_pin(pins: str, ledger: str, reason: str) -> str:
    """A file of pins with one more, for a ledger that has changed."""
    now = state(ledger)
    entry = f"rows = {now.rows}\ndigest = {json.dumps(now.digest)}\n"
    return f"{pins.rstrip()}\n\n[[pinned]]\n{entry}reason = {json.dumps(reason)}\n"
