"""Section 8.6: what a tier is worth, who leaves, and the page's loop."""

from functools import partial

import pytest

from stacklib.memory.cache.replacement import misses
from stacklib.memory.cache.traces import conversations
from stacklib.pages import chain
from stacklib.pages.serving import tiers as page
from stacklib.pages.serving.tiers import drawings, engine, figures, live
from stacklib.plots import spec as grammar

from ...live_figures import ask
from ...programs import loop_of

loop = loop_of("08-serving/tiers")
readouts = partial(ask, live.explore, live.controls())


def test_the_loop_misses_what_the_package_misses():
    (printed,) = loop.prints().split()
    assert int(printed) == misses(conversations(4000), 100, "regret")


def test_distances_tell_what_tiers_serve():
    told = page.distances()
    assert told == tuple(page.places("lru", tier) for tier in range(3))
    assert sum(told) == page.SHORT


def test_times_by_hand():
    share = 4096 * 327_680 / 8
    host, drive = page.tiers()["host"], page.tiers()["drive"]
    assert page.share(page.CONTEXT).si == share
    told = share / host.bandwidth.si + host.latency.si
    assert page.fetched("host").si == pytest.approx(told)
    block = share / 256
    assert page.shared_drive().si == pytest.approx(
        8 * block / drive.bandwidth.si + drive.latency.si
    )
    assert page.computed_block().si == pytest.approx(page.computed().si / 256)


def test_who_comes_back_waits_for_the_fetch_and_a_step():
    left = chain.account("08-serving/tiers", after=True, case=chain.PROMPT)
    whole = page.fetched("host") + page.step()
    assert left.total().si == pytest.approx(whole.si)
    found = chain.account("08-serving/tiers", case=chain.PROMPT)
    assert left.total().si < found.total().si / 4


@pytest.mark.rows("policy", figures.SHOWN)
def test_nobody_saves_more_than_foresight(policy):
    for room in (page.ROOMS[1], page.ROOM):
        assert page.saved(policy, room).si <= page.saved("belady", room).si


def test_the_figure_shows_every_policy(monkeypatch):
    monkeypatch.setattr(page, "ROOMS", (page.ROOMS[1], page.ROOM))
    spec = figures.missed_spec(title="A figure.")
    grammar.check(spec)
    names = {mark["name"] for mark in spec["marks"]}
    assert names >= set(figures.SHOWN.values())


def test_the_live_figure_says_what_the_page_computes():
    spec, said = readouts(policy="lru", near=100, far=200, drive=0)
    assert said["wait"] == page.stall("lru").text("µs", 3)
    assert said["misses"] == str(page.places("lru", 2))
    bars = [mark for mark in spec["marks"] if mark["y"][0] == 0]
    ends = [mark["x"][1] for mark in bars]
    assert ends[0] == pytest.approx(100 * page.places("lru", 0) / page.SHORT)
    assert ends[-1] == pytest.approx(100)
    # A drive in place of the host takes the same blocks and waits longer.
    assert page.served("lru", 100, 0, 200).hits == page.served("lru").hits
    assert page.stall("lru", 100, 0, 200).si > page.stall("lru").si


def test_the_drawing_has_every_way_out():
    found = drawings.where_a_cache_may_go()
    for words in ("host memory", "CXL memory", "a drive", "another server"):
        assert f"HBM to {words}" in found.alt


def test_three_ways_find_every_block_in_the_same_place():
    told = engine.by_engine()
    assert told == engine.by_tiers() == engine.by_distance()
    assert min(told) > 50  # every place serves some
    assert sum(told) == sum(map(len, engine.asked()))
