"""``pytest.mark.rows``: a table of inputs is one case, which names the rows that fail.

``@pytest.mark.rows("name", NAMES)`` is written as ``parametrize`` is, and several of
them multiply. What a case is given besides, it is given once, for all of its rows.

With ``drawn=20`` so many of a long table are tried where slow tests are left out, and
all where they run. A hash of the package draws: the same for the same tree, others
after any change, so that all are tried in time.
"""

import hashlib
import random
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from _pytest.outcomes import OutcomeException

PACKAGE = Path(__file__).parents[1] / "stacklib"


@cache
def sources() -> str:
    """A hash of the package's code."""
    made = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        made.update(path.read_bytes())
    return made.hexdigest()


def table(mark: pytest.Mark, case: pytest.Function) -> list[dict[str, Any]]:
    """The rows of one mark, by name."""
    names, values = mark.args
    columns = names.replace(",", " ").split() if isinstance(names, str) else names
    made = [row if len(columns) > 1 else (row,) for row in values]
    assert made, f"no row of {names}: a table without rows tests nothing"
    few = mark.kwargs.get("drawn", len(made))
    if few < len(made) and case.config.option.markexpr == "not slow":
        draw = random.Random(f"{sources()} {case.nodeid} {names}")
        made = [made[at] for at in sorted(draw.sample(range(len(made)), few))]
    return [dict(zip(columns, row, strict=True)) for row in made]


def refusals(
    *rows: tuple[Any, ...],
    by: Callable[..., Any] = lambda call: call(),
    error: type[Exception] | tuple[type[Exception], ...] = ValueError,
) -> Callable[..., None]:
    """A test of what is refused: each row what is given, and words of the error."""

    @pytest.mark.rows(("given", "words"), [(row[:-1], row[-1]) for row in rows])
    def test(given: tuple[Any, ...], words: str) -> None:
        with pytest.raises(error, match=words):
            by(*given)

    return test


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line("markers", "rows(names, values): a table that is one case")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The names of a table are no fixtures: one case, set up with its first row."""
    for mark in metafunc.definition.iter_markers("rows"):
        first = table(mark, metafunc.definition)[0]
        row = pytest.param(*first.values(), id=pytest.HIDDEN_PARAM)
        metafunc.parametrize(list(first), [row])


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Try every row; one that fails or is skipped is reported by itself."""
    tables = [table(mark, pyfuncitem) for mark in pyfuncitem.iter_markers("rows")]
    if not tables:
        return None
    given = {arg: pyfuncitem.funcargs[arg] for arg in pyfuncitem._fixtureinfo.argnames}
    outcomes: list[BaseException | None] = []
    for parts in product(*tables):
        row = {name: value for part in parts for name, value in part.items()}
        outcomes.append(None)
        try:
            pyfuncitem.obj(**given | row)
        except (Exception, OutcomeException) as error:
            outcomes[-1] = error
            said = ", ".join(f"{name}={value!r:.80}" for name, value in row.items())
            with pyfuncitem._request.getfixturevalue("subtests").test(said):
                raise
    if all(isinstance(outcome, pytest.skip.Exception) for outcome in outcomes):
        raise outcomes[0]
    return True
