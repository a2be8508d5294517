"""Section 8.11: a session, its machines, its longest path, and its tail."""

import random
from itertools import pairwise
from math import exp, factorial, log

import pytest

from stacklib import pages
from stacklib.pages.serving import agents as page
from stacklib.pages.serving.agents import calls, claims, drawings, figures
from stacklib.plots import spec as grammar
from stacklib.quantity import chosen
from stacklib.serving import machine_share, session
from stacklib.serving.agentic.offload import flat_states
from stacklib.serving.agentic.order import longest, ordered
from stacklib.serving.agentic.session import Turn
from stacklib.serving.agentic.shares import Step

from ...programs import loop_of

loop = loop_of("08-serving/agents")
TABLES = 'seconds = {"plan"', "ends, came"  # where the loop's own tables begin and end


def printed(text):
    """Length, work, and the path with the end of each step on it."""
    first, *rest = text.splitlines()
    length, work = map(int, first.split(" of "))
    return length, work, [(step, int(end)) for step, end in map(str.split, rest)]


def test_the_loop_finds_the_path_that_the_package_finds():
    text, draw = loop(), random.Random(11)
    start, end = map(text.index, TABLES)
    for _ in range(40):
        names = "abcdefg"[: draw.randint(1, 7)]
        seconds = {name: draw.randint(1, 9) for name in names}
        after = {
            name: draw.sample(names[:n], draw.randint(0, n))
            for n, name in enumerate(names)
        }
        mine = loop.prints(text[start:end], f"seconds, after = {seconds}, {after}\n")
        before = ordered(
            names, [(a, b) for b, earlier in after.items() for a in earlier]
        )
        length, work, path = printed(mine)
        assert length == longest(before, seconds)[0] == path[0][1]
        assert work == sum(seconds.values())
        steps = [name for name, _ in reversed(path)]
        assert sum(seconds[name] for name in steps) == length
        assert all(a in after[b] for a, b in pairwise(steps))


def test_the_graph_that_is_drawn_is_the_loops():
    scope = {}
    exec(loop()[: loop().index(TABLES[1])], scope)
    assert scope["seconds"] == drawings.SECONDS and scope["after"] == drawings.AFTER
    ends = [printed(loop.prints('"test": 11', f'"test": {t}'))[0] for t in (11, 9, 1)]
    drawn = drawings.longest_path()
    told = {s.quantity.si for n, s in drawn.numbers.items() if "longest" in n}
    assert told == set(ends)


def test_what_the_page_says_of_its_loop():
    usual = printed(loop.prints())[0]
    assert printed(loop.prints('"test": 11', '"test": 9'))[0] == usual - 1
    assert printed(loop.prints('"test": 11', '"test": 1'))[0] == usual - 1


def test_the_session_adds_up_and_runs_as_it_adds_up():
    sums = {"network": 1, "prefill": 2, "decode": 60, "tools": 2, "whole": 65}
    for what, seconds in sums.items():
        assert page.lasting(what).si == pytest.approx(seconds)
        if what != "whole":
            assert page.waited(what).si == pytest.approx(seconds)
    for ours in (False, True):
        each = sum(page.waited(what, ours).si for what in page.WORDS)
        assert page.total(ours).si == pytest.approx(each)
    assert page.total(True, found=False).si > page.total(True).si
    assert page.rest().si == pytest.approx(5)
    assert page.share_with_ours().si == pytest.approx(
        page.token().si * 2000 / (page.token().si * 2000 + 5)
    )


@pytest.mark.parametrize("new", [10, 100, 1000])
def test_a_turn_says_what_the_formula_says_of_thinking(new):
    asked = [Turn(page.PROMPT, new)]
    found = session(asked, page.MODEL, page.DEVICE, dtype="bf16", tp=page.CHIPS)
    assert page.thinking(new).si == pytest.approx(found.share("decode").si, abs=0.03)


@pytest.mark.parametrize("ours", [False, True])
def test_a_tool_so_slow_gives_processors_their_share(ours):
    tool = page.tool_for(chosen(60, "%"), ours).si
    held = page.on_ours() if ours else page.as_told()
    steps = [
        Step(s.name, s.whose, tool if s.whose == "cpu" else s.seconds.si)
        for s in held.steps
    ]
    assert machine_share(steps).share("cpu") == pytest.approx(0.6)


def test_cores_and_places_by_hand():
    for sessions, cores, places in (claims.PAIR, (26, 2, 62)):
        given = (sessions, cores, places, 5)
        assert page.busy("cpu", *given) == pytest.approx(sessions * 2 / 65 / cores)
        assert page.busy("gpu", *given) == pytest.approx(sessions * 62 / 65 / places)
    assert page.busy("cpu", 10_000, 1, 10_000, 5) == 1  # the core is what bounds it
    assert page.busy("cpu", 1, 1, 1, 1) == pytest.approx(0.5 / 13.1)  # one turn


def test_what_is_read_by_hand():
    user = chosen(2048, label="tokens of the request")
    assert calls.over(user).si == pytest.approx((262_144 + 6 * 2048) / 2048)
    assert (calls.read("nothing").si, calls.read("aware").si) == (28, 7)
    saved = [row["one model"].si for row in calls.routes()]
    assert saved == sorted(saved) and 0 < saved[0] and saved[-1] < 1
    assert all(row["each its own model"].si == 0 for row in calls.routes())
    assert calls.saved(4).si == pytest.approx(
        1 - 7 / calls.read("anywhere").si, rel=1e-3
    )


def test_three_ways_to_a_tail():
    at = calls.last_of().si
    later = exp(-at) * sum(at**k / factorial(k) for k in range(calls.HOPS))
    assert later == pytest.approx(0.01)
    assert calls.ratio().si == pytest.approx(calls.HOPS * log(100) / at)
    assert calls.drawn_ratio("exponential").si == pytest.approx(
        calls.ratio().si, rel=0.06
    )
    low, high = (calls.engine_ratio(1, end).si for end in (0, 1))
    assert low < calls.engine_ratio(1).si < high and low < calls.ratio().si < high
    assert calls.engine_ratio(40, 1).si < low  # in one line they are slow together
    assert calls.hop_p99() == pytest.approx(log(100))


def test_each_level_of_json_takes_twice_the_states():
    states = [flat_states(depth) for depth in range(4)]
    more = [b - a for a, b in pairwise(states)]
    assert more == [more[0], 2 * more[0], 4 * more[0]]
    assert calls.check("automaton").time.si > calls.check().time.si


WORDS = {
    "session-decode-token": "wrong",
    "session-tool-time": "agrees with its source",
    "agent-cpu-util": "open",
    "cpu-share-multiagent": "cited",
    "topology-routing-gain": "open",
    "cpu-share-agentic": "cited",
    "sum-of-p99": "wrong",
}


@pytest.mark.rows("id", list(WORDS))
def test_claims_stand_as_judged(id):
    assert pages.judge(id).verdict == WORDS[id]


def test_drawing_and_figure():
    grammar.check(figures.ratios_spec(title="The more, the more."))
    alt = drawings.waterfall().alt
    assert all(f"{lane}, as a document adds it up" in alt for lane in drawings.LANES)
    assert page.total(ours=True).text("s") in alt
