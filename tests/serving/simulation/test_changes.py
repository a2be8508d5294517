"""Machines that fail and machines that come, by hand."""

from stacklib.serving import poisson, simulate

STEP = 10  # ns


def house(rows, **options):
    return simulate(None, traffic=rows, step_time=STEP * 1e-9, **options)


def test_a_failure_costs_the_step_and_the_cache():
    found = house([(0, 0, 4, 5)], failures=[(25e-9, 0, 100e-9)])
    (done,) = found.requests
    # Two tokens by 20; the third is lost at 25. From 125 on it reads all six again.
    assert (done.first, done.finished, done.again) == (10, 155, 5)
    assert +found.outcome.gaps == {10: 3, 115: 1}
    assert (found.outcome.on, found.outcome.busy) == (155 - 100, (25 + 30,))


def test_the_other_machine_takes_over():
    found = house(
        [(0, 0, 4, 5)], replicas=2, failures=[(25e-9, 0, 1.0)], router="least-loaded"
    )
    (done,) = found.requests
    assert (done.finished, done.machine) == (55, 1)


def test_a_cache_whose_machine_fails_on_its_way_is_read_again():
    pools = {"prefill": 1, "decode": 1, "crossing": 50e-9}
    found = house([(0, 0, 4, 3)], pools=pools, failures=[(30e-9, 0, 10e-9)])
    # It would have been there at 60; it is read by 70, crosses by 120, and ends at 130.
    assert found.requests[0].finished == 130


def test_failures_by_a_law_are_the_same_for_a_seed_and_slow_things_down():
    rows = poisson(40, 300, prompt=1, new=5)
    options = {"step_time": 0.01, "replicas": 2, "router": "least-loaded"}
    failing = {"failures": {"between": 2.0, "down": 0.5}}
    one, two, sound = (
        simulate(None, traffic=rows, **options, **more)
        for more in (failing, failing, {})
    )
    assert one.outcome == two.outcome
    assert one.percentiles("e2e")[99] > sound.percentiles("e2e")[99]
    assert one.outcome.on < sound.outcome.on


def test_one_more_machine_comes_where_the_line_is_long_and_goes_again():
    rows = [(number, 0, 1, 10) for number in range(6)] + [(6, 5000, 1, 1)]
    scale = {"Most": 3, "waiting": 3, "ready": 50e-9}
    found = house(rows, max_batch=1, router="least-loaded", autoscale=scale)
    assert {each.machine for each in found.requests} == {0, 1}
    # The second is asked for when four wait, and is up at 50; the first goes at 300.
    assert found.outcome.on == 5010 + 300 - 50
    slow = house(rows, max_batch=1, router="least-loaded")
    assert found.requests[5].finished < slow.requests[5].finished
