"""Grids of cases over several processes, with a progress bar.

Goes through joblib, so that the same call runs on a cluster by choosing its backend:
``joblib.parallel_config(backend="dask")`` with the extra ``cluster``. Without joblib
the cases run one by one.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

__all__ = ["grid", "progress", "run"]
NOTE = "in the case"


def __dir__() -> list[str]:
    return __all__


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
    RuntimeError
        When a worker dies, with the cases that ran then; what the function raises comes
        as it is, with a note of its case.
    """
    if workers < 1:
        raise ValueError(f"workers = {workers}: at least 1 is needed")
    todo = list(cases)
    if workers == 1:
        results: Iterable[Any] = (_answer(function, case) for case in todo)
        return list(progress(results, len(todo), what))
    from joblib import Parallel, delayed

    with TemporaryDirectory() as folder:
        marked = (Path(folder, str(place)) for place in range(len(todo)))
        pool = Parallel(n_jobs=workers, return_as="generator")
        try:
            results = pool(
                delayed(_answer)(function, case, mark)
                for case, mark in zip(todo, marked, strict=True)
            )
            return list(progress(results, len(todo), what))
        except Exception as why:
            running = sorted(int(each.name) for each in Path(folder).iterdir())
            if not running or NOTE in "".join(getattr(why, "__notes__", ())):
                raise
            held = ", ".join(f"{place} {todo[place]!r:.200}" for place in running)
            raise RuntimeError(f"a worker died while these cases ran: {held}") from why


def _answer(
    function: Callable[..., Any], case: Mapping[str, Any], mark: Path | None = None
) -> Any:
    """One case; a file that stays behind says that its worker died of it.

    Where a cluster tries a case again whose worker died, it would die again, and joblib
    would wait for it for ever.
    """
    try:
        if mark is not None and mark.parent.exists():  # not on another machine
            if mark.exists():
                raise RuntimeError(f"a worker died while this case ran: {case!r:.200}")
            mark.touch()
        return function(**case)
    except Exception as why:
        why.add_note(f"{NOTE} {case!r:.200}")
        raise
    finally:
        if mark is not None:
            mark.unlink(missing_ok=True)
