"""Section 5.2: its loop, its witnesses, the array that a reader types."""

import pytest

from stacklib.accelerators import SystolicArray, cycles
from stacklib.accelerators.rtl import gates
from stacklib.pages.accelerators import array as page
from stacklib.pages.accelerators.array import drawings, first_tpu, live
from stacklib.plots import spec

from ...live_figures import ask
from ...programs import loop_of

loop = loop_of("05-accelerators/array")


@pytest.mark.rows("rows", [2, 5, 10])
def test_the_loop_is_the_package_s_array(rows: int):
    a = [[3 * r + c + 1 for c in range(3)] for r in range(rows)]
    w = [[1, 4], [2, 5], [3, 6]]
    run = SystolicArray(3, 2, "ws").run(a, w)
    told = loop.prints("a = [[1, 2, 3], [4, 5, 6]]", f"a = {a}")
    expected = [[int(x) for x in row] for row in run.product]
    assert told == f"last cycle {run.last_cycle} product {expected}\n"


def test_one_token_uses_one_cycle_of_each_tile():
    assert page.used(1).si == pytest.approx(1 / 383, rel=1e-3)
    assert page.arrays().si == pytest.approx(8, rel=1e-2)


def test_all_witnesses_agree_in_every_cycle(monkeypatch):
    assert page.agreed("2x4x2").si == 6
    for row in page.witnesses():
        assert row["gates"].si == row["Amaranth"].si == row["random products"].si
    exact = gates.number

    def stuck(bits):  # the lowest bit of every number is 1
        return exact([1, *bits[1:]])

    monkeypatch.setattr(gates, "number", stuck)
    assert page.agreed("2x4x2").si == 0


def show(text: str, **changed):
    return ask(live.explore, live.controls(), program=text, **changed)


@pytest.mark.rows("name", live.STARTS)
def test_what_a_reader_begins_from_agrees(name: str):
    made, told = show(live.STARTS[name])
    assert "differ" not in made["title"]
    asked = live.read(live.STARTS[name])
    asked.pop("overlap")
    if "stepped" in told:
        assert told["stepped"] == told["last"] == f"{cycles(**asked):,}"
    assert ("gates" in told) == (name == "4 × 4 × 4")


def test_a_small_memory_or_a_long_product_binds_elsewhere():
    text = live.STARTS["one token"]
    assert "the memory binds" in show(text, bandwidth=1)[0]["title"]
    made, _ = show(text, cycle=63)
    assert made["table"]["caption"].startswith("Operands in cycle 63")
    assert len(made["table"]["rows"]) <= live.MORE


@pytest.mark.rows(
    ("text", "says"),
    [
        ("m = 4", "no line says what n is"),
        ("m = four", "line 1: m = 'four' is no whole number"),
        ("hello", "line 1: 'hello'; write one of m, n, k"),
        (live.STARTS["ragged"].replace("is", "rs"), "unknown dataflow 'rs'"),
        (live.STARTS["ragged"].replace("m = 7", "m = 0"), "m = 0: a whole number"),
    ],
)
def test_a_text_that_is_no_product_gets_its_reason(text, says):
    made = live.explore(program=text, cycle=0, bandwidth=1)
    spec.check(made)
    assert says in made["message"]


def test_gates_that_are_broken_are_named(monkeypatch):
    exact = gates.settle

    def broken(netlist, bits, ones):
        exact(netlist, bits, ones)
        bits[netlist.taken(netlist.outputs["c0_0"])[-1]] = ones  # the sum's sign

    monkeypatch.setattr(gates, "settle", broken)
    made, told = show(live.STARTS["4 × 4 × 4"])
    assert made["title"].startswith("Gates and stepped array differ first in cycle")
    assert int(told["gates"]) < 10


@pytest.mark.rows("dataflow", ["ws", "os"])
def test_the_drawing_shows_what_the_run_multiplies(dataflow: str):
    alt = {"ws": drawings.weights_stand, "os": drawings.sums_stand}[dataflow]().alt
    assert "cell 11: a11 × w11" in alt


def test_printed_sides_and_peaks_give_whole_arrays_or_impossible_clocks():
    for row in page.generations():
        if row["clock printed"] == "yes":
            many = row["arrays"].si
            assert many == pytest.approx(round(many), rel=0.01)
        else:
            assert row["clock"].si > 3.4e9  # the fastest that is printed is 1.75 GHz


def test_the_paper_s_counters_say_how_long_a_tile_works():
    """133 cycles for 64 vectors: two a vector, as with an operand of 16 bits."""
    assert first_tpu.working("lstm0").si == pytest.approx(2 * 64, rel=0.05)
    ours, published = first_tpu.batch_times()
    assert ours.si == pytest.approx(published.si, rel=0.05)
    assert first_tpu.by_counters().si == pytest.approx(20.5e12, rel=0.02)
    rows = {row["application"]: row for row in first_tpu.applications()}
    assert rows["LSTM0"]["published rate"].to("TOP/s").value == 3.7
    assert rows["CNN0"]["published waiting"] is None
