"""Grids of cases over several processes, with a progress bar.

Goes through joblib, so that the same call runs on a cluster by choosing its
backend (``joblib.parallel_config``). Without joblib the cases run one by one.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

__all__ = ["grid", "progress", "run"]


def grid(**axes: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Every combination of the axes, the last one varying fastest.

    Parameters
    ----------
    **axes : iterable
        Values of each axis, by name.

    Raises
    ------
    ValueError
        When an axis has no values.

    Examples
    --------
    >>> list(grid(tp=[1, 2], batch=[1]))
    [{'tp': 1, 'batch': 1}, {'tp': 2, 'batch': 1}]
    """
    values = {name: list(axis) for name, axis in axes.items()}
    empty = [name for name, axis in values.items() if not axis]
    if empty:
        raise ValueError(f"axis {empty[0]!r} has no values")
    for case in itertools.product(*values.values()):
        yield dict(zip(values, case, strict=True))


def progress(items: Iterable[Any], total: int, what: str) -> Iterator[Any]:
    """``items`` unchanged, counted on standard error where it is a terminal.

    Parameters
    ----------
    items : iterable
        What is worked through.
    total : int
        How many there are.
    what : str
        Name in front of the bar.
    """
    show = sys.stderr.isatty()
    for done, item in enumerate(items, 1):
        yield item
        if show:
            filled = "█" * (20 * done // total)
            end = "\n" if done == total else ""
            print(f"\r{what} {filled:20} {done}/{total}", end=end, file=sys.stderr)


def run(
    function: Callable[..., Any],
    cases: Iterable[Mapping[str, Any]],
    *,
    workers: int = 1,
    what: str = "cases",
) -> list[Any]:
    """``function(**case)`` for every case, in the order of the cases.

    Parameters
    ----------
    function : callable
        Called with the case's items as keywords; importable when ``workers > 1``.
    cases : iterable of dict
        For example ``grid(...)``.
    workers : int
        Processes; 1 runs here.
    what : str
        Name in the progress bar.

    Raises
    ------
    ValueError
        When ``workers`` is below one.
    """
    if workers < 1:
        raise ValueError(f"workers = {workers}: at least 1 is needed")
    todo = list(cases)
    if workers == 1:
        results: Iterable[Any] = (function(**case) for case in todo)
    else:
        from joblib import Parallel, delayed

        pool = Parallel(n_jobs=workers, return_as="generator")
        results = pool(delayed(function)(**case) for case in todo)
    return list(progress(results, len(todo), what))
