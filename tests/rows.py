"""A table of inputs is one case, which names the rows that fail."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from _pytest.outcomes import OutcomeException


def rows(names: str, table: Iterable[Any]) -> Callable:
    """As ``pytest.mark.parametrize``, but of one case; two of them multiply.

    A case has its fixtures once, so they must not remember the row before.
    """
    columns = names.replace(",", " ").split()
    mine = [
        dict(zip(columns, row if len(columns) > 1 else (row,), strict=True))
        for row in table
    ]
    assert mine, f"no row of {names}: a table without rows tests nothing"

    def decorate(test: Callable) -> Callable:
        body = getattr(test, "body", test)
        given = [outer | row for outer in mine for row in getattr(test, "rows", [{}])]

        def every(subtests: pytest.Subtests, **fixtures: Any) -> None:
            skipped: list[BaseException] = []
            for row in given:
                try:
                    body(**row, **fixtures)
                except (Exception, OutcomeException) as error:
                    if isinstance(error, pytest.skip.Exception):
                        skipped.append(error)
                    said = (f"{name}={value!r:.80}" for name, value in row.items())
                    with subtests.test(", ".join(said)):
                        raise
            if len(skipped) == len(given):
                raise skipped[0]

        functools.update_wrapper(every, body, updated=())
        wanted = [
            parameter
            for parameter in inspect.signature(body).parameters.values()
            if parameter.name not in given[0]
        ]
        fixture = inspect.Parameter("subtests", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        every.__signature__ = inspect.Signature([fixture, *wanted])
        every.body, every.rows = body, given
        every.pytestmark = list(getattr(test, "pytestmark", ()))
        return every

    return decorate
