"""Fewest steps: bounds, every schedule tried, the solver, and what was recorded."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.evidence import results
from stacklib.interconnect.best import known, solve
from stacklib.interconnect.best.board import Board, board_of
from stacklib.interconnect.best.bounds import Bound, least_share, least_steps
from stacklib.interconnect.best.search import fewest
from stacklib.interconnect.networks.simulate import simulate
from stacklib.interconnect.networks.topology import Topology
from stacklib.interconnect.schedules.algorithms import KNOWN, all_reduce
from stacklib.interconnect.schedules.schedule import Schedule, Send
from stacklib.interconnect.schedules.verify import verify

ROWS = results.need("proven_best")["rows"]
SMALL = {
    "line of 3": known.line_of(3),
    "ring of 3": known.ring_of(3),
    "star of 4": known.star_of(4),
    "mesh of 4": Topology.nvlink_mesh(4, link=1.0),
    "switch of 3": known.switch_of(3),
}


def schedule_of(row: dict) -> Schedule:
    ranks = known.named(row["board"]).ranks
    sends = tuple(Send(*one[:4], bool(one[4])) for one in row["sends"])
    return Schedule("all_reduce", row["by"], ranks, row["chunks"], sends)


# -- what was recorded -----------------------------------------------------------------


@pytest.mark.rows("row", ROWS)
def test_a_recorded_schedule_is_right_fits_and_is_as_long_as_it_says(row):
    made, board = schedule_of(row), known.named(row["board"])
    assert verify(made).holds and board.overfull(made) == ""
    assert made.steps == row["steps"] == row["low"]  # all are optimal
    assert least_steps(board, row["chunks"]).steps == row["counted"] <= row["low"]
    assert (row["why"] == "solver") == (row["counted"] < row["low"])


@pytest.mark.rows("row", ROWS)
def test_link_by_link_it_takes_a_chunks_time_a_step(row):
    made = schedule_of(row)
    topology = known.BOARDS[row["board"]]()
    run = simulate(made, topology, float(row["chunks"]), routing="single")
    # cables of one chunk a second; where one has two, a step may be shorter
    assert run.time <= made.steps * (1 + 1e-9)
    if all(link.cables == 1 for link in topology.links):
        assert run.time == pytest.approx(made.steps)


def test_eleven_boards_six_of_eight_chips():
    boards = {row["board"] for row in ROWS}
    assert boards == set(known.BOARDS) and len(boards) == 11
    assert sum(known.named(name).ranks == 8 for name in boards) == 6


# -- bounds ----------------------------------------------------------------------------


def test_bounds_on_boards_counted_by_hand():
    at = {
        (name, c): least_steps(known.named(name), c)
        for name in known.BOARDS
        for c in (1, 8)
    }
    assert at["line of 4", 1] == (3, "far")
    wires = {(0, 4), (1, 4), (2, 5), (3, 5), (4, 5)}
    tree = {link[:2] for link in known.pcie_tree(4).links}
    assert tree == wires | {pair[::-1] for pair in wires}
    assert at["switch of 8", 1] == (3, "growth")
    assert at["switch of 8", 8] == (14, "sends") == at["PCIe tree of 8", 8]
    assert at["torus 2 x 2 x 2", 8] == (5, "sends")  # 2 x 7 x 8 sends on 24 links
    assert at["star of 4", 8] == (9, "cut")  # a leaf's link carries all, then one more
    assert least_steps(Board("one", 1, {}, ()), 1) == (0, "far")


@pytest.mark.rows("name", list(known.BOARDS))
def test_no_algorithm_of_the_book_beats_the_bound(name):
    board = known.named(name)
    for algorithm in KNOWN["all_reduce"]:
        made = all_reduce(board.ranks, algorithm)
        if not made.switches and not board.overfull(made):
            assert made.steps >= least_steps(board, made.chunks).steps
    ring = known.ring_on(board)
    if ring is not None:
        assert verify(ring).holds and ring.steps == 2 * (board.ranks - 1)
        assert ring.steps / ring.chunks >= least_share(board) * (1 - 1e-9)


def test_more_chunks_take_more_steps_and_less_time():
    for name in known.BOARDS:
        board = known.named(name)
        steps = [least_steps(board, chunks).steps for chunks in range(1, 17)]
        assert all(a <= b for a, b in pairwise(steps))
        assert steps[-1] / 16 >= least_share(board) * (1 - 1e-9)


# -- all schedules, and the solver -----------------------------------------------------


@pytest.mark.rows("name", list(SMALL))
def test_every_schedule_of_few_chips_is_tried(name):
    board = board_of(SMALL[name], name)
    found = fewest(board)
    assert found is not None and found >= least_steps(board, 1).steps
    recorded = [r["steps"] for r in ROWS if (r["board"], r["chunks"]) == (name, 1)]
    assert recorded in ([], [found])
    assert fewest(board, found - 1) is None


@pytest.mark.rows("name", list(SMALL))
def test_the_solver_finds_what_the_search_does(name):
    pytest.importorskip("ortools")
    board = board_of(SMALL[name], name)
    found = solve.search(board, 1, limit=5, workers=1)
    assert found.optimal and found.low == fewest(board)
    assert verify(found.schedule).holds and not board.overfull(found.schedule)
    assert solve.solve(board, 1, found.low - 1, workers=1).says == "impossible"
    assert solve.solve(board, 1, found.low - 1, growing=True).says == "unknown"


@settings(max_examples=12, deadline=None)
@given(st.sets(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=3))
def test_on_any_three_chips_no_bound_is_above_the_search(pairs):
    links = [(a, b, 1.0) for a, b in pairs if a != b]
    try:
        board = board_of(Topology("drawn", 3, 3, links))
    except ValueError:
        return  # not connected
    assert least_steps(board, 1).steps <= fewest(board)


# -- bad input, planted faults ---------------------------------------------------------


def test_a_wire_that_carries_too_much_is_named():
    board = known.named("ring of 4")
    both = ((0, 0, 1, 0, True), (0, 0, 1, 1, True))
    made = Schedule("all_reduce", "x", 4, 2, both)
    assert board.overfull(made).startswith("step 0: wire ")
    far = Schedule("all_reduce", "x", 4, 1, ((0, 0, 2, 0, True),))
    assert "rank 0 has no way to rank 2" in board.overfull(far)
    wide = board_of(known.ring_of(4), slots=2)
    assert wide.overfull(made) == ""


def test_a_bound_that_is_too_high_would_be_seen(monkeypatch):
    worse = Bound(4, "far")
    monkeypatch.setattr(solve, "least_steps", lambda board, chunks: worse)
    board = board_of(known.line_of(3))
    assert fewest(board) == 2 < worse.steps


def test_bad_input_is_refused():
    board = known.named("ring of 4")
    with pytest.raises(ValueError, match="chunks"):
        least_steps(board, 0)
    with pytest.raises(ValueError, match="13 chips"):
        least_steps(board_of(known.ring_of(13)), 1)
    with pytest.raises(ValueError, match="8 chips"):
        fewest(known.named("ring of 8"))
    with pytest.raises(ValueError, match="limit"):
        solve.solve(board, 1, 2, limit=0)
    with pytest.raises(ValueError, match="slots"):
        board_of(known.ring_of(4), slots=0)


def test_the_result_says_what_it_was_made_with():
    assert "ortools" in results.need("proven_best")["versions"]
    text = json.dumps(ROWS)
    assert len(text) < 60_000
