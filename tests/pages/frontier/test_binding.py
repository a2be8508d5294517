"""Section 10.1: the page's loop beside the room's, published pairs, claims."""

import re

import pytest

from stacklib import pages
from stacklib.frontier import binding_layer
from stacklib.pages.frontier import binding as page
from stacklib.pages.frontier.binding import drawings, live

from ...live_figures import ask, values
from ...programs import loop_of

loop = loop_of("10-frontier/binding")
ROOM = {"memory": "memory bandwidth"}


def printed(**changes):
    """Per cent off the token, an input: with one answer, and with 128."""
    said = re.findall(r"(\w+): ([\d.]+)%", loop.prints(**changes))
    return [{k: float(v) for k, v in said[at : at + 6]} for at in (0, 6)]


def test_the_loop_moves_what_the_room_moves():
    for found, batch in zip(printed(), (page.ONE, page.MANY), strict=True):
        for name in found.keys() - {"nothing"}:
            told = page.off(ROOM.get(name, name), page.OTHER, batch)
            assert found[name] == pytest.approx(100 * told.si, abs=6e-3)
    assert [max(f, key=f.get) for f in printed()] == ["engine", "exchanges"]
    fast = printed(old="(4.882, 4.882)", new="(0, 0)")
    assert [max(f, key=f.get) for f in fast] == ["memory", "exchanges"]
    assert max(printed(old="/ 1.1", new="/ 2")[1].values()) < 50


def test_a_tenth_is_a_share_of_its_own_line():
    for name in ("host", "exchanges"):
        own = {"host": "engine", "exchanges": "exchanges"}[name]
        gone = page.share(name) * page.tenth()
        assert gone.si == pytest.approx(page.off(own).si)
    assert page.token().si == pytest.approx(page.moved().estimate.tpot.si)
    rates = [page.elasticity(name).si for name in drawings.COLOURS]
    assert sum(rates) + page.unmoved().si == pytest.approx(1)


def test_published_pairs_fall_in_the_order_predicted():
    pairs = [(page.gain(*p, foretold=True).si, page.gain(*p).si) for p in page.HALVED]
    for few, many in ((pairs[:2], pairs[2:]), (pairs[2:4], pairs[4:])):
        assert min(few) > max(many) or few[0] > few[1]
    assert sorted(pairs, key=lambda p: p[0]) == sorted(pairs, key=lambda p: p[1])
    assert pairs[-1][1] < 1 and all(0.84 < page.missed(i).si < 0.89 for i in range(6))


def test_a_copy_passes_as_many_links_as_the_exchange_is_longer():
    assert page.longer("exchanges").si == pytest.approx(page.hops().si, rel=0.02)
    assert page.longer("step", page.MODEL).si < page.longer("step").si
    assert page.deployed().si > page.wants("chips").si


def test_each_stack_names_what_binds():
    told = drawings.stacks().html
    assert "memory bandwidth 0.5" in re.sub("<[^>]+>", "", told)


@pytest.mark.parametrize("place", range(4))
def test_every_choice_is_the_rooms(place):
    chosen = {c["name"]: values(c)[place % len(values(c))] for c in live.controls()}
    spec, said = ask(live.explore, live.controls(), **chosen)
    assert bool(spec["message"]) != bool(said)
    case = {"model": page.MODEL, "on": chosen.pop("device"), "tp": page.TP} | chosen
    if said:
        assert said["binds"] == binding_layer(case).binding.name


JUDGED = [
    ("stack-layer-count", "agrees with its source"),
    ("essay-reading-time", "conflict"),
    ("trn-trainium-sparse-dense", "depends"),
    ("moat-5-years", "open"),
]


@pytest.mark.rows("id, verdict", JUDGED)
def test_what_the_guides_say_is_judged(id, verdict):
    assert pages.judge(id).verdict == verdict
