"""What the numbers of the book stand on, counted."""

import ast
import importlib
import inspect
import json
import re
from functools import reduce

import pytest
from _tools import roots, said
from _tools.said import Cell

from stacklib import hardware
from stacklib.quantity import chosen, counted, say, stamp
from stacklib.quantity.constants import case
from stacklib.quantity.core import _make

BANDWIDTH = hardware.get("h100-sxm").memory_bandwidth


def paces(many):
    """A run of a page."""
    return many / 2


RUN = counted(paces, 3)
TIME = chosen(3, "GB") / BANDWIDTH
ROWS = {  # what is said -> columns in which it counts, besides that of all numbers
    "a choice": (chosen(3), {"chosen"}),
    "a size of the case": (chosen(case("chips")), set()),
    "a record": (BANDWIDTH, set()),
    "a length": (counted(len, [1, 2]), set()),
    "a run without a path": (RUN, {"rootless"}),
    "a run that can be typed": (_make(RUN, note="stacklib.a.b(3)"), set()),
    "a private run": (_make(RUN, note="_pace(3)"), {"rootless", "private"}),
    "under a sum": (_make(RUN, note="stacklib.a._b(3)") * 2, {"private"}),
    "a model's time": (stamp(TIME, "A"), {"costs", "banded"}),
    "a time without": (stamp(TIME, "trend"), {"costs"}),
}


@pytest.mark.rows("name", ROWS)
def test_each_number_is_counted_where_it_belongs(name):
    number, columns = ROWS[name]
    stored = say("t", n=(number, "A number")).stored()
    cell = Cell("chapters/03-memory/x.ipynb, cell 2", json.loads(json.dumps(stored)))
    (row,) = roots.count(said.index([cell])).values()
    assert {key for key, many in row.items() if many} == columns | {"numbers"}


def test_every_number_of_the_book_opens_to_a_root(capsys):
    """As the README promises: none is one node alone, none stands on a private call."""
    assert roots.main([]) == 0
    head, *_, last = map(str.split, capsys.readouterr().out.splitlines())
    found = dict(zip(head, last, strict=True))
    assert (found["chapter"], found["numbers"]) == ("all", str(len(said.numbers())))
    assert (found["rootless"], found["private"]) == ("0", "0"), (
        "python -m _tools.roots --list NOTEBOOK names them"
    )


# Shown calls that leave out what they were given: a list, an object. Only fewer.
SHORTENED = 159
LEFT_OUT = re.compile(r"…|\d values|a function|[<>]")


def fault(note: str, given: list[str]) -> str:
    """Why a shown call cannot be typed, its inputs under the names that it shows."""
    path, at, words = note.partition("(")
    for label in sorted(given, key=len, reverse=True):
        words = words.replace(label, "_")
    try:
        parts = [*ast.walk(ast.parse(path + at + words, mode="eval"))]
        for call in (one for one in parts if isinstance(one, ast.Call)):
            made = ast.unparse(call.func)
            if made.startswith("stacklib."):
                path = re.sub(r"\(.*?\)", "", made).split(".")
                own = [None] * ("(" in made)  # a method of an object that is made first
                function = reduce(_inside, path[1:], importlib.import_module(path[0]))
                names = dict.fromkeys(word.arg for word in call.keywords)
                inspect.signature(function).bind(*own, *call.args, **names)
    except (SyntaxError, AttributeError, ImportError, TypeError) as error:
        return f"{note}: {error}"
    return ""


def _inside(found: object, name: str) -> object:
    if inspect.ismodule(found) and not hasattr(found, name):
        return importlib.import_module(f"{found.__name__}.{name}")
    return getattr(found, name)


def test_every_shown_call_can_be_typed_or_says_what_it_leaves_out(numbers):
    ran = [q for n in numbers.values() for q in roots.nodes(n.quantity)]
    calls = {q.note: q for q in ran if q.kind == "counted" and "(" in q.note}
    whole = {note for note in calls if not LEFT_OUT.search(note)}
    given = {n: [p.label or p.text() for p in calls[n].inputs] for n in whole}
    assert [told for n in whole if (told := fault(n, given[n]))] == []
    assert len(calls) - len(whole) == SHORTENED
    for lie in ("stacklib.memory.misses(3, 4, 'lru', 5)", "stacklib.memory.missed(3)"):
        assert fault(lie, [])
