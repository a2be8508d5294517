"""Failures of a cluster: sums of rates, spares, and every host on its own clock."""

import math
from decimal import Decimal, localcontext

import pytest

from stacklib.interconnect.failures import cluster

from ...rows import refusals

DAY, HOUR = 86_400.0, 3_600.0


def test_the_published_causes_sum_to_the_published_total():
    assert sum(cause.count for cause in cluster.CAUSES) == 419
    assert {cause.part for cause in cluster.CAUSES} == {
        "gpu",
        "host",
        "network",
        "software",
    }


def test_rates_of_causes_add_and_hosts_on_their_own_clocks_agree():
    hosts, time = 2048, 54 * DAY
    rates = [
        (cause.name, cluster.rate_per_part(cause.count, hosts, time))
        for cause in cluster.CAUSES
    ]
    drawn = cluster.run_cluster(rates, hosts=hosts, time=time, seed=1)
    total = len(drawn.times)
    assert total == sum(drawn.by_cause.values())
    assert abs(total - 419) < 3 * math.sqrt(419)
    mean = cluster.between_failures(sum(rate for _, rate in rates), hosts)
    assert time / mean == pytest.approx(419)
    assert (drawn.times[-1] - drawn.times[0]) / (total - 1) == pytest.approx(
        mean, rel=0.2
    )
    assert drawn.times == tuple(sorted(drawn.times))


def test_gaps_between_failures_have_no_memory():
    """Of many superposed clocks: standard deviation and mean of the gaps are equal."""
    drawn = cluster.run_cluster([("any", 1e-6)], hosts=500, time=1e7, seed=3)
    gaps = [b - a for a, b in zip(drawn.times, drawn.times[1:], strict=False)]
    mean = sum(gaps) / len(gaps)
    spread = math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / len(gaps))
    assert spread == pytest.approx(mean, rel=0.05)
    assert mean == pytest.approx(1 / (1e-6 * 500), rel=0.05)


@pytest.mark.rows("spares", [0, 2, 5])
def test_hosts_under_repair_are_poisson(spares):
    rate, hosts, repair = 1 / (300 * DAY), 2048, 8 * HOUR
    mean = cluster.down(rate, hosts, repair)
    counted, short = cluster.run_repairs(
        rate, hosts=hosts, repair=repair, spares=spares, seed=5
    )
    assert counted == pytest.approx(mean, rel=0.03)
    assert short == pytest.approx(cluster.more_than(spares, mean), abs=0.01)


def test_tail_is_that_of_a_sum_in_sixty_digits():
    with localcontext(prec=60):
        for mean in ("0.2", "3", "40", "900"):
            term, upto = (-Decimal(mean)).exp(), Decimal(0)
            for k in range(1000):
                upto += term
                term *= Decimal(mean) / (k + 1)
                if k in (0, 1, 7, 50, 950):
                    found = cluster.more_than(k, float(mean))
                    assert found == pytest.approx(float(1 - upto), abs=1e-11)


def test_spares_are_enough_and_one_less_is_not():
    for mean in (0.5, 2.3, 18.0):
        spares = cluster.spares_for(mean, 1e-3)
        assert cluster.more_than(spares, mean) <= 1e-3
        assert spares == 0 or cluster.more_than(spares - 1, mean) > 1e-3


test_bad_input_is_named = refusals(
    (lambda: cluster.between_failures(0, 4), "rate = 0"),
    (lambda: cluster.rate_per_part(3, float("nan"), 1), "parts = nan"),
    (lambda: cluster.spares_for(2.0, 1.0), "share = 1.0"),
    (lambda: cluster.run_cluster([("x", -1.0)], hosts=3, time=1), "rate of x"),
    (lambda: cluster.more_than(-1, 2.0), "spares = -1"),
)
