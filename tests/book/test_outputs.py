"""What a run made is equal to one part in ten thousand; all else in every digit.

Faults are planted in copies of the book's own notebooks: in a derivation, in a row of
the guard, in a figure, in a text. In the third digit each is caught; in the fifth it
passes where a run made the number, and is caught in a closed form.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import nbformat
import pytest
from _tools import outputs, said, tree
from nbformat import v4

from stacklib import plots
from stacklib.evidence import guard
from stacklib.plots.marks import axis, cells, chart, dots, line
from stacklib.quantity import Quantity, chosen, counted, say
from stacklib.quantity.runs import ran

MASKS = outputs.patterns()


@cache
def book() -> list[tuple[str, list[Any]]]:
    """The place of each cell of the book that shows something, and what it shows."""
    return [
        (f"{tree.name(path)}, cell {number}", cell.outputs)
        for path in tree.notebooks()
        for number, cell in enumerate(tree.read_notebook(path).cells, 1)
        if cell.get("outputs")
    ]


def moved(value: float, digit: int) -> float:
    """A number with one more in one of its digits, the first being 1."""
    return value + 10.0 ** (math.floor(math.log10(abs(value))) + 1 - digit)


def shown(mime: str) -> Iterator[tuple[str, list[Any], int]]:
    """Cells that hold an output of a kind, and which one."""
    for place, stored in book():
        for i, output in enumerate(stored):
            if mime in output.get("data", {}):
                yield place, stored, i


def leaf(of_run: bool) -> Iterator[tuple[str, Any, str, Callable]]:
    """A leaf of every derivation that has one, and how a fault is planted in it."""
    for place, stored, at in shown(outputs.NUMBERS):
        cell = said.Cell(place, stored[at]["data"][outputs.NUMBERS])
        both = cell.nodes, cell.quantities
        for i, (node, quantity) in enumerate(zip(*both, strict=True)):
            small = "si" in node and not float(quantity.value).is_integer()
            if small and ran(quantity) == of_run:

                def plant(copied: Any, digit: int, i=i, node=node) -> None:
                    other = {**node, "si": moved(node["si"], digit)}
                    copied["nodes"][i] = json.dumps(other)

                yield place, stored[at], outputs.NUMBERS, plant
                break


def row(of_run: bool) -> Iterator[tuple[str, Any, str, Callable]]:
    """A number of every table and figure that has one, as the guard knows it."""
    for place, stored, at in shown(guard.MIME):
        rows = stored[at]["data"][guard.MIME]["rows"]
        for i, one in enumerate(rows):
            for column, (value, _, role) in one["values"].items():
                first = value[0] if isinstance(value, list) else value
                if float(first).is_integer() or role.endswith("run") != of_run:
                    continue

                def plant(copied: Any, digit: int, i=i, column=column) -> None:
                    cell = copied["rows"][i]["values"][column]
                    if isinstance(cell[0], list):
                        cell = cell[0]
                    cell[0] = moved(cell[0], digit)

                yield place, stored[at], guard.MIME, plant
                break


def judged(output: Any, mime: str, plant: Callable, digit: int) -> list[str]:
    """What the comparison says of a stored output with a fault in what it holds."""
    faulty = json.loads(json.dumps(output["data"][mime]))
    plant(faulty, digit)
    assert faulty != output["data"][mime]
    planted = {**output, "data": {**output["data"], mime: faulty}}
    return outputs.differences([planted], [output], MASKS)


@pytest.mark.parametrize("kind", [leaf, row])
@pytest.mark.parametrize("of_run", [True, False])
def test_a_fault_in_a_number_is_caught_in_the_digit_that_counts(kind, of_run):
    found = list(kind(of_run))
    assert len(found) > 50
    missed = [place for place, *one in found if not judged(*one, 3)]
    assert missed == []
    # What is computed from a run may move some times as far as its part: not the fifth.
    sixth = {bool(judged(*one, 6)) for _, *one in found}
    assert sixth == {not of_run}


def turned(said: Any, _: int) -> None:
    """The last digit of every text of a cell made another."""
    for one in said["numbers"].values():
        digits = [i for i, c in enumerate(one["text"]) if c.isdecimal()]
        if digits:
            last, text = digits[-1], one["text"]
            other = str((int(text[last]) + 1) % 10)
            one["text"] = text[:last] + other + text[last + 1 :]


def test_a_fault_in_a_text_is_caught_in_any_digit():
    missed = []
    for place, stored, at in shown(outputs.NUMBERS):
        told = stored[at]["data"][outputs.NUMBERS]["numbers"].values()
        if any(c.isdecimal() for one in told for c in one["text"]):
            found = judged(stored[at], outputs.NUMBERS, turned, 0)
            missed += [] if found else [place]
    assert missed == []


def identity(value: float) -> float:
    """A run that makes what it is asked for."""
    return value


def made(value: float) -> Quantity:
    """A number of a run."""
    return counted(identity, value, label="most")


def cell(value: Any) -> list[Any]:
    """The outputs of a cell that shows a value."""
    return [v4.new_output("execute_result", value._repr_mimebundle_())]


@pytest.mark.parametrize(
    ("evidence", "passes"), [("simulated", True), ("predicted", False)]
)
@pytest.mark.parametrize(
    "mark",
    [
        lambda v, evidence: line([1, 2], [0.5, v], "a", evidence),
        lambda v, evidence: cells([(0, 0), (1, 1)], "a", evidence, shade=[0.5, v / 2]),
        lambda v, evidence: dots([1], [1.5], "a", evidence, spread=[(1.25, v)]),
    ],
)
def test_a_fault_in_a_figure_is_caught_in_the_digit_that_counts(mark, evidence, passes):
    def figure(value: float) -> list[Any]:
        plane = {"x": axis("x"), "y": axis("y")}
        spec = chart("A figure.", **plane, marks=[mark(value, evidence)])
        return cell(plots.figure(spec, name="planted", alt="a line"))

    true = figure(1.23456)
    assert outputs.same(figure(1.23456), true, MASKS)
    assert not outputs.same(figure(1.24456), true, MASKS)
    assert outputs.same(figure(1.23466), true, MASKS) == passes


@pytest.mark.parametrize("value", [chosen(1.23496), made(1.23496)])
def test_a_fault_in_a_drawing_is_caught_in_the_digit_that_counts(value):
    from stacklib.plots import drawing

    def picture(quantity) -> list[Any]:
        scene = drawing.Box("part", quantity.named("size"))
        return cell(drawing.draw(scene, name="planted", title="A part."))

    true, run = picture(value), ran(value)
    closer, far = (made(v) if run else chosen(v) for v in (1.23506, 1.245))
    assert outputs.same(picture(closer), true, MASKS) == run
    assert not outputs.same(picture(far), true, MASKS)


def said_otherwise(html: str) -> str:
    """A figure with another third digit in a number that it says."""
    found = re.search(r"(?s)(<svg\b.*?>[^<>]*?(?<![\w.])\d\.?\d\.?)(\d)([^<>]*<)", html)
    if not found:
        return ""
    other = f"{found[1]}{(int(found[2]) + 1) % 10}{found[3]}"
    return html[: found.start()] + other + html[found.end() :]


def test_a_fault_in_what_a_picture_says_is_caught():
    found, missed = 0, []
    for place, stored, at in shown("text/html"):
        if other := said_otherwise(stored[at]["data"]["text/html"]):
            data = {**stored[at]["data"], "text/html": other}
            planted = [{**stored[at], "data": data}]
            found += 1
            if not outputs.differences(planted, [stored[at]], MASKS):
                missed.append(place)
    assert found > 200 and missed == []


def test_a_stored_text_stands_where_rounding_turns_its_last_digit():
    """1.23496 prints 1.23, 1.23506 prints 1.24: one number of two runs."""
    low, high = (made(v) for v in (1.23496, 1.23506))
    said = [cell(say("a", most=(q, "The most"), all=(q, "All"))) for q in (low, high)]
    assert said[0][0].data["text/plain"] != said[1][0].data["text/plain"]
    said[0] = nbformat.from_dict(json.loads(json.dumps(said[0], sort_keys=True)))
    assert outputs.same(said[0], said[1], MASKS)
    tables = [
        cell(plots.table([{"most": q}], name="t", caption="One.", digits=3))
        for q in (low, high)
    ]
    assert tables[0][0].data["text/html"] != tables[1][0].data["text/html"]
    assert outputs.same(tables[0], tables[1], MASKS)
    tables[0][0].data["text/html"] = tables[0][0].data["text/html"].replace("23", "22")
    assert not outputs.same(tables[0], tables[1], MASKS)


def test_a_count_of_a_run_is_whole_and_exact():
    one, two = (cell(say("a", n=(counted(max, [n, 1]), "A count"))) for n in (41, 42))
    assert not outputs.same(one, two, MASKS)
