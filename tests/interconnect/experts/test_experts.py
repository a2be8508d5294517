"""Experts' exchange: drawn, counted and in closed form; bytes, times and messages."""

import itertools
from collections import Counter
from math import sqrt

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect.experts.count import ONCE, count, expect, groups_hit
from stacklib.interconnect.experts.dispatch import (
    dispatch_bytes,
    dispatch_time,
    pxn,
    token_bytes,
)
from stacklib.interconnect.experts.route import Routing, route_experts
from stacklib.quantity import Quantity, chosen
from stacklib.quantity.names import UnknownName

from ...rows import refusals

LAYOUTS = [(8, 4, 2), (8, 8, 3), (16, 8, 4), (16, 4, 4), (32, 8, 8)]  # ranks, a node, k


@pytest.mark.rows(("ranks", "local", "top_k"), LAYOUTS)
@pytest.mark.rows("once", ONCE)
def test_counts_meet_the_closed_form_within_sampling(ranks, local, top_k, once):
    tokens = 1200
    routing = route_experts(tokens, experts=64, top_k=top_k, seed=ranks + top_k)
    case = {"ranks": ranks, "ranks_per_node": local, "once": once}
    got = count(routing, **case).copies
    due = expect(experts=64, top_k=top_k, **case)
    # A token has at most top_k copies of a kind: five standard errors of that width.
    near = 5 * top_k / 2 / sqrt(tokens)
    for field in ("own", "nvlink", "network", "nodes"):
        assert getattr(got, field) == pytest.approx(getattr(due, field), abs=near)
    if once == "expert":
        assert got.all == due.all == pytest.approx(top_k)


@pytest.mark.rows("once", ONCE)
def test_the_closed_form_is_the_mean_of_every_choice(once):
    """All ways to take 2 of 8 experts, from every rank: no sampling left."""
    for ranks, local in ((4, 2), (8, 4), (4, 4), (2, 1)):
        picks = list(itertools.combinations(range(8), 2))
        rows = tuple(p for p in picks for _ in range(ranks))
        case = {"ranks": ranks, "ranks_per_node": local, "once": once}
        got = count(Routing(rows, 8, 2), **case).copies
        due = expect(experts=8, top_k=2, **case)
        for field in ("own", "nvlink", "network", "nodes"):
            assert getattr(got, field) == pytest.approx(getattr(due, field))


@pytest.mark.rows(("ranks", "top_nodes"), [(64, 4), (32, 2), (32, 1)])
def test_nodes_of_a_limited_token_are_exact_and_ranks_near(ranks, top_nodes):
    tokens, nodes = 600, ranks // 8
    routing = route_experts(
        tokens, experts=256, top_k=8, groups=nodes, top_groups=top_nodes, seed=2
    )
    case = {"ranks": ranks, "ranks_per_node": 8}
    due = expect(experts=256, top_k=8, top_nodes=top_nodes, once="node", **case)
    got = count(routing, once="node", **case).copies
    assert got.nodes <= top_nodes
    assert got.nodes == pytest.approx(due.nodes, abs=0.05)
    assert got.network == pytest.approx(due.network, abs=0.1)
    assert got.nvlink == pytest.approx(due.nvlink, rel=0.04)


def test_a_limit_lowers_what_the_network_carries():
    case = {"experts": 256, "top_k": 8, "ranks": 64, "ranks_per_node": 8}
    free = expect(once="node", **case).network
    limited = [expect(once="node", top_nodes=m, **case).network for m in (4, 2, 1)]
    assert free > limited[0] > limited[1] > limited[2] == pytest.approx(7 / 8)
    assert free < expect(once="expert", **case).network == pytest.approx(7.0)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 12), st.integers(1, 8), st.integers(1, 8))
def test_the_groups_that_are_hit_are_a_distribution(groups, size, top_k):
    top_k = min(top_k, groups * size)
    chances = groups_hit(groups * size, top_k, groups)
    assert sum(chances) == pytest.approx(1.0)
    mean = sum(d * p for d, p in enumerate(chances))
    one = expect(
        experts=groups * size, top_k=top_k, ranks=groups, ranks_per_node=1, once="rank"
    )
    assert mean == pytest.approx(one.all)


def test_the_volume_does_not_grow_with_the_number_of_experts():
    sizes = [dispatch_bytes(128, ranks=64, experts=e) for e in (64, 256, 1024, 8192)]
    assert len({s.sent for s in sizes}) == len({s.network for s in sizes}) == 1
    by_rank = [
        dispatch_bytes(128, ranks=64, experts=e, once="rank").sent
        for e in (64, 256, 1024, 8192)
    ]
    assert by_rank == sorted(by_rank, reverse=True)  # and even falls a little
    assert by_rank[-1] > 0.93 * by_rank[0]


def test_deepeps_bytes():
    sent = dispatch_bytes(128, 8, 7168, "fp8", 128, ranks=8)
    assert sent.token == 7168 + 56 * 4 == 7392
    assert sent.sent == 128 * 8 * 7392 == 7_569_408
    assert sent.nvlink == sent.sent * 7 / 8 and sent.network == 0
    assert dispatch_bytes(128, ranks=8, header=16).token == 7408
    assert token_bytes(7168, "bf16", None) == 14336
    far = dispatch_bytes(128, ranks=256)
    assert far.network == sent.sent * 248 / 256
    assert far.messages == 128 * 8 * 248 / 256


def test_floors_of_77_and_194_us():
    rates = {"nvlink": 160e9, "network": 50e9}
    near = dispatch_time(dispatch_bytes(128, ranks=8), **rates)
    far = dispatch_time(dispatch_bytes(128, ranks=256), **rates)
    assert near * 1e6 == pytest.approx(41.4, abs=0.05) and near < 77e-6
    assert far * 1e6 == pytest.approx(146.7, abs=0.05) and far < 194e-6
    pure = dispatch_bytes(128, ranks=8).nvlink / 50e9  # were the 77 us the network's
    assert pure * 1e6 == pytest.approx(132.5, abs=0.05) and pure > 77e-6


def test_floats_quantities_and_arrays_say_the_same():
    rates = {"nvlink": 160e9, "network": 50e9, "latency": 40e-6}
    tokens = numpy.array([1.0, 128.0, 4096.0])
    swept = dispatch_time(dispatch_bytes(tokens, ranks=64, header=16), **rates)
    told = {
        "nvlink": Quantity(160, "GB/s"),
        "network": Quantity(50, "GB/s"),
        "latency": Quantity(40, "us"),
    }
    for place, count_ in enumerate(tokens.tolist()):
        plain = dispatch_time(dispatch_bytes(count_, ranks=64, header=16), **rates)
        traced = dispatch_time(
            dispatch_bytes(chosen(count_, label="tokens"), ranks=64, header=16), **told
        )
        assert plain == pytest.approx(float(swept[place]))
        assert traced.si == pytest.approx(plain) and "s" in str(traced)


def _exchange(ranks, local, together):
    """Every message over the network, made one by one."""
    found = Counter()
    for source, target in itertools.product(range(ranks), repeat=2):
        if source // local == target // local:
            continue
        port = source // local * local + target % local if together else source
        found[port, target, source if not together else None] += 1
    return found


@pytest.mark.rows(("ranks", "local"), [(8, 4), (16, 8), (6, 2), (4, 1), (8, 8)])
def test_pxn_lowers_messages_and_not_bytes(ranks, local):
    alone, joined = (
        pxn(1000.0, ranks=ranks, ranks_per_node=local, together=t)
        for t in (False, True)
    )
    assert alone.network == joined.network == 1000.0 * (ranks - local)
    assert alone.count == joined.count * local
    assert alone.nvlink == 0 <= joined.nvlink < joined.network + 1
    for together, said in ((False, alone), (True, joined)):
        made = _exchange(ranks, local, together)
        ports = Counter(port for port, _, _ in made)
        assert set(ports.values()) <= {said.count}
        assert set(made.values()) <= {round(said.size / 1000)}


def test_skew_makes_one_rank_wait_for():
    even = route_experts(800, experts=32, top_k=4, seed=1)
    skewed = route_experts(800, experts=32, top_k=4, skew=0.8, seed=1)
    case = {"ranks": 8, "ranks_per_node": 8}
    assert count(even, **case).imbalance < 1.15
    assert count(skewed, **case).imbalance > 1.4
    assert sum(count(skewed, **case).received) == 3200
    assert skewed.imbalance > 2 > even.imbalance


@settings(deadline=None, max_examples=40)
@given(
    st.integers(1, 30),
    st.sampled_from([(8, 2, 1, 1), (16, 4, 4, 2), (12, 3, 3, 3), (8, 8, 2, 2)]),
    st.floats(0, 3),
    st.integers(0, 99),
)
def test_every_token_has_its_experts_within_its_groups(tokens, case, skew, seed):
    experts, top_k, groups, take = case
    drawn = route_experts(
        tokens,
        experts=experts,
        top_k=top_k,
        groups=groups,
        top_groups=take,
        skew=skew,
        seed=seed,
    )
    for row in drawn.chosen:
        assert len(set(row)) == top_k and list(row) == sorted(row)
        assert len({e // (experts // groups) for e in row}) <= take
    assert sum(drawn.loads()) == tokens * top_k
    assert drawn.imbalance >= 1


def test_a_weighted_draw_is_as_popular_as_asked():
    drawn = route_experts(20_000, experts=3, top_k=1, skew=1.0, seed=4)
    shares = sorted((n / 20_000 for n in drawn.loads()), reverse=True)
    assert shares == pytest.approx([6 / 11, 3 / 11, 2 / 11], abs=0.02)


test_bad_input_is_refused = refusals(
    (lambda: route_experts(0), "tokens = 0"),
    (lambda: route_experts(1, experts=4, top_k=5), "top_k = 5 of the 4"),
    (lambda: route_experts(1, experts=10, groups=4), "do not divide into"),
    (lambda: route_experts(1, groups=2, top_groups=3), "top_groups = 3 of 2"),
    (lambda: route_experts(1, skew=float("nan")), "skew = nan"),
    (lambda: dispatch_bytes(float("nan"), ranks=8), "tokens = nan"),
    (lambda: dispatch_bytes(1, ranks=12), "do not fill nodes of 8"),
    (lambda: dispatch_bytes(1, ranks=24), "do not divide over ranks = 24"),
    (lambda: dispatch_bytes(1, ranks=8, scales=0), "scales = 0"),
    (lambda: dispatch_bytes(1, ranks=8, header=-1), "header = -1"),
    (lambda: dispatch_bytes(1, 40, ranks=64, top_nodes=1), "hold fewer experts"),
    (lambda: pxn(0, ranks=8), "each = 0"),
    (lambda: pxn(1, ranks=12), "do not fill nodes"),
    (
        lambda: dispatch_time(dispatch_bytes(1, ranks=8), nvlink=0, network=1),
        "nvlink = 0",
    ),
)


def test_unknown_names_are_refused():
    with pytest.raises(UnknownName, match="planet"):
        dispatch_bytes(1, ranks=8, once="planet")
    with pytest.raises(UnknownName, match="fp7"):
        dispatch_bytes(1, ranks=8, dtype="fp7")
