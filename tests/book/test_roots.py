"""What the numbers of the book stand on, counted."""

import json

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
