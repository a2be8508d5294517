"""Queues that theory knows, and the same ones in simpy."""

import random

import pytest
import simpy

from stacklib.interconnect.switches.closed import mean_wait
from stacklib.serving.simulation.simulate import simulate
from stacklib.serving.simulation.steps import Exponential
from stacklib.serving.simulation.traffic import poisson

MEAN = 0.01  # s of a step; a request is one
REQUESTS = 20_000


def house(load, servers=1, step_time=MEAN, seed=2, requests=REQUESTS):
    """Requests of one step each, for so many servers of one at a time."""
    rows = poisson(load * servers / MEAN, requests, prompt=1, new=1, seed=seed)
    return simulate(
        None,
        traffic=rows,
        replicas=servers,
        router="least-loaded",
        max_batch=1,
        step_time=step_time,
        seed=seed,
    )


def waited(found):
    """Mean time in line, in steps."""
    stayed = [each.e2e - (each.finished - each.admitted) for each in found.requests]
    return sum(stayed) / len(stayed) * 1e-9 / MEAN


def erlang_c(servers, load):
    """Chance of a wait, by Erlang: requests in service are ``servers * load``."""
    offered, term, total = servers * load, 1.0, 0.0
    for each in range(servers):
        total += term
        term *= offered / (each + 1)
    last = term / (1 - load)
    return last / (total + last)


@pytest.mark.parametrize("load", [0.5, 0.8])
@pytest.mark.parametrize("servers", [1, 3])
def test_random_services_wait_as_erlang_says(load, servers):
    expected = erlang_c(servers, load) / (servers * (1 - load))
    found = house(load, servers, Exponential(MEAN))
    assert waited(found) == pytest.approx(expected, rel=0.12)
    assert found.busy == pytest.approx(load, rel=0.03)


@pytest.mark.parametrize("load", [0.3, 0.8])
def test_equal_services_wait_as_pollaczek_and_khinchine_say(load):
    found = house(load)
    assert waited(found) == pytest.approx(load / (2 * (1 - load)), rel=0.08)
    assert waited(found) == pytest.approx(mean_wait(load, MEAN) / MEAN, rel=0.08)
    assert found.utilisation == pytest.approx(load, rel=0.03)


def by_simpy(rows, servers):
    """When each is served and done: a resource with so many places."""
    env = simpy.Environment()
    desk = simpy.Resource(env, servers)
    found = {}

    def one(row):
        yield env.timeout(row.arrival)
        with desk.request() as turn:
            yield turn
            began = env.now
            yield env.timeout(row.prompt * 1000)
            found[row.id] = (began, env.now)

    for row in rows:
        env.process(one(row))
    env.run()
    return found


@pytest.mark.parametrize("servers", [1, 2, 5])
def test_the_same_system_in_simpy_has_the_same_times(servers):
    def prompt(draw: random.Random) -> int:
        return 1 + int(draw.expovariate(1 / 9000))

    rows = poisson(servers * 90, 600, prompt=prompt, new=1, seed=3)
    found = simulate(
        None,
        traffic=rows,
        replicas=servers,
        router="least-loaded",
        max_batch=1,
        chunk=1_000_000,
        step_time=lambda work: work.rows * 1e-6,
    )
    mine = {each.id: (each.admitted, each.finished) for each in found.requests}
    assert mine == by_simpy(rows, servers)
