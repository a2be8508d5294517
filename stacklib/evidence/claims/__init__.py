"""The claims ledger: what the source documents say, and what we compute.

>>> from stacklib.evidence import claims
>>> claims.judge("h100-ridge-295").verdict      # doctest: +SKIP
'reproduced'
"""

from .judge import VERDICTS, Finding, Judgement, check, checked, judge
from .leaves import leaf_faults
from .ledger import DOCUMENTS, Claim, LedgerError, UnknownClaim, get, load
from .rows import table

__all__ = [
    "DOCUMENTS",
    "VERDICTS",
    "Claim",
    "Finding",
    "Judgement",
    "LedgerError",
    "UnknownClaim",
    "check",
    "checked",
    "get",
    "judge",
    "leaf_faults",
    "load",
    "table",
]
