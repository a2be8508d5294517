"""What published tables got wrong, why, and the value we compute instead.

>>> from stacklib.evidence import conflicts
>>> conflicts.rule("nvlink5").computed.text()
'900 GB/s'
>>> conflicts.get("nvlink5").cause
'one-way vs both ways'
"""

from .ledger import (
    CAUSES,
    VERDICTS,
    Conflict,
    ConflictError,
    UnknownConflict,
    get,
    load,
    read,
)
from .verdict import Ruling, rows, rule, ruling_faults

__all__ = [
    "CAUSES",
    "VERDICTS",
    "Conflict",
    "ConflictError",
    "Ruling",
    "UnknownConflict",
    "get",
    "load",
    "read",
    "rows",
    "rule",
    "ruling_faults",
]
