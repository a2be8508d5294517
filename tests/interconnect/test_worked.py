"""Closed forms of the room on round numbers, by their sums and definitions."""

import math
from fractions import Fraction
from itertools import combinations

import pytest

from stacklib import hardware
from stacklib.interconnect.experts.count import expect, groups_hit
from stacklib.interconnect.failures import goodput
from stacklib.interconnect.networks import framing
from stacklib.interconnect.optics import budget
from stacklib.interconnect.schedules.cost import Count, best_chunks, least_share, priced
from stacklib.interconnect.selection import constants as c
from stacklib.interconnect.selection import timed
from stacklib.interconnect.selection.machine import fabric
from stacklib.interconnect.sharding import held


def test_decibels_along_a_way():
    assert (budget.watts(0), budget.watts(10), budget.dbm(1e-3)) == (1e-3, 1e-2, 0)
    assert budget.db(2) == pytest.approx(3.0103, abs=1e-4) and budget.db(0.1) == -10
    found = budget.budget(3.0, {"a": 1.5, "b": 2.5}, -4.0)
    assert found.rows == (("a", 1.5, 1.5), ("b", 2.5, -1.0))
    assert (found.received, found.margin) == (-1, 3)
    low, high = 1.0, 10 ** (6 / 10)  # levels 6 dB apart: OMA over their mean
    oma = 2.0 + 10 * math.log10((high - low) / ((high + low) / 2))
    assert budget.modulated(2.0, 6.0) == pytest.approx(oma)
    assert budget.fibre(500, 0.4, 3, 0.25) == 0.2 + 0.75
    assert budget.farthest(1.2, 0.4) == pytest.approx(3000)


def test_goodput_by_its_definition():
    for cost, between in ((10.0, 3600.0), (1.0, 86400.0), (600.0, 700.0)):
        best = goodput.best_interval(cost, between)
        given = {"cost": cost, "restart": 5.0, "between_failures": between}
        most = goodput.useful_share(best, **given)
        for other in (0.9 * best, 1.1 * best):
            assert goodput.useful_share(other, **given) < most < 1
        x = best / between
        assert 1 - x == pytest.approx(math.exp(-x - cost / between), abs=1e-9)
    assert goodput.best_interval(100.0, 1.0) == 1
    assert goodput.steps_for_a_segment(5, 0.0) == 5
    assert goodput.steps_for_a_segment(5, 1e-12) == pytest.approx(5)
    for every, fails in ((1, 0.5), (3, 0.25), (6, 0.1)):
        mean = 0.0  # steps until every - 1 have followed each other unharmed
        for _ in range(every - 1):
            mean = (mean + 1) / (1 - fails)
        assert goodput.steps_for_a_segment(every, fails) == pytest.approx(1 + mean)
    kills = [False, False, True, True, False, False]
    found = goodput.replay(4, 2, kills)
    assert (found.executed, found.repeated, found.restarts) == (6, 2, 2)
    assert found.resumed_at == (2, 2)


def test_calls_by_latency_and_bandwidth():
    one, two = fabric("h100_sxm", 8), fabric("h100_sxm", 16)
    for size in (1 << 10, 1 << 17, 1 << 20):
        found = timed.collective_time("all_reduce", size, one, direct=True)
        hop = 2e-6 * c.HOP["nvlink"]["tree"][0]  # a flag there, then what was read
        once = timed.KERNEL + hop + 7 * size / one.rate
        twice = timed.KERNEL + 2 * hop + 2 * 7 / 8 * size / one.rate
        assert found.time == pytest.approx(min(once, twice))
        assert found.algorithm == ("one-shot" if once <= twice else "two-shot")
        gather = timed.collective_time("all_gather", size, one, direct=True)
        assert gather.time == pytest.approx(
            timed.KERNEL + hop + 7 / 8 * size / one.rate + size / 4 / one.memory
        )
        late = timed.collective_time("all_gather", size, one, direct=True, host=True)
        call = hardware.efficiency("launch_host")
        assert late.time - gather.time == pytest.approx(call)
    for name, near, far in (("all_to_all", 7 / 16, 8 / 16), ("send_recv", 0.0, 1.0)):
        found = timed.collective_time(name, 1 << 30, two)
        wait = (
            c.BASE["ring"][2] + c.HOP["nvlink"]["ring"][2] + c.HOP["network"]["ring"][2]
        )
        beta = max(near / two.rate, far / (two.port / 2))  # plain sends: half of a port
        own = 2 / 16 / two.memory if name == "all_to_all" else 0.0  # kept
        assert (found.protocol, found.beta) == ("simple", pytest.approx(beta + own))
        assert found.alpha == pytest.approx(1e-6 * wait)
        fill = 2 * math.sqrt(hardware.efficiency("collective_fill") * 2**30 * beta)
        assert found.time == pytest.approx(found.alpha + 2**30 * (beta + own) + fill)
        assert found.bus == timed.bus_factor(name, 16) * 2**30 / found.time
    small = timed.collective_time("send_recv", 8, one)
    assert small.protocol == "ll"
    assert small.beta == 1 / min(one.rate * c.RING_LL, c.LL_MOST["hopper"][0] * 1e9)
    factors = [
        timed.bus_factor(k, 4) for k in ("all_reduce", "all_gather", "broadcast")
    ]
    assert factors == [1.5, 0.75, 1]


def test_schedules_shards_frames_and_experts():
    found = priced(
        Count(6, Fraction(3, 2)), Fraction(1, 2), size=8.0, alpha=2.0, beta=0.5
    )
    assert (found.alpha, found.beta, found.time, found.bound) == (12, 6, 18, 4)
    assert least_share("all_reduce", 4) == Fraction(3, 2) and least_share("x", 1) == 0
    assert least_share("all_reduce", 4, True) == 1 == least_share("broadcast", 4)
    assert least_share("all_to_all", 4) == Fraction(3, 16)
    # a pipeline of 7 + C steps that moves 1 + 5 / C of the array
    one, many = Count(7 + 4, 1 + Fraction(5, 4)), Count(7 + 8, 1 + Fraction(5, 8))
    pieces = best_chunks(one, many, 4, size=720.0, alpha=2.0, beta=0.5)
    assert pieces == round(math.sqrt(5 * 720 * 0.5 / 2))
    for zero, each in (
        (0, (2, 2, 12)),
        (1, (2, 2, 3)),
        (2, (2, 0.5, 3)),
        (3, (0.5, 0.5, 3)),
    ):
        kept = held.shard_memory(100.0, 4, zero)
        assert (kept.weights, kept.gradients, kept.state) == tuple(
            100 * e for e in each
        )
        assert kept.total == 100 * sum(each)
    assert held.tensor_bytes(3, 5, 7, 4, each=4) == 4 * 3 * (7 * 5 * 2) * 2 * 3 / 4
    for ways in (1, 4):
        parts = sum(size / (ways if cut else 1) for _, size, cut in held.KEPT)
        assert held.kept_activations(5, 7, ways) == 35 * parts
        assert held.kept_activations(5, 7, ways, sequence=True) == 35 * 34 / ways
    for name in framing.CODES:
        data, bits = framing.frame_bits(framing.code(name))
        assert sum(framing.count(framing.code(name), 1, bits)) == data
        assert framing.share(framing.code(name)) == Fraction(data, bits)
    draws = list(combinations(range(8), 3))
    hit = [len({expert // 2 for expert in draw}) for draw in draws]
    for groups in range(5):
        share = hit.count(groups) / len(draws)
        assert groups_hit(8, 3, 4)[groups] == pytest.approx(share)
    for once, moves in (("rank", sum(hit) / len(hit)), ("expert", 3)):
        copies = expect(experts=8, top_k=3, ranks=4, ranks_per_node=2, once=once)
        assert copies.all == pytest.approx(moves)
        assert copies.own == copies.nvlink == pytest.approx(moves / 4)
        assert copies.network == pytest.approx(moves / 2)
