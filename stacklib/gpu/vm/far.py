"""Memory beyond the warp's own instruction: later, in boxes, of other blocks."""

from __future__ import annotations

from typing import Any

from ._apart import apart
from .clusters import remote
from .copies import box_copied, copied
from .program import OP
from .state import Tables

_COPY_ASYNC, _BULK_COPY = OP["COPY_ASYNC"], OP["BULK_COPY"]


@apart
def far(op: int, pc: int, me: int, mask: int, R: Any, F: Any, t: Tables) -> int:
    """A copy that begins, or an access to another block: 0, FAILED, or FULL."""
    if op == _COPY_ASYNC:
        return copied(pc, me, mask, R, t)
    if op == _BULK_COPY:
        return box_copied(pc, me, mask, R, t)
    return remote(op, pc, me, mask, R, F, t)
