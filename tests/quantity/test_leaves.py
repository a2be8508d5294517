"""A leaf says truly what it is, and what a reader is told follows from the leaves."""

import math
import re

import pytest

from stacklib import hardware, models
from stacklib.quantity import (
    Quantity,
    Source,
    UnitError,
    assumed,
    chosen,
    constant,
    counted,
    one_of,
    say,
    stamp,
)
from stacklib.quantity.told import bare, families, told

SHEET = Source("Data sheet", "table 1", "2026-11-22", "vendor")


def spec(value: float, unit: str) -> Quantity:
    return Quantity(value, unit, label="s", source=SHEET, kind="spec", key="x.s")


def test_a_plain_quantity_is_bare_and_arithmetic_goes_on():
    latency = Quantity(421.7, "ns", label="latency")
    assert latency.kind == "bare" and (2 * latency).text() == "843 ns"
    assert [leaf.label for leaf in bare(2 * latency + latency)] == ["latency"]


@pytest.mark.rows("factor", [2, 0.5, 1 / 3, 1e9, 1e-9])
def test_whole_numbers_and_their_parts_belong_to_a_formula(factor):
    assert bare(spec(3, "ns") * factor) == []


@pytest.mark.rows("factor", [0.87, 421.7, 1.5])
def test_any_other_literal_in_a_formula_is_bare(factor):
    (leaf,) = bare(spec(3, "ns") * factor)
    assert leaf.si == factor


def test_a_planted_literal_is_refused_with_its_label():
    with pytest.raises(ValueError, match=r"t\.a: latency = 422 ns: a typed number"):
        say("t", a=(Quantity(421.7, "ns", label="latency"), "Latency."))
    with pytest.raises(ValueError, match=r"t\.a: 0\.87: a typed number"):
        say("t", a=(spec(3, "ns") * 0.87, "Most of it."))
    with pytest.raises(TypeError, match=r"t\.a: 3 has no derivation"):
        say("t", a=3)


def test_a_judgement_has_a_reason():
    share = assumed(0.5, label="share", why="two readers take turns")
    assert share.tree()["why"] == "two readers take turns"
    with pytest.raises(ValueError, match="say what it is and why"):
        assumed(0.5, label="share", why=" ")


def run(value):
    """A run that gives what it is asked for."""
    return value


def test_what_a_run_counted_shows_the_call_and_its_inputs():
    room = chosen(3, label="room")
    found = counted(min, room, 7, label="the fewest")
    assert found.si == 3 and found.tree()["formula"] == "min(room, 7)"
    assert found.tree()["inputs"][0]["kind"] == "chosen"
    spread = counted(run, (3, 2), take=max, unit="B")
    assert (spread.text(), spread.note) == ("3 B", "max(run((3, 2)))")
    deep = counted(run, [{"two words": slice(1, 5)}], take="[0]['two words'].stop")
    assert deep.si == 5 and deep.tree()["formula"].endswith(")[0]['two words'].stop")
    for path in ("[-1]", "stop()", "[0", "a b"):
        with pytest.raises(ValueError, match=re.escape(repr(path))):
            counted(run, (3, 2), take=path)
    with pytest.raises(UnitError, match="gave 'a', not a number"):
        counted(run, "a")
    with pytest.raises(UnitError, match="finite"):
        counted(run, math.nan)


def test_constants_are_rows_of_one_table():
    assert constant("multiply_add").text() == "2 FLOP"
    assert one_of("GiB").si == 2**30
    with pytest.raises(LookupError, match="multiply_add"):
        constant("multiply_adds")


BANDWIDTH = hardware.get("h100-sxm").memory_bandwidth
WEIGHTS = models.get("llama-3-70b").parameters
PRESS = Quantity(2, "USD/h", source=SHEET, kind="claimed", key="quotes/x.y")
TOLD = [
    (BANDWIDTH, "spec"),
    (BANDWIDTH / spec(989, "TFLOP/s"), "spec"),
    (spec(80, "GB") * 8, "spec"),
    (spec(80, "GB") / BANDWIDTH, "predicted"),
    (spec(700, "W") * chosen(1, "h"), "predicted"),
    (WEIGHTS, "spec"),
    (WEIGHTS * 2, "spec"),
    (chosen(3), "chosen"),
    (chosen(3) * 2, "exact"),
    (constant("byte") * 2, "exact"),
    (counted(len, "abc"), "exact"),
    (counted(max, [1, 2]), "simulated"),
    (counted(max, [1, 2]) / 2, "simulated"),
    (assumed(0.5, label="a", why="b") * chosen(2, "s"), "assumed"),
    (assumed(2, label="a", why="b") * BANDWIDTH, "predicted"),
    (Quantity(3, "s", kind="measured", key="a.json#b/c") / 2, "measured"),
    (Quantity(3, "s", kind="claimed", key="q") / spec(2, "s"), "claimed"),
    (PRESS + PRESS, "claimed"),
    (PRESS * chosen(2, "h"), "claimed"),
    (PRESS * (spec(80, "GB") / BANDWIDTH), "predicted"),
    (stamp(chosen(3, "s") * 2, "A"), "predicted"),
]


@pytest.mark.rows(("q", "word"), TOLD)
def test_what_is_told_follows_from_the_tree(q, word):
    assert told(q) == word


def test_a_stamp_goes_with_the_number_wherever_it_stands():
    time = stamp(chosen(3, "s") * 2, "A")
    assert families(time * 80 + stamp(time, "C")) == {"A", "C"}
    assert families(chosen(3) * constant("byte")) == set()


CLOCK, OTHER = Quantity(1.755, "GHz"), Quantity(1.98, "GHz")


def test_cycles_of_two_clocks_never_meet():
    latency = Quantity(670, "cycle", label="memory").at_clock(CLOCK)
    rate = Quantity(37, "B/cycle", label="L2").at_clock(CLOCK)
    assert (latency / CLOCK).text() == "382 ns" and not (latency / CLOCK).tags
    for wrong in (
        lambda: latency / OTHER,
        lambda: rate * OTHER,
        lambda: rate * CLOCK / Quantity(9, "TB/s").at_clock(OTHER),
        lambda: latency + Quantity(1, "cycle").at_clock(OTHER),
    ):
        with pytest.raises(UnitError, match=r"1\.755 GHz|@1755MHz"):
            wrong()
    peak = Quantity(989, "TFLOP/s dense").at_clock(CLOCK)
    assert (peak / (rate * CLOCK)).text().endswith("FLOP/B")
    with pytest.raises(UnitError, match="no rate"):
        Quantity(3, "ns").at_clock(CLOCK)
    with pytest.raises(UnitError, match="given in GHz"):
        rate.at_clock(Quantity(3, "ns"))
