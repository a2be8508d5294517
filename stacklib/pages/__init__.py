"""What only one page of the book needs: ``pages/memory/caches`` for section 3.4.

Its figures, its live figure, the setup its notebook imports, and the checks of its
claims, which this module gathers: a check is found by its ``@claim("id")`` and
imported when its row is first judged.

>>> from stacklib import pages
>>> pages.judge("h100-ridge-295").verdict      # doctest: +SKIP
'reproduced'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

from stacklib import evidence as laboratory
from stacklib.evidence import Finding, Judgement, ledger
from stacklib.evidence.checks import Check, carried
from stacklib.evidence.judge import judge as judge_row
from stacklib.quantity import Quantity

__all__ = ["checks", "claims", "judge"]

ROOT = Path(__file__).parent
CARRIES = re.compile(r'^@claim\(\s*"([^"]+)"', re.MULTILINE)


def claims(**filters: Any) -> list[Judgement]:
    """The ledger, judged by the checks of all pages.

    Parameters
    ----------
    **filters
        ``chapter``, ``source``, ``verdict``, ``search``, as `evidence.claims` has them.
    """
    return laboratory.claims(checks(), **filters)


def judge(id: str) -> Judgement:
    """One row of the ledger, judged; UnknownClaim where there is none.

    Parameters
    ----------
    id : str
        Such as ``h200-ridge``.
    """
    return judge_row(ledger.get(id), checks().get(id))


@cache
def checks() -> dict[str, Check]:
    """The check of every claim that has one, by id."""
    return {id: partial(found, module, id) for id, module in where(sources()).items()}


def where(sources: Iterator[tuple[str, str]]) -> dict[str, str]:
    """The module in which each claim is checked, of modules and their sources.

    Raises ValueError for a claim with two checks, and for the check of no claim.
    """
    known = {claim.id for claim in ledger.load()}
    modules: dict[str, str] = {}
    for module, source in sources:
        for id in CARRIES.findall(source):
            if id not in known:
                raise ValueError(f"{module} checks {id!r}, which is no claim")
            if id in modules:
                raise ValueError(
                    f"claim {id!r} has two checks: {modules[id]}, {module}"
                )
            modules[id] = module
    return modules


def sources() -> Iterator[tuple[str, str]]:
    """Every module of the pages, by name, and its source."""
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join((__name__, *parts)), path.read_text("utf-8")


@cache
def found(module: str, id: str) -> Quantity | Finding:
    """What the check of a claim finds; run once."""
    return carried(import_module(module))[id]()


def __dir__() -> list[str]:
    return sorted(__all__)
