"""Every number names what it stands on; literals that a writer plants are refused."""

import decimal
import math
import operator
from functools import partial

import pytest

from stacklib import hardware, plots
from stacklib.interconnect.best import bounds
from stacklib.pages.figures_of import measured
from stacklib.plots import SpecError
from stacklib.quantity import (
    Quantity,
    Source,
    UnknownName,
    assumed,
    chosen,
    counted,
    counting,
    minimum,
    one_of,
    quoted,
    recorded,
    records,
    say,
    stamp,
)
from stacklib.quantity.core import MAKERS, SOURCED
from stacklib.quantity.counting import typed
from stacklib.quantity.records import QUOTED, quotes
from stacklib.quantity.told import families, told
from stacklib.quantizers import Format

ROW = ("gemv-fp32-8192x8192", "times_s/median")
RESULT = "benchmarks/results/host_gemv_gemm.json"
DATED = Source("A paper", "table 1", "2026-11-28", "secondary")
MEDIAN = plots.rows([recorded(RESULT, *ROW, unit="s")])
TIME = stamp(chosen(3, "s") * 2, "A")


H100 = hardware.get("h100")
H200 = measured("D-0043")


def seen():
    """A time of a record."""
    return recorded(RESULT, *ROW, unit="s")


def said(number):
    """A number of the text."""
    return say("t", a=(number, "A."))


def rate():
    """A number that nothing ran for."""
    return 421.7


def deaf(runs, *more, each=4):
    """A number that no argument reaches."""
    return 421.7


def cell_figure(runs):
    """What a cell makes of its argument and of a figure of its own."""
    return 421.7 + 0 * runs


def cell_whole(runs):
    """The same of a whole figure."""
    return len([runs]) * 4530


def cell_default(runs, each=4530):
    """The same by default."""
    return runs * each


def cell_beside(runs):
    """The same of one beside it."""
    return runs * FIGURE


FIGURE = 4530
for one in (cell_figure, cell_whole, cell_default, cell_beside):
    one.__module__ = "__main__"


def _hidden(value):
    """What no reader can type."""
    return value


def tabled(number, **about):
    """A table of one row."""
    return plots.table(
        [{"of": "it", "number": number}], name="t", caption="T.", **about
    )


def drawn(y):
    """Dots said to be measured."""
    return plots.dots([1, 2], y, "seen", "measured")


# Kind of plant: the call that plants it, and what its message says.
PLANTS = {
    "converted": (lambda: counted(float, "4.53"), "names no run"),
    "a decimal": (lambda: counted(decimal.Decimal, "4.53"), "names no run"),
    "summed": (lambda: counted(sum, [4.53]), "names no run"),
    "summed with nothing": (lambda: counted(sum, [4.53, 0]), "names no run"),
    "one whole number": (lambda: counted(max, [4210]), "names no run"),
    "evaluated": (lambda: counted(eval, "421.7"), "names no run"),
    "imported": (lambda: counted(math.fsum, [421.7, 0]), "names no run"),
    "passed on": (lambda: counted(operator.pos, 421.7), "names no run"),
    "private": (lambda: counted(_hidden, 421.7), "name the function"),
    "without a name": (lambda: counted(lambda: 421.7), "name the function"),
    "private of a room": (
        lambda: counted(records._tenths, [4.53]),
        "no reader can type",
    ),
    "private partial": (lambda: counted(partial(_hidden, 4.53)), "name the function"),
    "a constant function": (lambda: counted(rate), "gives a typed number"),
    "deaf to its arguments": (lambda: counted(deaf, 3), "gives a typed number"),
    "a part that is not shown": (
        lambda: counted(hardware.get, "h100_sxm", take=lambda found: 421.7),
        "name the function",
    ),
    "a part deaf to what ran": (
        lambda: counted(hardware.get, "h100_sxm", take=deaf),
        "gives a typed number",
    ),
    "a length of one number": (lambda: counted(len, [0] * 718), "names no run"),
    "a measurement": (
        lambda: Quantity(421.7, "ns", kind="measured", source=DATED),
        "names no record",
    ),
    "dots near a line": (lambda: drawn([0.99, 1.98]), "typed numbers are not measured"),
    "dots of a prediction": (
        lambda: drawn(
            plots.rows([stamp(chosen(3, "GB") / H100.memory_bandwidth, "A")])
        ),
        "rests on no row of a record",
    ),
    "dots of a prediction beside a record": (
        lambda: drawn(
            plots.rows([recorded(RESULT, *ROW) / recorded(RESULT, *ROW) * TIME])
        ),
        "is predicted, not measured",
    ),
    "dots of a factor": (
        lambda: drawn(plots.rows([recorded(RESULT, *ROW) * 0.99])),
        "a typed number",
    ),
    "a spread of typed ends": (
        lambda: plots.dots([1], MEDIAN, "seen", "measured", spread=[(0.9, 1.1)]),
        "its spread too",
    ),
    "a spread of another record": (
        lambda: plots.dots(
            [1], MEDIAN, "seen", "measured", spread=[plots.rows([H200])]
        ),
        "of another record, D-0043",
    ),
    "a rule said to be measured": (
        lambda: plots.rule("peak", "measured", y=3.1),
        "typed numbers are not measured",
    ),
    "a diamond nobody claims": (
        lambda: plots.diamonds(1, 3.1, "the vendor says"),
        "typed numbers are not claimed",
    ),
    "a prediction among claims": (
        lambda: plots.rows(
            [TIME * quoted("llama3.training_share")], evidence="claimed"
        ),
        "is predicted",
    ),
    "rows of another machine": (
        lambda: plots.dots(
            [1], plots.rows([H200]), "H100", "measured", device=H100.key
        ),
        "stand on h200_sxm alone",
    ),
    "this machine's under a device": (
        lambda: plots.dots([1], MEDIAN, "H100", "measured", device=H100.key),
        "stand on this_machine alone",
    ),
    "a device's under this machine": (
        lambda: plots.dots([1], plots.rows([H200]), "a", "measured", this_machine=True),
        "stand on h200_sxm alone",
    ),
    "rows on an axis of another unit": (
        lambda: plots.chart(
            "A run.",
            x=plots.axis("Runs"),
            y=plots.axis("Time (ms)"),
            marks=[plots.dots(1, plots.rows([seen()], "s"), "a", "measured")],
        ),
        "rows in s stand on it",
    ),
    "a table's row of another device": (
        lambda: tabled(H100.memory_bandwidth, device="b200_sxm"),
        "stand on h100_sxm alone",
    ),
    "a table's row of another machine": (
        lambda: tabled(H200, device="a100_sxm_80gb", evidence="measured"),
        "stand on h200_sxm alone",
    ),
    "a row of claims that a model made": (
        lambda: tabled(TIME * H100.tdp, evidence="claimed"),
        "is no claim",
    ),
    "a row of claims that is typed": (
        lambda: tabled(421.7, evidence="claimed"),
        "none of its numbers is read",
    ),
    "a stamp on typed numbers": (lambda: said(TIME), "carries the band of A"),
    "a cell's own figure": (lambda: counted(cell_figure, 3), "gives a typed number"),
    "a whole one": (lambda: counted(cell_whole, 3), "gives a typed number"),
    "by default": (lambda: counted(cell_default, 3), "gives a typed number"),
    "beside it": (lambda: counted(cell_beside, 3), "gives a typed number"),
    **{
        f"assumed of {words}": (
            lambda words=words: assumed(0.37, "", "a share", why=words),
            "is no judgement of ours",
        )
        for words in (
            "what Smith et al. measured",
            "Jia 2018, section 2.1, read it out of the code",
            "The vendor's white paper has it",
            "As NVIDIA's tuning guide says.",
            "JESD79-5 has two of them",
            "A study of forty sites found it",
        )
    },
    "whole numbers of a unit": (lambda: said(4217 * one_of("us")), "of a unit"),
    "a rate in whole numbers": (
        lambda: said(712 * one_of("TFLOP") / one_of("s")),
        "of a unit",
    ),
    "a share in whole numbers": (lambda: said(seen() * 99 / 100), "times 0.99"),
    "less a hundredth of itself": (lambda: said(seen() - seen() / 100), "times 0.99"),
    "a share of a spec": (lambda: said(H100.memory_bandwidth * 3 / 4), "times 0.75"),
    "a share of what is claimed": (
        lambda: said(quoted("llama3.training_share") * 9 / 8),
        "times 1.125",
    ),
    **{
        f"dots {words}": (
            lambda adjusted=adjusted: drawn(plots.rows([adjusted()])),
            "is predicted, not measured",
        )
        for words, adjusted in {
            "scaled by a choice": lambda: seen() * chosen(0.99),
            "scaled by two": lambda: seen() * chosen(99) / chosen(100),
            "shifted": lambda: seen() - chosen(2, "us"),
            "shifted by a unit": lambda: seen() - one_of("us") * 2,
            "replaced": lambda: minimum(seen(), chosen(1, "us")),
        }.items()
    },
    **{
        f"of kind {kind}": (
            lambda kind=kind: say("t", a=(Quantity(421.7, "ns", kind=kind), "A.")),
            "names no record" if kind in SOURCED else "is made by",
        )
        for kind in (*SOURCED, *MAKERS)
    },
}


@pytest.mark.rows("plant", PLANTS)
def test_a_planted_literal_is_refused(plant):
    call, says = PLANTS[plant]
    with pytest.raises((ValueError, SpecError), match=says):
        call()


def test_a_device_may_be_called_by_its_alias():
    assert tabled(H100.memory_bandwidth, device="h100")
    assert tabled(H100.memory_bandwidth, device="H100-SXM")


def test_what_a_reader_is_told_of_a_measurement():
    """Whole shares, means and other rows leave it one; a model beside it does not."""
    least = recorded(RESULT, ROW[0], "times_s/least", unit="s")
    for kept in (seen() * 3, seen() / 7, seen() / least, (seen() + least) / 2):
        assert told(said(kept).numbers["t.a"].quantity) == "measured"
    for other in (seen() / TIME, seen() / least * TIME, seen() * chosen(0.99)):
        assert told(other) == "predicted"
    assert told(seen() * chosen(4, label="of them")) == "measured"
    assert told(chosen(64, "B") / seen()) == "measured"


def test_a_call_is_shown_as_a_reader_types_it():
    path = "stacklib.interconnect.best.bounds.least_steps"
    assert typed(bounds.least_steps) == path
    board = chosen(8, label="chips")
    found = counted(hardware.get, "h100_sxm", take="year", label="year")
    assert found.note == "stacklib.hardware.get('h100_sxm').year"
    made = counted(Format("e2m1").decode, 5, label="x")
    assert made.note == "stacklib.quantizers.Format(name='e2m1').decode(5)"
    assert counted(operands, board, 2, label="x").inputs == (board,)


def operands(many, each):
    """Numbers that are read."""
    return many * each


def test_a_counting_function_is_called_as_it_was_written():
    @counting("{many} of {each}", unit="B", shown="kB")
    def size(many: int, *, each: int = 4) -> int:
        return many * each

    made = size(chosen(500, label="many"))
    assert (made.text(), made.label, size.__name__) == ("2 kB", "500 of 4", "size")
    assert made.note == "size(many, each=4)" and [q.si for q in made.inputs] == [500]
    with pytest.raises(TypeError, match="many"):
        size()

    @counting(lambda many: "few" if many < 3 else "many", family="A", unit="s")
    def last(many: int) -> float:
        return many / 2

    assert (last(2).label, last(4).label, told(last(2))) == ("few", "many", "predicted")


def test_what_a_function_returns_keeps_its_tree_and_its_stamp():
    def twice(time):
        return time * 2

    made = counted(twice, TIME, unit="ms", label="twice")
    assert (made.text(), made.label) == ("12,000 ms", "twice")
    assert families(made) == {"A"} and told(made) == "predicted"
    assert [leaf.kind for leaf in made.leaves()] == ["chosen", "constant", "constant"]
    assert families(counted(bare_twice, TIME)) == {"A"}


def bare_twice(time):
    """A model's time and a factor that says nothing of itself."""
    return time * 0.7


def test_a_recorded_value_names_file_row_date_and_device():
    row = recorded(RESULT, *ROW, unit="s")
    assert row.kind == "measured" and row.source.title == RESULT
    assert row.source.where.startswith("AMD") and row.source.seen[:4] == "2026"
    assert told(row / 2) == "measured" and told(row / row) == "measured"
    for wrong in (
        ("gemv", "times_s/median"),
        ("gemv-fp32-8192x8192", "time_s/median"),
        ("gemv-fp32-8192x8192", "times_s/middle"),
    ):
        with pytest.raises(UnknownName):
            recorded(RESULT, *wrong)
    with pytest.raises(ValueError, match="not a number"):
        recorded(RESULT, "gemv-fp32-8192x8192", "times_s")
    with pytest.raises(ValueError, match="no such file"):
        recorded("benchmarks/results/none.json", "a", "b")
    with pytest.raises(ValueError, match="is no result file"):
        recorded("README.md", "a", "b")


def test_a_judgement_may_say_that_no_document_has_it():
    """And one that leans on a document carries it as its source."""
    for why in (
        "a burst brings as many",
        "No vendor prints them.",
        "Linux reports it.",
    ):
        assert assumed(4, label="ways", why=why).note == why
    told = assumed(4, label="ways", why="The paper draws so many.", source=DATED)
    assert told.source is DATED


def test_the_file_of_quotes_is_whole():
    for key in quotes():
        found = quoted(key)
        assert found.key == QUOTED + key and found.source and found.label
        assert found.kind == ("assumed" if quotes()[key].why else "claimed")
    places = [(row.document, row.says) for row in quotes().values()]
    assert len(set(places)) == len(places) and [*quotes()] == sorted(quotes())
    with pytest.raises(UnknownName, match=r"llama3\.storage"):
        quoted("llama3.storag")
