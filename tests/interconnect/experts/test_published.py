"""DeepEP's published rows: the floor is a floor, and a latency found on half of them.

What a low-latency exchange needs beyond its floor is nearly the same from 8 ranks to
256. It is found on the dispatches and carried over to the combines, which have twice
the bytes and were not looked at.
"""

from statistics import median

import pytest

from stacklib.evidence.measurements import public
from stacklib.interconnect.experts.count import expect
from stacklib.interconnect.experts.dispatch import dispatch_bytes, dispatch_time

NVLINK, NETWORK = 160e9, 50e9  # of an H800 and its port, as the same page has them


def rows(metric, kind):
    """Ranks and value of the rows of one table."""
    found = {}
    for row in public():
        if row.software.startswith("DeepEP V1") and row.metric == metric:
            if kind in row.subject:
                found[int(row.config["ep"])] = row.value
    return found


def floor(kind, ranks):
    sent = (
        dispatch_bytes(128, ranks=ranks, header=16)
        if kind == "dispatch"
        else dispatch_bytes(128, ranks=ranks, dtype="bf16", scales=None)
    )
    return dispatch_time(sent, nvlink=NVLINK, network=NETWORK)


@pytest.mark.parametrize("kind", ["dispatch", "combine"])
def test_no_published_time_is_below_its_floor(kind):
    measured = rows("latency", kind)
    assert len(measured) >= 4
    for ranks, us in measured.items():
        assert 1 < us / (floor(kind, ranks) * 1e6) < 2


def test_what_dispatches_need_more_predicts_combines():
    dispatches = rows("latency", "dispatch")
    more = [us / 1e6 - floor("dispatch", ranks) for ranks, us in dispatches.items()]
    latency = median(more)
    assert 35e-6 < min(more) <= latency <= max(more) < 52e-6
    errors = {
        ranks: (floor("combine", ranks) + latency) * 1e6 / us - 1
        for ranks, us in rows("latency", "combine").items()
    }
    assert len(errors) >= 5
    assert max(abs(e) for e in errors.values()) < 0.15
    assert median(abs(e) for e in errors.values()) < 0.08


def test_the_published_rates_are_bytes_of_all_copies_over_the_time():
    for kind, size in (("dispatch", 7408), ("combine", 14336)):
        times, rates = rows("latency", kind), rows("rdma_bandwidth", kind)
        for ranks in times.keys() & rates.keys():
            assert 128 * 8 * size / times[ranks] / 1e3 == pytest.approx(
                rates[ranks], rel=0.03
            )


def normal_rate(ranks):
    """The rate a port seems to have when copies that stay in the node count too."""
    case = {"experts": 256, "top_k": 8, "ranks": ranks, "ranks_per_node": 8}
    copies = expect(once="node", top_nodes=4, **case)
    slow = max(copies.network / NETWORK, copies.nvlink / NVLINK)
    return copies.nodes / slow / 1e9


def test_58_gb_s_of_a_50_gb_s_port():
    """Copies for one's own node count in it: the ceiling is 50 nodes / (nodes - 1)."""
    measured = rows("bottleneck_bandwidth", "combine")
    assert normal_rate(32) == pytest.approx(66.7, abs=0.1)
    assert normal_rate(64) == pytest.approx(57.1, abs=0.1)
    for ranks in (32, 64):
        assert 0.85 < measured[ranks] / normal_rate(ranks) < 1
    # Between two nodes NVLink is the slower part; the model is 30 per cent too fast.
    assert 0.7 < measured[16] / normal_rate(16) < 0.85
    assert measured[8] < NVLINK / 1e9
