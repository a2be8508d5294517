"""The laboratory: what is claimed, how it is judged, what was measured.

``claims``: the rows of the ledger; a check carries ``@claim("id")`` and stands with
the page that shows it, so ``stacklib.pages.claims`` judges them. ``conflicts``: what
published tables got wrong. ``guard``: nothing shown may be impossible. ``results``:
what was measured on our own machines, ``runs``: that beside what was predicted before.
Plain Python throughout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib import offer

if TYPE_CHECKING:
    from . import conflicts, guard, ledger, results, runs
    from .checks import Finding, claim
    from .judge import VERDICTS, Judgement
    from .leaves import leaf_faults
    from .ledger import DOCUMENTS, Claim, LedgerError, UnknownClaim
    from .rows import claims, counted
else:
    __all__, __getattr__, __dir__ = offer(__name__)
