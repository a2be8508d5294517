"""Scenarios whose every step was worked out by hand.

Blocks hold 16 tokens and every step takes 10 ns. Expected is, for each request, the
step before which it is let in, that of its first token and that of its last one, then
tokens found, places lost and tokens read again.
"""

import pytest

from stacklib.serving.simulation.machine import Machine
from stacklib.serving.simulation.pool import Pool
from stacklib.serving.simulation.simulate import simulate
from stacklib.serving.simulation.traffic import Row

STEP = 10
CHUNKED = {"scheduler": "chunked"}
STATIC = {"scheduler": "static", "chunk": 32, "max_batch": 2}
TEXT = ("s", 32)
# name: (arrival in steps, prompt, new, prefix) of each row, options, expected
SCENARIOS = {
    "alone: its prompt in one step, then a token a step": (
        [(0, 5, 3)],
        {},
        [(0, 1, 3)],
    ),
    "two prompts share a step": (
        [(0, 5, 2), (0, 7, 4)],
        {"chunk": 16, "max_batch": 4},
        [(0, 1, 2), (0, 1, 4)],
    ),
    "continuous: a prompt that the step has no room for waits, whole": (
        [(0, 5, 3), (0, 7, 2)],
        {"chunk": 8, "max_batch": 4},
        [(0, 1, 3), (1, 2, 3)],
    ),
    "continuous: the first prompt of a step is read whole, however long": (
        [(0, 20, 2), (0, 1, 1)],
        {"chunk": 8, "max_batch": 4},
        [(0, 1, 2), (1, 2, 2)],
    ),
    "chunked: a prompt of 20 in steps of 8, 8 and 4": (
        [(0, 20, 2)],
        {**CHUNKED, "chunk": 8, "max_batch": 4},
        [(0, 3, 4)],
    ),
    "chunked: who decodes goes first, prompts take the rest": (
        [(0, 2, 5), (0, 14, 1)],
        {**CHUNKED, "chunk": 8, "max_batch": 4},
        [(0, 1, 5), (0, 3, 3)],
    ),
    "chunked: what a prompt leaves of a step goes to the next one": (
        [(0, 10, 1), (0, 6, 1), (0, 3, 1)],
        {**CHUNKED, "chunk": 8, "max_batch": 4},
        [(0, 2, 2), (1, 2, 2), (2, 3, 3)],
    ),
    "one slot: the second waits for the last token of the first": (
        [(0, 4, 3), (0, 4, 2)],
        {"max_batch": 1},
        [(0, 1, 3), (3, 4, 5)],
    ),
    "static: the third waits for the longer of the first two": (
        [(0, 4, 5), (0, 4, 2), (0, 4, 1)],
        STATIC,
        [(0, 1, 5), (0, 1, 2), (5, 6, 6)],
    ),
    "static: nobody joins, though there is a slot": (
        [(0, 4, 4), (1, 4, 1)],
        STATIC,
        [(0, 1, 4), (4, 5, 5)],
    ),
    "a step that began without it is waited for": (
        [(0, 4, 9), (2.5, 4, 2)],
        {},
        [(0, 1, 9), (3, 4, 5)],
    ),
    "an empty house waits for the next, which begins at once": (
        [(0, 4, 1), (7.5, 4, 1)],
        {},
        [(0, 1, 1), (7.5, 8.5, 8.5)],
    ),
    "no block for the second prompt until the first is done": (
        [(0, 20, 5), (0, 16, 1)],
        {"blocks": 2},
        [(0, 1, 5), (5, 6, 6)],
    ),
    "no block for the second one's next token: it goes, and finds its prompt again": (
        [(0, 16, 17), (0, 16, 20)],
        {"blocks": 3},
        [(0, 1, 17), (0, 1, 36, 0, 1, 0)],
    ),
    "the first takes what the second had read, which reads all of it again": (
        [(0, 16, 40), (0, 16, 40)],
        {"blocks": 4},
        [(0, 1, 40), (0, 1, 63, 0, 1, 32)],
    ),
    "the same beginning is read once": (
        [(0, 40, 1, TEXT), (1, 38, 2, TEXT)],
        {**CHUNKED, "chunk": 40, "max_batch": 2},
        [(0, 1, 1), (1, 2, 3, 32, 0, 0)],
    ),
    "two at once both read it: it is not there yet": (
        [(0, 40, 1, TEXT), (0, 40, 1, TEXT)],
        {**CHUNKED, "chunk": 40, "max_batch": 2},
        [(0, 1, 1), (1, 2, 2, 32, 0, 0)],
    ),
    "an answer is found by who goes on with it": (
        [(0, 20, 13, ("c", 0)), (20, 40, 1, ("c", 32))],
        {},
        [(0, 1, 13), (20, 21, 21, 32, 0, 0)],
    ),
}


def ran(name):
    """Requests as the table has them."""
    rows, options, expected = SCENARIOS[name]
    traffic = [
        Row(number, round(at * STEP), *lengths)
        for number, (at, *lengths) in enumerate(rows)
    ]
    found = simulate(None, traffic=traffic, step_time=STEP * 1e-9, **options)
    facts = [
        (
            each.admitted / STEP,
            each.first / STEP,
            each.finished / STEP,
            each.found,
            each.preempted,
            each.again,
        )
        for each in found.requests
    ]
    return facts, [(*row, 0, 0, 0)[:6] for row in expected]


@pytest.mark.parametrize("name", SCENARIOS)
def test_it_goes_as_by_hand(name):
    facts, expected = ran(name)
    assert facts == expected


FAULTS = {
    "blocks without end": (Pool, "take", lambda self, count: True),
    "nobody is found": (Pool, "find", lambda self, text, places: []),
    "steps are never cut short": (Machine, "_cut", lambda self, now: False),
    "a batch that is always open": (Machine, "_admit", None),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_seen(monkeypatch, name):
    owner, method, broken = FAULTS[name]
    whole = getattr(owner, method)
    if broken is None:

        def broken(self, now, alone):
            return whole(self, now, True)

    monkeypatch.setattr(owner, method, broken)
    wrong = 0
    for scenario in SCENARIOS:
        try:
            facts, expected = ran(scenario)
        except (AssertionError, IndexError, ValueError, KeyError):
            wrong += 1
            continue
        wrong += facts != expected
    assert wrong
