"""Boards on PCI Express: closed form, simulator and published runs of one ring."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.interconnect.networks.pcie import (
    SOCKETS,
    WORDS,
    board_path,
    farthest,
    reaches,
    slot,
)
from stacklib.interconnect.networks.read_topo import read_topo, topo_sample
from stacklib.interconnect.networks.simulate import simulate
from stacklib.interconnect.networks.topo_network import topo_network
from stacklib.interconnect.networks.topo_reading import TopoReading
from stacklib.interconnect.networks.topo_tree import Boards
from stacklib.interconnect.schedules.schedule import Schedule
from stacklib.quantity import UnknownName

from ...rows import refusals

GEN5 = slot(5, 16)


def reading(ways, count, access=None):
    """A reading of GPUs, from words by pair."""
    names = [f"GPU{i}" for i in range(count)]
    both = {}
    for (a, b), word in ways.items():
        both[names[a], names[b]] = both[names[b], names[a]] = word
    told = {(names[a], names[b]): word for (a, b), word in (access or {}).items()}
    return TopoReading(tuple(names), both, {}, {}, {}, told)


def tree(places):
    """Ways of boards by their places: switch, upper switch, bridge, node."""
    order = ("PIX", "PXB", "PHB", "NODE")
    ways = {}
    for a, b in combinations(range(len(places)), 2):
        same = [word for i, word in enumerate(order) if places[a][i:] == places[b][i:]]
        ways[a, b] = same[0] if same else "SYS"
    return reading(ways, len(places))


def all_reduce_in(order):
    """A ring's schedule through boards in an order."""
    n = len(order)
    sends = [
        (step, order[i], order[(i + 1) % n], (i - step) % n, step < n - 1)
        for step in range(2 * (n - 1))
        for i in range(n)
    ]
    return Schedule("all_reduce", "ring", n, n, tuple(sends))


def simulated(boards, **given):
    """Bus bandwidth of the ring over the network that the reading becomes."""
    n = len(boards.slots)
    order = boards.ring().order
    net = topo_network(boards.reading, pcie=GEN5, **given)
    time = simulate(all_reduce_in(order), net, 1e9).time
    return 2 * (n - 1) / n * 1e9 / time


def test_the_word_decides():
    def rates(peer, level):
        return {
            word: board_path(word, GEN5, peer=peer, level=level).rate / 1e9
            for word in WORDS
        }

    near = rates(True, "PXB")
    assert near["PIX"] == near["PXB"] > near["PHB"] == near["NODE"] > near["SYS"]
    forced, never = rates(True, "SYS"), rates(False, "SYS")
    for word in WORDS:
        assert forced[word] >= near[word] >= never[word]
    assert never["PIX"] == never["NODE"] and never["SYS"] < never["PHB"]
    slow = board_path("SYS", GEN5, peer=True, level="SYS", socket=SOCKETS["skylake"])
    assert slow.rate == 10e9 and slow.told == "peer to peer"
    half = board_path("PIX", slot(5, 8), peer=True, level="PXB").rate
    assert half * 2e-9 == pytest.approx(near["PIX"])
    assert slot(4, 16) == pytest.approx(slot(5, 8), rel=1e-3)
    assert (farthest(2), farthest(3)) == ("SYS", "PXB")


def test_who_reaches_whom():
    for key in ("rtx_4090", "rtx_5090", "rtx_3090", "titan_rtx", "rtx_2080_ti"):
        assert not reaches(hardware.get(key))
    for key in ("l40s", "a100_pcie_80gb", "rtx_6000_ada", "rtx_pro_6000_server"):
        assert reaches(hardware.get(key))
    assert reaches(hardware.get("gtx_1080_ti"))


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.tuples(*[st.integers(0, 1)] * 4), min_size=2, max_size=8),
    st.booleans(),
    st.sampled_from([None, *WORDS]),
)
def test_the_ring_over_the_network_is_as_fast_as_the_closed_form(places, peer, level):
    boards = Boards(tree(places), [GEN5] * len(places), peer, level)
    rate = boards.ring().rate
    assert simulated(boards, peer=peer, level=level) == pytest.approx(rate, rel=0.01)
    first = boards.ring().order
    assert sorted(first) == list(range(len(places)))


def test_boards_that_only_some_reach_have_ways_of_their_own():
    ways = dict.fromkeys(combinations(range(4), 2), "PHB")
    access = {
        pair: "OK" if {pair} & {(0, 1), (1, 0), (2, 3), (3, 2)} else "NS"
        for pair in [(a, b) for a in range(4) for b in range(4) if a != b]
    }
    boards = Boards(reading(ways, 4, access), [GEN5] * 4, False, "SYS")
    assert boards.way(0, 1).peer and not boards.way(1, 2).peer
    assert simulated(boards, peer=False, level="SYS") == pytest.approx(
        boards.ring().rate, rel=0.01
    )


def test_a_cable_shared_by_boards_and_a_narrow_slot():
    quads = tree([(i // 4, i // 4, i // 4, i // 4) for i in range(8)])
    none = Boards(quads, [slot(4, 16)] * 8, False).ring()
    assert none.limit == "one cable to the processor for 4 boards"
    counted = board_path("PIX", slot(4, 16), peer=True, level="PXB").rate
    assert none.rate == pytest.approx(counted / 4)
    some = Boards(quads, [slot(4, 16)] * 7 + [slot(4, 4)], True, "SYS").ring()
    narrow = board_path("SYS", slot(4, 4), peer=True, level="SYS")
    assert some.rate == narrow.rate < counted / 4
    assert [way.word for way in some.ways].count("SYS") == 2


def test_nvlinks_of_a_pair_and_the_way_on():
    ways = dict.fromkeys(combinations(range(4), 2), "NODE")
    ways[0, 2] = ways[1, 3] = "NV4"
    ring = Boards(reading(ways, 4), [slot(4, 16)] * 4, True, None, 14e9).ring()
    assert ring.order == (0, 2, 1, 3)
    assert [way.word for way in ring.ways] == ["NV", "NODE", "NV", "NODE"]
    assert ring.limit == "NODE through host memory"


# What was published, of machines whose tree is known: GB/s on the bus of an all-reduce.
# pcie-bandwidth.md and others are of local-inference-lab/rtx6kpro, read 2026-11-29.
PAIRS = [(i // 2, i // 2, i // 2, i // 4) for i in range(8)]
QUADS = [(i // 4, i // 4, i // 4, 0) for i in range(8)]
APART = [(i, i, i, i // 4) for i in range(8)]
PUBLISHED = [
    # boards, slots, peers, level, GB/s, from
    (QUADS, (5, 16), True, "SYS", 46.5, "two switches, 1 GiB"),
    (PAIRS[:4], (5, 16), True, None, 30.3, "asus-esc8000a, 32 MB, default"),
    (PAIRS[:4], (5, 16), True, "SYS", 39.3, "asus-esc8000a, 32 MB"),
    (APART, (5, 16), True, None, 22.2, "dual Turin, 32 MB, default"),
    (APART, (5, 16), True, "SYS", 37.6, "dual Turin, 8 MB to 2 GB"),
    (APART[:4], (4, 16), False, None, 18, "nccl 1603, 4 x RTX 4090"),
    (APART[:4], (4, 16), True, "SYS", 22, "nccl 1603, patched driver"),
    (QUADS[:4], (4, 16), True, "SYS", 25.95, "tinygrad modules 36, 4 x RTX 4090"),
    ([(*p[:3], p[0]) for p in QUADS], (4, 16), False, None, 5, "nccl-tests 307"),
    (APART, (5, 16), False, None, 28, "nccl 1639, 8 x RTX 5090"),
    (APART[:4], (5, 16), False, None, 35, "nccl 1639, 4 x RTX 5090"),
]


def test_published_runs_of_known_trees():
    off = []
    for places, width, peer, level, published, _ in PUBLISHED:
        boards = Boards(tree(places), [slot(*width)] * len(places), peer, level)
        off.append(abs(boards.ring().rate / 1e9 / published - 1))
    assert sorted(off)[len(off) // 2] < 0.15 and max(off) < 0.21


def test_samples_have_rings():
    four = read_topo(topo_sample("four_cards"))
    ring = Boards(four, [GEN5] * 4, True).ring()
    assert ring.limit == "SYS through host memory"
    classes = Boards(four, [GEN5] * 4, True).classes()
    assert [(word, peer, many) for (word, peer), (*_, many) in classes.items()] == [
        ("PIX", True, 1),
        ("NODE", False, 1),
        ("SYS", False, 4),
    ]


test_bad_slots = refusals(
    (0, 16, "generation"),
    (8, 16, "generations are 1 to 7"),
    (4, 3, "x3"),
    (4.5, 16, "generation"),
    (True, 16, "generation"),
    (4, 0, "lanes"),
    by=slot,
)


def test_bad_boards():
    four = read_topo(topo_sample("four_cards"))
    with pytest.raises(ValueError, match="3 slots for 4 GPUs"):
        Boards(four, [GEN5] * 3)
    for bad in (0, -1.0, float("nan"), float("inf"), True):
        with pytest.raises(ValueError, match=r"slots\[1\]"):
            Boards(four, [GEN5, bad, GEN5, GEN5])
    with pytest.raises(UnknownName, match="way"):
        Boards(four, [GEN5] * 4, True, "FAR").ring()
    with pytest.raises(UnknownName, match="way"):
        board_path("NV4", GEN5, peer=True, level="PXB")
    with pytest.raises(ValueError, match="socket"):
        board_path("SYS", GEN5, peer=True, level="PXB", socket=-1.0)
    alone = read_topo("GPU0 CPU Affinity\nGPU0 X 0-9")
    with pytest.raises(ValueError, match="1 GPU: a ring needs two"):
        Boards(alone, [GEN5]).ring()
