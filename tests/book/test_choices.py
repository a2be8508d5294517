"""What a page calls chosen is given: no call made it, no document says it."""

import json
import math
from collections.abc import Iterator

import pytest
from _tools import choices, said, tree
from _tools.said import Cell

from stacklib.quantity import chosen, say

from ..live_figures import LiveFigure, _cells, _shown, values

# Numbers that are a choice alone and that nothing in their page moves: no control
# stands at them and no cell types them. It may only fall.
FIXED = 83
PREFIXES = [10.0**power for power in (-12, -9, -6, -3, -2, 0, 2, 3, 6, 9, 12)]
PREFIXES += [2.0**-10, 2.0**10, 2.0**20, 2.0**30, 60.0, 3600.0]


# Choices of what a loop goes over, where a call made that. They may only become fewer.
LOOPED = 14


def test_a_given_is_typed_where_it_is_chosen():
    assert [*choices.made()] == []
    looped = [*choices.made(choices.LOOPS)]
    assert len(looped) == LOOPED, "\n".join(looped)


def test_a_given_tells_of_no_document_and_of_no_product(numbers):
    assert [*choices.read(numbers.values())] == []


def reached(path) -> tuple[set[float], set[float]]:
    """What a page's controls can stand at, and what its cells type."""
    cells = _cells(path)
    shown: list[LiveFigure] = [*_shown(cells)]
    stands = {v for f in shown for c in f.controls for v in values(c)}
    typed = {v for cell in cells for v in choices.numbers(cell)}
    return {float(v) for v in stands if isinstance(v, int | float)}, typed


def fixed(numbers) -> Iterator[str]:
    """Choices alone that a reader of their page cannot change in it."""
    pages = {tree.name(path): path for path in tree.notebooks()}
    known = {}
    for number in numbers:
        q, name = number.quantity, number.cell.place.partition(",")[0]
        if q.inputs or q.key or q.kind != "chosen" or name not in pages:
            continue
        if name not in known:
            known[name] = reached(pages[name])
        stands, typed = known[name]
        moved = any(math.isclose(q.si, s * p) for s in stands for p in PREFIXES)
        if not (
            moved or any(math.isclose(x, t) for x in (q.si, q.value) for t in typed)
        ):
            yield f"{number.cell.place}: {number.name} = {number.text}"


def test_choices_that_a_reader_cannot_change_only_become_fewer(numbers):
    found = [*fixed(numbers.values())]
    assert len(found) == FIXED, "\n".join(found)


# A writer's ways to call a result chosen; and what is one.
RESULTS = [
    "chosen(len(near), label='reached')",
    "chosen(models.get(MODEL).layers)",
    "many = max(rows)\nchosen(many)",
    "one = run()\ntwo = one.total\nchosen(two, 'ms')",
    "a, b = 3, run()\nchosen(b)",
    "def f():\n    x, y = sizes()\n    return chosen(y)",
    "chosen(round(run()))",
    "chosen(2 * int(run()))",
    "many: int = run()\nchosen(many)",
    "many = 0\nmany += run()\nchosen(many)",
    "assert (many := run())\nchosen(many)",
    "chosen(value=run())",
    "from stacklib import quantity\nquantity.chosen(run(), 'ms')",
    "[*map(chosen, run())]",
    "given = partial(chosen, unit='ms')\ngiven(run())",
    "given = chosen\ngiven(run(), 'ms')",
    "from stacklib.quantity import chosen as size\nsize(max(rows))",
    "def given(label, n):\n    return chosen(n, label=label)\ngiven('it', len(near))",
]
GIVENS = [
    "chosen(4096, label='tokens')",
    "chosen(page.TOKENS)",
    "chosen(case('readers'), label='readers')",
    "a, b = 3, run()\nchosen(a)",
    "def f(tokens):\n    return chosen(tokens)",
    "chosen(TP - 1)",
    "chosen(int('3'))",
    "chosen(3 if run() else 1)",
    "chosen(WIDTHS.get(name, 2), 'B')",
    "def given(label, n):\n    return chosen(n, label=label)\ngiven(run(), 3)",
]


@pytest.mark.rows("source", RESULTS)
def test_a_result_that_is_called_chosen_is_named(source):
    assert len([*choices.computed(source)]) == 1


@pytest.mark.rows(
    "source", ["for n in run():\n    chosen(n)", "[chosen(n) for n in run()]"]
)
def test_a_result_that_a_loop_goes_over_is_named(source):
    assert len([*choices.computed(source, None, choices.LOOPS)]) == 1


def test_a_result_that_a_page_s_own_function_calls_chosen_is_named():
    """As a notebook calls it, which imports the page in another cell."""
    known = choices.imported()["chapters/08-serving/queue.ipynb"]
    lie = "page.given(len(near), 'requests')"
    assert [*choices.computed(lie)] == []
    assert len([*choices.computed(lie, known)]) == 1


@pytest.mark.rows("source", GIVENS)
def test_a_given_is_left_alone(source):
    assert [*choices.computed(source)] == []


# A writer's ways to have one of Python's own count what is typed; and what it may.
TYPED = ["len, range(4217)", "len, 'x' * 417", "sum, [4000, 217]", "max, (4217, 1)"]
COUNTS = ["len, near", "max, shape", "len, ['queries', 'keys']", "sum, [a, 2]"]


@pytest.mark.rows("given", TYPED)
def test_a_count_of_typed_numbers_is_named(given):
    what, _, them = given.partition(", ")
    for lie in (f"counted({given})", f"PARTS = {them}\ncounted({what}, PARTS)"):
        assert len([*choices.listed(lie)]) == 1


@pytest.mark.rows("given", COUNTS)
def test_a_count_of_things_is_left_alone(given):
    assert [*choices.listed(f"counted({given}, label='it')")] == []


TOLD = [
    ("Price of a wafer, as it is quoted", True),
    ("Times as fast, as claimed", True),
    ("What an H100 is bought for", True),
    ("Layers of Llama-3-70B", True),
    ("GPUs of a row of the spreadsheet", True),
    ("An H100 for an hour, suppose", False),
    ("Tokens cached", False),
    ("Tokens of a document's answer", True),
    ("Documents of the set", False),
]


def stored_cell(saying) -> Cell:
    """A cell as a notebook stores it."""
    stored = json.loads(json.dumps(saying.stored()))
    return Cell("chapters/03-memory/x.ipynb, cell 2", stored)


@pytest.mark.rows(("what", "read"), TOLD)
def test_a_choice_whose_words_tell_of_a_document_is_named(what, read):
    cell = stored_cell(say("t", a=(chosen(3, label="it"), what)))
    numbers = said.index([cell])
    assert len([*choices.read(numbers.values())]) == read
