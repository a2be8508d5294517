"""The laboratory: what is claimed, how it is judged, what was measured.

``claims``: the rows of the ledger; a check carries ``@claim("id")`` and stands with
the page that shows it, so ``stacklib.pages.claims`` judges them. ``conflicts``: what
published tables got wrong. ``guard``: nothing shown may be impossible. ``results``:
what was measured on our own machines, ``runs``: that beside what was predicted before.
Plain Python throughout.
"""

from .checks import Finding, claim
from .judge import VERDICTS, Judgement
from .leaves import leaf_faults
from .ledger import DOCUMENTS, Claim, LedgerError, UnknownClaim
from .rows import claims, counted

__all__ = [
    "DOCUMENTS",
    "VERDICTS",
    "Claim",
    "Finding",
    "Judgement",
    "LedgerError",
    "UnknownClaim",
    "claim",
    "claims",
    "conflicts",
    "counted",
    "guard",
    "leaf_faults",
    "ledger",
    "results",
    "runs",
]
