"""Runs without a barrier: by hand, by a scan of all messages, and beside steps."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect import Topology, all_reduce, broadcast, cost, simulate
from stacklib.interconnect.networks.fluid import Flow, rates
from stacklib.interconnect.networks.ways import Ways
from stacklib.interconnect.schedules.schedule import Schedule

from .test_price import NETS, anything

B, A = 50e9, 1e-6
SIZES = (0.0, 3e5, 1e9)


def free(schedule, net, size, **how):
    return simulate(schedule, net, size, barrier=False, **how)


def cables(name, ranks, pairs):
    """Cables both ways, each of one bandwidth and its own latency."""
    links = [(*p, B, late) for a, b, late in pairs for p in ((a, b), (b, a))]
    return Topology(name, ranks, ranks, links)


@pytest.mark.rows("net", NETS)
@pytest.mark.rows("algorithm", ["halving_doubling", "direct", "ring"])
def test_three_ways_agree_where_all_messages_of_a_step_are_alike(net, algorithm):
    schedule = all_reduce(net.ranks, algorithm)
    n, ways = net.ranks, Ways(net)
    far = {ways.way((a, (a + 1) % n)).latency for a in range(n)}
    sizes = {
        "direct": SIZES,
        "halving_doubling": () if n & n - 1 else SIZES,  # some fold first
        "ring": SIZES if len(far) == 1 else (1e10,),
    }
    for size in sizes[algorithm]:
        told = cost(schedule, net, size=size).time
        steps, ran = simulate(schedule, net, size), free(schedule, net, size)
        assert ran.time == pytest.approx(told, rel=0.1)
        assert ran.time == pytest.approx(steps.time, rel=0.02)
        assert ran.bytes == pytest.approx(steps.bytes)
        assert ran.steps == () and ran.step_times == ()


@settings(max_examples=15)
@given(st.integers(2, 9), st.integers(1, 9), st.sampled_from(SIZES))
def test_a_pipeline_waits_for_its_way_once(ranks, chunks, size):
    """Down a row: a latency each hop, where steps have one at each piece too."""
    line = cables("a row", ranks, [(r, r + 1, A) for r in range(ranks - 1)])
    schedule = broadcast(ranks, "ring", chunks=chunks)
    piece, steps = size / chunks / B, ranks - 2 + chunks
    ran = free(schedule, line, size)
    assert ran.time == pytest.approx((ranks - 1) * A + steps * piece)
    assert ran.latency == pytest.approx((ranks - 1) * A)
    assert simulate(schedule, line, size).time == pytest.approx(steps * (A + piece))
    assert ran.done[ranks - 1] == ran.time and list(ran.done) == sorted(ran.done)


@settings(max_examples=15)
@given(st.lists(st.sampled_from([1e-6, 2e-6, 9e-6]), min_size=3, max_size=8))
def test_an_empty_ring_takes_its_slowest_way_round(hops):
    """Two laps but two hops of the slowest chunk, each hop at its own latency.

    In steps each of them is as long as the slowest hop. NCCL's own latency of a ring
    counts hops in the same way, those of the network apart (``tuning.cc``).
    """
    n = len(hops)
    net = cables("a ring", n, [(r, (r + 1) % n, late) for r, late in enumerate(hops)])
    ran = free(all_reduce(n), net, 0.0)
    laps = hops * 3
    way = max(sum(laps[at : at + 2 * (n - 1)]) for at in range(n))
    assert ran.time == pytest.approx(way) == pytest.approx(ran.latency)
    assert simulate(all_reduce(n), net, 0.0).time == pytest.approx(
        2 * (n - 1) * max(hops)
    )


def test_only_those_who_need_a_late_message_wait():
    """Two pairs, one of them slow, that never meet: in steps the fast one waits too."""
    net = cables("two pairs", 4, [(0, 1, A), (2, 3, 9 * A), (1, 2, A)])
    sends = [(s, a + s % 2, a + 1 - s % 2, 0, True) for s in range(4) for a in (0, 2)]
    schedule = Schedule("all_reduce", "mine", 4, 1, sends)
    ends = [4 * A, 3 * A, 36 * A, 27 * A]  # the last of a sender has left
    assert free(schedule, net, 0.0).done == pytest.approx(ends)
    assert simulate(schedule, net, 0.0).done == pytest.approx((36 * A,) * 4)


def test_what_comes_before_the_old_value_is_sent_waits():
    """Rank 1's chunk is long under way to rank 2; rank 0's sum comes early."""
    links = [(0, 1, B, 0.0), (1, 2, B / 8, 0.0), (2, 1, B, 0.0), (1, 0, B, 0.0)]
    net = Topology("slow out", 3, 3, links)
    sends = [(0, 1, 2, 0, True), (0, 0, 1, 0, True), (1, 1, 0, 0, False)]
    schedule = Schedule("all_reduce", "mine", 3, 1, sends)
    assert free(schedule, net, B).time == pytest.approx(9)  # 8 s, and on from there


def test_an_earlier_step_has_the_port_first():
    """A root sends one after the other, not to all at once, over the one port it has.

    Over a mesh each copy has a link of its own, and no port is waited for.
    """
    box = Topology.nvswitch(4, 1, links=1, link=B, latency=A)
    sends = [(at, 0, at + 1, 0, False) for at in range(3)]
    schedule = Schedule("broadcast", "mine", 4, 1, sends)
    assert free(schedule, box, B).done[1:4] == pytest.approx([1, 2, 3], rel=1e-4)
    mesh = Topology.nvlink_mesh(4, link=B, latency=A)
    assert free(schedule, mesh, B).time == pytest.approx(1 + A)
    assert simulate(schedule, mesh, B).time == pytest.approx(3 * (1 + A))


def by_a_scan(schedule, net, size):
    """The same, every message asked at every moment whether it may go."""
    ways, chunk = Ways(net), size / schedule.chunks
    found = {}
    for step, source, node, part, _ in schedule.sends:
        found.setdefault((step, source, node), []).append(part)
    left = {one: len(parts) * chunk for one, parts in found.items()}
    begun, gone, there, written = set(), {}, {}, {}
    now = 0.0

    def sees(one, other):  # whether a sender has what the other brings
        meet = set(found[one]) & set(found[other])
        return other[0] < one[0] and other[2] == one[1] and meet

    def comes_after(one, other):
        meet = set(found[one]) & set(found[other])
        return other[0] < one[0] and other[2] == one[2] and meet

    def reads(one, other):
        return (
            other[0] <= one[0]
            and other[1] == one[2]
            and set(found[one]) & set(found[other])
        )

    def in_the_way(one, other):
        if other[1] != one[1] or other[0] >= one[0] or other not in begun:
            return False
        links = ways.way(other[1:]).share.keys()
        return other not in gone and not links.isdisjoint(ways.way(one[1:]).share)

    def may_go(one):
        if any(sees(one, other) and other not in written for other in found):
            return False
        before = (o for o in found if o[0] < one[0] and o[1:] == one[1:])
        return all(o in gone for o in before) and not any(
            in_the_way(one, other) for other in found
        )

    while len(written) < len(found):
        for one in sorted(found):
            if one not in begun and may_go(one):
                begun.add(one)
        moving = sorted(one for one in begun if one not in gone)
        pace = rates(
            [Flow(1.0, ways.way(one[1:]).share) for one in moving], net.capacity
        )
        ends = [now + left[one] / rate for one, rate in zip(moving, pace, strict=True)]
        then = min([*ends, *(t for t in there.values() if t > now)], default=now)
        for one, rate, end in zip(moving, pace, ends, strict=True):
            left[one] -= rate * (then - now)
            if end <= then * (1 + 1e-12):
                gone[one] = then
                there[one] = then + ways.way(one[1:]).latency
        now = then
        changed = True
        while changed:
            changed = False
            for one in sorted(found):
                if one in written or there.get(one, now + 1) > now * (1 + 1e-12):
                    continue
                if all(o in written for o in found if comes_after(one, o)) and all(
                    o in gone for o in found if reads(one, o)
                ):
                    written[one] = now
                    changed = True
    return max(written.values(), default=0.0)


@settings(max_examples=40)
@given(anything(), st.sampled_from([1e4, 1e6]))
def test_it_is_what_a_scan_of_all_messages_finds(case, size):
    schedule, net = case
    sends = [one for one in schedule.sends if one.source != one.destination]
    schedule = Schedule("all_reduce", "drawn", net.ranks, 4, sends)
    ran = free(schedule, net, size)
    assert ran.time == pytest.approx(by_a_scan(schedule, net, size), rel=1e-6)
    assert max(ran.busy.values(), default=0.0) <= ran.time * (1 + 1e-9)
    assert ran == free(schedule, net, size)


def test_overhead_empty_runs_and_what_stays():
    net = cables("a pair", 2, [(0, 1, A)])
    swap = all_reduce(2)
    assert free(swap, net, 0.0, overhead=A).time == pytest.approx(4 * A)
    stays = Schedule("all_reduce", "stays", 2, 1, [(0, 1, 1, 0, False)])
    assert free(stays, net, 1e6).time == 0
    assert free(all_reduce(1), Topology("one", 1, 1, []), 1.0).time == 0
    with pytest.raises(ValueError, match="barrier = 'no'"):
        simulate(swap, net, 1.0, barrier="no")
