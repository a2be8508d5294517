"""Static timing against all paths, nextpnr's report, Kirchhoff, and an H-tree."""

import json
import random
from fractions import Fraction

import pytest
from _tools import tree
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.frontier import ir_drop, place, timing
from stacklib.frontier.layout.circuit import CircuitError
from stacklib.frontier.layout.clock import clock_tree
from stacklib.frontier.layout.placing import Floor
from stacklib.frontier.layout.supply_grid import bears

RESULT = json.loads(
    (tree.ROOT / "benchmarks/results/placement.json").read_text("utf-8")
)
ROWS = {row["id"]: row for row in RESULT["rows"]}
LINE = [("i", "IN", "", "a"), ("g", "NOT", "a", "b"), ("o", "OUT", "b", "")]


def graph(seed: int) -> tuple[list, dict, dict, dict]:
    """A random netlist with delays of cells by pin, of wires, and of the clock."""
    pick = random.Random(seed)
    nets, rows = ["n0", "n1"], [("i", "IN", "", "n0"), ("j", "IN", "", "n1")]
    for n in range(2, pick.randint(4, 14)):
        read = [pick.choice(nets) for _ in range(pick.randint(1, 3))]
        kind = "DFF" if pick.random() < 0.25 else "GATE"
        rows.append((f"c{n}", kind, read[:1] if kind == "DFF" else read, f"n{n}"))
        nets.append(f"n{n}")
    rows.append(("o", "OUT", [nets[-1]], ""))
    delays, wires, clock = {}, {}, {}
    for name, kind, read, _ in rows:
        each = tuple(pick.randint(0, 9) / 8 for _ in read)
        delays[name] = each if kind == "GATE" else pick.randint(0, 9) / 8
        wires.update({(name, p): pick.randint(0, 9) / 8 for p in range(len(read))})
        if kind == "DFF":
            clock[name] = pick.randint(0, 4) / 8
    return rows, delays, wires, clock


def all_paths(rows, delays, wires, clock) -> dict[str, list[float]]:
    """By hand: every path to every endpoint, walked backwards."""
    driver = {out: (name, kind, read) for name, kind, read, out in rows if out}

    def ways(net: str) -> list[float]:
        name, kind, read = driver[net]
        if kind == "IN":
            return [0.0]
        if kind == "DFF":
            return [clock[name] + delays[name]]
        return [
            t + wires[name, p] + delays[name][p]
            for p, other in enumerate(read)
            for t in ways(other)
        ]

    return {
        name: [t + wires[name, 0] for t in ways(read[0])]
        for name, kind, read, _ in rows
        if kind in ("DFF", "OUT")
    }


@pytest.mark.parametrize("seed", range(200))
def test_every_path_by_hand(seed):
    """Latest, earliest and the least period: equal on 200 random graphs."""
    rows, delays, wires, clock = graph(seed)
    told = timing(rows, delays, wires=wires, clock=clock, setup=0.25, period=20.0)
    paths = all_paths(rows, delays, wires, clock)
    needs = []
    for path in told.paths:
        register = path.end != "o"
        setup, at = (0.25, clock[path.end]) if register else (0.0, 0.0)
        late = max(paths[path.end]) + setup
        assert path.arrival == late
        assert path.slack == 20.0 - (late - at)
        assert path.hold == min(paths[path.end]) - at
        assert path.steps[-1].cell == path.end
        summed = sum(Fraction(s.wire) + Fraction(s.logic) for s in path.steps)
        assert summed + Fraction(clock.get(path.start, 0)) == Fraction(late)
        needs.append(late - at)
    assert told.least == max(needs)
    assert [p.slack for p in told.paths] == sorted(p.slack for p in told.paths)


def test_the_paths_that_nextpnr_reports():
    """Its cells, its delays: from register to register, and to a pin."""
    kept = ROWS["paths"]
    delays = {r[0]: tuple(r[4]) for r in kept["rows"] if r[4]}
    wires = {(r[0], p): d for r in kept["rows"] for p, d in enumerate(r[5])}
    told = timing([r[:4] for r in kept["rows"]], delays, wires=wires)
    ends = {p.end.removesuffix("f"): p.arrival for p in told.paths}
    inside, _, outward = kept["paths"]
    assert told.worst.end.removesuffix("f") == inside["to"]
    assert told.least == pytest.approx(inside["ns"], abs=1e-6)
    assert 1e3 / told.least == pytest.approx(ROWS["nextpnr-1"]["megahertz"], rel=1e-5)
    assert ends[outward["to"]] == pytest.approx(outward["ns"], abs=1e-6)


def test_the_result_holds_its_bar():
    """Within 15 % of the best found, in under ten seconds, each placement legal."""
    for row in (r for name, r in ROWS.items() if name.startswith("ours")):
        assert row["over_best"] <= 1.15 and row["times_s"] < 10 and not row["wrong"]


def test_longer_wires_take_longer():
    """The placed MAC's clock rises as annealing shortens its wires."""
    start, end = (place("serial_mac", effort=e) for e in (0, 0.02))
    assert timing(end).megahertz > timing(start).megahertz
    worst = timing(end).worst
    assert worst.slack == 0 and worst.arrival == pytest.approx(timing(end).least)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"delays": {}}, "no delay is known|of kind NOT"),
        ({"delays": {"NOT": -1.0}}, "-1.0: a delay is finite"),
        ({"delays": {"NOT": float("nan")}}, "nan: a delay is finite"),
        ({"delays": {"NOT": True}}, "True: a number of nanoseconds"),
        ({"delays": {"NOT": ()}}, "0 pins, and 0 is read"),
        ({"delays": {"NOT": 1.0}, "period": float("inf")}, "period inf"),
        ({"delays": {"NOT": 1.0}, "wires": {("g", 0): -2}}, "-2: a delay"),
        (
            {"delays": {"NOT": 1.0}, "wires": {("gg", 0): 2}},
            "no cell is named 'gg'.* g",
        ),
        ({"delays": {"NOT": 1.0}, "clock": {"r": 2}}, "no cell is named 'r'"),
        ({"delays": {"NOT": 1.0}, "wires": {"g": 2}}, "no wire leads to .*'g', -1"),
        ({"delays": {"NOT": 1.0}, "wires": {("g", 1): 2}}, "no wire leads to"),
    ],
)
def test_bad_delays_are_refused(more, said):
    """Each by its value."""
    with pytest.raises(ValueError, match=said):
        timing(LINE, **more)


def test_a_loop_is_named_and_nothing_to_time_is_said():
    """A ring of three gates; a netlist without an end."""
    ring = [("a", "NOT", "z", "x"), ("b", "NOT", "x", "y"), ("c", "NOT", "y", "z")]
    with pytest.raises(CircuitError, match="loop of gates: b -> c -> a -> b"):
        timing(ring, {"NOT": 1.0})
    with pytest.raises(ValueError, match="nothing to be timed"):
        timing(LINE[:2], {"NOT": 1.0})


# -- supply and clock ------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.integers(1, 6), st.integers(1, 6)),
        st.floats(1e-6, 1e-2),
        min_size=1,
        max_size=8,
    )
)
def test_kirchhoff_holds_at_every_node(load):
    """What flows in is drawn; all of it comes from the supply."""
    drop = ir_drop(load, volts=1.0, ohm=2.0)
    assert drop.unbalanced < 1e-12
    assert drop.supplied == pytest.approx(sum(load.values()))
    assert drop.volts[drop.where] == min(drop.volts.values())
    twice = ir_drop({n: 2 * a for n, a in load.items()}, volts=1.0, ohm=2.0)
    assert twice.worst == pytest.approx(2 * drop.worst)


def test_a_chain_of_resistors_by_hand():
    """One row held at one end: 1 A through two ohms, then through three."""
    load = {(2, 0): 1.0}
    held = {(0, y) for y in range(2)}
    drop = ir_drop(load, volts=9.0, ohm=1.0, supply=held)
    # Four columns and two rows: solved by hand, by symmetric and opposite parts.
    common = 2 * 0.5
    assert drop.volts[2, 0] + drop.volts[2, 1] == pytest.approx(18 - 2 * common)
    assert drop.overloaded == {}


def test_a_wire_that_carries_too_much_is_named():
    """All of the current through four wires beside one node."""
    drop = ir_drop({(1, 1): 0.4}, volts=1.0, ohm=1.0, limit=bears(0.09, 1.0))
    assert list(drop.overloaded.values()) == pytest.approx([0.1] * 4)
    assert not ir_drop({(1, 1): 0.4}, volts=1, ohm=1, limit=0.2).overloaded


@pytest.mark.parametrize(
    ("load", "more", "said"),
    [
        ({(1, 1): -1.0}, {}, "amps"),
        ({(1, 1): float("nan")}, {}, "amps"),
        ({(1, 1): 0.0}, {}, "no node draws"),
        ({(1, 1): 1.0}, {"supply": ()}, "one at least"),
        ({(1, 1): 1.0}, {"supply": {(9, 9)}}, "one at least"),
        ({(1, 1): 1.0}, {"ohm": 0.0}, "ohm"),
        ({1: 1.0}, {}, "node 1: a column and a row"),
        ({(1.5, 1): 1.0}, {}, "x = 1.5"),
        ({(1, 1): 5.0}, {}, r"1.25 of 1 V lost on the way to \(1, 1\)"),
        ({(10**6, 10**6): 1.0}, {}, "65536 at most"),
    ],
)
def test_bad_loads_are_refused(load, more, said):
    """Each by its name."""
    with pytest.raises(ValueError, match=said):
        ir_drop(load, **{"volts": 1.0, "ohm": 1.0, **more})


def test_the_placed_mac_draws_what_its_cells_draw():
    """And a placement without a current for its cells is refused."""
    placed = place(LINE, grid=Floor(3, 3, memory=()))
    assert ir_drop(placed, volts=1.2, ohm=1.0, amps=1e-3).supplied == pytest.approx(
        1e-3
    )
    with pytest.raises(ValueError, match="amps"):
        ir_drop(placed, volts=1.2, ohm=1.0)


@pytest.mark.parametrize("side", [1, 2, 4, 8])
def test_an_h_tree_has_no_skew(side):
    """A regular grid of 4^n registers; one moved away has."""
    grid = {f"r{x}.{y}": (float(x), float(y)) for x in range(side) for y in range(side)}
    assert clock_tree(grid).skew == pytest.approx(0, abs=1e-12)
    moved = {**grid, "r0.0": (-5.0, 0.0)}
    assert side <= 2 or clock_tree(moved).skew > 0
    assert set(clock_tree(grid, leaf=3).arrivals) == set(grid)


def test_a_late_clock_gives_what_it_takes():
    """Of two registers in a row: later at the second is slack for one, not for hold."""
    rows = [("k", "IN", "", "k"), ("a", "DFF", "q k", "p"), ("b", "DFF", "p k", "q")]
    even = timing(rows, {"DFF": 1.0}, period=2.0)
    late = timing(rows, {"DFF": 1.0}, period=2.0, clock={"b": 0.5})
    slack = {p.end: (p.slack, p.hold) for p in late.paths}
    assert {p.slack for p in even.paths} == {1.0} and even.hold == 1.0
    assert slack == {"b": (1.5, 0.5), "a": (0.5, 1.5)}
    with pytest.raises(ValueError, match="no register"):
        clock_tree({})
