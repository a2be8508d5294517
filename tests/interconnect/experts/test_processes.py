"""Experts between processes: results exact, copies as counted, deaths named."""

from multiprocessing import active_children

import pytest

from stacklib.interconnect.experts.count import ONCE, count, expect
from stacklib.interconnect.experts.processes import expected, run_dispatch
from stacklib.interconnect.experts.route import route_experts


@pytest.mark.rows("once", ONCE)
def test_run_count_and_closed_form(once):
    routing = route_experts(120, experts=16, top_k=4, seed=3)
    case = {"ranks": 4, "ranks_per_node": 2, "once": once}
    ran = run_dispatch(routing, **case, hidden=6)
    counted = count(routing, **case)
    assert ran.results == expected(routing, 6)
    assert ran.copies == counted.copies and ran.received == counted.received
    assert ran.bytes_network == round(counted.copies.network * 120) * 6 * 8
    due = expect(experts=16, top_k=4, **case)
    for field in ("own", "nvlink", "network", "nodes"):
        assert getattr(ran.copies, field) == pytest.approx(getattr(due, field), abs=0.5)
    assert active_children() == []


def test_a_skewed_router_gives_the_same_results():
    routing = route_experts(45, experts=6, top_k=2, skew=1.5, groups=3, top_groups=1)
    ran = run_dispatch(routing, ranks=3, ranks_per_node=1, once="node")
    assert ran.results == expected(routing, 8)
    assert ran.copies.nodes == 1.0


def test_a_rank_that_dies_is_named_and_no_process_is_left():
    routing = route_experts(8, experts=4, top_k=2)
    with pytest.raises(RuntimeError, match="rank 1 died"):
        run_dispatch(routing, ranks=2, ranks_per_node=2, dies=1)
    with pytest.raises(TimeoutError, match=r"ranks \[0, 1\] had not ended"):
        run_dispatch(routing, ranks=2, ranks_per_node=2, limit_s=1e-6)
    assert active_children() == []


def test_layouts_that_do_not_divide_are_refused():
    routing = route_experts(8, experts=4, top_k=2)
    for ranks, local in ((3, 1), (4, 3)):
        with pytest.raises(ValueError, match=f"ranks = {ranks}"):
            run_dispatch(routing, ranks=ranks, ranks_per_node=local)
