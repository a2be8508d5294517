"""Schedules over networks: closed forms without contention, by hand with it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect.networks.fluid import Flow, passed, rates
from stacklib.interconnect.networks.simulate import simulate
from stacklib.interconnect.networks.topology import Topology
from stacklib.interconnect.schedules.algorithms import (
    all_gather,
    all_reduce,
    all_to_all,
    broadcast,
    reduce_scatter,
)
from stacklib.interconnect.schedules.cost import cost
from stacklib.interconnect.schedules.schedule import Schedule
from stacklib.quantity import Quantity

B, A = 50e9, 1e-6  # B/s of a link, s of a link

sizes = st.floats(0, 1e9)


def ring(ranks):
    return Topology.torus((ranks,), link=B, latency=A)


def crossbar(ranks):
    return Topology.nvswitch(ranks, 4, links=8, ports=999, link=B, latency=A)


@settings(deadline=None, max_examples=25)
@given(st.integers(2, 12), sizes)
def test_a_ring_on_a_ring_is_its_closed_form(ranks, size):
    ran = simulate(all_reduce(ranks), ring(ranks), size)
    steps = 2 * (ranks - 1)
    assert ran.time == pytest.approx(steps * (A + size / ranks / B))
    assert ran.step_times == pytest.approx([ran.time / steps] * steps)
    assert ran.latency == pytest.approx(steps * A)
    one_way = {(r, (r + 1) % ranks): steps * size / ranks for r in range(ranks)}
    assert ran.bytes == pytest.approx(one_way)


@settings(deadline=None, max_examples=25)
@given(st.integers(2, 9), sizes, st.sampled_from([all_to_all, all_gather]))
def test_all_at_once_through_switches_is_its_closed_form(ranks, size, collective):
    schedule = collective(ranks, algorithm="direct")
    ran = simulate(schedule, crossbar(ranks), size)
    told = cost(schedule, size=size, alpha=2 * A, beta=1 / (8 * B))
    assert ran.time == pytest.approx(told.time)
    assert len(ran.steps) == 1


@settings(deadline=None, max_examples=40)
@given(
    st.integers(2, 9),
    st.sampled_from(["ring", "tree", "double_binary_tree", "halving_doubling"]),
    sizes,
)
def test_through_switches_a_step_lasts_as_long_as_its_busiest_port(
    ranks, algorithm, size
):
    schedule = all_reduce(ranks, algorithm=algorithm)
    ran = simulate(schedule, crossbar(ranks), size)
    told = cost(schedule, size=size, alpha=2 * A, beta=1 / (8 * B))
    assert ran.time >= told.time * (1 - 1e-9)  # fair is not always fastest
    assert ran.time <= told.alpha + 2 * told.beta + 1e-12
    if algorithm in ("ring", "halving_doubling"):
        assert ran.time == pytest.approx(told.time)


@settings(deadline=None, max_examples=20)
@given(st.integers(2, 8), st.integers(1, 6), sizes)
def test_switches_that_reduce_are_nodes(ranks, chunks, size):
    schedule = all_reduce(ranks, algorithm="in_switch", chunks=chunks)
    one = Topology.nvswitch(ranks, 1, links=4, ports=999, link=B, latency=A)
    ran = simulate(schedule, one, size)
    each = A + size / chunks / (4 * B)  # every hop is a step
    assert ran.time == pytest.approx((chunks + 1) * each)
    with pytest.raises(ValueError, match=r"reduces in 1 switches, .* has 0"):
        simulate(schedule, ring(ranks), size)


def test_contention_by_hand():
    # 0 to 2 and 1 to 2 over one link of a line: each gets half; then one has it alone
    line = Topology("line", 3, 3, [(0, 1, 1.0), (1, 0, 1.0), (1, 2, 1.0), (2, 1, 1.0)])
    two = [(0, 0, 2, 0, False), (0, 1, 2, 1, False), (0, 1, 2, 2, False)]
    ran = simulate(Schedule("all_gather", "mine", 3, 3, tuple(two)), line, 3.0)
    assert ran.time == pytest.approx(3)  # 1 at half rate takes 2, the other 2: 3
    assert ran.bytes == {(0, 1): 1.0, (1, 2): 3.0}
    assert ran.busiest == (1, 2) == ran.steps[0].busiest
    assert ran.busy[1, 2] == 3


def test_all_pairs_on_a_torus_need_the_time_of_the_busiest_link():
    for twist in (None, {"x": {"y": 2}}):
        net = Topology.torus((2, 4), twist, link=1.0, latency=0.0)
        schedule = all_to_all(8, algorithm="direct")
        ran = simulate(schedule, net, 64.0)
        _, floor = net.busiest(net.loads(1.0))
        assert ran.bytes == pytest.approx(
            {p: v for p, v in net.loads(1.0).items() if v}
        )
        assert ran.time >= floor * (1 - 1e-9)


def test_one_path_or_all():
    net = Topology.nvswitch(4, 4, links=4, ports=99, link=1.0, latency=0.0)
    schedule = Schedule("broadcast", "mine", 4, 1, ((0, 0, 1, 0, False),))
    assert simulate(schedule, net, 8.0).time == 2
    assert simulate(schedule, net, 8.0, routing="single").time == 8
    assert simulate(schedule, net, 8.0, overhead=3).time == 5


def test_a_failed_link_makes_a_ring_slower():
    schedule, net = all_reduce(6), ring(6)
    whole, broken = (
        simulate(schedule, one, 6e6).time for one in (net, net.fail((0, 1)))
    )
    assert broken > 1.5 * whole / 2 and broken > whole


def test_quantities_and_empty_steps():
    size = Quantity(1, "MB")
    assert simulate(all_reduce(4), ring(4), size) == simulate(
        all_reduce(4), ring(4), 1e6
    )
    late = Schedule("broadcast", "late", 2, 1, ((2, 0, 1, 0, False),))
    ran = simulate(late, ring(2), 1e6)
    assert ran.step_times[:2] == (0, 0) and ran.steps[0].busiest is None
    idle = simulate(Schedule("broadcast", "none", 1, 1, ()), Topology("1", 1, 1, ()), 1)
    assert idle.time == 0 and idle.busiest is None
    stays = Schedule("all_to_all", "stays", 2, 4, ((0, 0, 0, 0, False),))
    assert simulate(stays, ring(2), 1e6).time == 0


@pytest.mark.rows(
    ("how", "says"),
    [
        ({"size": float("nan")}, "size = nan"),
        ({"size": -1}, "size = -1"),
        ({"overhead": -1}, "overhead = -1"),
        ({"schedule": all_reduce(5)}, "5 ranks on torus 4, which has 4 chips"),
        (
            {"schedule": Schedule("broadcast", "b", 4, 1, ((3, 0, 9, 0, False),))},
            "step 3: 0 sends to 9",
        ),
    ],
)
def test_bad_runs_are_refused(how, says):
    given = {"schedule": all_reduce(4), "topology": ring(4), "size": 1.0, **how}
    with pytest.raises(ValueError, match=says):
        simulate(**given)


@st.composite
def shared(draw):
    links = draw(st.lists(st.floats(0.5, 5), min_size=1, max_size=5))
    count = draw(st.integers(1, 6))
    some = st.dictionaries(
        st.integers(0, len(links) - 1), st.floats(0.1, 1), min_size=1, max_size=4
    )
    flows = [
        Flow(draw(st.floats(0, 9)), {(n, n + 1): s for n, s in draw(some).items()})
        for _ in range(count)
    ]
    return flows, {(n, n + 1): width for n, width in enumerate(links)}


@settings(deadline=None, max_examples=80)
@given(shared())
def test_rates_are_max_min_fair(given):
    flows, capacity = given
    found = rates(flows, capacity)
    load = {
        pair: sum(r * f.share.get(pair, 0) for r, f in zip(found, flows, strict=True))
        for pair in capacity
    }
    for pair, width in capacity.items():
        assert load[pair] <= width * (1 + 1e-6)
    for rate, flow in zip(found, flows, strict=True):
        # each has a full link on which none is faster
        assert any(
            load[pair] >= capacity[pair] * (1 - 1e-6)
            and all(
                other <= rate * (1 + 1e-6)
                for other, f in zip(found, flows, strict=True)
                if pair in f.share
            )
            for pair in flow.share
        )


@settings(deadline=None, max_examples=60)
@given(shared())
def test_links_are_never_idle_for_nothing_and_never_too_fast(given):
    flows, capacity = given
    times = passed(flows, capacity)
    for flow, time in zip(flows, times, strict=True):
        alone = max(flow.amount * s / capacity[pair] for pair, s in flow.share.items())
        assert time >= alone * (1 - 1e-6)
    for pair, width in capacity.items():
        users = [(t, f) for t, f in zip(times, flows, strict=True) if pair in f.share]
        need = sum(f.amount * f.share[pair] for _, f in users) / width
        assert max([0.0, *(t for t, _ in users)]) >= need * (1 - 1e-6)


def test_every_collective_runs_on_every_shape():
    nets = [
        Topology.torus((2, 4)),
        Topology.nvlink_mesh(8),
        Topology.nvswitch(8),
        Topology.fat_tree(4, 2),
        Topology.rail(4, 2),
        Topology.dragonfly(2, 2, 1, groups=2),
    ]
    for net in nets:
        for collective in (
            all_reduce,
            reduce_scatter,
            all_gather,
            all_to_all,
            broadcast,
        ):
            schedule = collective(8)
            ran = simulate(schedule, net, 1e6)
            assert ran.time > 0
            assert len(ran.steps) == schedule.steps
            assert max(ran.busy.values()) <= ran.time * (1 + 1e-9)
