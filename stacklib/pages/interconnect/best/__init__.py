"""Section 6.3: Is the ring the best there is?"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib.evidence import results
from stacklib.interconnect.best import known
from stacklib.interconnect.best.board import Board, board_of
from stacklib.interconnect.best.bounds import Bound, least_share, least_steps
from stacklib.interconnect.best.search import fewest
from stacklib.interconnect.networks.simulate import simulate
from stacklib.interconnect.networks.topology import Topology
from stacklib.interconnect.schedules.schedule import Schedule, Send
from stacklib.interconnect.schedules.verify import verify
from stacklib.pages.interconnect import collectives
from stacklib.quantity import Quantity, ceil, chosen, counted, counting
from stacklib.roofline.work.moving import link_time

RESULT = "proven_best"
CUBE, SWITCH, MESH = "cube mesh (DGX-1)", "switch of 8", "mesh of 8"
TORUS, RING, TREE = "torus 2 x 2 x 2", "ring of 8", "PCIe tree of 8"
BOARDS = (RING, TORUS, CUBE, MESH, SWITCH, TREE)  # of eight chips
CHUNKS = CHIPS = 8


# -- boards and bounds -----------------------------------------------------------------


@cache
def board(name: str) -> Board:
    """A board by name."""
    return known.named(name)


@cache
def bound(name: str, chunks: int) -> Bound:
    """Steps that are counted to be needed, and why."""
    return least_steps(board(name), chunks)


@counting("steps needed, {name}, {chunks}")
def least(name: str, chunks: int) -> int:
    """Steps below which no schedule gets, by counting alone."""
    return bound(name, chunks).steps


@counting("chunks a step, {name}")
def at_once(name: str) -> int:
    """Chunks that all wires of a board carry in a step."""
    return board(name).most(board(name).ways)


@counting("steps across, {name}")
def diameter(name: str) -> int:
    """Steps between the chips that are farthest apart."""
    return board(name).diameter


@counting("chunks a step between the halves, {name}")
def crossing(name: str) -> int:
    """Chunks that go from one half of a board of eight to the other in a step."""
    out = [(a, b) for a, b in board(name).ways if a < CHIPS // 2 <= b]
    return board(name).most(out)


def crossed(name: str) -> Quantity:
    """Steps in which all chunks have left a half."""
    chunks = chosen(CHUNKS, label="chunks")
    return ceil(chunks / crossing(name)).named(f"steps between the halves, {name}")


def sends(chunks: int) -> Quantity:
    """Sends that an all-reduce of eight chips needs."""
    others = counted(len, range(1, board(SWITCH).ranks), label="other chips")
    there_and_back = chosen(2, label="to sum, and to spread")
    each = (there_and_back * others).named("sends a chunk, eight chips")
    return (each * chosen(chunks, label="chunks")).named(f"sends of {chunks} chunks")


# -- what the solver found -------------------------------------------------------------


@cache
def rows() -> dict[tuple[str, int], dict[str, Any]]:
    """Recorded schedules by board and chunks."""
    found = results.need(RESULT)["rows"]
    return {(row["board"], row["chunks"]): row for row in found}


@cache
def schedule(name: str, chunks: int) -> Schedule:
    """A recorded schedule, proved again and held to its board's wires."""
    row = rows()[name, chunks]
    listed = tuple(Send(s, a, b, c, bool(adds)) for s, a, b, c, adds in row["sends"])
    made = Schedule("all_reduce", row["by"], board(name).ranks, chunks, listed)
    if fault := board(name).overfull(made) or "\n".join(verify(made).faults):
        raise ValueError(f"{name}, {chunks} chunks: {fault}")
    return made


@counting("fewest steps, {name}, {chunks}")
def steps(name: str, chunks: int) -> int:
    """Steps of the schedule that was found."""
    return schedule(name, chunks).steps


@counting("optima proved")
def proved() -> int:
    """Boards and chunk counts whose fewest steps are proved."""
    return sum(row["steps"] == row["low"] for row in rows().values())


@counting("bounds that only the solver proves")
def by_solver() -> int:
    """Of these the ones where counting was not enough."""
    return sum(row["why"] == "solver" for row in rows().values())


@counting("boards of {ranks} chips")
def boards(ranks: int) -> int:
    """Boards of so many chips."""
    names = [name for name in known.BOARDS if board(name).ranks == ranks]
    return len(names)


# -- the ring on them ------------------------------------------------------------------


@counting("steps of the ring, {name}")
def ring(name: str = SWITCH) -> int:
    """Steps of the ring along a circle of a board."""
    made = known.ring_on(board(name))
    assert made is not None and verify(made).holds and not board(name).overfull(made)
    return made.steps


@counting("arrays a cable must carry, {name}")
def share(name: str) -> float:
    """Arrays that a cable must carry, however finely they are cut."""
    return least_share(board(name))


def ring_share(name: str = SWITCH) -> Quantity:
    """Arrays that the ring's busiest cable carries."""
    return (ring(name) / chosen(CHUNKS, label="chunks")).named(
        f"arrays over the ring's cable, {name}"
    )


def slower(name: str) -> Quantity:
    """The ring's bytes over the least there can be."""
    return (ring_share(name) / share(name)).named(f"ring over least, {name}")


# -- the token -------------------------------------------------------------------------


@cache
def wide() -> Board:
    """Eight GPUs on a switch that takes a message for everyone in one step."""
    return board_of(known.switch_of(collectives.TP), slots=collectives.TP - 1)


@counting("fewest steps, messages to all at once")
def exchange_steps() -> int:
    """Steps of an exchange where a port sends to all others at once."""
    return least_steps(wide(), 1).steps


def one() -> Quantity:
    """One exchange in one step."""
    others = chosen(collectives.TP - 1, label="other chips")
    moves = link_time(others * collectives.size(), collectives.LINK)
    found = exchange_steps() * collectives.alpha() + moves
    return found.named("an exchange in one step").to("µs")


@counting("an exchange in one step, link by link", unit="s", shown="µs")
def simulated() -> float:
    """The same by the simulator of links."""
    ranks = range(collectives.TP)
    rows_ = tuple(Send(0, a, b, 0, True) for a in ranks for b in ranks if a != b)
    made = Schedule("all_reduce", "one step", collectives.TP, 1, rows_)
    assert verify(made).holds and not wide().overfull(made)
    hop, rate = collectives.alpha().si / 2, collectives.bandwidth().si
    box = Topology.nvswitch(collectives.TP, 1, links=1, link=rate, latency=hop)
    return simulate(made, box, collectives.size().si).time


def exchange() -> Quantity:
    """All exchanges of a token."""
    return (collectives.exchanges() * one()).named("exchanges in one step each")


def saved() -> Quantity:
    """The ring's exchanges over these."""
    return (collectives.token("ring") / exchange()).named("ring over one step")


@counting("every schedule tried, {name}")
@cache
def tried(name: str) -> int:
    """Fewest steps of a board of few chips, by trying every schedule."""
    found = fewest(board(name))
    assert found is not None
    return found
